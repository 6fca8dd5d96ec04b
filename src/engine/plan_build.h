/*
 * plan_build.h - from inputs and a request to a checked plan.
 */
#ifndef SYMAUG_ENGINE_PLAN_BUILD_H
#define SYMAUG_ENGINE_PLAN_BUILD_H

#include "engine/plan.h"
#include "engine/survey.h"

/*
 * Open the inputs, decide board, roles and transforms, bind every array to its move, survey the
 * data where labels or the choice of images depend on it, and set the order. On failure everything
 * is released and the error names file, array, expected and found. The caller releases a built
 * plan.
 */
int plan_build(struct plan *plan, const char *const *paths, size_t n_paths,
               const struct settings *request, struct error *err);

/*
 * Look at what decides codings in one input of several that have plans of their own, and add it to
 * `seen`. Nothing that is wrong with the input is an error here: plan_build will say so.
 */
int plan_see(const char *path, const struct settings *request, struct survey_seen *seen,
             struct error *err);

/*
 * The rest of the survey, which reads whole arrays and decides about nothing: counts and warnings
 * are added to the plan, and data that contradicts the declared conventions is refused. Nothing
 * happens when it has been made; plan_build makes it where it needs memory for arrays in Fortran
 * order. May run while others read the rest of the plan.
 */
int plan_survey(struct plan *plan, struct error *err);

#endif
