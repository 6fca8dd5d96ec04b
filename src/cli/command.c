/*
 * command.c - the table of commands, and from a command line to an exit code: parse its options and
 * operands, run the command, print help, the version or an error.
 *
 * Options come from one table (engine/options.h): a command's rows become getopt_long's tables and
 * the lines of its help. Both forms of an option lead to its row; option_set stores the value.
 */
#include "cli/cli.h"

#include "codec/codec.h"

#include <getopt.h>
#include <openssl/crypto.h>
#include <zip.h>

#define MAX_OPTIONS 96
#define HELP_COLUMN 30
#define HELP_WIDTH  79
#define FIRST_LONG  256 /* getopt_long's number of row 0 */

extern const struct command command_expand, command_verify, command_info, command_boards,
    command_show, command_report, command_sample, command_manifest, command_overlap, command_dedupe,
    command_split;

const struct command *const command_table[] = {
    &command_expand,  &command_verify, &command_info,   &command_boards,
    &command_show,    &command_report, &command_sample, &command_manifest,
    &command_overlap, &command_dedupe, &command_split,
};

const size_t command_n_table = N_OF(command_table);

static const struct command *find(const char *name)
{
    for (size_t i = 0; i < command_n_table; i++)
        if (strcmp(command_table[i]->name, name) == 0)
            return command_table[i];
    return NULL;
}

/* --- help --- */

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
    const char *group = "", *shown = NULL;

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

        if (row->kind == OPTION_GROUP)
            group = row->help;
        if (!option_is_of(row, command->options))
            continue;
        if (group != shown)
            printf("%s %s:\n", shown == NULL ? "" : "\n", group);
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

static int refuse_unknown(const char *word, const struct option *longs, struct error *err)
{
    const size_t n_dashes = strspn(word, "-"), length = strcspn(word, "=");
    const char *meant = NULL;
    size_t least = length - n_dashes > 6 ? 3 : 2; /* fewer letters than this may be wrong */
    char name[TEXT_MAX_WORD + 1];

    snprintf(name, sizeof name, "%.*s", (int)(length - n_dashes), word + n_dashes);
    for (size_t i = 0; i < N_OF(other_words); i++)
        if (strcmp(name, other_words[i][0]) == 0)
            snprintf(name, sizeof name, "%s", other_words[i][1]);
    for (; longs->name != NULL; longs++) {
        const size_t distance = text_distance(name, longs->name);

        if (distance < least) {
            least = distance;
            meant = longs->name;
        }
    }
    return command_misuse(err, "unknown option %s%s%s%s", text_quote_bytes(word, length).text,
                          meant != NULL ? "; did you mean '--" : "", meant != NULL ? meant : "",
                          meant != NULL ? "'?" : "");
}

/* Refuse what getopt_long stopped at: a letter, or the long option in `word`. */
static int refuse(int found, const struct option *longs, const char *word, struct error *err)
{
    const size_t length = strcspn(word, "=");
    const char letter[] = {'-', (char)optopt};
    bool is_short = false; /* for one or more others; getopt_long says which option it knows */

    if (optopt != 0 && optopt < FIRST_LONG)
        return command_misuse(err, found == ':' ? "option %s needs a value" : "unknown option %s",
                              text_quote_bytes(letter, sizeof letter).text);
    for (const struct option *one = longs; optopt == 0 && one->name != NULL; one++)
        is_short |= strncmp(one->name, word + 2, length - 2) == 0;
    if (optopt == 0 && !is_short)
        return refuse_unknown(word, longs, err);
    return command_misuse(err,
                          found == ':' ? "%s needs a value"
                          : is_short   ? "%s is short for several options"
                                       : "%s takes no value",
                          text_quote_bytes(word, length).text);
}

/* Note an option, and its value in optarg, if `verify` has it, too. */
static int note_option(struct call *call, const struct option_row *row, bool is_long,
                       struct error *err)
{
    const char letter[] = {row->letter, '\0'};

    if (!option_is_of(row, command_verify.options) || strcmp(row->name, "json") == 0)
        return 0;
    if (text_append(&call->options, err, is_long ? "--%s " : "-%s ",
                    is_long ? row->name : letter) != 0 ||
        (optarg != NULL && text_append_shell(&call->options, optarg, err) != 0))
        return -1;
    return optarg != NULL ? text_append(&call->options, err, " ") : 0;
}

/* Whether an option that takes a file or folder got "-", but takes no standard stream. */
static bool names_no_file(const struct option_row *row, const char *argument)
{
    return argument != NULL && strcmp(argument, "-") == 0 && !row->takes_stream &&
           (strcmp(row->argument, "FILE") == 0 || strcmp(row->argument, "DIR") == 0);
}

/* Parse the words of a command line into the settings and operands of a call; getopt_long moves the
 * operands after the options. ERROR_USAGE for what the table does not hold. Where help or the
 * version was printed, operands stays NULL. */
static int parse_options(const struct command *command, int argc, char **words, struct call *call,
                         struct error *err)
{
    char shorts[2 * MAX_OPTIONS + 2] = ":"; /* tell a missing argument from an unknown option */
    struct option longs[MAX_OPTIONS] = {0};
    struct settings *settings = &call->settings;
    size_t n_shorts = 1, n = 0;
    int found;

