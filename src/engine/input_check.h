/*
 * input_check.h - the inputs of an expansion: not an output, not changed meanwhile, not damaged.
 */
#ifndef SYMAUG_ENGINE_INPUT_CHECK_H
#define SYMAUG_ENGINE_INPUT_CHECK_H

#include "engine/plan.h"

/* ERROR_CANT_CREATE when path is one of the inputs, or a file of one, whatever it is called. */
int input_check_not_output(const struct plan *plan, const char *path, struct error *err);

/* ERROR_DATA when an input is no longer what it was when it was opened. */
int input_check_unchanged(const struct plan *plan, struct error *err);

/* Read all arrays and check their CRCs: a CRC stands at the end, and what is written before that is
 * read must not be given its final name. */
int input_check_data(const struct plan *plan, int n_threads, struct error *err);

#endif
