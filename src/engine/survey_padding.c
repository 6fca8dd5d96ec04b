/*
 * survey_padding.c - packed planes: counts the rows that have bits set after the last cell of a
 * plane. The kernels write these as 0, so they are lost, which deserves a warning.
 */
#include "engine/survey.h"
#include "engine/survey_chunks.h"

/* True when a plane's last byte has bits set that stand for no cell. */
static bool has_pad_bits(const struct spec *spec, uint8_t last_byte)
{
    const unsigned n_used = (unsigned)(spec->axis % 8);
    const unsigned pad = spec->lsb_first ? 0xffu << n_used : 0xffu >> n_used;

    return n_used != 0 && (last_byte & pad) != 0;
}

static uint64_t count_rows(const struct spec *spec, const struct batch *rows)
{
    const uint64_t plane_nbytes = (spec->axis + 7) / 8;
    uint64_t n = 0;

    for (uint64_t i = 0; i < rows->n; i++) {
        bool found = false;

        for (uint64_t end = plane_nbytes; end <= spec->row_nbytes; end += plane_nbytes)
            found |= has_pad_bits(spec, rows->bytes.data[i * spec->row_nbytes + end - 1]);
        n += found;
    }
    return n;
}

int survey_padding(struct plan *plan, struct error *err)
{
    const struct plan_array *packed = survey_find(plan, ROLE_PACKED);
    struct batch rows = {0};
    uint64_t n_rows = 0;
    int status;

    if (packed == NULL || packed->spec.axis % 8 == 0)
        return 0;
    status = survey_open(&rows, plan, packed, err);
    while (status == 0 && (status = survey_next(&rows, err)) == 0 && rows.n > 0)
        n_rows += count_rows(&packed->spec, &rows);
    batch_release(&rows);
    if (status != 0 || n_rows == 0)
        return status;
    return plan_warn(plan, err, "%s: %llu rows have pad bits set, which are written as 0",
                     text_path(packed->key).text, (unsigned long long)n_rows);
}
