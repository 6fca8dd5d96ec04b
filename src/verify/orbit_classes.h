/*
 * orbit_classes.h - groups of images without any order to go by: rows whose stones have the same
 * shape are images of one position.
 */
#ifndef SYMAUG_VERIFY_ORBIT_CLASSES_H
#define SYMAUG_VERIFY_ORBIT_CLASSES_H

#include "verify/orbit_probe.h"

/* What the first rows say about positions and their images. */
struct classes_fit {
    uint32_t n_images; /* that most positions have; 0: most have none */
    double saved;      /* share of the rows that repeat another one's position */
    /* Each image is there once, also where the position's own symmetry makes several equal, or
     * their policies have nothing to do with each other: positions listed one by one rather than
     * rows expanded. */
    bool is_enumeration;
};

int orbit_classes_probe(const struct probe *probe, struct classes_fit *fit, struct error *err);

/*
 * List all rows with a source (the number of their class) and a transform relative to the first row
 * of the class. Rows whose transform is left open by the position's own symmetry are groups of
 * their own. *entries is owned by the caller.
 */
int orbit_classes(struct probe *probe, const bool *allowed, uint32_t n_images,
                  struct lane_image **entries, struct error *err);

#endif
