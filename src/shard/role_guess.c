/*
 * role_guess.c - the board of a shard. What the shard says (board_type, the members of KataGo's
 * shards) is taken at its word, if it is a preset: a name could otherwise be the path of a board
 * file. What the shapes of planes and policy suggest is a guess, with the reason in words, and
 * never enough for `expand`.
 */
#include "shard/role.h"

#include "base/text.h"
#include "shard/role_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_preset(const char *name)
{
    for (size_t i = 0; i < board_n_presets; i++)
        if (strcmp(board_presets[i].name, name) == 0)
            return true;
    return false;
}

const struct array *role_rows_array(const struct archive_in *archive)
{
    static const enum role order[] = {ROLE_PLANES, ROLE_POLICY, ROLE_VALUE, ROLE_ACTION};

    for (size_t k = 0; k < sizeof order / sizeof *order; k++)
        for (size_t i = 0; i < archive->n_arrays; i++)
            if (role_by_name(archive->arrays[i].key, NULL).role == order[k] &&
                archive->arrays[i].header.n_dims > 0)
                return &archive->arrays[i];
    return NULL;
}

/* Only presets are taken from a shard: a name could else be the path of a board file. */
int role_guess_board(const struct archive_in *archive, char *name, size_t n_bytes)
{
    const struct array *type = archive_in_find(archive, "board_type"), *values;
    int n;

    if (type != NULL && type->header.n_dims == 0 && array_read_string(type, name, n_bytes) == 0 &&
        is_preset(name))
        return 0;
    if (n_bytes > 0)
        name[0] = '\0';
    if (!role_katago_is_shard(archive))
        return -1;
    values = archive_in_find(archive, "valueTargetsNCHW");
    if (values->header.n_dims != 4 || values->header.shape[2] != values->header.shape[3])
        return -1;
    n = snprintf(name, n_bytes, "katago:%" PRIu64, values->header.shape[2]);
    return n > 0 && (size_t)n < n_bytes ? 0 : -1;
}

static void read_planes(const struct npy_header *h, struct board_seen *seen)
{
    const uint64_t *s = h->shape;
    bool last;

    if (h->n_dims == 3) {
        seen->n_planes = 1;
        seen->rows = s[1];
        seen->cols = s[2];
        return;
    }
    last =
        s[2] != s[3] &&
        (s[1] == s[2] || (board_shape_is_known(s[1], s[2]) && !board_shape_is_known(s[2], s[3])));
    seen->n_planes = last ? s[3] : s[1];
    seen->rows = last ? s[1] : s[2];
    seen->cols = last ? s[2] : s[3];
}

bool role_see_planes(const struct archive_in *archive, struct board_seen *seen)
{
    for (size_t i = 0; i < archive->n_arrays; i++) {
        const struct npy_header *h = &archive->arrays[i].header;

        if (role_by_name(archive->arrays[i].key, NULL).role != ROLE_PLANES ||
            (h->n_dims != 3 && h->n_dims != 4))
            continue;
        read_planes(h, seen);
        if (seen->rows > 0)
            return true;
    }
    return false;
}

static void read_policy(const struct npy_header *h, struct board_seen *seen)
{
    uint64_t n = 1;

    if (h->n_dims == 3 && (h->shape[1] != seen->rows || h->shape[2] != seen->cols)) {
        seen->n_actions = h->shape[2];
        return;
    }
    for (unsigned i = 1; i < h->n_dims; i++)
        if (__builtin_mul_overflow(n, h->shape[i], &n))
            return;
    seen->n_actions = n;
}

static void look(const struct archive_in *archive, struct board_seen *seen)
{
    const struct array *size = archive_in_find(archive, "policy_size");
    const struct array *encoding = archive_in_find(archive, "policy_encoding");
    char text[32];
    int64_t n;

    *seen = (struct board_seen){
        .is_ringrift = encoding != NULL && encoding->header.n_dims == 0 &&
                       array_read_string(encoding, text, sizeof text) == 0 &&
                       strcmp(text, "board_aware") == 0,
    };
    (void)role_see_planes(archive, seen);
    for (size_t i = 0; i < archive->n_arrays && seen->n_actions == 0; i++) {
        const struct npy_header *h = &archive->arrays[i].header;
        const enum role role = role_by_name(archive->arrays[i].key, NULL).role;

        if (role == ROLE_POLICY && h->n_dims >= 2 && h->n_dims <= 4)
            read_policy(h, seen);
    }
    if (seen->n_actions == 0 && size != NULL && size->header.n_dims == 0 &&
        array_read_int(size, &n) == 0 && n > 0)
        seen->n_actions = (uint64_t)n;
}

static void write_reason(const struct board_seen *seen, struct role_guess *guess)
{
    size_t used = (size_t)snprintf(guess->reason, sizeof guess->reason,
                                   "%" PRIu64 " planes of %" PRIu64 " x %" PRIu64, seen->n_planes,
                                   seen->rows, seen->cols);

    if (seen->n_actions > 0)
        snprintf(guess->reason + used, sizeof guess->reason - used,
                 ", policy of %" PRIu64 " actions", seen->n_actions);
}

static int choose(const struct board_seen *seen, struct role_guess *guess)
{
    const char *known = board_by_shape(seen);
    char boards[BOARD_MAX_GUESSES][64];
    size_t n, used;

    write_reason(seen, guess);
    if (known != NULL) {
        snprintf(guess->board, sizeof guess->board, "%s", known);
        return 0;
    }
    n = board_guess(seen, boards);
    if (n == 1) {
        snprintf(guess->board, sizeof guess->board, "%s", boards[0]);
        return 0;
    }
    used = strlen(guess->reason);
    used += (size_t)snprintf(guess->reason + used, sizeof guess->reason - used, "%s",
                             n > 0 ? ": one of" : ": no board known");
    for (size_t i = 0; i < n; i++)
        used += (size_t)snprintf(guess->reason + used, sizeof guess->reason - used, "%s %s",
                                 i > 0 ? "," : "", boards[i]);
    return -1;
}

int role_guess_board_by_shape(const struct archive_in *archive, struct role_guess *guess)
{
    const struct array *plateau = archive_in_find(archive, "plateau");
    struct board_seen seen;

    memset(guess, 0, sizeof *guess);
    if (role_guess_board(archive, guess->board, sizeof guess->board) == 0) {
        snprintf(guess->reason, sizeof guess->reason, "the shard says so");
        guess->is_said = true;
        return 0;
    }
    if (plateau != NULL && plateau->header.n_dims == 2 && plateau->header.shape[1] == 19) {
        snprintf(guess->board, sizeof guess->board, "takeiteasy");
        snprintf(guess->reason, sizeof guess->reason, "plateau of 19 cells");
        return 0;
    }
    look(archive, &seen);
    if (seen.rows == 0 || seen.cols == 0) {
        snprintf(guess->reason, sizeof guess->reason, "no planes to judge by");
        return -1;
    }
    return choose(&seen, guess);
}
