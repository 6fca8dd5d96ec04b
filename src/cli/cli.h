/*
 * cli.h - what the commands of the program share: their table, the words of a command line, inputs
 * and outputs, and what is printed.
 */
#pragma once

#include "base/json_load.h"
#include "base/meter.h"
#include "engine/plan.h"
#include "verify/verify.h"

#include <time.h>

/* --- inputs --- */

/* Append the names in a file ("-": standard input), one a line, or with `zero` NUL-terminated.
 * Empty names are passed over. */
int input_list_add_from(struct text_list *list, const char *file, bool zero, struct error *err);

/* Sort a list and leave each name once. Returns the first one that was there twice, or NULL. */
const char *input_list_make_set(struct text_list *list);

/* ERROR_USAGE when two paths have the same base name, or one has none. `what` they are: "inputs".
 */
int input_list_check_names(const struct text_list *list, const char *what, struct error *err);

/* --- progress --- */

/* The line that says how far a command is. */
struct progress {
    struct meter meter;
    const char *unit; /* what its pieces are called: "file" */
    struct timespec started;
    double next;               /* seconds after that: when to draw it again */
    size_t piece;              /* that was shown last, */
    uint64_t n_last, n_before; /* its bytes that are done, and those of the pieces before */
    bool is_drawn, is_used;    /* at the moment; ever */
};

/* Begin; it becomes the settings' meter if the line is wanted. */
void progress_begin(struct progress *p, struct settings *settings);

/* Say what was done, if the line was ever drawn. */
void progress_end(const struct progress *p, const char *command);

/* Clear the line: something else is to be printed. */
void progress_hide(const struct settings *settings);

double seconds_since(const struct timespec *start);

/* --- what is printed --- */

/* Print a line on standard error, where that of progress stands aside, or where the settings say.
 */
__attribute__((format(printf, 2, 3))) void command_say(const struct settings *settings,
                                                       const char *format, ...);

/* ERROR_CANT_CREATE when a file that is to be written (NULL or "-": none is) is one of others,
 * each of which may be NULL, or a shard or array in a folder among them: even --force must not
 * replace what the same call reads or writes. */
int command_check_apart(const char *path, const char *const *others, size_t n, struct error *err);

/* Write a file that is there as a whole or not at all; NULL or "-" is standard output: ERROR_IO
 * when this, or what was printed before, did not get there. */
int command_put(const char *path, bool force, const char *text, size_t n_bytes, struct error *err);

/* Print JSON (whose reference is taken over), or write it to a file, which is replaced: keys
 * sorted, so that the same answer is the same bytes, and a newline. */
int command_put_json(const char *path, json_t *json, struct error *err);

/* --- commands --- */

/* A command line, understood. */
struct call {
    struct settings settings;
    char **words;    /* borrowed: the command and all that follows it */
    char **operands; /* owned list of borrowed words, NULL after the last */
    int n_operands;
    struct text options;     /* owned: those that `verify` has, too, quoted for a shell */
    struct text_list inputs; /* of run_take_operands */
    struct progress progress;
};

struct command {
    const char *name;
    const char *operands; /* "[--board B] IN OUT" */
    const char *summary;
    const char *details; /* more lines for the help, or NULL */
    const char *example; /* one line, without "symaug" */

    /* Returns the exit code; -1 with err set where an error is to be printed. */
    int (*run)(struct call *call, struct error *err);
};

/* Every command, one row each, defined in its own file. */
extern const struct command *const command_table[];
extern const size_t command_n_table;

/* Do what the program's arguments say. Returns the exit code, once an error is printed. */
int command_line(int argc, char **argv);

/* error_set for a command line that is none of the command's: the usage is printed, too. */
#define command_misuse(err, ...) \
    (error_set(err, ERROR_USAGE, __VA_ARGS__), (err)->code = ERROR_CODE_CALL, error_failed())

/* --- writing shards --- */

/* The operands and --files-from as inputs. Without -o and --out-dir the last of two operands is the
 * output. */
int run_take_operands(struct call *call, struct error *err);

/* The form of an output of that name, where none was told, and what follows from it. */
void run_settle_form(struct settings *settings, const char *output);

/* Make the folder of --out-dir, unless it is there or nothing is to be written. */
int run_make_folder(const struct settings *settings, struct error *err);

/* Write the plan's outputs, or with --dry-run say what they would be. With --stats a line for each
 * is added to stats, else NULL. Returns 1 where --skip-existing found another output than would be
 * written. */
int run_plan(const struct settings *settings, struct plan *plan, const char *output, json_t *stats,
             struct error *err);

/* --- findings --- */

/* Verify every path and print what is found. Returns the exit code, or -1 with err set. */
int verify_print_all(const struct verify_request *request, int n, char **paths, struct error *err);
