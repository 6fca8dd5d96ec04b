/*
 * parts.h - what the files of this folder share: opening a shard, the rows of its arrays side by
 * side (lanes and windows), the rows that are images of one source (groups, and how they are found
 * when nothing names them), and the checks of rows and groups.
 */
#pragma once

#include "engine/turn.h"
#include "shard/spec.h"
#include "verify/verify.h"

/* --- the shard (shard.c) --- */

/* Open the shard at result->path and decide its board, conventions and roles. What is wrong or
 * cannot be decided is a finding; result->fatal is set when the file cannot be read. -1 with err
 * set: a wrong command line, no memory. The caller closes the shard in any case. */
int verify_shard_open(struct shard *shard, const struct verify_request *request,
                      struct verify_result *result, struct error *err);

/* Turn a read error into a finding (crc, container) and mark the result as unreadable. -1 with err
 * set when it is no fault of the file (no memory, a wrong command line, a bug). */
int verify_read_failed(struct verify_result *result, const char *array, const struct error *why,
                       struct error *err);

/* --- lanes: arrays with rows (lane.c) --- */

struct lane {
    const struct array *array;          /* borrowed */
    const struct role_binding *binding; /* borrowed */
    struct spec spec;
    bool is_mapped;       /* spec is set, and images are compared in this array */
    int values;           /* POLICY_INDEX: the lane of its values; -1: none */
    struct reader reader; /* while the lanes are open */
    bool is_finite;       /* must not hold NaN */
    struct error error;   /* of reading it in the pass, not reported yet */
    bool is_broken;       /* it cannot be read; once rows are checked, this has been reported */
};

struct lanes {
    struct shard *shard;                  /* borrowed */
    const struct verify_request *request; /* borrowed */
    struct verify_result *result;         /* borrowed: where findings go */
    struct spec_maker maker;              /* of the lanes' specs */
    struct lane *items;                   /* owned */
    size_t n;
    struct csr *csrs;    /* owned: per array of the shard; set for offsets that were read */
    uint64_t row_nbytes; /* of all lanes together, roughly */
    int planes;          /* the lane that tells images apart (planes, packed or grid); -1: none */
};

/* Make a lane for each array with rows, and, where the board is known, their specs: one that cannot
 * be made is a finding. The caller releases them in any case. */
int lanes_init(struct lanes *lanes, struct shard *shard, const struct verify_request *request,
               struct verify_result *result, struct error *err);

void lanes_release(struct lanes *lanes);

/* Open every lane, anew if it was open, for reading in sequence or at random. A lane that cannot be
 * read is a finding of `result`, and broken. Without a result, while rows are only looked at,
 * broken lanes stay so, faults of the data are left for the pass to report, and other errors are
 * returned. */
int lanes_open(struct lanes *lanes, bool at_random, struct verify_result *result,
               struct error *err);
void lanes_close(struct lanes *lanes);

/* True when the images of a lane are compared. */
static inline bool lane_is_compared(const struct lane *lane)
{
    return lane->is_mapped && !lane->is_broken;
}

/* --- windows: the same rows of every lane --- */

#define NO_TRANSFORM UINT32_MAX /* none, or not known */

/* Row `row` of the shard is the image of source `source` under `transform`. */
struct lane_image {
    uint64_t source, row;
    uint32_t transform;
    uint32_t at; /* its position in the window */
};

struct window {
    struct lanes *lanes; /* borrowed */
    uint64_t n, capacity;
    uint64_t *rows;            /* owned: by position */
    struct lane_image *images; /* owned: group by group, lowest transform first */
    uint64_t *groups;          /* owned: group g is images[groups[g] .. groups[g + 1] - 1] */
    uint64_t n_groups;
    struct batch *batches; /* owned, one per lane */
};

/* Make a window with room for n rows; lanes NULL: no array will be read. Release it in any case. */
int window_init(struct window *window, struct lanes *lanes, uint64_t n, struct error *err);

/* Make room for n rows; what the window holds is lost. */
int window_reserve(struct window *window, uint64_t n, struct error *err);
void window_release(struct window *window);

/* Read the window's rows of lane i. A lane opened in sequence reads ascending rows, beyond those it
 * read last. Different lanes may be read in parallel. -1 with err set: the lane cannot be read. */
