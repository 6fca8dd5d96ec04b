/*
 * make-completions.c - print the completions of a shell: symaug (bash), _symaug (zsh), symaug.fish.
 *
 * Commands, options with the words that they accept, boards and layouts come from the program's own
 * tables.
 */
#include "board/actions.h"
#include "board/board.h"
#include "cli/cli.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* --- the words that complete an argument --- */

static bool is_argument(const struct option_row *row, const char *name)
{
    return row->argument != NULL && strcmp(row->argument, name) == 0;
}

static bool takes_file(const struct option_row *row)
{
    return is_argument(row, "FILE") || is_argument(row, "DIR");
}

/* Print a word with a backslash before each of the characters in `escaped`. */
static void print_escaped(const char *word, const char *escaped)
{
    for (; *word != '\0'; word++) {
        if (strchr(escaped, *word) != NULL)
            putchar('\\');
        putchar(*word);
    }
}

static void print_boards(const char *escaped)
{
    for (size_t i = 0; i < board_n_presets; i++)
        printf("%s%s", i > 0 ? " " : "", board_presets[i].name);
    for (size_t i = 0; i < board_n_families; i++) {
        char prefix[32];

        snprintf(prefix, sizeof prefix, " %s%s", board_families[i]->name,
                 strchr(board_families[i]->syntax, ':') != NULL ? ":" : "");
        if (strcmp(prefix, " chess") != 0) /* a preset too */
            print_escaped(prefix, escaped);
    }
}

/* True when a family before this one, or a layout before this one in it, has the name. */
static bool layout_is_known(size_t family, size_t index)
{
    const char *name = board_families[family]->layouts[index]->name;

    for (size_t f = 0; f <= family; f++)
        for (size_t i = 0; i < (f < family ? board_families[f]->n_layouts : index); i++)
            if (strcmp(board_families[f]->layouts[i]->name, name) == 0)
                return true;
    return false;
}

static void print_layouts(void)
{
    bool first = true;

    for (size_t f = 0; f < board_n_families; f++)
        for (size_t i = 0; i < board_families[f]->n_layouts; i++) {
            if (layout_is_known(f, i))
                continue;
            printf("%s%s", first ? "" : " ", board_families[f]->layouts[i]->name);
            first = false;
        }
}

/* The jobs of a command: the words in small letters that its forms in the help begin with. */
static void print_jobs(const struct command *command)
{
    const char *form = command->operands;

    while (form != NULL) {
        const size_t n = strspn(form, "abcdefghijklmnopqrstuvwxyz");

        if (n > 0 && form[n] == ' ')
            printf("%.*s ", (int)n, form);
        form = strstr(form, "|  ");
        if (form != NULL)
            form += strlen("|  ");
    }
}

/* What a command's first operand may be, but for files. */
static void print_operands(const struct command *command)
{
    if (strcmp(command->name, "boards") == 0)
        print_boards("");
    else
        print_jobs(command);
}

/* How the names of a command's operands end, but for those of folders: "npz npy" and the like. */
static const char *endings(const struct command *command)
{
    if (strcmp(command->name, "boards") == 0 || strcmp(command->name, "manifest") == 0)
        return "json"; /* descriptions of boards, manifests */
    return strstr(command->operands, "MANIFEST") != NULL ? "npz npy json" : "npz npy";
}

/* The words for an option's argument; nothing when any text will do. */
static void print_words(const struct option_row *row, const char *escaped)
{
    if (is_argument(row, "BOARD"))
        print_boards(escaped);
    else if (is_argument(row, "LAYOUT"))
        print_layouts();
    else if (row->words != NULL)
        print_escaped(row->words, escaped);
}

/* --- bash --- */

static void print_bash_case(const struct option_row *row)
{
    printf("    --%s", row->name);
    if (row->letter != 0)
        printf(" | -%c", row->letter);
    if (is_argument(row, "DIR"))
        printf(") kind=-d ;;\n");
    else if (takes_file(row))
        printf(") kind=-f ;;\n");
    else {
        printf(") list='");
        print_words(row, "");
        printf("' ;;\n");
    }
}

static void print_bash_options(const struct command *command)
{
    printf("    %s) list='", command->name);
    for (size_t i = 0; i < option_n_table; i++) {
        if (!option_is_of(&option_table[i], command->options))
            continue;
        printf("--%s%s ", option_table[i].name, option_table[i].argument != NULL ? "=" : "");
        if (option_table[i].letter != 0)
            printf("-%c ", option_table[i].letter);
    }
    printf("' ;;\n");
}

