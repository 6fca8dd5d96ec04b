/*
 * reading.h - the options with which shards are read: board, roles, conventions, memory.
 */
#ifndef SYMAUG_CLI_READING_H
#define SYMAUG_CLI_READING_H

#include "engine/plan.h"

/* What holds when nothing is said. Copy it, then apply options. */
extern const struct plan_request reading_defaults;

/* Apply an option to a request. Returns 1 when it was one of these, 0 when not, -1 with err set
 * when its argument is refused. */
int reading_option(struct plan_request *request, int id, const char *argument, struct error *err);

/* After the last option: read the schema, whose roles count less than those of the options, and
 * fill in what depends on the environment (TMPDIR). */
int reading_finish(struct plan_request *request, struct error *err);

/* Free what the options allocated. */
void reading_release(struct plan_request *request);

#endif
