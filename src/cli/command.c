/*
 * command.c - the table of commands, and from a command line to an exit code: parse its options and
 * operands, run the command, print help, the version or an error.
 *
 * Options come from one table (engine/settings.c), which the parser and the help read; option_set
 * stores their values. The parser is not getopt_long, which does not tell what is wrong with a
 * word, and reorders the words, which refusals quote.
 */
#include "cli/cli.h"

#include "base/crew.h"
#include "base/text.h"
#include "codec/codec.h"

#include <openssl/crypto.h>
#include <zip.h>

#define HELP_COLUMN 30
#define HELP_WIDTH  79

extern const struct command command_expand, command_verify, command_info, command_boards,
    command_show, command_report, command_sample, command_manifest, command_overlap, command_dedupe,
    command_split;

const struct command *const command_table[] = {
    &command_expand,  &command_verify, &command_info,   &command_boards,
    &command_show,    &command_report, &command_sample, &command_manifest,
    &command_overlap, &command_dedupe, &command_split,
};

const size_t command_n_table = sizeof command_table / sizeof *command_table;

static const struct command *find(const char *name)
{
    for (size_t i = 0; i < command_n_table; i++)
        if (strcmp(command_table[i]->name, name) == 0)
            return command_table[i];
    return NULL;
}

/* --- help --- */

/* The options of a command are listed in groups; each begins at this row of the table. */
static const struct {
    const char *first, *title;
} groups[] = {
    {"board", "inputs and outputs"},   {"transforms", "which rows, in which order"},
    {"level", "how they are written"}, {"role", "what the arrays mean"},
    {"no-provenance", "more"},         {"threads", "what a run may use"},
    {"progress", "what it says"},
};

/* Print words in lines of at most HELP_WIDTH columns, indented to `column`, where the cursor is. */
static void print_words(const char *text, int column)
{
    const int first = column;

    for (text += strspn(text, " \n"); *text != '\0'; text += strspn(text, " \n")) {
        const int length = (int)strcspn(text, " \n");

        if (column > first && column + 1 + length > HELP_WIDTH)
            column = printf("\n%*s", first, "") - 1;
        else if (column > first)
            column += printf(" ");
        column += printf("%.*s", length, text);
        text += length;
    }
    printf("\n");
}

static void print_help(const struct command *command)
{
    size_t group = 0, shown = SIZE_MAX;

    printf("symaug %s - ", command->name);
    print_words(command->summary, 0);
    printf("\nusage: symaug %s %s\n", command->name, command->operands);
    if (command->details != NULL) {
        printf("\n");
        print_words(command->details, 0);
    }
    printf("\nexample:\n  symaug %s\n\noptions:\n", command->example);
    for (size_t i = 0; i < option_n_table; i++) {
        const struct option_row *row = &option_table[i];

        for (size_t k = group; k < sizeof groups / sizeof *groups; k++)
            if (strcmp(groups[k].first, row->name) == 0)
                group = k;
        if (!option_is_of(row, command->name))
            continue;
        if (group != shown)
            printf("%s %s:\n", shown == SIZE_MAX ? "" : "\n", groups[group].title);
        shown = group;
        int n = row->letter != 0 ? printf("  -%c, --%s", row->letter, row->name)
                                 : printf("      --%s", row->name);
        if (row->argument != NULL)
            n += printf("=%s", row->argument);
        if (n > HELP_COLUMN - 2)
            n = printf("\n") - 1;
        printf("%*s", HELP_COLUMN - n, "");
        print_words(row->help, HELP_COLUMN);
    }
}

static void print_version(void)
{
    printf("symaug %s\n%s, libzip %s, jansson %s, %s, %s\n", SYMAUG_VERSION, codec_libraries(),
           zip_libzip_version(), jansson_version_str(), OpenSSL_version(OPENSSL_VERSION),
           threads_library());
}

/* --- options --- */

/* What other programs call these options. */
static const char *const other_words[][2] = {
    {"overwrite", "force"}, {"jobs", "threads"}, {"workers", "threads"},
    {"out", "output"},      {"game", "board"},   {"memory", "max-memory"},
};

/* Keep `name` as the nearest to a mistyped word, if fewer than *least letters of it are wrong. */
static void note_nearest(const char *word, const char *name, size_t *least, const char **nearest)
{
    const size_t distance = text_distance(word, name);

    if (distance < *least) {
        *least = distance;
        *nearest = name;
    }
}

