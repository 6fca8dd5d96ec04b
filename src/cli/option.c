/*
 * option.c - command lines from the table of options (engine/option_table.c): each command's rows
 * become getopt_long's tables and the lines of its help, so that an option is written down once.
 * Both forms of an option give the number of its row; option_set stores the value.
 */
#include "cli/option.h"

#include "base/text.h"
#include "cli/command.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OPTIONS 96
#define HELP_COLUMN 30
#define HELP_WIDTH  79
#define FIRST_LONG  256 /* getopt_long's number of row 0 */

/* The rows of a command as getopt_long wants them. Both forms of an option give its row's number.
 */
static void build(const char *command, char *shorts, struct option *longs)
{
    size_t n = 0;

    *shorts++ = ':'; /* tell a missing argument from an unknown option */
    for (size_t i = 0; i < option_n_table && n < MAX_OPTIONS - 1; i++) {
        const struct option_row *row = &option_table[i];

        if (!option_is_of(row, command))
            continue;
        longs[n++] =
            (struct option){row->name, row->argument != NULL ? required_argument : no_argument,
                            NULL, FIRST_LONG + (int)i};
        if (row->letter == 0)
            continue;
        *shorts++ = row->letter;
        if (row->argument != NULL)
            *shorts++ = ':';
    }
    *shorts = '\0';
    longs[n] = (struct option){0};
}

/* The row that getopt_long found, by its number or its letter. */
static const struct option_row *row_of(const char *command, int found)
{
    for (size_t i = 0; i < option_n_table; i++)
        if (found == FIRST_LONG + (int)i ||
            (found == option_table[i].letter && option_is_of(&option_table[i], command)))
            return &option_table[i];
    return NULL;
}

/* Words of other programs. */
static const char *const other_words[][2] = {
    {"overwrite", "force"}, {"jobs", "threads"}, {"workers", "threads"},
    {"out", "output"},      {"game", "board"},   {"memory", "max-memory"},
};

/* The long option that may be meant by a word without its dashes, or NULL. */
static const char *nearest(const char *word, size_t length, const struct option *longs)
{
    char name[TEXT_MAX_WORD + 1];
    const char *found = NULL;
    size_t least = length > 6 ? 3 : 2; /* letters that may be wrong: fewer */

    snprintf(name, sizeof name, "%.*s", (int)length, word);
    for (size_t i = 0; i < sizeof other_words / sizeof *other_words; i++)
        if (strcmp(name, other_words[i][0]) == 0)
            snprintf(name, sizeof name, "%s", other_words[i][1]);
    for (; longs->name != NULL; longs++) {
        const size_t distance = text_distance(name, longs->name);

        if (distance < least) {
            least = distance;
            found = longs->name;
        }
    }
    return found;
}

/* Is it the whole name of a long option, after one dash? */
static bool is_long(const char *word, const struct option *longs)
{
    while (longs->name != NULL && strcmp(word, longs->name) != 0)
        longs++;
    return longs->name != NULL;
}

static int refuse_unknown(const char *word, const struct option *longs, struct error *err)
{
    const size_t n_dashes = strspn(word, "-"), length = strcspn(word, "=");
    const char *meant = nearest(word + n_dashes, length - n_dashes, longs);

    return error_set(err, ERROR_USAGE, "unknown option %s%s%s%s",
                     text_quote_bytes(word, length).text, meant != NULL ? "; did you mean '--" : "",
                     meant != NULL ? meant : "", meant != NULL ? "'?" : "");
}

/* Have the usage printed, too. */
static int misuse(int status, struct error *err)
{
    err->code = ERROR_CODE_CALL;
    return status;
}

