/*
 * expand_call.h - the command line of `symaug expand`, parsed.
 */
#ifndef SYMAUG_CLI_EXPAND_CALL_H
#define SYMAUG_CLI_EXPAND_CALL_H

#include "cli/input_list.h"
#include "cli/progress.h"
#include "engine/expand.h"
#include "engine/plan.h"

#include <stdbool.h>
#include <stdint.h>

struct expand_call {
    struct plan_request request;
    struct expand_settings settings;
    struct input_list inputs;
    const char *output;  /* one output of all inputs, or */
    const char *out_dir; /* one output each */
    const char *stats;   /* --stats, or NULL */
    enum progress_when progress;
    bool dry_run, skip_existing, skip_bad;
    int verbosity; /* -1 quiet, 0, 1 verbose */
    /* While parsing. */
    bool format_said;
    const char *files_from;
    bool zero; /* names in files_from end with NUL */
    uint64_t part, n_parts;
};

/* Parse and check the arguments. The caller releases it, also on failure. */
int expand_call_parse(struct expand_call *call, int argc, char **argv, struct error *err);

/* Settle what depends on the form of an output: where no --format is given, NAME.npy is a single
 * array. */
void expand_call_settle_form(struct expand_call *call, const char *output);

void expand_call_release(struct expand_call *call);

#endif