static int refuse_unknown(const struct command *command, const char *word, struct error *err)
{
    const char *name = word + strspn(word, "-"), *meant = NULL;
    size_t least = strlen(name) > 6 ? 3 : 2;

    for (size_t i = 0; i < sizeof other_words / sizeof *other_words; i++)
        if (strcmp(name, other_words[i][0]) == 0)
            name = other_words[i][1];
    for (size_t i = 0; i < option_n_table; i++)
        if (option_is_of(&option_table[i], command->name))
            note_nearest(name, option_table[i].name, &least, &meant);
    return command_misuse(err, "unknown option %s%s%s%s", text_quote(word).text,
                          meant != NULL ? "; did you mean '--" : "", meant != NULL ? meant : "",
                          meant != NULL ? "'?" : "");
}

/* The option of a command with that letter, or with that long name, of which an unambiguous
 * beginning is enough. *n: how many options it could be. */
static const struct option_row *find_option(const struct command *command, const char *name,
                                            size_t n_bytes, bool is_letter, size_t *n)
{
    const struct option_row *found = NULL;

    *n = 0;
    for (size_t i = 0; i < option_n_table; i++) {
        const struct option_row *row = &option_table[i];

        if (!option_is_of(row, command->name) ||
            (is_letter ? row->letter != *name : strncmp(row->name, name, n_bytes) != 0))
            continue;
        found = row;
        ++*n;
        if (!is_letter && row->name[n_bytes] == '\0') { /* the whole name */
            *n = 1;
            break;
        }
    }
    return found;
}

/* Set an option, and note it if `verify` has it, too. Returns 1 when it asked for help or for the
 * version, which is printed. */
static int take_option(const struct command *command, const struct option_row *row, bool is_long,
                       const char *value, struct call *call, struct error *err)
{
    const char letter[] = {row->letter, '\0'};

    if (row->kind == OPTION_END) {
        if (row->letter == 'h')
            print_help(command);
        else
            print_version();
        return 1;
    }
    if (value != NULL && strcmp(value, "-") == 0 && !row->takes_stream &&
        (strcmp(row->argument, "FILE") == 0 || strcmp(row->argument, "DIR") == 0))
        return command_misuse(err,
                              strcmp(row->name, "output") == 0
                                  ? "--%s: %s cannot write to standard output"
                                  : "--%s: %s takes no standard streams here, only names",
                              row->name, command->name);
    if (option_set(&call->settings, row, value, err) != 0)
        return -1;
    if (!option_is_of(row, "verify") || strcmp(row->name, "json") == 0)
        return 0;
    if (text_append(&call->options, err, is_long ? "--%s " : "-%s ",
                    is_long ? row->name : letter) != 0 ||
        (value != NULL && text_append_shell(&call->options, value, err) != 0))
        return -1;
    return value != NULL ? text_append(&call->options, err, " ") : 0;
}

/*
 * Parse the words after the command. Options may stand before, between and after operands: --name
 * with =VALUE or a word for its value, or letters of which the last may have a value, in the same
 * word or the next; "--" ends them. Returns 1 when help or the version was printed.
 */
static int parse_words(const struct command *command, char **words, struct call *call,
                       struct error *err)
{
    const bool is_posix = getenv("POSIXLY_CORRECT") != NULL; /* the first operand ends them */
    bool is_over = false;
    int status;

    call->settings = settings_default;
    for (char **word = words + 1; *word != NULL; word++) {
        const bool is_letter = strncmp(*word, "--", 2) != 0;
        const char *at = *word + (is_letter ? 1 : 2);

        if (!is_over && strcmp(*word, "--") == 0) {
            is_over = true;
            continue;
        }
        if (is_over || **word != '-' || *at == '\0') {
            call->operands[call->n_operands++] = *word;
            is_over |= is_posix;
            continue;
        }
        if (is_letter && option_find(command->name, at) != NULL)
            return refuse_unknown(command, *word, err);
        while (*at != '\0') {
            const size_t length = is_letter ? 1 : strcspn(at, "=");
            const struct text_quoted name =
                text_format("%s%.*s", is_letter ? "-" : "--", (int)length, at);
            const char *value = NULL;
            size_t n;
            const struct option_row *row = find_option(command, at, length, is_letter, &n);

            at += length;
            if (n == 0)
                return refuse_unknown(command, name.text, err);
            if (n == 1 && row->argument != NULL) {
                value = *at == '\0' ? *++word : at + !is_letter;
                at = "";
            }
            if (n > 1 || (row->argument != NULL && value == NULL) || (!is_letter && *at != '\0'))
                return command_misuse(err,
                                      n > 1                   ? "%s is short for several options"
                                      : row->argument != NULL ? "%s needs a value"
                                                              : "%s takes no value",
                                      text_quote(name.text).text);
            status = take_option(command, row, !is_letter, value, call, err);
            if (status != 0)
                return status;
        }
    }
    for (int i = 0; i < call->n_operands; i++)
        if (strcmp(call->operands[i], "-") == 0)
            return command_misuse(
                err, "'-': %s takes no standard streams here, only names of files", command->name);
    return settings_finish(&call->settings, err);
}

