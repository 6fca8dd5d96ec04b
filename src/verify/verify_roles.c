/*
 * verify_roles.c - what the arrays of a shard mean when it must be checked whatever can be told.
 * With a known board roles are inferred as for `expand`, and a refusal becomes a finding. Without
 * one, the boards that the planes' shape allows are tried, and the first that fits all arrays lends
 * its roles; when none does, names alone decide, so that sums, ranges and row counts can still be
 * checked.
 */
#include "verify/verify_roles.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- refusals become findings --- */

/* The array a refusal is about. */
static const struct array *find_refused(const struct shard *shard, const struct error *why)
{
    return *why->array != '\0' ? archive_in_find(&shard->archive, why->array) : NULL;
}

/* Strings and objects that stand where numbers must be cannot be read as a shard at all. */
static bool is_unreadable(const struct array *array)
{
    return array == NULL || !dtype_is_number(&array->header.dtype);
}

static void add_refusal(const struct shard *shard, const struct error *why,
                        struct verify_result *result)
{
    static const enum finding_code codes[] = {
        [ERROR_CODE_NONE] = FINDING_SHAPE,
        [ERROR_CODE_CRC] = FINDING_CRC,
        [ERROR_CODE_ROWS] = FINDING_ROWS,
        [ERROR_CODE_SHAPE] = FINDING_SHAPE,
        [ERROR_CODE_LENGTH] = FINDING_LENGTH_MISMATCH,
    };
    const struct array *array = find_refused(shard, why);
    const struct finding_place place = {codes[why->code], false, array != NULL ? array->key : NULL,
                                        FINDING_NO_ROW};
    char reason[ERROR_MESSAGE_NBYTES];

    if (why->code == ERROR_CODE_NONE || (why->code == ERROR_CODE_SHAPE && is_unreadable(array)))
        result->fatal = ERROR_DATA;
    findings_add(&result->findings, &place, "", "", "%s", error_reason(why, reason));
}

/* --- with a board --- */

static int infer(struct shard *shard, const struct board *board, struct role_problems *problems,
                 struct error *why)
{
    return role_infer(&shard->archive, board, &shard->recall.settings.roles, shard->bindings,
                      &shard->n_rows, problems, why);
}

/* --- without one --- */

/* One of the boards that the shape allows lends its roles. Its name is not known for sure. */
static bool borrow_roles(struct shard *shard, struct error *why)
{
    char names[BOARD_MAX_GUESSES][64];
    struct board_seen seen = {.any_planes = true};
    size_t n = role_see_planes(&shard->archive, &seen) ? board_guess(&seen, names) : 0;

    for (size_t i = 0; i < n; i++) {
        struct error refused = {0};
        struct board *board = board_new(names[i], &refused);

        if (board == NULL && refused.kind == ERROR_INTERNAL)
            *why = refused;
        if (board == NULL)
            continue;
        if (infer(shard, board, NULL, &refused) == 0) {
            shard->found.board = board;
            shard->found.is_lent = true;
            return true;
        }
        board_free(board);
        if (why->kind == ERROR_NONE)
            *why = refused;
    }
    return false;
}

/* --- by names alone --- */

static bool is_square_number(uint64_t n)
{
    for (uint64_t side = 3; side * side <= n && side < 256; side++)
        if (side * side == n)
            return true;
    return false;
}

/* A policy as long as some other board has cells contradicts the planes. */
static bool contradicts(const struct shard *shard, size_t i)
{
    const struct npy_header *h = &shard->archive.arrays[i].header;
    const uint64_t n = h->n_dims == 2 ? h->shape[1] : 0;
    struct board_seen seen = {.rows = 0};

    return role_see_planes(&shard->archive, &seen) && n > 1 && n != seen.rows * seen.cols &&
           (is_square_number(n) || is_square_number(n - 1));
}

/* findings is NULL when a refusal has been reported already. */
static enum role role_without_board(const struct shard *shard, size_t i, uint64_t n_rows,
                                    struct verify_result *result, struct findings *findings)
{
    const struct array *array = &shard->archive.arrays[i];
    const struct npy_header *h = &array->header;
    const struct role_named named = role_by_name(array->key, NULL);
    struct finding_place place = {FINDING_ROWS, false, array->key, FINDING_NO_ROW};

