/*
 * descr.h - the 'descr' of a .npy header: a type string, or a list of fields.
 */
#ifndef SYMAUG_NPY_DESCR_H
#define SYMAUG_NPY_DESCR_H

#include "npy/dtype.h"
#include "npy/literal.h"

/*
 * Take a descr. A list of fields - ('name', descr) or ('name', descr, shape), nested at will within
 * reason - becomes a structured dtype of the total size. *no_order is set when a multi-byte number
 * or string says '|' or '=' (numpy then takes the machine's order). ERROR_DATA for anything else.
 */
int descr_take(struct literal *l, struct dtype *dtype, bool *no_order, struct error *err);

#endif
