/*
 * survey.h - looking at the data before, or while, it is labelled: ranges, codes, and whether the
 * stones agree with the declared convention. Streams over the arrays that matter, nothing else.
 */
#ifndef SYMAUG_ENGINE_SURVEY_H
#define SYMAUG_ENGINE_SURVEY_H

#include "engine/plan.h"

/* What numbers an array holds; NaN is left out. */
struct survey_range {
    double min, max;   /* 0, 0 when there are none */
    bool has_fraction; /* some value is no whole number */
    bool has_zero;
    uint64_t n; /* how many numbers */
};

/* The range of all elements of an array over all inputs. */
int survey_range(const struct plan *plan, const struct plan_array *array,
                 struct survey_range *range, struct error *err);

/* What the elements of an array may be. */
struct survey_bounds {
    double low, high;
    bool whole;   /* no fractions */
    bool no_zero; /* 0 is no code */
};

/* ERROR_DATA naming file, array, the first row that is out of bounds, and what was expected. Call
 * it when survey_range says that there is one. */
int survey_refuse(const struct plan *plan, const struct plan_array *array,
                  const struct survey_bounds *bounds, const char *expected, struct error *err);

/*
 * The game of Hex: lead = stones of the player to move - the other's, 0 or -1 in play. Refused when
 * some row has lead +1 under the declared convention of the planes and none has lead >= +1 under
 * the other one; contradictions that prove nothing become a warning. Rows with an all-zero policy
 * or a to-move plane that is not constant are not looked at.
 */
int survey_stones(struct plan *plan, struct error *err);

/* Chess: count rows with castling rights; with CASTLING_SKIP they keep only the identity image. */
int survey_castling(struct plan *plan, struct error *err);

/* Policies with entries that name a region by one cell: count them; with AMBIGUOUS_DROP rows that
 * have such mass keep only the identity image. */
int survey_ambiguous(struct plan *plan, struct error *err);

/* Packed planes: warn of rows with bits set behind the last cell of a plane (written as 0). */
int survey_padding(struct plan *plan, struct error *err);

#endif