int window_read_lane(struct window *window, size_t i, struct error *err);

/* The row of lane i at position `at`; empty where the lane was not read. */
struct row window_row(const struct window *window, size_t i, uint64_t at);

/* --- is one row the image of another? (images.c) --- */

/* What a comparison may ignore. */
enum orbit_liberty {
    ORBIT_EXACT = 0,
    ORBIT_ON_BOARD_ONLY = 1, /* off-board cells of the box are ignored */
    ORBIT_NO_EXCHANGE = 2,   /* planes do not change places */
    ORBIT_NO_COMPLEMENT = 4, /* the to-move plane is copied */
    ORBIT_NO_FLIP = 8,       /* a colour swap leaves numbers alone */
    ORBIT_NO_PADDING = 16,   /* trailing entries of value 0 of a padded sparse row are ignored */
    ORBIT_SWAP_ANYWAY = 32,  /* a transform swaps colours even though it should not */
};

/* Two rows of one lane. */
struct orbit_pair {
    const struct window *window;
    size_t lane;
    uint64_t base, image; /* positions in the window */
    uint64_t channel;     /* of AXIS arrays: compare only channel - 1; 0: all */
};

/* True when the row at `image` is the row at `base` under transform u. */
bool orbit_same(const struct orbit_pair *pair, uint32_t u, unsigned liberties);

/* The same for all lanes that are compared, without liberties. */
bool orbit_same_row(const struct window *window, uint64_t base, uint64_t image, uint32_t u);

/* The allowed transforms that explain the second row of a pair of planes best, set in `best`; the
 * only one is returned, NO_TRANSFORM if there is none or are several. Planes count one by one, and
 * those that a transform moves more than other arrays, which tell what planes that stay do not;
 * with by_planes they do so only if they say whose turn it is. */
uint32_t orbit_relate(const struct orbit_pair *planes, const bool *allowed, bool by_planes,
                      bool best[BOARD_MAX_TRANSFORMS]);

/* True when the n elements at b are those at a after the label operation of a colour swap. 1 - a
 * may be off by one unit in the last place of 1. */
bool orbit_is_flipped(enum label_op flip, const struct dtype *dtype, const uint8_t *a,
                      const uint8_t *b, uint64_t n);

/* How the bits of a plane are stored, and where they go. */
struct orbit_bits {
    uint64_t n;              /* bits of a plane, in (n + 7) / 8 bytes */
    const uint32_t *dst;     /* n: the place of each bit in the image; NULL: in place */
    const uint8_t *on_board; /* n: which bits count; NULL: all */
    bool lsb_first;          /* bit order within a byte */
};

/* True when all bits of `plane` that count equal those of `image`, or, inverted, differ from them.
 * Padding bits are ignored. */
bool orbit_same_bits(const struct orbit_bits *bits, const uint8_t *plane, const uint8_t *image,
                     bool inverted);

/* --- groups: the rows that are images of one source (groups.c) --- */

#define LAYOUT_MAX_IMAGES BOARD_MAX_TRANSFORMS /* per source */
#define LAYOUT_MAX_GAMES  16                   /* lists of games that a search makes */
#define MANY_ALONE        8                    /* rows without images: sources not expanded */

/* Sources are stored in blocks: of a block first all images under one transform, then those under
 * the next. */
struct layout {
    uint32_t n_images;     /* per source, the source itself included */
    uint64_t block_rows;   /* sources per block */
    const uint64_t *games; /* borrowed, n_games + 1: blocks of different lengths begin at these
                              sources, the last one is n_sources; NULL: all are block_rows long */
    uint64_t n_games;
    bool originals_first; /* all first images come first, the others follow in blocks */
    uint64_t n_sources;
    uint32_t ids[LAYOUT_MAX_IMAGES]; /* the images' transforms; NO_TRANSFORM: not known, or not the
                                        same in all groups */
};

/* The row of image k of a source. */
uint64_t layout_row(const struct layout *layout, uint64_t source, uint32_t k);

/* The order of the rows, for people. */
struct text_quoted layout_text(const struct layout *layout);

/* Rows before `row`, whose highest source is max_before, and rows from it on have no source in
 * common. */
