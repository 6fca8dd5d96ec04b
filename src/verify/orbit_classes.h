/*
 * orbit_classes.h - groups of images without any order to go by: rows whose planes have the same
 * canonical form are images of one position.
 */
#ifndef SYMAUG_VERIFY_ORBIT_CLASSES_H
#define SYMAUG_VERIFY_ORBIT_CLASSES_H

#include "verify/canonical.h"
#include "verify/verify.h"

/*
 * List all rows with a source (the number of their class) and a transform relative to the first row
 * of the class. Where a position's own symmetry leaves the transform open, or the position occurs
 * several times, rows have no transform. *entries is owned by the caller.
 */
int orbit_classes(const struct canonical *canonical, const struct verify_request *request,
                  struct lane_image **entries, struct error *err);

#endif
