/*
 * role_finish.h - the last step of inferring roles.
 */
#ifndef SYMAUG_SHARD_ROLE_FINISH_H
#define SYMAUG_SHARD_ROLE_FINISH_H

#include "shard/role_context.h"

/* Give moves the layout of the shard's policy, and planes their order, once all roles are known. */
int role_finish(const struct role_context *c, struct error *err);

#endif