struct orbit_cut {
    uint64_t row, max_before;
};

/*
 * The groups of a shard: rows that are images of one source, each under a transform. Both come from
 * provenance arrays, from a layout, or from a list of all rows. Rows are cut into segments that no
 * group crosses, which are read in sequence; where these are too long (shuffled sets, transform
 * order), all rows are listed, 24 bytes each. Without segments and list, each row is a group.
 */
struct orbit_groups {
    uint64_t n_rows, n_groups;
    uint64_t max_held; /* rows of a segment; where one is longer, all rows are listed */
    const struct array *source, *transform; /* borrowed: provenance arrays; NULL: there is
                                               a layout */
    struct layout layout;
    uint64_t *games[LAYOUT_MAX_GAMES]; /* owned, n_games: lists that layouts borrow */
    size_t n_games;
    uint32_t n_transforms;              /* of the board */
    bool allowed[BOARD_MAX_TRANSFORMS]; /* those with exact images */

    struct orbit_cut *cuts; /* owned: segment s is rows cuts[s].row .. cuts[s + 1].row - 1 */
    size_t n_segments;
    struct lane_image *entries; /* owned, or NULL: all rows, by source, transform, row */

    bool is_told; /* --transforms or the manifest says which images are expected */
    bool expects; /* every group should have all that are: */
    bool expected[BOARD_MAX_TRANSFORMS];
    enum {
        ALONE_LACKS,       /* a group of one row lacks the others, */
        ALONE_IS_LEFT,     /* or is a source that was not expanded, as many are, */
        ALONE_IS_DOUBTFUL, /* or may be either: a warning */
    } alone;
    bool is_drawn; /* images of each source were drawn at random: some may be there twice */
    bool is_cut;   /* rows are in transform order: images with the transform of the first row and */
    struct lane_image first, last; /* lower sources, or of the last row and higher ones, may be in
                                      other shards */
};

/* For qsort: by source, transform, row. */
int lane_image_compare(const void *left, const void *right);

/* Make the groups of the provenance arrays, or of the layout and ids, that are set. Numbers in the
 * provenance arrays that name no transform become findings. */
int orbit_groups_cut(struct orbit_groups *groups, struct findings *findings, struct error *err);

void orbit_groups_release(struct orbit_groups *groups);

/* Count the groups, and decide which images each should have unless that is told: those of most
 * groups, if most have exactly these and hardly any have others. */
int orbit_groups_expect(struct orbit_groups *groups, struct error *err);

/* A walk over all groups, a window of rows at a time. */
struct orbit_walk {
    const struct orbit_groups *groups; /* borrowed */
    struct window window;              /* rows, images and groups of the current whole groups */
    uint64_t n_wanted;                 /* of its rows, about */
    int status;
    struct walk numbers; /* of the provenance arrays: sources, transforms */
    uint64_t next_row;   /* or the next entry of the list */
    size_t segment;
    struct error *err; /* borrowed */
};

/* Begin a walk; lanes as for window_init. Call orbit_walk_end in any case. */
void orbit_walk_begin(struct orbit_walk *walk, const struct orbit_groups *groups,
                      struct lanes *lanes, uint64_t n_wanted, struct error *err);

/* Go on to the next groups, at least one; false after the last one, or on failure. */
bool orbit_walk_next(struct orbit_walk *walk);

/* Free what it owns, and return its status: -1 if it failed. */
int orbit_walk_end(struct orbit_walk *walk);

/*
 * Find the groups of images (explain.c): by provenance arrays; else by the order and the transforms
 * of the command line or the manifest; else by trying layouts on sources spread over the set and
 * taking the one that explains most rows. Where rows are missing or duplicate, they are grouped by
 * the shapes of their positions. result->is_expanded says whether groups were found, result->note
 * how, or why not. All rows are listed where a segment takes more than max_nbytes. The lanes are
 * closed before and after. The caller releases the groups in any case.
 */
int explain_set(struct orbit_groups *groups, struct lanes *lanes, uint64_t max_nbytes,
                struct error *err);

/* --- sketches: a row reduced to hashes that no image changes, right or wrong (sketch.c) --- */

