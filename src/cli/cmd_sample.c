/*
 * cmd_sample.c - symaug sample: a synthetic shard of random play, for tests, benchmarks and first
 * tries. The command only checks its operands and reports; games and arrays are made in src/sample.
 */
#include "base/text.h"
#include "cli/command.h"
#include "cli/option.h"
#include "sample/sample.h"

#include <stdio.h>

static int run_sample(int argc, char **argv, struct error *err)
{
    struct settings settings;
    struct sample_result result;
    int first, status = option_parse("sample", argc, argv, &settings, &first, err);

    if (status == 0 && argc - first != 1)
        status = error_set(err, ERROR_USAGE, "expected OUT, found %d operands", argc - first);
    if (status == 0 && settings.board == NULL)
        status = error_set(err, ERROR_USAGE, "no board given; use --board BOARD");
    if (status == 0 && !settings.n_rows_said)
        status = error_set(err, ERROR_USAGE, "no number of rows given; use --rows N");
    if (status == 0)
        status = sample_write(argv[first], &settings, &result, err);
    if (status == 0 && settings.verbosity > 0)
        fprintf(stderr, "symaug: %s: %llu rows of %llu games, %s in %s\n",
                text_path(argv[first]).text, (unsigned long long)settings.n_rows,
                (unsigned long long)result.n_games, text_size(result.unpacked_nbytes).text,
                text_size(result.n_bytes).text);
    settings_release(&settings);
    return status;
}

const struct command command_sample = {
    "sample", "--board BOARD --rows N [OPTION]... OUT",    "make a synthetic shard: random play",
    NULL,     "sample --board hex11 --rows 500 games.npz", run_sample,
};
