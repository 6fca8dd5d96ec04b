/*
 * explain_parts.h - parts of finding out which rows of a set belong together: rows that are looked
 * at (probe.c), and what they show of transforms and positions (votes.c).
 */
#ifndef SYMAUG_VERIFY_EXPLAIN_PARTS_H
#define SYMAUG_VERIFY_EXPLAIN_PARTS_H

#include "verify/groups.h"
#include "verify/images.h"
#include "verify/sketch.h"
#include "verify/verify.h"

#define PROBE_SOURCES 64 /* of a layout that are looked at */

/* What equal numbers a layout is found by. */
enum probe_level {
    PROBE_SHAPE,  /* stones under the board's symmetries, colours left aside */
    PROBE_BOX,    /* stones under the symmetries of the box */
    PROBE_LABELS, /* what planes and policies hold, wherever it stands */
    PROBE_POLICY, /* what policies hold */
    PROBE_N_LEVELS
};

struct probe {
    struct lanes *lanes; /* borrowed; open while a probe lasts, closed by probe_close */
    const struct verify_request *request;
    const bool *allowed; /* borrowed: transforms whose images are exact */
    struct sketcher sketcher;
    struct window window; /* rows 0 .. n - 1 of every lane */
    uint64_t n, n_rows;
    struct sketch *sketches; /* owned, n */
    uint64_t *far_rows;      /* owned, ascending: rows behind those */
    struct sketch *far;      /* owned, their planes */
    uint64_t n_far;
    uint64_t far_block;              /* the block that rows were read for */
    uint64_t *games[PROBE_N_LEVELS]; /* owned: where blocks of different lengths begin */
    struct verify_result unused;     /* of reading: the pass reports it */
};

/* A layout with how well it explains the rows. */
struct probe_fit {
    struct layout layout;
    double saved; /* share of the rows that repeat another one's position */
    double share; /* of the sources looked at, those with most of their images */
};

/* What the images of a layout are. */
struct slots {
    uint32_t ids[LAYOUT_MAX_IMAGES]; /* transforms, or ORBIT_NO_TRANSFORM: not the same in all */
    int foreign[LAYOUT_MAX_IMAGES];  /* the board's or box's map that is no symmetry here, or -1 */
    bool of_box;                     /* foreign ones are of the box, else of the board */
    uint64_t n_moved; /* pairs of a first image and another that some transform explains */
    uint64_t n_pairs;
    bool only_colours; /* images differ in colours alone */
};

/* Read the first rows. What cannot be read leaves n at 0. */
int probe_open(struct probe *probe, struct lanes *lanes, const struct verify_request *request,
               const bool *allowed, struct error *err);
/* Read rows all over the set where layouts in transform order, or in blocks of block_rows (0: none
 * is known), would have their images. */
int probe_reach(struct probe *probe, uint64_t block_rows, struct error *err);

/* Whether a layout's blocks are short enough to show all their images in the rows read. */
bool probe_is_enough(const struct probe *probe, const struct layout *layout);
void probe_close(struct probe *probe);

/* *best, zeroed before, becomes the layout that saves most rows at that level; of `told` n_images
 * and block_rows are 0 where any will do. */
int probe_find(struct probe *probe, enum probe_level level, const struct layout *told,
               struct probe_fit *best, struct error *err);

/* Sources all over the rows that were read whose images tell something; returns their number. */
uint64_t probe_sources(const struct probe *probe, const struct layout *layout,
                       enum probe_level level, uint64_t list[PROBE_SOURCES]);

/* The only allowed transform that makes the planes of one row those of another, whatever was done
 * to the colours, or ORBIT_NO_TRANSFORM. */
uint32_t probe_relate_planes(const struct orbit_pair *pair, const bool *allowed);

/* The transforms of a layout's images. */
int probe_slots(struct probe *probe, const struct layout *layout, enum probe_level level,
                struct slots *slots, struct error *err);

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
int orbit_classes(struct probe *probe, uint32_t n_images, struct lane_image **entries,
                  struct error *err);

#endif
