/*
 * verify_roles.h - the roles of a shard's arrays, with a board, with several that would do, or with
 * none.
 */
#ifndef SYMAUG_VERIFY_VERIFY_ROLES_H
#define SYMAUG_VERIFY_VERIFY_ROLES_H

#include "verify/verify_shard.h"

/*
 * Fill shard->bindings and n_rows. Without a board, boards that the planes' shape allows are tried;
 * the first one that fits all arrays lends its roles (found.is_lent). What fits no
 * board is read by names alone. Arrays that contradict each other are findings.
 */
int verify_decide_roles(struct shard *shard, struct verify_result *result, struct error *err);

#endif
