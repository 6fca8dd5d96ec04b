/*
 * split.c - which part a row goes to. The seed and the row's key, or its value in an array such as
 * its game's number, are hashed to a number from 0 to 1; nothing else matters, so all images of a
 * position go the same way, on any machine. Where games are kept together, positions may occur
 * in several parts: sorting the keys of all rows finds them.
 */
#include "positions/positions.h"

#include "engine/survey.h"
#include "positions/parts.h"

#include <xxhash.h>

#define NO_PART      255 /* the row is left out */
#define OVERLAP_KEEP 1
#define OVERLAP_DROP 2

/* The array by whose values rows stay together; NULL: rows go by their position. */
static const char *name_of_by(const struct settings *settings)
{
    return settings->by == NULL || strcmp(settings->by, "position") == 0 ? NULL : settings->by;
}

/* --- parts --- */

static int refuse_part(const char *word, const char *why, struct error *err)
{
    return error_set(err, ERROR_USAGE, "--parts: %s: %s", text_quote(word).text, why);
}

int split_parse(struct split *split, const char *text, struct error *err)
{
    double sum = 0;
    char *word, *end;

    *split = (struct split){0};
    if (text == NULL)
        return error_set(err, ERROR_USAGE, "no parts given; use --parts train=0.9,val=0.1");
    char *rest = split->text = strdup(text);
    if (rest == NULL)
        return error_no_memory(err, "parts");
    while ((word = strsep(&rest, ",")) != NULL) {
        char *equal = strchr(word, '=');
        if (equal == NULL || equal == word)
            return refuse_part(word, "expected NAME=SHARE, as in train=0.9,val=0.1", err);
        const double share = strtod(equal + 1, &end);
        if (end == equal + 1 || *end != '\0' || !(share >= 0 && share <= 1))
            return refuse_part(word, "expected a share from 0 to 1", err);
        *equal = '\0';
        if (strchr(word, '/') != NULL || *word == '.')
            return refuse_part(
                word, "it becomes part of a file name: expected no '/' and no leading dot", err);
        for (size_t i = 0; i < split->n_parts; i++)
            if (strcmp(split->parts[i].name, word) == 0)
                return refuse_part(word, "is listed twice", err);
        if (split->n_parts == SPLIT_MAX_PARTS)
            return refuse_part(word, "there are too many parts", err);
        split->parts[split->n_parts].name = word;
        split->parts[split->n_parts++].share = share;
        sum += share;
    }
    if (fabs(sum - 1) > 1e-9)
        return error_set(err, ERROR_USAGE, "--parts: the shares sum to %.10g, expected 1", sum);
    return 0;
}

/* --- sides --- */

struct run {
    struct split *split;
    const struct settings *settings;
    uint8_t *sides;       /* borrowed: of the current input, */
    struct key_rows keys; /* and the keys of its rows */
    struct sorter rows;   /* of all inputs, where positions may be in several parts */
};

struct record {
    struct key_value key;
    uint64_t side;
    uint8_t *place; /* borrowed: of the side, among those of the input */
};

#define SEED_NBYTES 8 /* before what is hashed */

/* The part for n_bytes that follow the room for the seed. */
static uint8_t side_of(const struct run *run, uint8_t *bytes, size_t n_bytes)
{
    const struct split *split = run->split;
    double sum = 0;

    bytes_put_le(bytes, run->settings->seed, SEED_NBYTES);
    const double u = (double)XXH3_128bits(bytes, SEED_NBYTES + n_bytes).high64 * 0x1p-64;
    for (size_t i = 0; i < split->n_parts; i++) {
        sum += split->parts[i].share;
        if (sum > u)
            return (uint8_t)i;
    }
    return (uint8_t)(split->n_parts - 1);
}

/* Put a row's value in the form that is hashed, whatever its type or width in a shard: integers as
 * 8 bytes, strings as UTF-8 without padding. Returns its length. */
static size_t put_value(const struct dtype *dtype, const uint8_t *element, uint8_t *out)
{
    size_t n = dtype->itemsize, n_bytes = 0;

    switch (dtype->kind) {
    case DTYPE_UINT:
        bytes_put_le(out, bytes_get_uint(element, n, dtype->big_endian), 8);
        return 8;
    case DTYPE_INT:
        bytes_put_le(out, (uint64_t)dtype_get_int(dtype, element), 8);
        return 8;
    case DTYPE_BYTES:
        while (n > 0 && element[n - 1] == 0)
            n--;
        memcpy(out, element, n);
        return n;
    default:
        n /= 4;
        while (n > 0 && bytes_get_uint(element + 4 * (n - 1), 4, false) == 0)
            n--;
        for (size_t i = 0; i < n; i++)
            n_bytes += text_put_code(
                (uint32_t)bytes_get_uint(element + 4 * i, 4, dtype->big_endian) & 0x1fffff,
                (char *)out + n_bytes);
        return n_bytes;
    }
}

/* The key of a row decides its side or, where another array has decided it, is handed on to be
 * sorted. */
static int use_key(void *self, uint64_t i, int worker, struct error *err)
{
    const struct run *run = self;
    const struct key_value key = run->keys.found[i].key;
    struct record *records = run->keys.records[0];
    uint8_t *side = &run->sides[run->keys.walk.first + i], bytes[SEED_NBYTES + 16];

    (void)worker;
    (void)err;
    if (records != NULL) {
        records[i] = (struct record){key, *side, side};
        return 0;
    }
    bytes_put_uint(bytes + SEED_NBYTES, key.high, 8, true);
    bytes_put_uint(bytes + SEED_NBYTES + 8, key.low, 8, true);
    *side = side_of(run, bytes, 16);
    return 0;
}