struct sketch {
    uint64_t shape;     /* of the position regardless of colours: equal for all images under the
                           board's symmetries; 0: nothing on the board differs */
    uint64_t box_shape; /* the same under all symmetries of its box */
    uint64_t planes;    /* of the planes' bytes */
    uint64_t counts;    /* of what the channels hold, regardless of where */
    uint64_t n_filled;  /* no hash: how many numbers of these channels are not 0 */
    uint64_t policy;    /* of what the policies hold, regardless of where; 0: nothing */
    uint64_t labels;    /* of the policies' and moves' numbers */
    bool is_symmetric;  /* some images that keep the colours are equal to it */
    bool is_level;      /* all moves are equally likely, or hardly any is: so are many policies */
};

/* Makes sketches of the rows of the lane that tells images apart. */
struct sketcher {
    const struct lane *lane; /* borrowed: the planes */
    uint32_t n_cells;
    uint32_t n_still;  /* transforms of the board that move neither cells nor colours */
    struct board *box; /* owned: a board with all symmetries of the box; NULL: it has no others */
    uint32_t *room;    /* owned: 3 * n_cells */
    uint64_t *hashes;  /* owned, n_cells: of a channel */
};

int sketcher_init(struct sketcher *sketcher, const struct lanes *lanes, struct error *err);
void sketcher_release(struct sketcher *sketcher);

/* Make the sketch of a row of planes; what policies tell is 0. */
void sketch_planes(struct sketcher *sketcher, const uint8_t *row, struct sketch *sketch);

/* Add what the policies of the row at position `at` of a window tell. */
void sketch_policy(const struct window *window, uint64_t at, struct sketch *sketch);

/* The only map of the board, or of the box, that takes the position of row a to that of row b
 * regardless of colours; -1: none or several. */
int sketch_relation(struct sketcher *sketcher, bool of_box, const uint8_t *a, const uint8_t *b);

/* --- the probe: a sample of the rows, and the layouts that explain them (probe.c) --- */

/* What has to be equal in the images of a source. */
enum probe_level {
    PROBE_SHAPE,  /* the shape under the board's symmetries */
    PROBE_BOX,    /* the shape under the symmetries of the box */
    PROBE_STILL,  /* the planes, and what policies hold, regardless of where */
    PROBE_LABELS, /* what planes and policies hold, regardless of where */
    PROBE_POLICY, /* what policies hold, regardless of where */
    PROBE_N_LEVELS
};

/* How groups are found: what is known before any row is read, and the rows that are. */
struct probe {
    struct lanes *lanes;             /* borrowed: open from probe_open to probe_close */
    const struct lane *planes;       /* borrowed, or NULL */
    struct orbit_groups *groups;     /* borrowed: what is found */
    uint32_t ids[LAYOUT_MAX_IMAGES]; /* the transforms that are told, else all allowed ones */
    uint32_t n_ids;
    uint32_t max_images; /* per source that are looked for */
    bool has_block;      /* the length of blocks is told: */
    uint64_t block_rows; /* 0: transform order */
    bool is_irregular;   /* the manifest says that rows are shuffled or left out */

    struct sketcher sketcher;
    uint64_t n_rows; /* of the set */
    uint64_t *rows;  /* owned, n: those that were read, ascending: the first n_first, far ones */
    struct sketch *sketches; /* owned: of these */
    uint64_t n, n_first;
    bool has_labels;    /* the policies of all of them were read, too */
    uint64_t far_block; /* the block length that far rows were chosen for */
    bool may_be_games;  /* the rows begin with blocks of different lengths */
};

#define CLEARLY_MORE 0.05 /* share of the rows that a better layout explains in addition */

/* A layout that explains rows, and what its images are. */
struct fit {
    enum probe_level level;
    struct layout layout; /* games are borrowed from the groups */
    double saved;         /* share of the rows that repeat the position of another row */
    double share;         /* of the sources that were tried, those with most of their images */
    bool is_found;        /* most sources have most of their images, */
    bool is_confirmed;    /* and most of these are related by a transform, or by a foreign map:
                             equal hashes of numbers prove less than equal shapes */

