/* option.c - see option.h. */
#include "cli/option.h"

#include "base/text.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OPTIONS 96
#define HELP_COLUMN 30

/* The rows of a command as getopt_long wants them. */
static void build(unsigned command, char *shorts, struct option *longs)
{
    size_t n = 0;

    *shorts++ = ':'; /* tell a missing argument from an unknown option */
    for (size_t i = 0; i < option_n_table && n < MAX_OPTIONS - 1; i++) {
        const struct option_row *row = &option_table[i];

        if (!(row->commands & command))
            continue;
        longs[n++] = (struct option){
            row->name, row->argument != NULL ? required_argument : no_argument, NULL, row->id};
        if (row->id >= 256)
            continue;
        *shorts++ = (char)row->id;
        if (row->argument != NULL)
            *shorts++ = ':';
    }
    *shorts = '\0';
    longs[n] = (struct option){0};
}

/* How many options a word may stand for, and whether it is the whole name of one. */
static int count_matches(const struct option *longs, const char *name, size_t length)
{
    int n = 0;

    for (; longs->name != NULL; longs++) {
        if (strncmp(longs->name, name, length) != 0)
            continue;
        if (longs->name[length] == '\0')
            return 1;
        n++;
    }
    return n;
}

/* The argument that getopt stopped at, without a value behind '='. */
static int refuse(int found, const struct option *longs, char **argv, struct error *err)
{
    const char *word = argv[optind - 1], *what = "unknown option %s";
    size_t length = strcspn(word, "=");
    int n_matches;

    if (strncmp(word, "--", 2) != 0)
        return error_set(err, ERROR_USAGE,
                         found == ':' ? "option '-%c' needs a value" : "unknown option '-%c'",
                         optopt);
    n_matches = count_matches(longs, word + 2, length - 2);
    if (found == ':')
        what = "%s needs a value";
    else if (n_matches == 1)
        what = "%s takes no value";
    else if (n_matches > 1)
        what = "%s is short for several options";
    return error_set(err, ERROR_USAGE, what, text_quote_bytes(word, length).text);
}

int option_parse(unsigned command, int argc, char **argv, option_apply apply, void *self,
                 int *first_operand, struct error *err)
{
    char shorts[2 * MAX_OPTIONS + 2];
    struct option longs[MAX_OPTIONS];
    int found;

    build(command, shorts, longs);
    opterr = 0;
    optind = 1;
    while ((found = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        if (found == '?' || found == ':')
            return refuse(found, longs, argv, err);
        if (apply(self, found, optarg, err) != 0)
            return -1;
    }
    *first_operand = optind;
    return 0;
}

void option_print_help(unsigned command, FILE *to)
{
    for (size_t i = 0; i < option_n_table; i++) {
        const struct option_row *row = &option_table[i];
        int n;

        if (!(row->commands & command))
            continue;
        n = row->id < 256 ? fprintf(to, "  -%c, --%s", row->id, row->name)
                          : fprintf(to, "      --%s", row->name);
        if (row->argument != NULL)
            n += fprintf(to, "=%s", row->argument);
        fprintf(to, "%*s%s\n", n < HELP_COLUMN ? HELP_COLUMN - n : 2, "", row->help);
    }
}