static void print_commands(void)
{
    for (size_t i = 0; i < command_n_table; i++)
        printf("%s ", command_table[i]->name);
}

static void print_bash_operands(const struct command *command)
{
    printf("    %s) list='", command->name);
    print_operands(command);
    printf("' ends='%s' ;;\n", endings(command));
}

static void print_bash(void)
{
    printf("# bash completion for symaug\n"
           "# Words end at '=' and ':' in bash, so the line is cut here, at spaces.\n\n"
           "_symaug_argument() { # OPTION: list or kind for its argument; 1: it takes none\n"
           "    case $1 in\n");
    for (size_t i = 0; i < option_n_table; i++)
        if (option_table[i].argument != NULL)
            print_bash_case(&option_table[i]);
    printf("    *) return 1 ;;\n    esac\n}\n\n"
           "_symaug_options() { # COMMAND\n"
           "    case $1 in\n");
    for (size_t i = 0; i < command_n_table; i++)
        print_bash_options(command_table[i]);
    printf("    esac\n}\n\n"
           "_symaug_operands() { # COMMAND\n"
           "    case $1 in\n");
    for (size_t i = 0; i < command_n_table; i++)
        print_bash_operands(command_table[i]);
    printf("    esac\n}\n\n"
           "_symaug() {\n"
           "    local line=${COMP_LINE:0:COMP_POINT} list='' kind='' ends='' word command i\n"
           "    local -a words files=()\n"
           "    read -ra words <<<\"$line\"\n"
           "    [[ $line == *[[:space:]] ]] && words+=('')\n"
           "    word=${words[-1]} command=${words[1]}\n"
           "    if ((${#words[@]} <= 2)); then\n"
           "        list='");
    print_commands();
    printf("help --help --version'\n"
           "    elif [[ $command == help ]]; then\n"
           "        list='");
    print_commands();
    printf("'\n"
           "    elif [[ $word == --*=* ]] && _symaug_argument \"${word%%%%=*}\"; then\n"
           "        word=${word#*=}\n"
           "    elif ((${#words[@]} > 3)) && _symaug_argument \"${words[-2]}\"; then\n"
           "        :\n"
           "    elif [[ $word == -* ]]; then\n"
           "        _symaug_options \"$command\"\n"
           "    else\n"
           "        kind=-f\n"
           "        _symaug_operands \"$command\"\n"
           "        ((${#words[@]} == 3)) || list=''\n"
           "    fi\n"
           "    mapfile -t COMPREPLY < <(compgen -W \"$list\" -- \"$word\")\n"
           "    if [[ -n $kind ]]; then\n"
           "        compopt -o filenames 2>/dev/null\n"
           "        mapfile -t files < <(compgen \"$kind\" -- \"$word\")\n"
           "    fi\n"
           "    for i in \"${files[@]}\"; do\n"
           "        [[ -z $ends || -d $i || \" $ends \" == *\" ${i##*.} \"* ]] && "
           "COMPREPLY+=(\"$i\")\n"
           "    done\n"
           "    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=:] ]] &&\n"
           "        compopt -o nospace 2>/dev/null\n"
           "    # What stands before the last ':' is not in the word that bash replaces.\n"
           "    if [[ $word == *:* && $COMP_WORDBREAKS == *:* ]]; then\n"
           "        for i in \"${!COMPREPLY[@]}\"; do\n"
           "            COMPREPLY[i]=${COMPREPLY[i]#\"${word%%\"${word##*:}\"}\"}\n"
           "            [[ -n ${COMPREPLY[i]} ]] || unset \"COMPREPLY[i]\"\n"
           "        done\n"
           "    fi\n"
           "}\n\n"
           "complete -F _symaug symaug\n");
}

/* --- zsh --- */

/* Text inside single quotes and brackets. */
static void print_zsh_text(const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            fputs("'\\'", stdout);
        else if (strchr("[]:\\", *text) != NULL)
            putchar('\\');
        putchar(*text);
    }
}

static void print_zsh_option(const struct option_row *row)
{
    const char *equals = row->argument != NULL ? "=" : "";

    printf("            ");
    if (row->repeats)
        printf("'*--%s%s", row->name, equals);
    else if (row->letter != 0)
        printf("'(-%c --%s)'{-%c%s,--%s%s}'", row->letter, row->name, row->letter,
               row->argument != NULL ? "+" : "", row->name, equals);
    else
        printf("'--%s%s", row->name, equals);
    printf("[");
    print_zsh_text(row->help);
    printf("]");
    if (row->argument != NULL) {
        printf(":%s:", row->argument);
        if (takes_file(row))
            printf(is_argument(row, "DIR") ? "_files -/" : "_files");
        else {
            printf("(");
            print_words(row, ":");
            printf(")");
        }
    }
    printf("' \\\n");
}