    int foreign[LAYOUT_MAX_IMAGES]; /* a map (at PROBE_BOX of the box, else of the board) that
                                       is no exact transform of this board; -1: none */
    uint32_t n_foreign;
    uint64_t n_known; /* pairs of a base image and another that some transform explains, */
    uint64_t n_moved; /* and those of them that it moves */
    uint64_t n_pairs;
    bool is_exact;     /* in these pairs, all arrays are exact images */
    bool is_chance;    /* most have other policies, and too few agree on transforms */
    bool only_colours; /* images differ in nothing but colours */
};

/* Read the first rows. lanes, planes, groups and what is told are set. Close it in any case. */
int probe_open(struct probe *probe, struct error *err);
void probe_close(struct probe *probe);

/* True when every row of the set was read. */
static inline bool probe_is_whole(const struct probe *probe)
{
    return probe->n == probe->n_rows;
}

/* Read the rows of a window in all lanes, as window_read_lane does. Lanes that cannot be read are
 * broken from then on. */
int probe_read_window(struct window *window, struct error *err);

/* Make a window of all rows that have sketches, and read all its arrays. Release it in any case. */
int probe_read_all(struct probe *probe, struct window *window, struct error *err);

/* Read the planes of far rows: of those that hold images of the first rows in transform order, or
 * in blocks of block_rows (0: unknown); of all rows if blocks may be of different lengths and there
 * is memory. If the set is_shuffled, planes and policies of all rows, or none. */
int probe_reach(struct probe *probe, uint64_t block_rows, bool is_shuffled, struct error *err);

/* Find the layout that explains most rows at any level, and name its images. The policies of far
 * rows are read if that may tell more. */
int probe_explain(struct probe *probe, struct fit *best, struct error *err);

/* --- classes: the rows of one shape (classes.c) --- */

/* What the rows say about positions and their images. */
struct classes {
    uint32_t n_images; /* that most positions have; 0: most have none */
    uint32_t n_usual;  /* the same of those that have any */
    double saved;      /* share of the rows that repeat the position of another row */
    /* Positions seem to be listed one by one rather than expanded: symmetric ones have each of
     * their distinct images once, or the policies of images have nothing to do with each other. */
    bool is_enumeration;
    uint64_t n_alike; /* rows that repeat a position with other planes and the same policies */
};

/* Group the first rows by position, or all rows if they were read. */
int classes_find(struct probe *probe, struct classes *classes, struct error *err);

/* Group all rows, which were read, by what their policies hold: n_images is how many most of those
 * have that tell something, 1 if most have none; saved is the share that repeats others. */
int classes_find_alike(struct probe *probe, struct classes *classes, struct error *err);

/* Group all rows by class, that is, by position, or by what their policies hold: sources are
 * numbers of classes, transforms are relative to the first row
 * of the class, whose own is the identity or one that makes all of them images that are told. A row
 * whose transform is ambiguous, by the position's own symmetry, is a group of its own. So are the
 * rows of a class that may hold one position from several sources, each with some of its images:
 * that is, if images are left out, and most other classes raise no such doubt or, for duplicate
 * images, the manifest says that rows are shuffled or left out.
 */
int classes_take(struct probe *probe, uint32_t n_images, bool by_policy, struct error *err);

/* Decide whether all rows of each position are exact images of others, each there once: then
 * nothing is wrong with them, whatever their order, and a layout that finds faults is not theirs.
 * Symmetric positions, those that occur too often, and empty boards tell nothing. Most rows that
 * the layout puts beside rows of other positions must be strangers there. Rows without any image
 * are sources that were not expanded if they are not few, or the first or last rows, and all are
 * strangers, or many and most are. Where rows and layout do not contradict each other, positions
 * must have more images than in the layout. */
int classes_are_exact(struct probe *probe, const struct layout *layout, uint32_t n_images,
                      bool *are_exact, struct error *err);

/* --- checks of single rows (checks.c) --- */

/* The index of the first of n elements that is NaN or infinite, or n. */
uint64_t numbers_first_nan(const struct dtype *dtype, const uint8_t *bytes, uint64_t n);

/* The first action of a policy, dense or a list, of the row at `at` in lane i that has mass, and
 * whose flag (enum action_flag) is set or not; -1: there is none. */
int64_t check_find_mass(const struct window *window, size_t i, uint64_t at, unsigned flag,
                        bool is_set);

/* Make the checks of a row in lane i that every image gets; with is_own, those that only the first
 * image of a source gets: mass on actions that no encoder makes, numbers that are no tile. */
