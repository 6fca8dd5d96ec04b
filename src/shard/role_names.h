/*
 * role_names.h - what the name of an array says about its role, before its shape is looked at.
 */
#ifndef SYMAUG_SHARD_ROLE_NAMES_H
#define SYMAUG_SHARD_ROLE_NAMES_H

#include "board/board.h"
#include "shard/role.h"

#include <stdbool.h>
#include <stddef.h>

enum role_name_flag {
    NAME_PER_PLAYER = 1, /* one column per player, however many (values_mp) */
    NAME_MAY_SPREAD = 2, /* COPY: may also hold something per cell, so the shape is looked at */
    NAME_NEVER_ROWS = 4, /* DROP: whatever its shape */
    NAME_COUNTS = 8,     /* POLICY: counts, which need not add up to 1 */
};

struct role_name_rule {
    const char *name;                          /* matched without regard to case */
    enum role role;                            /* of an array with that name and a fitting shape */
    unsigned flags;                            /* enum role_name_flag */
    bool (*is_for)(const struct board *board); /* only on such boards, or NULL */
};

/* The rule for an array of that key, or NULL. Without a board (NULL) rules of every family hold. */
const struct role_name_rule *role_name_find(const char *key, const struct board *board);

/* True when a name suggests move indices or coordinates (move, pos, cell, best, ...). */
bool role_name_suggests_cells(const char *key);

/* The parts of a sparse policy: PREFIX_indices, PREFIX_values or _data, PREFIX_offsets or _indptr.
 */
enum sparse_part {
    SPARSE_INDICES,
    SPARSE_VALUES,
    SPARSE_DATA,
    SPARSE_OFFSETS,
    SPARSE_INDPTR,
    N_SPARSE_PARTS
};

/* The ending of a part's name, "_indices". */
extern const char *const role_sparse_endings[N_SPARSE_PARTS];

/* Length of PREFIX when the key is PREFIX and the part's ending; 0 when it is not. */
size_t role_sparse_prefix(const char *key, enum sparse_part part);

/* True when the first n_bytes of key name a policy ("policy", "pol", "pi", "visits", ...), and of
 * that, counts of visits. */
bool role_prefix_is_policy(const char *key, size_t n_bytes);
bool role_prefix_is_counts(const char *key, size_t n_bytes);

#endif
