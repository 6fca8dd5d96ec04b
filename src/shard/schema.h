/*
 * schema.h - roles as a JSON file, read with --schema and written by `info --schema`.
 *
 *   {"symaug_schema": 1,
 *    "policy": "ringrift",
 *    "plane_order": "xy",
 *    "arrays": {"features": "planes:nchw", "policy_indices": "policy-index:layout=ringrift"}}
 *
 * "policy" and "plane_order" say the same as the options --policy and --plane-order, an entry of
 * "arrays" the same as --role NAME=ROLE[:option,...]. Everything but the first key is optional.
 */
#ifndef SYMAUG_SHARD_SCHEMA_H
#define SYMAUG_SHARD_SCHEMA_H

#include "base/error.h"
#include "base/text.h"
#include "shard/role.h"

#define SCHEMA_VERSION    1
#define SCHEMA_MAX_NBYTES (16u << 20)

/*
 * Append what the file says to the request; read it before the options of the command line, which
 * then count more. A file that cannot be opened is ERROR_NO_INPUT; bad JSON, unknown keys, roles
 * and options are ERROR_DATA with the file's name.
 */
int schema_read(const char *path, struct role_request *request, struct error *err);

/*
 * Append the schema of a shard to `out`: every array with its role, so that reading it gives the
 * same bindings. A name that is not UTF-8 is ERROR_DATA.
 */
int schema_write(const struct archive_in *archive, const struct role_binding *bindings,
                 struct text *out, struct error *err);

#endif