void check_row(const struct window *window, size_t i, const struct lane_image *image, bool is_own,
               struct findings *findings);

/* --- checks of positions as a whole (rules.c) --- */

enum rule {
    RULE_OVERLAP,
    RULE_OCCUPIED,
    RULE_TURN_PLANE,
    RULE_PLAYER,
    RULE_LEAD,
    RULE_OTHER_LEAD, /* as RULE_LEAD under the other convention of planes; counted only */
    RULE_N
};

/* How many rows were seen and how many break the rule; their findings wait for the verdict. */
struct rule_tally {
    uint64_t n_rows, n_broken;
    struct findings findings;
};

/* What the off-board cells of a plane hold. */
struct smear {
    uint64_t first_row; /* the first row with content there; FINDING_NO_ROW: none */
    bool has_empty;     /* some row has content on the board and none off it */
};

#define RULES_MAX_LAID 8

struct rules {
    const struct lanes *lanes;
    const struct lane *planes; /* borrowed, or NULL */
    enum board_lead lead;      /* BOARD_LEAD_NONE: no rules of stones apply */
    int policy, to_move;       /* lanes, or -1 */
    struct planes_form form;
    struct policy_rule {
        struct laid laid;
        int lane;
        bool keeps_off; /* must have no mass on stones (a move may be the one that was just played)
                         */
    } policies[RULES_MAX_LAID]; /* and masks and moves; the policy, if there is one, comes first */
    size_t n_policies;
    bool is_part;       /* it borrows the tables of its policies */
    uint64_t flip_step; /* orders of storage are compared in one of so many rows */

    /* The current row. */
    const struct window *window;
    const struct lane_image *image;
    struct row row;       /* of planes */
    uint8_t *occupied;    /* owned: its cells, with a bit for each player's stone */
    uint64_t n_stones[2]; /* of each player */

    /* What all rows so far have shown. */
    struct turn_rows turns;
    struct rule_tally tallies[RULE_N];
    struct smear *smears; /* owned, one per plane of the box */
    uint64_t n_smears;    /* 0: there are no off-board cells to check */
};

/* Decide which rules apply to a shard. max: findings kept for each rule. Release them in any case.
 */
int rules_init(struct rules *rules, struct lanes *lanes, size_t max, struct error *err);

/* Make a copy of `whole` that has seen no rows, to be merged into it. */
int rules_init_part(struct rules *rules, const struct rules *whole, struct error *err);
void rules_release(struct rules *rules);

/* Check the first image of a source, or a row that is no image. */
void rules_check_row(struct rules *rules, const struct window *window,
                     const struct lane_image *image);

/* Add what `from` has seen; it has seen nothing afterwards. */
void rules_merge(struct rules *rules, struct rules *from);

/* Decide which findings stand, and add them. */
void rules_finish(struct rules *rules, struct findings *findings);

/* --- the pass (pass.c) and the diagnosis of groups (diagnose.c) --- */

/* Check every row and, of an expanded set, every group. The lanes are open; one that cannot be read
 * is a finding. */
int verify_pass_run(struct lanes *lanes, const struct orbit_groups *groups, struct error *err);

/* A group of images in a window. Pointers are borrowed unless said to be owned. */
struct diagnosis {
    const struct window *window;
    const struct orbit_groups *groups;
    const struct lanes *lanes;
    const struct board *board;
    struct findings *findings;
    const struct lane_image *images; /* n */
    uint64_t n;

    /* Set by diagnose_group. */
    uint64_t *references; /* owned, per lane: the member that others are compared with */
    uint32_t *is;         /* owned, per member: the transform that makes it an image in all arrays,
                             or NO_TRANSFORM */
    uint64_t member;      /* the current row, */
    uint32_t transform;   /* the transform that should make it, */
    uint32_t *by;         /* owned: and, per lane, the one that does, or NO_TRANSFORM */
};

/* True when every member is, in every array, the exact image of the first one, no image is there
 * twice, and none that is expected is missing. */
bool diagnose_is_exact(const struct diagnosis *d);

/* Find out and report what is wrong. Lack of memory is noted in the findings. */
void diagnose_group(struct diagnosis *d);
