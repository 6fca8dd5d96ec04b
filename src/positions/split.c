/*
 * split.c - which part a row goes to. A number from 0 to 1 is made of the seed and of the row's
 * key, or of its value in an array (the number of its game), and of nothing else; so every image of
 * a position goes the same way, on any machine. Where games are kept together, positions may occur
 * in several parts: they are found with the keys of all rows in boxes.
 */
#include "positions/split.h"

#include "base/bytes.h"
#include "base/text.h"
#include "positions/key_rows.h"
#include "positions/spill.h"
#include "positions/table.h"
#include "shard/batch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define N_BOXES 256

/* --- parts --- */

static int refuse_part(const char *word, const char *why, struct error *err)
{
    return error_set(err, ERROR_USAGE, "--parts: %s: %s", text_quote(word).text, why);
}

static int parse_part(struct split *split, char *word, struct error *err)
{
    char *equal = strchr(word, '='), *end;
    double share;

    if (equal == NULL || equal == word)
        return refuse_part(word, "expected NAME=SHARE, as in train=0.9,val=0.1", err);
    share = strtod(equal + 1, &end);
    if (end == equal + 1 || *end != '\0' || !(share >= 0 && share <= 1))
        return refuse_part(word, "expected a share from 0 to 1", err);
    *equal = '\0';
    if (strchr(word, '/') != NULL || *word == '.')
        return refuse_part(word, "the name is part of a file's name", err);
    for (size_t i = 0; i < split->n_parts; i++)
        if (strcmp(split->parts[i].name, word) == 0)
            return refuse_part(word, "is listed twice", err);
    if (split->n_parts == SPLIT_MAX_PARTS)
        return refuse_part(word, "there are too many parts", err);
    split->parts[split->n_parts].name = word;
    split->parts[split->n_parts++].share = share;
    return 0;
}

int split_parse(struct split *split, const char *text, struct error *err)
{
    char *rest, *word;
    double sum = 0;

    *split = (struct split){0};
    if (text == NULL)
        return error_set(err, ERROR_USAGE, "no parts given; use --parts train=0.9,val=0.1");
    rest = split->text = strdup(text);
    if (rest == NULL)
        return error_no_memory(err, "parts");
    while ((word = strsep(&rest, ",")) != NULL)
        if (parse_part(split, word, err) != 0)
            return -1;
    for (size_t i = 0; i < split->n_parts; i++)
        sum += split->parts[i].share;
    if (fabs(sum - 1) > 1e-9)
        return error_set(err, ERROR_USAGE, "--parts: the shares sum to %.10g, expected 1", sum);
    return 0;
}

/* The part of what the bytes say. */
static uint8_t side_of(const struct split *split, uint64_t seed, const void *bytes, size_t n_bytes,
                       struct bytes *room)
{
    double u, sum = 0;

    bytes_put_le(room->data, seed, 8);
    memcpy(room->data + 8, bytes, n_bytes);
    u = (double)XXH3_128bits(room->data, 8 + n_bytes).high64 * 0x1p-64;
    for (size_t i = 0; i < split->n_parts; i++) {
        sum += split->parts[i].share;
        if (sum > u)
            return (uint8_t)i;
    }
    return (uint8_t)(split->n_parts - 1);
}

/* --- sides --- */

struct run {
    struct split *split;
    const struct settings *settings;
    const struct plan *plan; /* of the input at hand */
    size_t input;
    uint64_t n_before; /* rows of the inputs before */
    struct key key, first_key;
    const char *first_path;
    bool has_first;
    struct bytes room;    /* what is hashed */
    struct reader values; /* of --by */
    struct batch value_batch;
    const struct plan_array *by; /* NULL: by position */
    struct spill rows;           /* keys of all rows, where positions may be in several parts */

    struct table table; /* of the box at hand */
    uint64_t *masks;    /* owned: by key, the parts in which it occurs */
    size_t n_masks;
    bool drops; /* rows are left out now */
};

struct row_record {
    struct key_value key;
    uint64_t row;
};

