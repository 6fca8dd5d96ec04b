/* cmd_verify.c - symaug verify: is a shard sound, and an expanded set the exact orbit of its
 * source? */
#include "base/text.h"
#include "cli/command.h"
#include "cli/option.h"
#include "cli/order_option.h"
#include "cli/reading.h"
#include "cli/verify_print.h"
#include "engine/threads.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_MAX_FINDINGS 100

struct call {
    struct plan_request reading;
    struct verify_request request;
    const char **leaks; /* owned list */
    bool json;
    int verbosity;
};

static int add_leak(struct call *call, const char *path, struct error *err)
{
    const char **grown = realloc(call->leaks, (call->request.n_leaks + 1) * sizeof *grown);

    if (grown == NULL)
        return error_no_memory(err, "options");
    call->leaks = grown;
    grown[call->request.n_leaks++] = path;
    return 0;
}

static int parse_count(const char *option, const char *text, uint64_t least, uint64_t most,
                       uint64_t *count, struct error *err)
{
    if (text_parse_u64(text, count) == 0 && *count >= least && *count <= most)
        return 0;
    return error_set(err, ERROR_USAGE, "--%s: %s is no number from %llu to %llu", option,
                     text_quote(text).text, (unsigned long long)least, (unsigned long long)most);
}

static int apply(void *self, int id, const char *argument, struct error *err)
{
    struct call *call = self;
    uint64_t count = 0;
    int handled = reading_option(&call->reading, id, argument, err), status = 0;

    if (handled != 0)
        return handled < 0 ? -1 : 0;
    if (command_common_option(CMD_VERIFY, id, &call->verbosity))
        return 0;
    switch (id) {
    case OPT_ORDER:
        return order_option(&call->request, argument, err);
    case OPT_LEAK:
        return add_leak(call, argument, err);
    case OPT_JSON:
        call->json = true;
        return 0;
    case OPT_MAX_FINDINGS:
        status = parse_count("max-findings", argument, 0, 1000000000, &count, err);
        call->request.max_findings = (size_t)count;
        return status;
    case OPT_THREADS:
        status = parse_count("threads", argument, 1, 1024, &count, err);
        call->request.n_threads = (int)count;
        return status;
    default:
        return error_set(err, ERROR_INTERNAL, "option %d is not handled", id);
    }
}

int cmd_verify(int argc, char **argv, struct error *err)
{
    struct call call = {
        .reading = reading_defaults,
        .request = {.max_findings = DEFAULT_MAX_FINDINGS},
    };
    int first, status;

    call.request.n_threads = threads_usable();
    status = option_parse(CMD_VERIFY, argc, argv, apply, &call, &first, err);
    call.request.reading = &call.reading;
    call.request.leaks = call.leaks;
    if (status == 0)
        status = reading_finish(&call.reading, err);
    if (status == 0 && first == argc)
        status = error_set(err, ERROR_USAGE, "no file given");
    if (status == 0)
        status = verify_print_all(&call.request, argc - first, argv + first, call.json,
                                  call.verbosity, err);
    free(call.leaks);
    reading_release(&call.reading);
    return status;
}
