/*
 * option.h - command lines: getopt_long and help from the one table of options.
 */
#ifndef SYMAUG_CLI_OPTION_H
#define SYMAUG_CLI_OPTION_H

#include "engine/settings.h"

#include <stdio.h>

/*
 * Parse a command's arguments (argv[0] is the command) into settings, which start as
 * settings_default and are finished; the caller releases them, also on failure. Operands end up in
 * argv[*first_operand .. argc - 1], whichever order they came in. ERROR_USAGE for what the table
 * does not hold. Help and version end the program.
 */
int option_parse(const char *command, int argc, char **argv, struct settings *settings,
                 int *first_operand, struct error *err);

/* Print words from a column on, at which the line is already, in lines of up to 79 columns. */
void option_print_words(const char *text, int column, FILE *to);

/* Print the options of a command, two columns, in groups. */
void option_print_help(const char *command, FILE *to);

#endif