/* --- running --- */

/* Parse a command line, whose first word is the command, and run it. */
static int run(const struct command *command, int argc, char **argv, struct error *err)
{
    struct call call = {.words = argv, .operands = calloc((size_t)argc + 1, sizeof *argv)};

    if (call.operands == NULL)
        return error_no_memory(err, "words of the command line");
    int status = parse_words(command, argv, &call, err);
    if (status == 0) {
        progress_begin(&call.progress, &call.settings);
        status = command->run(&call, err);
        progress_hide(&call.settings);
        if (status >= 0)
            progress_end(&call.progress, command->name);
    } else if (status > 0) {
        status = 0;
    }
    text_list_release(&call.inputs);
    settings_release(&call.settings);
    text_release(&call.options);
    free(call.operands);
    return status;
}

static int run_line(int argc, char **argv, struct error *err)
{
    const char *name = argc > 1 ? argv[1] : NULL, *nearest = NULL;
    const bool is_help = name != NULL && strcmp(name, "help") == 0;
    size_t least = 3;

    if (name == NULL)
        return error_set(err, ERROR_USAGE, "no command given; `symaug help` lists them");
    if (strcmp(name, "--version") == 0) {
        print_version();
        return 0;
    }
    if ((is_help && argc == 2) || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        printf("symaug - every symmetric image of a board-game training shard\n\n"
               "usage: symaug COMMAND [OPTION]... [OPERAND]...\n\ncommands:\n");
        for (size_t i = 0; i < command_n_table; i++)
            printf("  %-10s %s\n", command_table[i]->name, command_table[i]->summary);
        printf("\n`symaug COMMAND --help` tells more about a command.\n"
               "exit codes: 0 done, 1 problems found, 64 usage, 65 bad data, 66 no such input,\n"
               "70 internal, 73 cannot create output, 74 I/O error, 75 try again later,\n"
               "128+n signal n\n");
        return 0;
    }
    name = argv[is_help ? 2 : 1];
    const struct command *command = find(name);
    if (command != NULL && !is_help)
        return run(command, argc - 1, argv + 1, err);
    if (command != NULL) {
        print_help(command);
        return 0;
    }
    if (*name == '-')
        return error_set(
            err, ERROR_USAGE,
            "unknown option %s; options come after a command, `symaug help` lists them",
            text_quote(name).text);
    for (size_t i = 0; i < command_n_table; i++)
        note_nearest(name, command_table[i]->name, &least, &nearest);
    return error_set(err, ERROR_USAGE, "no command %s; %s%s%s", text_quote(name).text,
                     nearest != NULL ? "did you mean '" : "`symaug help` lists them",
                     nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
}

int command_line(int argc, char **argv)
{
    const char *form = getenv("SYMAUG_ERRORS");
    struct error err = {0};
    int code = run_line(argc, argv, &err);

    if (code >= 0 && command_put(NULL, false, "", 0, &err) != 0) /* flush what was printed */
        code = -1;
    if (code >= 0)
        return code;
    if (form != NULL && strcmp(form, "json") == 0) {
        /* One object on one line, for programs that run this one. */
        json_t *object = json_pack(
            "{s:o?,s:o?,s:o,s:s}", "file",
            err.file_nbytes > 0 ? json_stringn_nocheck(err.message + err.file_at, err.file_nbytes)
                                : NULL,
            "array", err.array[0] != '\0' ? json_name(err.array) : NULL, "row",
            err.has_row ? json_integer((json_int_t)err.row) : json_null(), "message", err.message);

        if (object != NULL)
            json_dumpf(object, stderr, JSON_COMPACT | JSON_SORT_KEYS);
        fputc('\n', stderr);
        json_decref(object);
        return error_exit_code(err.kind);
    }
    fprintf(stderr, "symaug: %s\n", err.message);
    /* After a misused command, its usage and an example. */
    const struct command *command = argc > 1 ? find(argv[1]) : NULL;
    if (err.code == ERROR_CODE_CALL && command != NULL)
        fprintf(stderr, "usage: symaug %s %s\nexample: symaug %s\n", command->name,
                command->operands, command->example);
    return error_exit_code(err.kind);
}
