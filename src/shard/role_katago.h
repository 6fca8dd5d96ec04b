/*
 * role_katago.h - the exact members of a KataGo training shard.
 */
#ifndef SYMAUG_SHARD_ROLE_KATAGO_H
#define SYMAUG_SHARD_ROLE_KATAGO_H

#include "shard/role_context.h"

/* True when the archive holds every member that a KataGo shard must have, and no others. */
bool role_katago_is_shard(const struct archive_in *archive);

/* Bind array i of a shard on a KataGo board. An unknown member is ERROR_DATA. */
int role_katago_bind(const struct role_context *c, size_t i, struct error *err);

/* ERROR_DATA when a member is missing. */
int role_katago_check(const struct role_context *c, struct error *err);

#endif
