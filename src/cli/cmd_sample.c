/*
 * cmd_sample.c - symaug sample: a synthetic shard of random play, for tests, benchmarks and first
 * experiments. src/sample makes games and arrays.
 */
#include "cli/cli.h"

#include "sample/sample.h"

static int check_sample(struct call *call, struct error *err)
{
    if (call->settings.board == NULL)
        return command_misuse(err, "no board given; use --board BOARD");
    if (!call->settings.n_rows_said)
        return command_misuse(err, "no number of rows given; use --rows N");
    return 0;
}

static int run_sample(struct call *call, struct error *err)
{
    const struct settings *settings = &call->settings;
    struct sample_result result;

    if (sample_write(settings->output, settings, &result, err) != 0)
        return -1;
    command_say(settings, 1, "%s: %llu rows of %llu games, %s in %s",
                text_path(settings->output).text, (unsigned long long)settings->n_rows,
                (unsigned long long)result.n_games, text_size(result.unpacked_nbytes).text,
                text_size(result.n_bytes).text);
    return 0;
}

const struct command command_sample = {
    "sample",
    "sample",
    TAKES_OUTPUT,
    "--board BOARD --rows N [OPTION]... OUT",
    "make a synthetic shard: random play",
    NULL,
    "sample --board hex11 --rows 500 games.npz",
    check_sample,
    run_sample,
};
