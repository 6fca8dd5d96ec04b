/* orbit_probe.c - see orbit_probe.h. */
#include "verify/orbit_probe.h"

#include "verify/orbit_groups.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static int read_list(struct probe *probe, const uint64_t *list, uint64_t n, struct error *err)
{
    const struct array *array = probe->canonical->lane->array;
    const uint64_t row_nbytes = array->row_nbytes;
    struct error unused = {0};
    struct rows *rows;
    uint64_t next = 0;

    if (array_is_fortran(array)) {
        uint64_t memory_left = UINT64_C(1) << 28;
        struct row_table *table = row_table_open(&array, 1, &memory_left, "/tmp", &unused);

        for (uint64_t i = 0; table != NULL && i < n; i++, probe->n++)
            if (row_table_get(table, list[i], probe->rows + i * row_nbytes, &unused) != 0)
                break;
        row_table_close(table);
        return 0;
    }
    (void)err;
    rows = rows_open(&array, 1, &unused);
    for (uint64_t i = 0; rows != NULL && i < n; i++, probe->n++) {
        uint8_t *to = probe->rows + i * row_nbytes;

        for (; next <= list[i]; next++)
            if (rows_read(rows, 1, to, &unused) != 0)
                goto out;
    }
out:
    rows_close(rows);
    return 0;
}

int probe_open(struct probe *probe, const struct canonical *canonical, const uint64_t *list,
               uint64_t n, struct error *err)
{
    const uint64_t row_nbytes = canonical->lane->array->row_nbytes;
    struct canonical_room room = {0};
    int status = -1;

    *probe = (struct probe){.canonical = canonical};
    probe->rows = malloc(n * row_nbytes + 1);
    probe->forms = calloc(n + 1, sizeof *probe->forms);
    probe->bytes = calloc(n + 1, sizeof *probe->bytes);
    if (probe->rows == NULL || probe->forms == NULL || probe->bytes == NULL)
        error_no_memory(err, "rows of a set");
    else if (canonical_room_init(&room, canonical, err) == 0)
        status = read_list(probe, list, n, err);
    for (uint64_t i = 0; status == 0 && i < probe->n; i++) {
        const uint8_t *row = probe->rows + i * row_nbytes;

        probe->forms[i] = canonical_hash(canonical, row, &room);
        probe->bytes[i] = XXH3_64bits(row, row_nbytes);
    }
    canonical_room_release(&room);
    return status;
}

void probe_close(struct probe *probe)
{
    free(probe->rows);
    free(probe->forms);
    free(probe->bytes);
    *probe = (struct probe){0};
}

/* A set with faults is still one: three quarters of the rows must belong to the first one. */
int probe_group(const struct probe *probe, uint64_t start, uint64_t step, uint32_t n_ids)
{
    uint32_t n_alike = 0;
    bool differ = false;

    if (start + (n_ids - 1) * step >= probe->n)
        return -1;
    for (uint32_t k = 0; k < n_ids; k++) {
        n_alike += probe->forms[start + k * step] == probe->forms[start];
        differ |= probe->bytes[start + k * step] != probe->bytes[start];
    }
    if (!differ)
        return -1;
    return 4 * n_alike >= 3 * n_ids;
}

struct hashes {
    uint64_t form, bytes;
};

static int compare_hashes(const void *left, const void *right)
{
    const struct hashes *a = left, *b = right;

    if (a->form != b->form)
        return a->form < b->form ? -1 : 1;
    return a->bytes < b->bytes ? -1 : a->bytes > b->bytes;
}

double probe_classes(const struct probe *probe, uint32_t n_ids, struct error *err)
{
    struct hashes *list = calloc(probe->n + 1, sizeof *list);
    uint64_t n_classes = 0, n_good = 0;

    if (list == NULL) {
        error_no_memory(err, "hashes of rows");
        return -1;
    }
    for (uint64_t i = 0; i < probe->n; i++)
        list[i] = (struct hashes){probe->forms[i], probe->bytes[i]};
    qsort(list, probe->n, sizeof *list, compare_hashes);
    for (uint64_t i = 0, end; i < probe->n; i = end) {
        uint64_t n_different = 1;

        for (end = i + 1; end < probe->n && list[end].form == list[i].form; end++)
            n_different += list[end].bytes != list[end - 1].bytes;
        if (n_different == 1 && end - i > 1) /* a position that is its own image tells nothing */
            continue;
        n_classes++;
        n_good += 4 * n_different >= 3 * n_ids && n_different > 1;
    }
    free(list);
    return n_good * (n_ids - 1) >= 3 ? (double)n_good / (double)n_classes : 0;
}

uint32_t probe_relation(const struct probe *probe, uint64_t a, uint64_t b,
                        struct canonical_room *room)
{
    const struct canonical *canonical = probe->canonical;
    const uint64_t row_nbytes = canonical->lane->array->row_nbytes;
    uint32_t found = ORBIT_NO_TRANSFORM;

    if (probe->forms[a] != probe->forms[b])
        return ORBIT_NO_TRANSFORM;
    memset(room->least, 0, canonical->form_nbytes);
    memset(room->other, 0, canonical->form_nbytes);
    canonical_form(canonical, 0, probe->rows + b * row_nbytes, room->least);
    for (uint32_t u = 0; u < canonical->board->n_transforms; u++) {
        canonical_form(canonical, u, probe->rows + a * row_nbytes, room->other);
        if (memcmp(room->least, room->other, canonical->form_nbytes) != 0)
            continue;
        if (found != ORBIT_NO_TRANSFORM)
            return ORBIT_NO_TRANSFORM;
        found = u;
    }
    return found;
}

int probe_ids(const struct probe *probe, const uint64_t *starts, uint64_t n_starts, uint64_t step,
              struct probe_order *order, struct error *err)
{
    uint32_t votes[BOARD_MAX_TRANSFORMS] = {0};
    bool taken[BOARD_MAX_TRANSFORMS] = {false};
    uint8_t ids[BOARD_MAX_TRANSFORMS] = {0};
    struct canonical_room room = {0};

    if (canonical_room_init(&room, probe->canonical, err) != 0) {
        canonical_room_release(&room);
        return -1;
    }
    for (uint32_t k = 0; k < order->n_ids; k++) {
        uint32_t best = 0;

        memset(votes, 0, sizeof votes);
        for (uint64_t s = 0; s < n_starts; s++) {
            const uint32_t u = probe_relation(probe, starts[s], starts[s] + k * step, &room);

            if (u != ORBIT_NO_TRANSFORM)
                votes[u]++;
        }
        for (uint32_t u = 1; u < probe->canonical->board->n_transforms; u++)
            if (votes[u] > votes[best])
                best = u;
        ids[k] = votes[best] > 0 ? (uint8_t)best : order->ids[k];
        if (taken[ids[k]]) { /* groups contradict each other: the usual ids, then */
            canonical_room_release(&room);
            return 0;
        }
        taken[ids[k]] = true;
    }
    memcpy(order->ids, ids, order->n_ids);
    canonical_room_release(&room);
    return 0;
}
