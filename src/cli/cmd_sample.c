/* cmd_sample.c - symaug sample. */
#include "base/text.h"
#include "cli/command.h"
#include "cli/option.h"
#include "engine/threads.h"
#include "sample/sample.h"

#include <stdio.h>

/* The command line of one call. */
struct call {
    struct sample_settings settings;
    bool rows_said;
    int verbosity;
};

static int apply(void *self, int id, const char *argument, struct error *err)
{
    struct call *call = self;

    if (command_common_option(CMD_SAMPLE, id, &call->verbosity))
        return 0;
    switch (id) {
    case OPT_BOARD:
        call->settings.board = argument;
        return 0;
    case OPT_FORCE:
        call->settings.force = true;
        return 0;
    case OPT_ROWS:
        call->rows_said = true;
        if (text_parse_u64(argument, &call->settings.n_rows) == 0 &&
            call->settings.n_rows <= SAMPLE_MAX_ROWS)
            return 0;
        return error_set(err, ERROR_USAGE, "--rows: %s is no number from 0 to %llu",
                         text_quote(argument).text, (unsigned long long)SAMPLE_MAX_ROWS);
    case OPT_SEED:
        if (text_parse_u64(argument, &call->settings.seed) == 0)
            return 0;
        return error_set(err, ERROR_USAGE, "--seed: %s is no whole number below 2^64",
                         text_quote(argument).text);
    default:
        return error_set(err, ERROR_INTERNAL, "option %d is not handled", id);
    }
}

static int check(const struct call *call, int n_operands, struct error *err)
{
    if (n_operands != 1)
        return error_set(err, ERROR_USAGE, "expected OUT, found %d operands", n_operands);
    if (call->settings.board == NULL)
        return error_set(err, ERROR_USAGE, "no board given; use --board BOARD");
    if (!call->rows_said)
        return error_set(err, ERROR_USAGE, "no number of rows given; use --rows N");
    return 0;
}

int cmd_sample(int argc, char **argv, struct error *err)
{
    struct call call = {.settings = {.seed = 1, .n_threads = threads_usable()}};
    struct sample_result result;
    int first;

    if (option_parse(CMD_SAMPLE, argc, argv, apply, &call, &first, err) != 0 ||
        check(&call, argc - first, err) != 0 ||
        sample_write(argv[first], &call.settings, &result, err) != 0)
        return -1;
    if (call.verbosity > 0)
        fprintf(stderr, "symaug: %s: %llu rows of %llu games, %s in %s\n",
                text_path(argv[first]).text, (unsigned long long)call.settings.n_rows,
                (unsigned long long)result.n_games, text_size(result.unpacked_nbytes).text,
                text_size(result.n_bytes).text);
    return 0;
}
