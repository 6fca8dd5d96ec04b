/*
 * role_guess.c - what a shard says about itself, and guesses for people to read. KataGo's shards
 * are recognised by their members, whose roles are fixed. A board that the shard names (board_type,
 * or those members) is accepted if it is a preset; one suggested by the shapes of planes and policy
 * is a guess, given with its reason, and never enough for `expand`.
 */
#include "shard/role_parts.h"

/* --- KataGo's training shards --- */

/* A closed set of members, each with its dtype, shape and role: KataGo's reader accepts no others.
 */
static const struct member_rule {
    const char *name;
    enum role role;
    char dtype[4]; /* without byte order */
    unsigned n_dims;
    unsigned n_planes; /* dimension 1, 0 for any */
    bool required;
} members[] = {
    {"binaryInputNCHWPacked", ROLE_PACKED, "u1", 3, 22, true},
    {"policyTargetsNCMove", ROLE_POLICY, "i2", 3, 2, true},
    {"qValueTargetsNCMove", ROLE_ACTION_VALUES, "i2", 3, 3, false},
    {"valueTargetsNCHW", ROLE_PLANES, "i1", 4, 5, true},
    {"globalInputNC", ROLE_GLOBALS, "f4", 2, 0, true},
    {"globalTargetsNC", ROLE_COPY, "f4", 2, 0, true},
    {"scoreDistrN", ROLE_COPY, "i1", 2, 0, true},
    {"metadataInputNC", ROLE_COPY, "f4", 2, 0, false},
};

const char *role_katago_missing(const struct archive_in *archive, size_t *n_found)
{
    const char *missing = NULL;

    *n_found = 0;
    for (size_t i = N_OF(members); i-- > 0;) {
        const bool is_there = archive_in_find(archive, members[i].name) != NULL;

        *n_found += is_there;
        if (!is_there && members[i].required)
            missing = members[i].name;
    }
    return missing;
}

int role_katago_bind(struct role_case *a)
{
    const struct dtype *dtype = &a->h->dtype;
    const struct member_rule *rule = NULL;
    char names[400] = "";

    for (size_t i = 0; i < N_OF(members); i++) {
        text_add(names, sizeof names, "%s %s", i > 0 ? "," : "", members[i].name);
        if (strcmp(members[i].name, a->array->key) == 0)
            rule = &members[i];
    }
    if (rule == NULL)
        return role_refuse(a, NULL, "not a member of a KataGo shard; its reader accepts only%s",
                           names);
    role_fit *const fit = role_kinds[rule->role].fit;
    if (role_check_rows(a) != 0)
        return -1;
    if (dtype->kind != rule->dtype[0] || dtype->itemsize != (uint32_t)(rule->dtype[1] - '0') ||
        a->h->n_dims != rule->n_dims || (rule->n_planes > 0 && a->h->shape[1] != rule->n_planes))
        return role_refuse(
            a, NULL, "expected dtype %s and %u dimensions%s", rule->dtype, rule->n_dims,
            rule->n_planes > 0 ? text_format(", the second one %u", rule->n_planes).text : "");
    a->b->role = ROLE_COPY;
    a->b->inferred = true;
    if (fit == NULL || (rule->role == ROLE_GLOBALS && !a->c->swaps_colours))
        return 0;
    if (!fit(a))
        return role_refuse(a, NULL, "%s", a->reason);
    if (fit == role_fit_policy && a->b->n_actions != (uint64_t)a->c->board->n_cells + 1)
        return role_refuse(a, NULL, "expected an action per cell and a pass");
    a->b->role = rule->role;
    return 0;
}

/* --- the board --- */

const struct array *role_rows_array(const struct archive_in *archive)
{
    static const enum role order[] = {ROLE_PLANES, ROLE_POLICY, ROLE_VALUE, ROLE_ACTION};

    for (size_t k = 0; k < N_OF(order); k++)
        for (const struct array *a = archive->arrays; a < archive->arrays + archive->n_arrays; a++)
            if (role_by_name(a->key, strlen(a->key), NULL).role == order[k] && a->header.n_dims > 0)
                return a;
    return NULL;
}

