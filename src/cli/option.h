/*
 * option.h - the one table of all options: getopt_long, help and completions come from it.
 */
#ifndef SYMAUG_CLI_OPTION_H
#define SYMAUG_CLI_OPTION_H

#include "base/error.h"

#include <stdio.h>

/* Commands an option belongs to. */
enum command_bit {
    CMD_EXPAND = 1 << 0,
    CMD_INFO = 1 << 1,
    CMD_BOARDS = 1 << 2,
    CMD_SAMPLE = 1 << 3,
    CMD_VERIFY = 1 << 4,
    CMD_SHOW = 1 << 5,
    CMD_MANIFEST = 1 << 6,
    CMD_ALL = (1 << 7) - 1,
};

/* What getopt_long returns: options with a short form use its letter. */
enum option_id {
    OPT_HELP = 'h',
    OPT_VERSION = 256,
    OPT_BOARD = 'b',
    OPT_OUTPUT = 'o',
    OPT_FORCE = 'f',
    OPT_THREADS = 'j',
    OPT_DRY_RUN = 'n',
    OPT_QUIET = 'q',
    OPT_VERBOSE = 'v',
    OPT_LEVEL = 'l',
    OPT_NULL = '0',
    OPT_OUT_DIR = 512,
    OPT_FILES_FROM,
    OPT_PART,
    OPT_SKIP_EXISTING,
    OPT_SKIP_BAD,
    OPT_STATS,
    OPT_TRANSFORMS,
    OPT_PICK,
    OPT_KEEP_IDENTITY,
    OPT_UNIQUE,
    OPT_SHUFFLE,
    OPT_ROWS_PER_SHARD,
    OPT_ORDER,
    OPT_ROLE,
    OPT_COPY,
    OPT_SCHEMA,
    OPT_POLICY,
    OPT_PLANES,
    OPT_VALUE,
    OPT_TO_MOVE,
    OPT_PLANE_ORDER,
    OPT_AMBIGUOUS,
    OPT_CASTLING,
    OPT_CASTLING_PLANES,
    OPT_TILES,
    OPT_NO_PROVENANCE,
    OPT_FORMAT,
    OPT_SIDECAR,
    OPT_NO_MMAP,
    OPT_MAX_MEMORY,
    OPT_TMPDIR,
    OPT_PROGRESS,
    OPT_JSON,
    OPT_WRITE_SCHEMA,
    OPT_CHECK,
    OPT_ACTION,
    OPT_ROWS,
    OPT_SEED,
    OPT_LEAK,
    OPT_MAX_FINDINGS,
    OPT_ROW,
    OPT_COLOR,
};

struct option_row {
    int id;               /* enum option_id; below 256 it is also the short form */
    const char *name;     /* without the dashes */
    const char *argument; /* "FILE", or NULL */
    const char *help;
    unsigned commands; /* enum command_bit */
};

extern const struct option_row option_table[];
extern const size_t option_n_table;

/* Called for each option found. Returns -1 with err set to refuse its argument. */
typedef int (*option_apply)(void *self, int id, const char *argument, struct error *err);

/*
 * Parse a command's arguments (argv[0] is the command). Operands end up in argv[*first_operand ..
 * argc - 1], whichever order they came in. ERROR_USAGE for what the table does not hold.
 */
int option_parse(unsigned command, int argc, char **argv, option_apply apply, void *self,
                 int *first_operand, struct error *err);

/* Print the options of a command, two columns. */
void option_print_help(unsigned command, FILE *to);

#endif