/* UTF-8 of a code point. */
static size_t put_code_point(uint32_t code, uint8_t *out)
{
    if (code < 0x80) {
        out[0] = (uint8_t)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (uint8_t)(0xc0 | code >> 6);
        out[1] = (uint8_t)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (uint8_t)(0xe0 | code >> 12);
        out[1] = (uint8_t)(0x80 | (code >> 6 & 0x3f));
        out[2] = (uint8_t)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (uint8_t)(0xf0 | (code >> 18 & 7));
    out[1] = (uint8_t)(0x80 | (code >> 12 & 0x3f));
    out[2] = (uint8_t)(0x80 | (code >> 6 & 0x3f));
    out[3] = (uint8_t)(0x80 | (code & 0x3f));
    return 4;
}

/* A row's value as it is hashed: integers as 8 bytes, texts as UTF-8 without padding, whatever the
 * type; so that no shard's type or width matters. */
static size_t put_value(const struct dtype *dtype, const uint8_t *element, uint8_t *out)
{
    size_t n = dtype->itemsize, n_bytes = 0;

    if (dtype->kind == DTYPE_UINT) {
        bytes_put_le(out, bytes_get_uint(element, n, dtype->big_endian), 8);
        return 8;
    }
    if (dtype->kind == DTYPE_INT) {
        bytes_put_le(out, (uint64_t)dtype_get_int(dtype, element), 8);
        return 8;
    }
    if (dtype->kind == DTYPE_BYTES) {
        while (n > 0 && element[n - 1] == 0)
            n--;
        memcpy(out, element, n);
        return n;
    }
    n /= 4;
    while (n > 0 && bytes_get_uint(element + 4 * (n - 1), 4, false) == 0)
        n--;
    for (size_t i = 0; i < n; i++)
        n_bytes += put_code_point((uint32_t)bytes_get_uint(element + 4 * i, 4, dtype->big_endian),
                                  out + n_bytes);
    return n_bytes;
}

static int keep_sides(void *self, const struct key_rows *rows, struct error *err)
{
    struct run *run = self;
    uint8_t *sides = run->split->sides[run->input];
    uint8_t hex[16];

    for (uint64_t i = 0; i < rows->n; i++) {
        const struct key_value key = rows->keys[i];
        const struct row_record record = {key, run->n_before + rows->first + i};
        uint8_t *to;

        if (run->by == NULL) {
            bytes_put_uint(hex, key.high, 8, true);
            bytes_put_uint(hex + 8, key.low, 8, true);
            sides[rows->first + i] = side_of(run->split, run->settings->seed, hex, 16, &run->room);
            continue;
        }
        if (run->rows.boxes == NULL)
            continue;
        to = spill_add(&run->rows, table_box(key, N_BOXES), sizeof record, err);
        if (to == NULL)
            return -1;
        memcpy(to, &record, sizeof record);
    }
    return 0;
}

/* The sides by an array are found without keys. */
static int take_values(struct run *run, struct error *err)
{
    const struct dtype *dtype = &run->by->sources[0]->header.dtype;
    uint8_t *sides = run->split->sides[run->input];
    struct bytes value = {0};
    int status = 0;

    run->values = (struct reader){.arrays = run->by->sources, .n_arrays = 1};
    run->value_batch.reader = &run->values;
    if (bytes_reserve(&value, 2 * (size_t)dtype->itemsize + 16, err) == NULL ||
        bytes_reserve(&run->room, 2 * (size_t)dtype->itemsize + 32, err) == NULL ||
        reader_open(&run->values, run->plan->budget, err) != 0)
        status = -1;
    while (status == 0 && (status = batch_next(&run->value_batch, 4096, err)) == 0 &&
           run->value_batch.n > 0)
        for (uint64_t i = 0; i < run->value_batch.n; i++) {
            const size_t n =
                put_value(dtype, run->value_batch.bytes.data + i * dtype->itemsize, value.data);

            sides[run->value_batch.first + i] =
                side_of(run->split, run->settings->seed, value.data, n, &run->room);
        }
    batch_release(&run->value_batch);
    reader_close(&run->values);
    bytes_release(&value);
    return status;
}

static int find_by(struct run *run, struct error *err)
{
    const char *name = run->settings->by;
    const struct npy_header *header;

    run->by = NULL;
    if (name == NULL || strcmp(name, "position") == 0)
        return 0;
    for (size_t i = 0; i < run->plan->n_arrays && run->by == NULL; i++)
        if (strcmp(run->plan->arrays[i].key, name) == 0)
            run->by = &run->plan->arrays[i];
    if (run->by == NULL)
        return error_set(err, ERROR_USAGE, "--by: %s has no array %s",
                         text_path(run->plan->archives[0].path).text, text_quote(name).text);
    header = &run->by->sources[0]->header;
    if (header->n_dims != 1 || header->shape[0] != run->plan->n_rows ||
        strchr("iuSU", header->dtype.kind) == NULL)
        return plan_refuse(run->plan, run->by, err,
                           "--by: expected an integer or a string for each row");
    return 0;
}

static int read_input(struct run *run, const char *path, struct error *err)
{
    const struct key_reader reader = {run->plan, &run->key, run->settings, false, keep_sides, run};
    const struct key_like like = {&run->first_key, run->first_path, false};
    const bool wants_keys = run->settings->by == NULL ||
                            strcmp(run->settings->by, "position") == 0 || run->rows.boxes != NULL;
    int status;

    run->split->sides[run->input] = malloc(run->plan->n_rows + 1);
    run->split->n_inputs++;
    if (run->split->sides[run->input] == NULL)
        return error_no_memory(err, "sides of rows");
    if (find_by(run, err) != 0 ||
        key_of_plan(&run->key, run->plan, run->has_first ? &like : NULL, err) != 0)
        return -1;
    status = run->by != NULL ? take_values(run, err) : 0;
    run->by =
        run->settings->by != NULL && strcmp(run->settings->by, "position") != 0 ? run->by : NULL;
    if (status == 0 && bytes_reserve(&run->room, 64, err) == NULL)
        status = -1;
    if (status == 0 && wants_keys)
        status = key_reader_run(&reader, err);
    run->n_before += run->plan->n_rows;
    if (run->has_first)
        key_release(&run->key);
    else
        run->first_key = run->key;
    run->first_path = run->has_first ? run->first_path : path;
    run->has_first = true;
    run->key = (struct key){0};
    return status;
}

/* --- positions in several parts --- */

/* The side of a row counted over all inputs. */
static uint8_t *side_at(const struct run *run, const uint64_t *n_rows, uint64_t row)
{
    size_t i = 0;

    while (row >= n_rows[i])
        row -= n_rows[i++];
    return &run->split->sides[i][row];
}

struct shared {
    struct run *run;
    const uint64_t *n_rows; /* of each input */
};

static int look_at_rows(void *self, const uint8_t *bytes, size_t n_bytes, struct error *err)
{
    struct run *run = ((struct shared *)self)->run;
    struct row_record record;

    for (size_t at = 0; at < n_bytes; at += sizeof record) {
        uint8_t *side;
        size_t number;

        memcpy(&record, bytes + at, sizeof record);
        side = side_at(run, ((struct shared *)self)->n_rows, record.row);
        if (table_put(&run->table, record.key, &number, err) != 0)
            return -1;
        if (run->table.capacity > run->n_masks) {
            uint64_t *grown = realloc(run->masks, run->table.capacity * sizeof *grown);

            if (grown == NULL)
                return error_no_memory(err, "keys of positions");
            memset(grown + run->n_masks, 0, (run->table.capacity - run->n_masks) * sizeof *grown);
            run->masks = grown;
            run->n_masks = run->table.capacity;
        }
        if (!run->drops)
            run->masks[number] |= UINT64_C(1) << *side;
        else if (*side != __builtin_ctzll(run->masks[number]))
            *side = SPLIT_NO_PART;
    }
    return 0;
}

static int find_shared(struct run *run, const uint64_t *n_rows, struct error *err)
{
    struct shared shared = {run, n_rows};

    for (size_t box = 0; box < N_BOXES; box++) {
        table_clear(&run->table);
        if (run->n_masks > 0)
            memset(run->masks, 0, run->n_masks * sizeof *run->masks);
        run->drops = false;
        if (spill_each(&run->rows, box, look_at_rows, &shared, err) != 0)
            return -1;
        for (size_t i = 0; i < run->table.n; i++)
            run->split->n_shared += (run->masks[i] & (run->masks[i] - 1)) != 0;
        run->drops = run->settings->overlap == 2;
        if (run->drops && spill_each(&run->rows, box, look_at_rows, &shared, err) != 0)
            return -1;
    }
    return 0;
}

int split_sides(struct split *split, char *const *paths, size_t n_paths,
                const struct settings *settings, struct error *err)
{
    struct run run = {.split = split, .settings = settings};
    const bool looks =
        settings->by != NULL && strcmp(settings->by, "position") != 0 && settings->overlap != 1;
    uint64_t *n_rows = calloc(n_paths + 1, sizeof *n_rows);
    int status = 0;

    split->sides = calloc(n_paths + 1, sizeof *split->sides);
    if (n_rows == NULL || split->sides == NULL)
        status = error_no_memory(err, "inputs");
    if (status == 0 && looks)
        status = spill_init(&run.rows, N_BOXES, settings->max_memory / 4, settings->tmpdir, err);
    for (run.input = 0; run.input < n_paths && status == 0; run.input++) {
        const char *path = paths[run.input];
        struct plan plan;

        if ((status = plan_build(&plan, &path, 1, settings, err)) != 0)
            break;
        run.plan = &plan;
        n_rows[run.input] = plan.n_rows;
        status = plan_survey(&plan, err);
        if (status == 0)
            status = read_input(&run, path, err);
        run.plan = NULL;
        plan_release(&plan);
    }
    if (status == 0 && looks)
        status = find_shared(&run, n_rows, err);
    spill_release(&run.rows);
    table_release(&run.table);
    bytes_release(&run.room);
    key_release(&run.first_key);
    key_release(&run.key);
    free(run.masks);
    free(n_rows);
    return status;
}

int split_select(const struct split *split, struct plan *plan, size_t i, size_t part,
                 const struct settings *settings, struct error *err)
{
    static const char *const overlaps[] = {"warn", "keep", "drop"};
    const bool by_position = settings->by == NULL || strcmp(settings->by, "position") == 0;
    char seed[24];
    struct key key;

    snprintf(seed, sizeof seed, "%llu", (unsigned long long)settings->seed);
    if (plan->n_notes == 0) { /* while its arrays are still what their roles say */
        int status = key_of_plan(&key, plan, NULL, err);

        if (status == 0)
            status = key_note(plan, &key, err);
        key_release(&key);
        if (status != 0)
            return -1;
    }
    if (plan_note(plan, "command", "split", 0, err) != 0 ||
        plan_note(plan, "parts", settings->parts, 0, err) != 0 ||
        plan_note(plan, "part", split->parts[part].name, 0, err) != 0 ||
        plan_note(plan, "by", by_position ? "position" : settings->by, 0, err) != 0 ||
        plan_note(plan, "seed", seed, 0, err) != 0)
        return -1;
    if (!by_position && (plan_note(plan, "overlap", overlaps[settings->overlap], 0, err) != 0 ||
                         (settings->overlap != 1 && plan_note(plan, "positions_in_several_parts",
                                                              NULL, split->n_shared, err) != 0)))
        return -1;
    if (plan_keep_rows(plan, err) != 0)
        return -1;
    for (uint64_t row = 0; row < plan->n_rows; row++)
        if (split->sides[i][row] != part)
            selection_clear(&plan->selection, row, 0);
    return plan_set_order(plan, settings, err);
}

void split_release(struct split *split)
{
    for (size_t i = 0; i < split->n_inputs; i++)
        free(split->sides[i]);
    free(split->sides);
    free(split->text);
    *split = (struct split){0};
}
