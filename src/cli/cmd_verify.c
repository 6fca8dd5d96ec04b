/*
 * cmd_verify.c - symaug verify: is each shard sound, and is an expanded set the exact orbit of its
 * sources? The checks are in src/verify; what they find is printed by verify_print.c, which
 * `manifest check` shares.
 */
#include "cli/command.h"
#include "cli/option.h"
#include "cli/verify_print.h"

static int run_verify(int argc, char **argv, struct error *err)
{
    struct settings settings;
    const struct verify_request request = {.settings = &settings};
    int first, status = option_parse("verify", argc, argv, &settings, &first, err);

    if (status == 0 && first == argc)
        status = error_set(err, ERROR_USAGE, "no file given");
    if (status == 0)
        status = verify_print_all(&request, argc - first, argv + first, err);
    settings_release(&settings);
    return status;
}

const struct command command_verify = {
    "verify",
    "[OPTION]... FILE|MANIFEST...",
    "check shards, and expanded sets against the exact orbits of their sources",
    "One line per finding, with a code in brackets; exit 1 when there are errors. An expanded set "
    "is\n"
    "known by its provenance arrays, its manifest, or its rows; --order says it otherwise. A "
    "name\n"
    "that ends in .json is a manifest: all outputs that it lists are checked.",
    run_verify,
};