/* Only presets are accepted from a shard: a name could be the path of a board file. */
int role_guess_board(const struct archive_in *archive, char *name, size_t n_bytes)
{
    const struct array *type = archive_in_find(archive, "board_type");
    size_t n_found;

    if (type != NULL && array_read_string(type, name, n_bytes) == 0 &&
        board_find_preset(name) != NULL)
        return 0;
    if (n_bytes > 0)
        name[0] = '\0';
    if (role_katago_missing(archive, &n_found) != NULL || n_found != archive->n_arrays)
        return -1;
    const struct array *values = archive_in_find(archive, "valueTargetsNCHW");
    if (values->header.n_dims != 4 || values->header.shape[2] != values->header.shape[3])
        return -1;
    const int n = snprintf(name, n_bytes, "katago:%" PRIu64, values->header.shape[2]);
    return n > 0 && (size_t)n < n_bytes ? 0 : -1;
}

bool role_see_planes(const struct archive_in *archive, struct board_seen *seen)
{
    for (const struct array *a = archive->arrays; a < archive->arrays + archive->n_arrays; a++) {
        const unsigned n_dims = a->header.n_dims;
        const uint64_t *s = a->header.shape;

        if (role_by_name(a->key, strlen(a->key), NULL).role != ROLE_PLANES ||
            (n_dims != 3 && n_dims != 4))
            continue;
        const bool last = /* channels */
            n_dims == 3 || (s[2] != s[3] && (s[1] == s[2] || (board_shape_is_known(s[1], s[2]) &&
                                                              !board_shape_is_known(s[2], s[3]))));
        seen->n_planes = n_dims == 3 ? 1 : last ? s[3] : s[1];
        seen->rows = last ? s[1] : s[2];
        seen->cols = last ? s[2] : s[3];
        if (seen->rows > 0)
            return true;
    }
    return false;
}

int role_guess_board_by_shape(const struct archive_in *archive, struct role_guess *guess)
{
    const struct array *plateau = archive_in_find(archive, "plateau");
    const struct array *size = archive_in_find(archive, "policy_size");
    const struct array *encoding = archive_in_find(archive, "policy_encoding");
    const size_t room = sizeof guess->reason;
    char boards[BOARD_MAX_GUESSES][64], text[32];
    struct board_seen seen = {0};
    int64_t n_actions;
    size_t n;

    memset(guess, 0, sizeof *guess);
    if (role_guess_board(archive, guess->board, sizeof guess->board) == 0) {
        snprintf(guess->reason, room, "the shard says so");
        guess->is_said = true;
        return 0;
    }
    if (plateau != NULL && plateau->header.n_dims == 2 && plateau->header.shape[1] == 19) {
        snprintf(guess->board, sizeof guess->board, "takeiteasy");
        snprintf(guess->reason, room, "plateau of 19 cells");
        return 0;
    }
    if (!role_see_planes(archive, &seen) || seen.cols == 0) {
        snprintf(guess->reason, room, "no planes to judge by");
        return -1;
    }
    seen.is_ringrift = encoding != NULL && array_read_string(encoding, text, sizeof text) == 0 &&
                       strcmp(text, "board_aware") == 0;
    for (size_t i = 0; i < archive->n_arrays && seen.n_actions == 0; i++) {
        const struct npy_header *h = &archive->arrays[i].header;
        const char *key = archive->arrays[i].key;

        if (role_by_name(key, strlen(key), NULL).role != ROLE_POLICY || h->n_dims < 2 ||
            h->n_dims > 4)
            continue;
        if (h->n_dims == 3 && (h->shape[1] != seen.rows || h->shape[2] != seen.cols))
            seen.n_actions = h->shape[2];
        else
            (void)bytes_product(h->shape + 1, h->n_dims - 1, &seen.n_actions);
    }
    if (seen.n_actions == 0 && size != NULL && array_read_int(size, &n_actions) == 0 &&
        n_actions > 0)
        seen.n_actions = (uint64_t)n_actions;
    snprintf(guess->reason, room, "%" PRIu64 " planes of %" PRIu64 " x %" PRIu64, seen.n_planes,
             seen.rows, seen.cols);
    if (seen.n_actions > 0)
        text_add(guess->reason, room, ", policy of %" PRIu64 " actions", seen.n_actions);
    const char *known = board_by_shape(&seen);
    guess->n_boards = n = known == NULL ? board_guess(&seen, boards) : 1;
    if (n == 1) {
        snprintf(guess->board, sizeof guess->board, "%s", known != NULL ? known : boards[0]);
        return 0;
    }
    text_add(guess->reason, room, "%s", n > 0 ? ": one of" : ": no board known");
    for (size_t i = 0; i < n; i++)
        text_add(guess->reason, room, "%s %s", i > 0 ? "," : "", boards[i]);
    return -1;
}
