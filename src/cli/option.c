/*
 * option.c - command lines from the table of options (engine/option_table.c): each command's rows
 * become getopt_long's tables and the lines of its help, so that an option is written down once.
 * Both forms of an option give the number of its row; option_set stores the value.
 */
#include "cli/option.h"

#include "base/text.h"
#include "cli/command.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OPTIONS 96
#define HELP_COLUMN 30
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

/* The argument that getopt stopped at, without a value after '='. */
static int refuse(int found, const struct option *longs, char **argv, struct error *err)
{
    const char *word = argv[optind - 1], *what = "unknown option %s";
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
    opterr = 0;
    optind = 1;
    while ((found = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        const struct option_row *row = row_of(command, found);

        if (found == '?' || found == ':' || row == NULL)
            return refuse(found, longs, argv, err);
        if (row->kind == OPTION_END)
            command_end(row->letter == 'h' ? command : NULL);
        if (option_set(settings, row, optarg, err) != 0)
            return -1;
    }
    *first_operand = optind;
    return settings_finish(settings, err);
}

void option_print_help(const char *command, FILE *to)
{
    for (size_t i = 0; i < option_n_table; i++) {
        const struct option_row *row = &option_table[i];
        int n;

        if (!option_is_of(row, command))
            continue;
        n = row->letter != 0 ? fprintf(to, "  -%c, --%s", row->letter, row->name)
                             : fprintf(to, "      --%s", row->name);
        if (row->argument != NULL)
            n += fprintf(to, "=%s", row->argument);
        fprintf(to, "%*s%s\n", n < HELP_COLUMN ? HELP_COLUMN - n : 2, "", row->help);
    }
}