/* Find the sides of an input's rows. like->path is NULL for the first input, whose key is kept. */
static int read_input(struct run *run, const struct plan *plan, struct key_like *like,
                      struct key *first, struct error *err)
{
    const char *name = name_of_by(run->settings);
    const struct plan_array *by = name != NULL ? plan_find_array(plan, name) : NULL;
    const struct npy_header *header = by != NULL ? &by->sources[0]->header : NULL;
    struct bytes room = {0};
    struct key key = {0};

    if (name != NULL && by == NULL)
        return archive_in_refuse_key(&plan->inputs[0].archive, name, "--by names it", err);
    if (by != NULL && (header->n_dims != 1 || header->shape[0] != plan->n_rows ||
                       strchr("iuSU", header->dtype.kind) == NULL))
        return plan_refuse(plan, by, err, "--by: expected an integer or a string for each row");
    run->sides = calloc(plan->n_rows + 1, 1);
    run->split->sides[run->split->n_inputs++] = run->sides;
    if (run->sides == NULL)
        return error_no_memory(err, "sides of rows");
    int status = key_of_plan(&key, plan, like->path != NULL ? like : NULL, err);
    if (status == 0 && by != NULL) {
        struct walk s;

        survey_begin(&s, plan, SURVEY_OF(by), err);
        if (bytes_reserve(&room, SEED_NBYTES + 2 * by->sources[0]->row_nbytes + 16, err) == NULL)
            s.status = -1;
        while (walk_next(&s))
            run->sides[s.number] =
                side_of(run, room.data,
                        put_value(s.rows[0].dtype, s.rows[0].bytes, room.data + SEED_NBYTES));
        bytes_release(&room);
        status = walk_end(&s);
    }
    run->keys =
        (struct key_rows){.plan = plan, .key = &key, .sorters = {by != NULL ? &run->rows : NULL}};
    if (status == 0 && (by == NULL || run->settings->overlap != OVERLAP_KEEP))
        status = key_rows_each(&run->keys, use_key, run, err);
    if (like->path == NULL)
        *first = key;
    else
        key_release(&key);
    return status;
}

/* --- positions in several parts --- */

/* Count positions in several parts. With --overlap drop, leave out their rows in all parts but the
 * first, which is that of a position's first record. */
static int look_at_positions(struct run *run, struct error *err)
{
    const struct record *record;
    uint64_t first = 0;
    bool is_shared = false;
    int n;

    while ((n = sorter_next(&run->rows, &record, err)) > 0) {
        if (run->rows.is_first) {
            first = record->side;
            is_shared = false;
        }
        if (record->side == first)
            continue;
        run->split->n_shared += !is_shared;
        is_shared = true;
        if (run->settings->overlap == OVERLAP_DROP)
            *record->place = NO_PART;
    }
    return n;
}

int split_sides(struct split *split, char *const *paths, size_t n_paths,
                const struct settings *settings, struct error *err)
{
    struct run run = {.split = split,
                      .settings = settings,
                      .rows = sorter_of(settings, sizeof(struct record), 4)};
    struct key first = {0};
    struct key_like like = {&first, NULL, false};
    int status = new_items(&split->sides, n_paths, "sides of rows", err);

    for (size_t i = 0; i < n_paths && status == 0; i++) {
        const char *path = paths[i];
        struct plan plan;

        if ((status = plan_build(&plan, &path, 1, settings, err)) != 0)
            break;
        status = plan_survey(&plan, err);
        if (status == 0)
            status = read_input(&run, &plan, &like, &first, err);
        like.path = paths[0];
        plan_release(&plan);
    }
    if (status == 0)
        status = look_at_positions(&run, err);
    sorter_release(&run.rows);
    key_release(&first);
    return status;
}

int split_select(const struct split *split, struct plan *plan, size_t i, size_t part,
                 const struct settings *settings, struct error *err)
{
    static const char *const overlaps[] = {"warn", "keep", "drop"};
    const char *by = name_of_by(settings);
    struct key key;
    int status = 0;

    if (json_object_size(plan->notes) ==
        0) { /* only the first time: roles are still those of the input */
        status = key_of_plan(&key, plan, NULL, err);
        if (status == 0)
            status = key_note(plan, &key, err);
        key_release(&key);
    }
    if (status != 0 || plan_keep_rows(plan, err) != 0)
        return -1;
    plan_note(plan, "command", "split", 0);
    plan_note(plan, "parts", settings->parts, 0);
    plan_note(plan, "part", split->parts[part].name, 0);
    plan_note(plan, "by", by == NULL ? "position" : by, 0);
    plan_note(plan, "seed", text_format("%" PRIu64, settings->seed).text, 0);
    if (by != NULL)
        plan_note(plan, "overlap", overlaps[settings->overlap], 0);
    if (by != NULL && settings->overlap != OVERLAP_KEEP)
        plan_note(plan, "positions_in_several_parts", NULL, split->n_shared);
    for (uint64_t row = 0; row < plan->n_rows; row++)
        if (split->sides[i][row] != part)
            selection_clear(&plan->selection, row, 0);
    return plan_set_order(plan, err);
}

void split_release(struct split *split)
{
    for (size_t i = 0; i < split->n_inputs; i++)
        free(split->sides[i]);
    free(split->sides);
    free(split->text);
    *split = (struct split){0};
}