/* Files of a command's endings, and folders. */
static void print_zsh_files(const struct command *command)
{
    printf("_files -g \"*.(");
    for (const char *c = endings(command); *c != '\0'; c++)
        putchar(*c == ' ' ? '|' : *c);
    printf(")\"");
}

static void print_zsh_command(const struct command *command)
{
    printf("    %s)\n        _arguments -s -S \\\n", command->name);
    for (size_t i = 0; i < option_n_table; i++)
        if (option_is_of(&option_table[i], command->options))
            print_zsh_option(&option_table[i]);
    printf("            '1:operand:{ compadd -- ");
    print_operands(command);
    printf("; ");
    print_zsh_files(command);
    printf(" }' '*:file:");
    print_zsh_files(command);
    printf("'\n        ;;\n");
}

static void print_zsh(void)
{
    printf("#compdef symaug\n\n"
           "local -a commands=(\n");
    for (size_t i = 0; i < command_n_table; i++) {
        printf("    '%s:", command_table[i]->name);
        print_zsh_text(command_table[i]->summary);
        printf("'\n");
    }
    printf("    'help:print the help of a command'\n"
           ")\n\n"
           "if ((CURRENT == 2)); then\n"
           "    _describe command commands\n"
           "    return\n"
           "fi\n"
           "local command=$words[2]\n"
           "shift words\n"
           "((CURRENT--))\n"
           "case $command in\n");
    for (size_t i = 0; i < command_n_table; i++)
        print_zsh_command(command_table[i]);
    printf("    help) _describe command commands ;;\n"
           "esac\n");
}

/* --- fish --- */

static void print_fish_text(const char *text)
{
    putchar('\'');
    print_escaped(text, "'\\");
    putchar('\'');
}

static void print_fish_option(const struct command *command, const struct option_row *row)
{
    printf("complete -c symaug -n '__fish_seen_subcommand_from %s'", command->name);
    if (row->letter != 0)
        printf(" -s %c", row->letter);
    printf(" -l %s", row->name);
    if (is_argument(row, "DIR"))
        printf(" -x -a '(__fish_complete_directories)'");
    else if (takes_file(row))
        printf(" -r -F");
    else if (row->argument != NULL) {
        printf(" -x -a '");
        print_words(row, "");
        printf("'");
    }
    printf(" -d ");
    print_fish_text(row->help);
    printf("\n");
}

static void print_fish_command(const struct command *command)
{
    printf("complete -c symaug -n __fish_use_subcommand -a %s -d ", command->name);
    print_fish_text(command->summary);
    printf("\n");
    for (size_t i = 0; i < option_n_table; i++)
        if (option_is_of(&option_table[i], command->options))
            print_fish_option(command, &option_table[i]);
    printf("complete -c symaug -n '__fish_seen_subcommand_from %s' -a '", command->name);
    print_operands(command);
    for (const char *end = endings(command); *end != '\0'; end += strspn(end, " ")) {
        const int n = (int)strcspn(end, " ");

        printf(" (__fish_complete_suffix .%.*s)", n, end);
        end += n;
    }
    printf("'\n");
}

static void print_fish(void)
{
    printf("complete -c symaug -f\n"
           "complete -c symaug -n __fish_use_subcommand -l version -d 'print the version'\n"
           "complete -c symaug -n __fish_use_subcommand -a help -d 'print the help of a command'\n"
           "complete -c symaug -n '__fish_seen_subcommand_from help' -a '");
    print_commands();
    printf("'\n");
    for (size_t i = 0; i < command_n_table; i++)
        print_fish_command(command_table[i]);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *file;
        void (*print)(void);
    } shells[] = {{"symaug", print_bash}, {"_symaug", print_zsh}, {"symaug.fish", print_fish}};

    for (size_t i = 0; i < N_OF(shells); i++) {
        if (argc == 2 && strcmp(argv[1], shells[i].file) == 0) {
            shells[i].print();
            return fflush(stdout) == 0 ? 0 : 74;
        }
    }
    fprintf(stderr, "usage: make-completions symaug|_symaug|symaug.fish\n");
    return 64;
}
