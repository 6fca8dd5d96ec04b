/*
 * option.c - command lines from the table of options (engine/option_table.c): each command's rows
 * become getopt_long's tables and the lines of its help, so that an option is written down once.
 * Both forms of an option give the number of its row; option_set stores the value.
 */
#include "cli/cli.h"

#include <getopt.h>

#define MAX_OPTIONS 96
#define HELP_COLUMN 30
#define HELP_WIDTH  79
#define FIRST_LONG  256 /* getopt_long's number of row 0 */

/* Words of other programs. */
static const char *const other_words[][2] = {
    {"overwrite", "force"}, {"jobs", "threads"}, {"workers", "threads"},
    {"out", "output"},      {"game", "board"},   {"memory", "max-memory"},
};

static int refuse_unknown(const char *word, const struct option *longs, struct error *err)
{
    const size_t n_dashes = strspn(word, "-"), length = strcspn(word, "=");
    const char *meant = NULL;
    size_t least = length - n_dashes > 6 ? 3 : 2; /* letters that may be wrong: fewer */
    char name[TEXT_MAX_WORD + 1];

    snprintf(name, sizeof name, "%.*s", (int)(length - n_dashes), word + n_dashes);
    for (size_t i = 0; i < sizeof other_words / sizeof *other_words; i++)
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

/* The argument that getopt stopped at, without a value after '='. */
static int refuse(int found, const struct option *longs, const char *word, struct error *err)
{
    const size_t length = strcspn(word, "=");
    int n_matches = 0;

    if (strncmp(word, "--", 2) != 0)
        return command_misuse(
            err, found == ':' ? "option '-%c' needs a value" : "unknown option '-%c'", optopt);
    for (const struct option *one = longs; one->name != NULL; one++) {
        if (strncmp(one->name, word + 2, length - 2) != 0)
            continue;
        n_matches++;
        if (one->name[length - 2] == '\0') { /* its whole name, not short for others */
            n_matches = 1;
            break;
        }
    }
    if (found != ':' && n_matches == 0)
        return refuse_unknown(word, longs, err);
    return command_misuse(err,
                          found == ':'     ? "%s needs a value"
                          : n_matches == 1 ? "%s takes no value"
                                           : "%s is short for several options",
                          text_quote_bytes(word, length).text);
}

int option_parse(const char *command, int argc, char **argv, struct settings *settings,
                 int *first_operand, struct error *err)
{
    char shorts[2 * MAX_OPTIONS + 2] = ":"; /* tell a missing argument from an unknown option */
    struct option longs[MAX_OPTIONS] = {0};
    size_t n_shorts = 1, n = 0;
    int found;

    *settings = settings_default;
    for (size_t i = 0; i < option_n_table && n < MAX_OPTIONS - 1; i++) {
        const struct option_row *row = &option_table[i];
        const bool has_argument = row->argument != NULL;

        if (!option_is_of(row, command))
            continue;
        longs[n++] = (struct option){row->name, has_argument ? required_argument : no_argument,
                                     NULL, FIRST_LONG + (int)i};
        if (row->letter != 0)
            shorts[n_shorts++] = row->letter;
        if (row->letter != 0 && has_argument)
            shorts[n_shorts++] = ':';
    }
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        for (size_t k = 0; argv[i][0] == '-' && longs[k].name != NULL; k++)
            if (strcmp(argv[i] + 1, longs[k].name) == 0) /* a whole name after one dash */
                return refuse_unknown(argv[i], longs, err);
    opterr = 0;
    optind = 1;
    while ((found = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        const struct option_row *row =
            found >= FIRST_LONG ? &option_table[found - FIRST_LONG] : NULL;

        for (size_t i = 0; i < option_n_table && row == NULL; i++)
            if (option_table[i].letter == found && option_is_of(&option_table[i], command))
                row = &option_table[i];
        if (row == NULL)
            return refuse(found, longs, argv[optind - 1], err);
        if (row->kind == OPTION_END)
            return row->letter == 'h' ? 'h' : 'v';
        if (option_set(settings, row, optarg, err) != 0)
            return -1;
    }
    *first_operand = optind;
    for (int i = optind; i < argc; i++)
        if (strcmp(argv[i], "-") == 0)
            return command_misuse(
                err, "'-': %s takes no standard streams here, only names of files", command);
    if (settings->output != NULL && strcmp(settings->output, "-") == 0 &&
        strcmp(command, "show") != 0 && strcmp(command, "report") != 0)
        return command_misuse(err, "--output: %s cannot write to standard output", command);
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

void option_print_words(const char *text, int column)
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

void option_print_help(const char *command)
{
    size_t group = 0, shown = SIZE_MAX;

    for (size_t i = 0; i < option_n_table; i++) {
        const struct option_row *row = &option_table[i];

        for (size_t k = group; k < sizeof groups / sizeof *groups; k++)
            if (strcmp(groups[k].first, row->name) == 0)
                group = k;
        if (!option_is_of(row, command))
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
        option_print_words(row->help, HELP_COLUMN);
    }
}
