/*
 * command.h - the commands: a table of name, function and help.
 */
#ifndef SYMAUG_CLI_COMMAND_H
#define SYMAUG_CLI_COMMAND_H

#include "base/error.h"

#include <stddef.h>

struct command {
    const char *name;
    unsigned bit;         /* enum command_bit */
    const char *operands; /* "[--board B] IN OUT" */
    const char *summary;
    const char *details; /* more lines for the help, or NULL */

    /* Returns the exit code; -1 with err set where an error is to be printed. */
    int (*run)(int argc, char **argv, struct error *err);
};

extern const struct command command_table[];
extern const size_t command_n_table;

int cmd_expand(int argc, char **argv, struct error *err);
int cmd_info(int argc, char **argv, struct error *err);
int cmd_boards(int argc, char **argv, struct error *err);
int cmd_sample(int argc, char **argv, struct error *err);
int cmd_verify(int argc, char **argv, struct error *err);
int cmd_show(int argc, char **argv, struct error *err);
int cmd_manifest(int argc, char **argv, struct error *err);

/* Handle the options that all commands share (help, version, quiet, verbose). Returns 1 when id
 * was one of them, else 0. Help and version end the program. verbosity becomes -1 for quiet, 1 for
 * verbose. */
int command_common_option(unsigned bit, int id, int *verbosity);

/* The command of that name, or NULL. */
const struct command *command_find(const char *name);

/* Print the list of commands, a command's help, the versions. */
void command_print_overview(void);
void command_print_help(const struct command *command);
void command_print_version(void);

/* Print an error the way everything else does. Returns the exit code. */
int command_fail(const struct error *err);

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
