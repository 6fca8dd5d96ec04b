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

int survey_castling(struct plan *plan, struct error *err)
{
    const struct plan_array *planes = survey_find(plan, ROLE_PLANES);
    struct batch rows = {0};
    int status;

    if (!survey_has_numbers(planes) || plan->conventions.n_castling_planes < 0 ||
        (plan->conventions.n_castling_planes == 0 &&
         survey_n_planes(planes) != plan->board->family->castling->n_planes))
        return 0;
    plan->n_castling_rows = 0;
    status = survey_open(&rows, plan, planes, err);
    while (status == 0 && (status = survey_next(&rows, err)) == 0 && rows.n > 0)
        for (uint64_t i = 0; i < rows.n && status == 0; i++) {
            if (!has_castling_rights(plan, planes, batch_row(&rows, i).bytes))
                continue;
            plan->n_castling_rows++;
            if (plan->conventions.castling == CASTLING_SKIP)
                status = survey_keep_identity(plan, rows.first + i, err);
        }
    batch_release(&rows);
    return status;
}
