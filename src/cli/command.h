/*
 * command.h - the commands: a table of name, function and help.
 */
#ifndef SYMAUG_CLI_COMMAND_H
#define SYMAUG_CLI_COMMAND_H

#include "base/error.h"

#include <stddef.h>

struct command {
    const char *name;
    const char *operands; /* "[--board B] IN OUT" */
    const char *summary;
    const char *details; /* more lines for the help, or NULL */
    const char *example; /* one line, without "symaug" */

    /* argv[0] is the command. Returns the exit code; -1 with err set where an error is to be
     * printed. */
    int (*run)(int argc, char **argv, struct error *err);
};

/* Every command, one row each, defined in its own file. */
extern const struct command *const command_table[];
extern const size_t command_n_table;

/* The command of that name, or NULL; and the one whose name is nearest to a wrong one, or NULL. */
const struct command *command_find(const char *name);
const struct command *command_nearest(const char *name);

/* Print the list of commands, a command's help, the versions. */
void command_print_overview(void);
void command_print_help(const struct command *command);
void command_print_version(void);

/* Print a command's help (NULL: the versions) and end the program. */
_Noreturn void command_end(const char *command);

/* Print an error the way everything else does; where its words are wrong (ERROR_CODE_CALL), with
 * the usage and an example of the command (NULL: none is known). Returns the exit code. */
int command_fail(const struct error *err, const struct command *command);

/*
 * A library that ends the program (libgomp, without memory for a thread) must neither leave a temp
 * file behind nor say with its exit code that `verify` found problems: after command_guard_exit,
 * every end but that by command_exit has code 70.
 */
void command_guard_exit(void);
_Noreturn void command_exit(int code);

/* Flush standard output; ERROR_IO when what was printed did not get there. */
int command_flush(struct error *err);

#endif
