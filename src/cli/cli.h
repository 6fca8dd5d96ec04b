/*
 * cli.h - shared by the commands: their table, a parsed command line, inputs and outputs, progress,
 * printing.
 */
#pragma once

#include "base/meter.h"
#include "engine/survey.h"
#include "verify/verify.h"

#include <time.h>

/* --- inputs --- */

/* Append the names listed in a file ("-": standard input), one per line, or with `zero`
 * NUL-terminated. Empty names are skipped. */
int input_list_add_from(struct text_list *list, const char *file, bool zero, struct error *err);

/* --- progress --- */

/* The line that shows the progress of a command. */
struct progress {
    struct meter meter;
    const char *unit; /* what a piece is called: "file" */
    struct timespec started;
    double next;               /* when to draw the line again, in seconds since then */
    size_t piece;              /* the piece shown last, */
    uint64_t n_last, n_before; /* its bytes done, and those of the pieces before it */
    bool is_drawn, is_used;    /* now; ever */
};

/* Begin; if the line is wanted, the settings' meter becomes this one. */
void progress_begin(struct progress *p, struct settings *settings);

/* Print what was done, if the line was ever drawn. */
void progress_end(const struct progress *p, const char *command);

/* Clear the line before something else is printed. */
void progress_hide(const struct settings *settings);

double seconds_since(const struct timespec *start);

/* --- printing --- */

/* Print a line on standard error, after clearing the progress line, or to settings->said: -1
 * always, 0 unless --quiet is given, 1 with --verbose. */
__attribute__((format(printf, 3, 4))) void command_say(const struct settings *settings, int least,
                                                       const char *format, ...);

/* ERROR_CANT_CREATE when --stats or --conflicts is a file that is written with an output. */
int command_check_lists(const struct settings *settings, const char *output, struct error *err);

/* Write a file atomically. NULL or "-": print, and flush standard output; ERROR_IO when this, or
 * anything printed before, could not be written. */
int command_put(const char *path, bool force, const char *text, size_t n_bytes, struct error *err);

/* Print JSON, or write it to a file, which is replaced. Keys are sorted, so that equal values give
 * equal bytes. Takes over the reference; NULL is out of memory. */
int command_put_json(const char *path, json_t *json, struct error *err);

/* --- commands --- */

/* A parsed command line. */
struct call {
    struct settings settings;
    char **operands; /* borrowed: the words that are not options, NULL after the last */
    int n_operands;
    struct text typed[2];     /* owned: the line as it was typed, before "--" and from there on, */
    struct text options;      /* and the options that `verify` has, too; all quoted for a shell */
    struct text_list inputs;  /* owned: what is read, unless the command TAKES_ANY */
    size_t n_named;           /* with the inputs of other parts, which follow those of this one */
    struct text_list outputs; /* owned: of TAKES_SHARDS, as call_name_outputs has them, or one */
    struct survey_seen seen;  /* owned: codes of all inputs together */
    struct progress progress;
};

/* What a command's operands are. */
enum takes {
    TAKES_ANY,    /* checked by the command */
    TAKES_FILE,   /* one to read */
    TAKES_FILES,  /* one or more to read */
    TAKES_OUTPUT, /* one file to write */
    TAKES_SHARDS, /* IN OUT; with -o or --out-dir all are inputs */
};

struct command {
    const char *name;

    /* For option_is_of: its name, its groups, and options beside theirs ("--json"). Groups are
     * MOVES, commands that transform rows; READS, that read shards; FOLDS, that write rows
     * unchanged; KEYS, that compare positions. */
    const char *options;
    enum takes takes;
    const char *operands; /* as the usage has them: "[--board B] IN OUT" */
    const char *summary;
    const char *details; /* more text for the help, or NULL */
    const char *example; /* one line, without "symaug" */

    /* Before any file is looked at: refuse settings that do not go together, and set what the
     * command itself decides. 0, or -1 with err set; or NULL. */
    int (*check)(struct call *call, struct error *err);

    /* Returns the exit code, or -1 with err set. */
    int (*run)(struct call *call, struct error *err);
};

/* All commands, each defined in its own file. */
extern const struct command *const command_table[];
extern const size_t command_n_table;

/* Check the operands and settings of a command: how many there are, what `check` says, and that all
 * outputs can be created and replace nothing that the command reads. Fills call->inputs,
 * call->outputs but for parts, and settings->output where it is an operand. */
int call_take_operands(struct call *call, const struct command *command, struct error *err);

/* Append to call->outputs what the output of each input is called in the folder of --out-dir: like
 * the input, with the ending of its own form; or, of a part, NAME.PART.npz (with the ending of its
 * form) for NAME.npz, NAME.npy or a folder NAME. Refuses equal names, outputs that exist unless
 * options say otherwise, and for a part those that are inputs, since these are read again for other
 * parts. */
int call_name_outputs(struct call *call, const char *part, struct error *err);

/* Run the program with its arguments. Prints errors; returns the exit code. */
int command_line(int argc, char **argv);

/* error_set for misuse of a command: its usage is printed, too. */
#define command_misuse(err, ...) \
    (error_set(err, ERROR_USAGE, __VA_ARGS__), (err)->code = ERROR_CODE_CALL, error_failed())

/* --- writing shards --- */

/* Unless --format was given, set the form of an output of that name; and what depends on it. */
void run_settle_form(struct settings *settings, const char *output);

/* Write the plan's outputs, in the folder of --out-dir, which is made if it does not exist; or with
 * --dry-run print what they would be. `outputs` are their names where each input has its own, or
 * the one name that the names of shards are made of. If stats is not NULL, append an object for
 * each. Returns 1 when --skip-existing found an output that differs from what would be written. */
int run_plan(const struct settings *settings, struct plan *plan, char *const *outputs,
             json_t *stats, struct error *err);

/* What is done with input i: settings of its own, which may be changed, and a list of statistics to
 * append to. Returns as run_plan. */
typedef int (*run_input)(struct settings *one, size_t i, json_t *stats, void *self,
                         struct error *err);

/* Do all inputs of a call, several at once. Returns as run_plan, and 1 also when --skip-bad skipped
 * an input. */
int run_each(const struct call *call, run_input do_input, void *self, json_t *stats,
             struct error *err);

/* --- findings --- */

/* Verify n paths and print the findings. Returns the exit code, or -1 with err set. */
int verify_print_all(const struct verify_request *request, int n, char **paths, struct error *err);