/* The argument that getopt stopped at, without a value after '='. */
static int refuse(int found, const struct option *longs, char **argv, struct error *err)
{
    const char *word = argv[optind - 1], *what;
    const struct option *all = longs;
    const size_t length = strcspn(word, "=");
    int n_matches = 0;

    if (strncmp(word, "--", 2) != 0)
        return error_set(err, ERROR_USAGE,
                         found == ':' ? "option '-%c' needs a value" : "unknown option '-%c'",
                         optopt);
    for (; longs->name != NULL; longs++) {
        if (strncmp(longs->name, word + 2, length - 2) != 0)
            continue;
        n_matches++;
        if (longs->name[length - 2] == '\0') { /* its whole name, not short for others */
            n_matches = 1;
            break;
        }
    }
    if (found == ':')
        what = "%s needs a value";
    else if (n_matches == 1)
        what = "%s takes no value";
    else if (n_matches > 1)
        what = "%s is short for several options";
    else
        return refuse_unknown(word, all, err);
    return error_set(err, ERROR_USAGE, what, text_quote_bytes(word, length).text);
}

int option_parse(const char *command, int argc, char **argv, struct settings *settings,
                 int *first_operand, struct error *err)
{
    char shorts[2 * MAX_OPTIONS + 2];
    struct option longs[MAX_OPTIONS];
    int found;

    *settings = settings_default;
    build(command, shorts, longs);
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (argv[i][0] == '-' && argv[i][1] != '-' && is_long(argv[i] + 1, longs))
            return misuse(refuse_unknown(argv[i], longs, err), err);
    opterr = 0;
    optind = 1;
    while ((found = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        const struct option_row *row = row_of(command, found);

        if (found == '?' || found == ':' || row == NULL)
            return misuse(refuse(found, longs, argv, err), err);
        if (row->kind == OPTION_END)
            command_end(row->letter == 'h' ? command : NULL);
        if (option_set(settings, row, optarg, err) != 0)
            return -1;
    }
    *first_operand = optind;
    for (int i = optind; i < argc; i++)
        if (strcmp(argv[i], "-") == 0)
            return error_set(err, ERROR_USAGE,
                             "'-': %s takes no standard streams here, only names of files",
                             command);
    if (settings->output != NULL && strcmp(settings->output, "-") == 0 &&
        strcmp(command, "show") != 0 && strcmp(command, "report") != 0)
        return error_set(err, ERROR_USAGE, "--output: %s cannot write to standard output", command);
    return settings_finish(settings, err);
}

/* The options of a command in groups: each begins with this row of the table. */
static const struct {
    const char *first, *title;
} groups[] = {
    {"board", "inputs and outputs"},   {"transforms", "which rows, in which order"},
    {"level", "how they are written"}, {"role", "what the arrays mean"},
    {"no-provenance", "more"},         {"threads", "what a run may use"},
    {"progress", "what it says"},
};

void option_print_words(const char *text, int column, FILE *to)
{
    const int first = column;

    for (text += strspn(text, " \n"); *text != '\0'; text += strspn(text, " \n")) {
        const int length = (int)strcspn(text, " \n");

        if (column > first && column + 1 + length > HELP_WIDTH)
            column = fprintf(to, "\n%*s", first, "") - 1;
        else if (column > first)
            column += fprintf(to, " ");
        column += fprintf(to, "%.*s", length, text);
        text += length;
    }
    fprintf(to, "\n");
}

void option_print_help(const char *command, FILE *to)
{
    size_t group = 0, shown = SIZE_MAX;

    for (size_t i = 0; i < option_n_table; i++) {
        const struct option_row *row = &option_table[i];
        int n;

        for (size_t k = group; k < sizeof groups / sizeof *groups; k++)
            if (strcmp(groups[k].first, row->name) == 0)
                group = k;
        if (!option_is_of(row, command))
            continue;
        if (group != shown)
            fprintf(to, "%s %s:\n", shown == SIZE_MAX ? "" : "\n", groups[group].title);
        shown = group;
        n = row->letter != 0 ? fprintf(to, "  -%c, --%s", row->letter, row->name)
                             : fprintf(to, "      --%s", row->name);
        if (row->argument != NULL)
            n += fprintf(to, "=%s", row->argument);
        if (n > HELP_COLUMN - 2)
            n = fprintf(to, "\n") - 1;
        fprintf(to, "%*s", HELP_COLUMN - n, "");
        option_print_words(row->help, HELP_COLUMN, to);
    }
}
