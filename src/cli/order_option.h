/*
 * order_option.h - the option --order of commands that read expanded sets.
 */
#ifndef SYMAUG_CLI_ORDER_OPTION_H
#define SYMAUG_CLI_ORDER_OPTION_H

#include "verify/verify.h"

/* Take block:B, sample or transform into the request; ERROR_USAGE for anything else. */
int order_option(struct verify_request *request, const char *text, struct error *err);

#endif
