/*
 * role_context.h - the state of one inference of roles, shared by the files that do it.
 */
#ifndef SYMAUG_SHARD_ROLE_CONTEXT_H
#define SYMAUG_SHARD_ROLE_CONTEXT_H

#include "base/error.h"
#include "shard/role.h"
#include "shard/role_names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is known about one array before its shape is looked at. */
struct role_case {
    const struct role_override *told;   /* the last override of the array, or NULL */
    const struct role_name_rule *named; /* what its name says, or NULL */
    int sparse_index;                   /* the index array of the sparse policy that it is a part of
                                           (itself, perhaps), or -1 */
};

/* An array that could not be decided. */
struct role_problem {
    size_t array;
    char role[48]; /* the likeliest one */
    struct error why;
};

struct role_context {
    const struct archive_in *archive;
    const struct board *board;
    const struct role_request *request;
    struct role_binding *bindings;
    struct role_case *cases;
    const struct array **by_key; /* the arrays sorted by key */
    uint64_t n_rows;
    size_t rows_array;           /* the array that n_rows was taken from */
    uint32_t box_rows, box_cols; /* of planes (5 x 5 on Take It Easy), 0 where there is no box */
    bool swaps_colours;
    char *likely;                  /* 48 bytes: the role that the last refusal offered, or "" */
    struct role_problem *problems; /* owned */
    size_t n_problems;
};

/* Position of the array of that key (n_bytes of key, then ending), or -1. */
int role_context_find(const struct role_context *c, const char *key, size_t n_bytes,
                      const char *ending);

/* Build what does not depend on shapes: cases, sorted keys, boxes. -1 with err set; release
 * the context in either case. */
int role_context_init(struct role_context *c, const struct archive_in *archive,
                      const struct board *board, const struct role_request *request,
                      struct role_binding *bindings, struct error *err);
void role_context_release(struct role_context *c);

/* The codes of `verify` that a refusal may carry. */
#define ROLE_CODE_ROWS   ERROR_CODE_ROWS
#define ROLE_CODE_SHAPE  ERROR_CODE_SHAPE
#define ROLE_CODE_LENGTH ERROR_CODE_LENGTH

/*
 * ERROR_DATA "FILE: ARRAY: dtype <f4, shape (6, 81): REASON; use --role ARRAY=ROLE or --copy ARRAY
 * [shape]". Without a role only --copy is offered. Returns -1.
 */
int role_refuse(const struct role_context *c, size_t i, const char *role, const char *reason,
                struct error *err);

/* The same with another code and with flags written by the caller; flags may be NULL. */
int role_refuse_with(const struct role_context *c, size_t i, const char *flags,
                     enum error_code code, const char *reason, struct error *err);

/* ERROR_DATA [rows] unless the array has n_rows rows. */
int role_check_rows(const struct role_context *c, size_t i, struct error *err);

#endif
