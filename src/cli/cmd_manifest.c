/* cmd_manifest.c - symaug manifest check: do the outputs that a manifest lists stand there, with
 * their sizes, rows and arrays? */
#include "base/text.h"
#include "cli/command.h"
#include "cli/option.h"
#include "cli/reading.h"
#include "cli/verify_print.h"

#include <string.h>

struct call {
    bool json;
    int verbosity;
};

static int apply(void *self, int id, const char *argument, struct error *err)
{
    struct call *call = self;

    (void)argument;
    if (command_common_option(CMD_MANIFEST, id, &call->verbosity))
        return 0;
    if (id != OPT_JSON)
        return error_set(err, ERROR_INTERNAL, "option %d is not handled", id);
    call->json = true;
    return 0;
}

static int check(const struct call *call, int n, char **paths, struct error *err)
{
    const struct plan_request reading = reading_defaults;
    const struct verify_request request = {
        .reading = &reading, .max_findings = 100, .n_threads = 1, .headers_only = true};

    return verify_print_all(&request, n, paths, call->json, call->verbosity, err);
}

int cmd_manifest(int argc, char **argv, struct error *err)
{
    struct call call = {0};
    int first;

    if (option_parse(CMD_MANIFEST, argc, argv, apply, &call, &first, err) != 0)
        return -1;
    if (argc - first < 2 || strcmp(argv[first], "check") != 0)
        return error_set(err, ERROR_USAGE,
                         argc == first || strcmp(argv[first], "check") == 0
                             ? "expected check MANIFEST..."
                             : "%s: the only job is: check MANIFEST...",
                         argc == first ? "" : text_quote(argv[first]).text);
    return check(&call, argc - first - 1, argv + first + 1, err);
}
