/*
 * survey_castling.c - chess: counts the rows whose planes hold castling rights, which a mirror
 * carries over only in approximation. With --castling skip such rows keep their identity image
 * alone.
 */
#include "engine/survey.h"
#include "engine/survey_chunks.h"

static bool has_castling_rights(const struct plan *plan, const struct plan_array *planes,
                                const uint8_t *row)
{
    const struct conventions *c = &plan->conventions;
    const uint32_t *known = plan->board->family->castling->planes;

    for (uint32_t i = 0; i < 4; i++) {
        uint32_t plane = c->n_castling_planes > 0 ? c->castling_planes[i] : known[i];

        for (uint64_t cell = 0; cell < planes->spec.axis; cell++)
            if (survey_plane_value(planes, row, plane, cell) != 0)
                return true;
    }
    return false;
}

static int count_castling(struct plan *plan, const struct plan_array *planes, struct chunks *chunks,
                          struct error *err)
{
    plan->n_castling_rows = 0;
    do {
        if (chunks_next(chunks, err) != 0)
            return -1;
        for (uint64_t i = 0; i < chunks->n; i++) {
            if (!has_castling_rights(plan, planes, chunks->rows + i * planes->spec.row_nbytes))
                continue;
            plan->n_castling_rows++;
            if (plan->conventions.castling == CASTLING_SKIP &&
                survey_keep_identity(plan, chunks->first + i, err) != 0)
                return -1;
        }
    } while (chunks->n > 0);
    return 0;
}

int survey_castling(struct plan *plan, struct error *err)
{
    const struct plan_array *planes = survey_find(plan, ROLE_PLANES);
    struct chunks chunks = {0};
    int status = -1;

    if (!survey_has_numbers(planes) || plan->conventions.n_castling_planes < 0 ||
        (plan->conventions.n_castling_planes == 0 &&
         survey_n_planes(planes) != plan->board->family->castling->n_planes))
        return 0;
    if (chunks_open(&chunks, plan, planes, SURVEY_CHUNK_NBYTES / (planes->spec.row_nbytes + 1) + 1,
                    err) == 0)
        status = count_castling(plan, planes, &chunks, err);
    chunks_close(&chunks);
    return status;
}