    if (h->n_dims == 0 || (named.flags & NAME_NEVER_ROWS))
        return ROLE_META;
    if (!named.is_known)
        return array->n_rows == n_rows ? ROLE_COPY : ROLE_META;
    if (array->n_rows != n_rows) {
        if (findings != NULL)
            findings_add(findings, &place, finding_format("%" PRIu64 " rows", n_rows).text,
                         finding_format("%" PRIu64, array->n_rows).text, "another number of rows");
        return ROLE_META;
    }
    place.code = FINDING_SHAPE;
    if (named.role < ROLE_COPY && !dtype_is_number(&h->dtype)) {
        result->fatal = ERROR_DATA;
        if (findings != NULL)
            findings_add(findings, &place, "numbers", "another type", "holds no numbers");
        return ROLE_META;
    }
    if (findings != NULL &&
        ((named.role == ROLE_PLANES && (h->n_dims < 2 || h->n_dims > 4)) ||
         (named.role == ROLE_POLICY && (h->n_dims < 2 || contradicts(shard, i)))))
        findings_add(findings, &place, "a shape that fits one board",
                     text_shape(h->shape, h->n_dims).text, "no board has arrays of these shapes");
    return named.role;
}

/* A shape that none of the boards tried has may be right on one that was not tried; objects that
 * cannot be read, and arrays that contradict each other, are wrong on every board. */
static bool may_be_of_another_board(const struct shard *shard, const struct error *why)
{
    const struct array *array = find_refused(shard, why);

    return why->code == ERROR_CODE_SHAPE &&
           (array == NULL || array->header.dtype.kind != DTYPE_OBJECT);
}

/* why: what the boards tried had to say; NULL when it has been reported. */
static int read_by_names(struct shard *shard, const struct error *why, struct verify_result *result)
{
    struct findings *findings = why != NULL ? &result->findings : NULL;
    const struct finding_place place = {FINDING_SHAPE, false, NULL, FINDING_NO_ROW};
    const struct array *first = role_rows_array(&shard->archive);

    if (first == NULL) {
        result->fatal = ERROR_DATA;
        if (findings != NULL)
            findings_add(findings, &place, "", "", "no array of a training shard was found");
        free(shard->bindings);
        shard->bindings = NULL;
        return 0;
    }
    if (why != NULL && why->kind == ERROR_DATA && !may_be_of_another_board(shard, why))
        add_refusal(shard, why, result);
    board_free(shard->found.board);
    shard->found.board = NULL;
    shard->n_rows = first->n_rows;
    for (size_t i = 0; i < shard->archive.n_arrays; i++) {
        const struct npy_header *h = &shard->archive.arrays[i].header;
        struct role_binding *b = &shard->bindings[i];

        *b = (struct role_binding){
            .inferred = true, .index_array = -1, .value_array = -1, .offsets_array = -1};
        b->role = role_without_board(shard, i, shard->n_rows, result, findings);
        b->is_counts = role_prefix_is_counts(shard->archive.arrays[i].key,
                                             strlen(shard->archive.arrays[i].key));
        b->axes = (struct role_axes){1, h->n_dims > 1 ? h->shape[h->n_dims - 1] : 1, 1};
        for (unsigned d = 1; d + 1 < h->n_dims; d++)
            b->axes.outer *= h->shape[d];
    }
    return 0;
}

/* What could not be decided is a finding, and the other arrays are still looked at; unless the file
 * cannot be read as a shard of that board at all. */
static int infer_with_board(struct shard *shard, struct verify_result *result, struct error *err)
{
    const struct role_problems *problems = &shard->problems;
    struct error why = {0};
    const int status = infer(shard, shard->found.board, &shard->problems, &why);
    bool is_lost = status != 0 || shard->n_rows == 0;

    for (size_t i = 0; i < problems->n; i++) {
        add_refusal(shard, &problems->items[i].why, result);
        is_lost |= problems->items[i].array < 0;
    }
    if (status != 0 && why.kind == ERROR_DATA)
        add_refusal(shard, &why, result);
    if (is_lost && (problems->n > 0 || status != 0))
        read_by_names(shard, NULL, result);
    return status != 0 && why.kind != ERROR_DATA ? error_pass(err, &why) : 0;
}

int verify_decide_roles(struct shard *shard, struct verify_result *result, struct error *err)
{
    struct error why = {0};

    shard->bindings = calloc(shard->archive.n_arrays + 1, sizeof *shard->bindings);
    if (shard->bindings == NULL)
        return error_no_memory(err, "roles");
    if (shard->found.board != NULL)
        return infer_with_board(shard, result, err);
    if (borrow_roles(shard, &why))
        return 0;
    if (why.kind != ERROR_NONE && why.kind != ERROR_DATA)
        return error_pass(err, &why);
    return read_by_names(shard, &why, result);
}
