/*
 * explain.h - is a set an expanded one, and which of its rows belong together?
 *
 * explain.c decides, from what is told and from what the rows show; its parts are the sketch of a
 * row (sketch.c), the search for a layout under which rows repeat a position (probe.c), and what
 * the images of a layout are, or the rows of a position where there is no layout (votes.c).
 */
#ifndef SYMAUG_VERIFY_EXPLAIN_H
#define SYMAUG_VERIFY_EXPLAIN_H

#include "verify/groups.h"
#include "verify/images.h"

/*
 * Find the groups of images. Provenance arrays tell; else the order and the transforms on the
 * command line or in the manifest; else layouts are tried on sources spread over the set, and the
 * one that explains most rows is taken. Where rows are missing or there twice, rows are grouped by
 * the shape of their stones. result->is_expanded says whether groups were found, result->note how,
 * or why not. Lanes are closed.
 */
int explain_set(struct orbit_groups *groups, struct lanes *lanes, struct error *err);

/* --- sketches: a row reduced to what no image changes, right or wrong --- */

enum sketch_group {
    SKETCH_BOARD, /* images under the symmetries of the board */
    SKETCH_BOX,   /* under all those of its box: quarter turns, flips, transpositions */
    SKETCH_N_GROUPS
};

struct sketch {
    /* Equal for all images of the stones without their colours; 0: the same in every image. */
    uint64_t shape[SKETCH_N_GROUPS];
    bool is_symmetric; /* under the board's, some of its images are equal */
    uint64_t planes;   /* the bytes of the planes */
    uint64_t counts;   /* what the channels hold, wherever it stands */
    uint64_t policy;   /* the numbers of the policies, wherever they stand; 0: there are none */
    uint64_t labels;   /* the bytes of the policies */
};

/* Makes sketches of the rows of the lane that tells images apart. */
struct sketcher {
    const struct lane *lane; /* borrowed: the planes */
    uint32_t n_cells;
    const uint32_t *const *maps[SKETCH_N_GROUPS]; /* dst maps of each group */
    uint32_t n_maps[SKETCH_N_GROUPS];
    const uint32_t *board[BOARD_MAX_TRANSFORMS]; /* borrowed: maps[SKETCH_BOARD] */
    const uint32_t **box;                        /* owned list */
    uint32_t *box_maps;                          /* owned */
    bool has_box;                                /* the box has symmetries that the board has not */
    uint32_t *room;                              /* owned: three times n_cells */
};

/* The symmetries of a box, by their number in maps[SKETCH_BOX]. */
extern const char *const sketch_box_names[8];

int sketcher_init(struct sketcher *sketcher, const struct lanes *lanes, struct error *err);
void sketcher_release(struct sketcher *sketcher);

/* All but policy and labels, of a row of planes. */
void sketch_planes(struct sketcher *sketcher, const uint8_t *row, struct sketch *sketch);

/* Policy and labels of the row at `at` of a window. */
void sketch_policy(const struct lanes *lanes, const struct window *window, uint64_t at,
                   struct sketch *sketch);

/* The number of the only map of the group that takes the stones of row a to those of row b, their
 * colours left aside; -1 for none or several. */
int sketch_relation(struct sketcher *sketcher, enum sketch_group group, const uint8_t *a,
                    const uint8_t *b);

/* --- the probe: rows that are looked at, and the layouts that explain them --- */

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
    const bool *allowed; /* borrowed: transforms whose images are exact */
    struct layout told;  /* n_images and block_rows, 0 where any will do */
    struct sketcher sketcher;
    struct window window; /* rows 0 .. n - 1 of every lane */
    uint64_t n, n_rows;
    struct sketch *sketches; /* owned, n */
    uint64_t *far_rows;      /* owned, ascending: rows after those */
    struct sketch *far;      /* owned: of these; */
    uint64_t n_far;
    bool has_labels;                     /* of their policies, too */
    uint64_t far_block;                  /* the block that rows were read for */
    bool may_be_games;                   /* the rows begin with blocks of different lengths */
    uint64_t *games[3 * PROBE_N_LEVELS]; /* owned: where the blocks of layouts begin */
    size_t n_games;
    struct verify_result unused; /* of reading: the pass reports it */
};

/* A layout that explains rows, and what its images are. */
struct fit {
    enum probe_level level;
    struct layout layout; /* games are borrowed from the probe */
    double saved;         /* share of the rows that repeat another one's position */
    double share;         /* of the sources looked at, those with most of their images */

    uint32_t ids[LAYOUT_MAX_IMAGES]; /* transforms, or ORBIT_NO_TRANSFORM: not the same in all */
    int foreign[LAYOUT_MAX_IMAGES];  /* the map (at PROBE_BOX of the box, else of the board) that
                                        is no symmetry here, or -1 */
    uint64_t n_moved; /* pairs of a first image and another that some transform explains */
    uint64_t n_pairs;
    bool only_colours; /* images differ in colours alone */
};

/* Read the first rows; allowed and told are set. What cannot be read leaves n at 0. */
int probe_open(struct probe *probe, struct lanes *lanes, struct error *err);

/* Read the planes of rows all over the set where layouts in transform order, or in blocks of
 * block_rows (0: none is known), would have their images; of all rows where they may be blocks of
 * different lengths. Again, with labels: their policies, too. */
int probe_reach(struct probe *probe, uint64_t block_rows, bool with_labels, struct error *err);

/* Rows from anywhere in the set in a window of their own, of which nothing was made before. */
int probe_gather(struct probe *probe, const uint64_t *rows, uint64_t n, struct window *window,
                 struct error *err);

/* Whether a layout's blocks are short enough to show all their images in the rows read. */
bool probe_is_enough(const struct probe *probe, const struct layout *layout);
void probe_close(struct probe *probe);

/* *best becomes the layout that saves most rows at that level; its share is 0 when none does. */
int probe_find(struct probe *probe, enum probe_level level, struct fit *best, struct error *err);

/* Sources all over the rows that were read whose images tell something; returns their number. */
uint64_t probe_sources(const struct probe *probe, const struct fit *fit,
                       uint64_t list[PROBE_SOURCES]);

/* --- votes: what the images are --- */

/* Fill in what the images of a layout are. */
int votes_take(struct probe *probe, struct fit *fit, struct error *err);

/* What the first rows say about positions and their images. */
struct classes_fit {
    uint32_t n_images; /* that most positions have; 0: most have none */
    double saved;      /* share of the rows that repeat another one's position */
    /* Each image is there once, also where the position's own symmetry makes several equal, or
     * their policies have nothing to do with each other: positions listed one by one rather than
     * rows expanded. */
    bool is_enumeration;
};

int classes_judge(const struct probe *probe, struct classes_fit *fit, struct error *err);

/*
 * List all rows with a source (the number of their class) and a transform relative to the first row
 * of the class. Rows whose transform is left open by the position's own symmetry are groups of
 * their own. *entries is owned by the caller.
 */
int classes_list(struct probe *probe, uint32_t n_images, struct lane_image **entries,
                 struct error *err);

#endif
