/* role_guess.c - the board of a shard: as the shard says, or as the shapes of its arrays suggest.
 */
#include "shard/role.h"

#include "base/text.h"
#include "shard/role_katago.h"
#include "shard/role_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define N_OF(table) (sizeof(table) / sizeof(table)[0])

static bool is_preset(const char *name)
{
    for (size_t i = 0; i < board_n_presets; i++)
        if (strcmp(board_presets[i].name, name) == 0)
            return true;
    return false;
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

/* What the shapes show; 0 where they do not. */
struct evidence {
    uint64_t n_planes, rows, cols;
    uint64_t n_actions;
    bool ringrift; /* by its policy_encoding */
};

/* Boards that a pair of shapes belongs to and no other system is known to write. */
static const struct known_shape {
    uint64_t rows, cols;
    uint64_t n_actions; /* 0: any or none */
    const char *board;
    bool ringrift; /* with RingRift's policy_encoding the actions need not be known */
} known_shapes[] = {
    {9, 9, 4132, "hex8", true},        {9, 9, 4500, "hex8", true},
    {9, 9, 61, "hex8", false},         {25, 25, 91876, "hexagonal", true},
    {25, 25, 469, "hexagonal", false}, {8, 8, 7000, "square8", true},
    {19, 19, 67000, "square19", true}, {8, 8, 1814, "chess", false},
    {8, 8, 1880, "chess", false},      {8, 8, 4096, "chess", false},
    {8, 8, 4672, "chess", false},      {8, 8, 4864, "chess", false},
    {6, 7, 0, "connect4", false},      {3, 3, 0, "tictactoe", false},
    {15, 15, 225, "gomoku15", false},
};

static bool is_known(uint64_t rows, uint64_t cols)
{
    for (size_t i = 0; i < N_OF(known_shapes); i++)
        if (known_shapes[i].rows == rows && known_shapes[i].cols == cols)
            return true;
    return false;
}

static void read_planes(const struct npy_header *h, struct evidence *seen)
{
    const uint64_t *s = h->shape;
    bool last;

    if (h->n_dims == 3) {
        seen->n_planes = 1;
        seen->rows = s[1];
        seen->cols = s[2];
        return;
    }
    last = s[2] != s[3] && (s[1] == s[2] || (is_known(s[1], s[2]) && !is_known(s[2], s[3])));
    seen->n_planes = last ? s[3] : s[1];
    seen->rows = last ? s[1] : s[2];
    seen->cols = last ? s[2] : s[3];
}

static void read_policy(const struct npy_header *h, struct evidence *seen)
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

static void look(const struct archive_in *archive, struct evidence *seen)
{
    const struct array *size = archive_in_find(archive, "policy_size");
    const struct array *encoding = archive_in_find(archive, "policy_encoding");
    char text[32];
    int64_t n;

    *seen = (struct evidence){
        .ringrift = encoding != NULL && encoding->header.n_dims == 0 &&
                    array_read_string(encoding, text, sizeof text) == 0 &&
                    strcmp(text, "board_aware") == 0,
    };
    for (size_t i = 0; i < archive->n_arrays && seen->rows == 0; i++) {
        const struct npy_header *h = &archive->arrays[i].header;
        const struct role_name_rule *rule = role_name_find(archive->arrays[i].key, NULL);

        if (rule != NULL && rule->role == ROLE_PLANES && (h->n_dims == 3 || h->n_dims == 4))
            read_planes(h, seen);
    }
    for (size_t i = 0; i < archive->n_arrays && seen->n_actions == 0; i++) {
        const struct npy_header *h = &archive->arrays[i].header;
        const struct role_name_rule *rule = role_name_find(archive->arrays[i].key, NULL);

        if (rule != NULL && rule->role == ROLE_POLICY && h->n_dims >= 2 && h->n_dims <= 4)
            read_policy(h, seen);
    }
    if (seen->n_actions == 0 && size != NULL && size->header.n_dims == 0 &&
        array_read_int(size, &n) == 0 && n > 0)
        seen->n_actions = (uint64_t)n;
}

/* Boards of that box, most likely first. */
static size_t list_candidates(const struct evidence *seen, char boards[3][64])
{
    const uint64_t n = seen->rows, n_cells = n * n;
    const bool hex_planes = seen->n_planes == 2 || seen->n_planes == 3 || seen->n_planes == 9;
    size_t count = 0;

    if (seen->rows != seen->cols) {
        snprintf(boards[count++], sizeof boards[0], "mirror:%" PRIu64 "x%" PRIu64, seen->rows,
                 seen->cols);
        snprintf(boards[count++], sizeof boards[0], "grid:%" PRIu64 "x%" PRIu64, seen->rows,
                 seen->cols);
        return count;
    }
    if (seen->n_actions != 0 && seen->n_actions != n_cells && seen->n_actions != n_cells + 1)
        return 0;
    snprintf(boards[count++], sizeof boards[0], "square:%" PRIu64, n);
    if (hex_planes)
        snprintf(boards[count++], sizeof boards[0], "rhombus:%" PRIu64, n);
    if (n % 2 == 1 && seen->n_actions == 0)
        snprintf(boards[count++], sizeof boards[0], "hexagon:%" PRIu64, n / 2);
    return count;
}

static void write_reason(const struct evidence *seen, struct role_guess *guess)
{
    size_t used = (size_t)snprintf(guess->reason, sizeof guess->reason,
                                   "%" PRIu64 " planes of %" PRIu64 " x %" PRIu64, seen->n_planes,
                                   seen->rows, seen->cols);

    if (seen->n_actions > 0)
        snprintf(guess->reason + used, sizeof guess->reason - used,
                 ", policy of %" PRIu64 " actions", seen->n_actions);
}

static int choose(const struct evidence *seen, struct role_guess *guess)
{
    char boards[3][64];
    size_t n, used;

    write_reason(seen, guess);
    for (size_t i = 0; i < N_OF(known_shapes); i++) {
        const struct known_shape *known = &known_shapes[i];

        if (known->rows == seen->rows && known->cols == seen->cols &&
            (known->n_actions == 0 || known->n_actions == seen->n_actions ||
             (known->ringrift && seen->ringrift && seen->n_actions == 0))) {
            snprintf(guess->board, sizeof guess->board, "%s", known->board);
            return 0;
        }
    }
    n = seen->rows <= BOARD_MAX_CELLS ? list_candidates(seen, boards) : 0;
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
    struct evidence seen;

    memset(guess, 0, sizeof *guess);
    if (role_guess_board(archive, guess->board, sizeof guess->board) == 0) {
        snprintf(guess->reason, sizeof guess->reason, "the shard says so");
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
