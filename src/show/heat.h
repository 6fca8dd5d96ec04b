/*
 * heat.h - the policy of a row as shares: by cell, of what has no cell, and the largest ones.
 */
#ifndef SYMAUG_SHOW_HEAT_H
#define SYMAUG_SHOW_HEAT_H

#include "show/fields.h"
#include "show/picture.h"

/* Put the policy's shares on the cells and its words into the caption. The stones stand already:
 * a column is where its piece would come to rest. */
int heat_read(const struct plan *plan, const struct fields *fields, struct picture *picture,
              struct error *err);

#endif
