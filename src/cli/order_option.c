/* order_option.c - see order_option.h. */
#include "cli/order_option.h"

#include "base/text.h"

#include <string.h>

int order_option(struct verify_request *request, const char *text, struct error *err)
{
    uint64_t block = 0;

    if (strcmp(text, "sample") == 0)
        block = 1;
    else if (strcmp(text, "transform") != 0 &&
             (strncmp(text, "block:", 6) != 0 || text_parse_u64(text + 6, &block) != 0 ||
              block == 0))
        return error_set(err, ERROR_USAGE, "--order: %s is none of block:B, sample, transform",
                         text_quote(text).text);
    request->order = VERIFY_ORDER_SAID;
    request->block_rows = block;
    return 0;
}