    *settings = settings_default;
    for (size_t i = 0; i < option_n_table && n < MAX_OPTIONS - 1; i++) {
        const struct option_row *row = &option_table[i];
        const bool has_argument = row->argument != NULL;

        if (!option_is_of(row, command->options))
            continue;
        longs[n++] = (struct option){row->name, has_argument ? required_argument : no_argument,
                                     NULL, FIRST_LONG + (int)i};
        if (row->letter != 0)
            shorts[n_shorts++] = row->letter;
        if (row->letter != 0 && has_argument)
            shorts[n_shorts++] = ':';
    }
    for (int i = 1; i < argc && strcmp(words[i], "--") != 0; i++)
        for (size_t k = 0; words[i][0] == '-' && longs[k].name != NULL; k++)
            if (strcmp(words[i] + 1, longs[k].name) == 0) /* a long name after one dash */
                return refuse_unknown(words[i], longs, err);
    opterr = 0;
    optind = 1;
    while ((found = getopt_long(argc, words, shorts, longs, NULL)) != -1) {
        const struct option_row *row =
            found >= FIRST_LONG ? &option_table[found - FIRST_LONG] : NULL;

        for (size_t i = 0; i < option_n_table && row == NULL; i++)
            if (option_table[i].letter == found && option_is_of(&option_table[i], command->options))
                row = &option_table[i];
        if (row == NULL)
            return refuse(found, longs, words[optind - 1], err);
        if (row->kind == OPTION_END && row->letter == 'h')
            print_help(command);
        else if (row->kind == OPTION_END)
            print_version();
        if (row->kind == OPTION_END)
            return 0;
        if (names_no_file(row, optarg))
            return command_misuse(err,
                                  strcmp(row->name, "output") == 0
                                      ? "--%s: %s cannot write to standard output"
                                      : "--%s: %s takes no standard streams here, only names",
                                  row->name, command->name);
        if (option_set(settings, row, optarg, err) != 0 ||
            note_option(call, row, found >= FIRST_LONG, err) != 0)
            return -1;
    }
    call->operands = words + optind;
    call->n_operands = argc - optind;
    for (char **operand = call->operands; *operand != NULL; operand++)
        if (strcmp(*operand, "-") == 0)
            return command_misuse(
                err, "'-': %s takes no standard streams here, only names of files", command->name);
    return settings_finish(settings, err);
}

/* --- running --- */

/* Parse a command line, whose first word is the command, and run it. */
static int run(const struct command *command, int argc, char **argv, struct error *err)
{
    struct call call = {.operands = NULL};
    struct text *typed = &call.typed[0];
    int status = text_append(&call.typed[1], err, "%s", "");

    if (status == 0)
        status = text_append(typed, err, "symaug %s", command->name);
    for (int i = 1; i < argc && status == 0; i++) {
        if (strcmp(argv[i], "--") == 0)
            typed = &call.typed[1];
        status = text_append(typed, err, " ") == 0 ? text_append_shell(typed, argv[i], err) : -1;
    }
    if (status == 0)
        status = parse_options(command, argc, argv, &call, err);
    if (status == 0 && call.operands != NULL) {
        progress_begin(&call.progress, &call.settings);
        status = call_take_operands(&call, command, err);
        if (status == 0)
            status = command->run(&call, err);
        progress_hide(&call.settings);
        if (status >= 0)
            progress_end(&call.progress, command->name);
    }
    call.inputs.n = call.n_named > 0 ? call.n_named : call.inputs.n;
    text_list_release(&call.inputs);
    text_list_release(&call.outputs);
    settings_release(&call.settings);
    text_release(&call.options);
    text_release(&call.typed[0]);
    text_release(&call.typed[1]);
    survey_seen_release(&call.seen);
    return status;
}

static bool asks_for_help(const char *word)
{
    return strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int run_line(int argc, char **argv, struct error *err)
{
    const char *name = argc > 1 ? argv[1] : NULL, *nearest = NULL;
    const bool is_help = name != NULL && asks_for_help(name);
    size_t least = 3; /* fewer letters than this may be wrong */

    if (name == NULL)
        return error_set(err, ERROR_USAGE, "no command given; `symaug help` lists them");
    if (strcmp(name, "--version") == 0) {
        print_version();
        return 0;
    }
    if (is_help && (argc == 2 || *name == '-' || asks_for_help(argv[2]))) {
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
    for (size_t i = 0; i < command_n_table; i++) {
        const size_t distance = text_distance(name, command_table[i]->name);

        if (distance < least) {
            least = distance;
            nearest = command_table[i]->name;
        }
    }
    return error_set(err, ERROR_USAGE, "no command %s; %s%s%s", text_quote(name).text,
                     nearest != NULL ? "did you mean '" : "`symaug help` lists them",
                     nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
}

int command_line(int argc, char **argv)
{
    const char *form = getenv("SYMAUG_ERRORS");
    struct error err = {0};
    int code = run_line(argc, argv, &err);

    if (code >= 0 && command_put(NULL, false, "", 0, &err) != 0) /* what was printed before */
        code = -1;
    if (code >= 0)
        return code;
    if (form != NULL && strcmp(form, "json") == 0) {
        /* For programs that run this one: an object on one line. */
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
    /* Where the words are wrong, the usage and an example of the command, if it is known. */
    const struct command *command = argc > 1 ? find(argv[1]) : NULL;
    if (err.code == ERROR_CODE_CALL && command != NULL)
        fprintf(stderr, "usage: symaug %s %s\nexample: symaug %s\n", command->name,
                command->operands, command->example);
    return error_exit_code(err.kind);
}
