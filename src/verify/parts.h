/*
 * parts.h - what the files of this folder share: a shard as `verify` sees it, the rows of its
 * arrays side by side (lanes, and windows of their rows), which rows are images of one source
 * (groups, and the search for groups that nobody tells), and the checks of rows and groups.
 */
#pragma once

#include "engine/shard.h"
#include "engine/turn.h"
#include "shard/batch.h"
#include "shard/spec.h"
#include "verify/verify.h"

/* --- the shard (shard.c): what cannot be told of it is a finding, not an end --- */

/* Open the shard at result->path and decide board, conventions and roles. result->fatal is set when
 * the file cannot be read. -1 with err set: a wrong command line, no memory. */
int verify_shard_open(struct shard *shard, const struct verify_request *request,
                      struct verify_result *result, struct error *err);

/* Turn an error of reading into a finding (crc, container) and mark the result as unreadable. -1
 * passes on what no finding can hold (no memory, bugs). */
int verify_read_failed(struct verify_result *result, const char *array, const struct error *why,
                       struct error *err);

/* Let the result's note say how it was understood. */
int verify_note(struct verify_result *result, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* --- lanes: arrays with rows (lane.c) --- */

struct lane {
    const struct array *array;          /* borrowed */
    const struct role_binding *binding; /* borrowed */
    struct spec spec;
    bool is_mapped;       /* spec is set: the array takes part in the comparison of images */
    int values;           /* POLICY_INDEX: the lane of its values; -1: none */
    struct flips flips;   /* of policies and moves that are laid beside stones: see rules_init */
    struct reader reader; /* while the lanes are open */
    bool is_finite;       /* it must not hold NaN */
    struct error error;   /* of reading it in the pass, not reported yet */
    bool is_broken;       /* cannot be read; that has been reported */
};

struct lanes {
    struct shard *shard;                  /* borrowed */
    const struct verify_request *request; /* borrowed */
    struct verify_result *result;         /* borrowed: where findings go */
    struct spec_maker maker;              /* of the lanes' specs */
    struct lane *items;                   /* owned */
    size_t n;
    struct csr *csrs;    /* owned: by number of array, of offsets that were read */
    uint64_t row_nbytes; /* of all lanes together, about */
    int planes;          /* the lane that tells images apart (planes, packed or grid), or -1 */
};

/* Make the lanes of all arrays that have rows, with their specs when the board is known; one that
 * cannot be made is a finding. The caller releases them. */
int lanes_init(struct lanes *lanes, struct shard *shard, const struct verify_request *request,
               struct verify_result *result, struct error *err);

void lanes_release(struct lanes *lanes);

/* Open every lane for rows in sequence, or at random, after it was closed. What cannot be read is a
 * finding of `result`. */
int lanes_open(struct lanes *lanes, bool at_random, struct verify_result *result,
               struct error *err);
void lanes_close(struct lanes *lanes);

/* Whether the images of a lane are compared. */
static inline bool lane_is_compared(const struct lane *lane)
{
    return lane->is_mapped && !lane->is_broken;
}

/* --- windows: the same rows of every lane --- */

#define NO_TRANSFORM UINT32_MAX /* the row does not say one that exists */

/* Row `row` of the shard is the image of source `source` under `transform`. */
struct lane_image {
    uint64_t source, row;
    uint32_t transform;
    uint32_t at; /* its position in the window */
};

struct window {
    struct lanes *lanes; /* borrowed */
    uint64_t n;
    uint64_t *rows;            /* owned: by position */
    struct lane_image *images; /* owned: group by group, lowest transform first */
    uint64_t *groups;          /* owned: group g is images[groups[g] .. groups[g + 1] - 1] */
    uint64_t n_groups;
    struct batch *batches; /* owned, one per lane */
};

/* Room for so many rows. Release it in any case. */
int window_init(struct window *window, struct lanes *lanes, uint64_t capacity, struct error *err);
void window_release(struct window *window);

/* Read lane i's part of the window's rows: in sequence, ascending ones after those read last. Lanes
 * may be read in parallel. The error is that of the lane. */
int window_read_lane(struct window *window, size_t i, struct error *err);

/* Row at position `at`. */
struct row window_row(const struct window *window, size_t i, uint64_t at);

/* --- is one row the image of another? (images.c) --- */

/* What a comparison may look over. */
enum orbit_liberty {
    ORBIT_EXACT = 0,
    ORBIT_ON_BOARD_ONLY = 1, /* cells of the box that are not on board */
    ORBIT_NO_EXCHANGE = 2,   /* as if no plane took the place of another */
    ORBIT_NO_COMPLEMENT = 4, /* as if the to-move plane were copied */
    ORBIT_NO_FLIP = 8,       /* as if a colour swap left numbers alone */
    ORBIT_NO_PADDING = 16,   /* trailing entries of value 0 of a padded sparse row */
    ORBIT_SWAP_ANYWAY = 32,  /* as if the transform swapped colours, which it does not */
};

/* Two rows of one lane. */
struct orbit_pair {
    const struct window *window;
    size_t lane;
    uint64_t base, image; /* positions in the window */
    uint64_t channel;     /* compare channel - 1 of AXIS arrays only; 0: all */
};

/* True when the row at `image` is the row at `base` under transform u. */
bool orbit_same(const struct orbit_pair *pair, uint32_t u, unsigned liberties);

/* True when that holds for all lanes that are compared, exactly. */
bool orbit_same_row(const struct window *window, uint64_t base, uint64_t image, uint32_t u);

/* The n elements at b are those at a with the colours swapped; 1 - a within one unit in the last
 * place of 1. */
bool orbit_is_flipped(enum label_op flip, const struct dtype *dtype, const uint8_t *a,
                      const uint8_t *b, uint64_t n);

/* How the bits of planes lie, and where they go. */
struct orbit_bits {
    uint64_t n;              /* of a plane; it takes (n + 7) / 8 bytes */
    const uint32_t *dst;     /* n: where each bit stands in the image; NULL: in place */
    const uint8_t *on_board; /* n: which ones count; NULL: all */
    bool lsb_first;          /* in a byte */
};

static inline unsigned plane_bit(const uint8_t *plane, uint64_t i, bool lsb_first)
{
    return plane[i >> 3] >> (lsb_first ? i & 7 : 7 - (i & 7)) & 1;
}

/* The bits after the n-th of a plane, in its last byte; 0 where there are none. */
static inline unsigned plane_pad_bits(const uint8_t *plane, uint64_t n, bool lsb_first)
{
    const unsigned n_bits = n % 8;

    return n_bits == 0 ? 0 : plane[n / 8] & (lsb_first ? 0xffu << n_bits : 0xffu >> n_bits);
}

/* Whether all bits that count of `plane` are those of `image`, or, inverted, are not; those after
 * the last one are not looked at. */
bool orbit_same_bits(const struct orbit_bits *bits, const uint8_t *plane, const uint8_t *image,
                     bool inverted);

/* --- groups: the rows that are images of one source (groups.c) --- */

#define LAYOUT_MAX_IMAGES 64 /* per source */
#define LAYOUT_MAX_GAMES  16 /* lists of games that a search makes */

struct layout {
    uint32_t n_images;   /* per source, the source itself among them */
    uint64_t block_rows; /* sources in blocks, images of a block one transform after the other */
    const uint64_t
        *games;       /* borrowed, or NULL: blocks of different lengths begin at these sources */
    uint64_t n_games; /* games[n_games] is n_sources */
    bool originals_first; /* all first images, and then the layout of the others */
    uint64_t n_sources;
};

/* The row of image k of a source. */
uint64_t layout_row(const struct layout *layout, uint64_t source, uint32_t k);

/* Rows from here on have no source in common with rows before, whose sources are max_before at
 * most. */
struct orbit_cut {
    uint64_t row, max_before;
};

/*
 * Sources and transforms come from the provenance arrays, from an order, or from a table made
 * elsewhere. Rows are cut into segments that no group crosses: short segments are read in sequence;
 * where there are none (shuffled sets, transform order) all rows are listed, 24 bytes each. With
 * neither, each row is a group of its own.
 */
struct orbit_groups {
    uint64_t n_rows, n_groups;
    uint64_t max_held; /* rows of a segment: where one is longer, all rows are listed */
    const struct array *source, *transform; /* borrowed: provenance arrays, or */
    struct layout layout;                   /* whose images are under these transforms: */
    uint32_t ids[LAYOUT_MAX_IMAGES];
    uint64_t *games[LAYOUT_MAX_GAMES]; /* owned, n_games: where the blocks of layouts begin */
    size_t n_games;
    uint32_t n_transforms;              /* of the board */
    bool allowed[BOARD_MAX_TRANSFORMS]; /* images under the others are none */

    struct orbit_cut *cuts; /* owned: segment s is rows cuts[s].row .. cuts[s + 1].row - 1 */
    size_t n_segments;
    uint64_t longest;           /* rows of the longest segment */
    struct lane_image *entries; /* owned, or NULL: all rows by source, transform, row */

    bool is_told; /* by --transforms, or the manifest, which images there are: */
    uint8_t told[BOARD_MAX_TRANSFORMS];
    uint32_t n_told;
    bool may_lack; /* some of them, as the manifest says */
    bool expects;  /* every group should have all of: */
    bool expected[BOARD_MAX_TRANSFORMS];
    bool is_cut; /* in transform order, and these may stand in another shard: */
    struct lane_image first, last;
};

/* By source, transform, row: for qsort. */
int lane_image_compare(const void *left, const void *right);

/* Make groups, whose n_rows and n_transforms are set: by the provenance arrays, or the layout and
 * the transform of each of its images, that are set (entries that name no transform become
 * findings); or by a list of all rows, which is taken over and sorted. */
int orbit_groups_cut(struct orbit_groups *groups, struct findings *findings, struct error *err);
void orbit_groups_of_entries(struct orbit_groups *groups, struct lane_image *entries);
void orbit_groups_release(struct orbit_groups *groups);

/* Decide which images every group should have: those that are told, unless some may be lacking,
 * else those of most groups when most have exactly them and hardly any have others. Counts the
 * groups. */
int orbit_groups_expect(struct orbit_groups *groups, struct error *err);

/* Walks over all groups, a window at a time; it stays where it is. */
struct orbit_cursor {
    const struct orbit_groups *groups; /* borrowed */
    struct batch numbers[2];           /* of the provenance arrays: sources, transforms */
    uint64_t next_row;                 /* or entry */
    size_t segment;
};

int orbit_cursor_open(struct orbit_cursor *cursor, const struct orbit_groups *groups,
                      struct error *err);
void orbit_cursor_close(struct orbit_cursor *cursor);

/* Fill rows, images and groups of the window with the next whole groups, at least one, about
 * n_wanted rows; n is 0 behind the last one. */
int orbit_cursor_next(struct orbit_cursor *cursor, struct window *window, uint64_t n_wanted,
                      struct error *err);

/* Room that a window for these groups needs, when n_wanted rows are wanted at a time. */
static inline uint64_t orbit_groups_capacity(const struct orbit_groups *groups, uint64_t n_wanted)
{
    return groups->longest > n_wanted ? groups->longest : n_wanted;
}

/*
 * Find the groups of images (explain.c). Provenance arrays tell; else the order and the transforms
 * on the command line or in the manifest; else layouts are tried on sources spread over the set,
 * and the one that explains most rows is taken. Where rows are missing or there twice, rows are
 * grouped by the shape of their stones. result->is_expanded says whether groups were found,
 * result->note how, or why not. All rows are listed where segments take more than max_nbytes. Lanes
 * are closed.
 */
int explain_set(struct orbit_groups *groups, struct lanes *lanes, uint64_t max_nbytes,
                struct error *err);

/* --- sketches: a row reduced to what no image changes, right or wrong (sketch.c) --- */

enum sketch_group {
    SKETCH_BOARD, /* images under the symmetries of the board */
    SKETCH_BOX,   /* under all those of its box: quarter turns, flips, transpositions */
    SKETCH_N_GROUPS
};

struct sketch {
    /* Equal for all images of the stones without their colours; 0: the same in every image. */
    uint64_t shape[SKETCH_N_GROUPS];
    bool is_symmetric; /* under the board's, some of its images with these colours are equal */
    uint64_t planes;   /* the bytes of the planes */
    uint64_t counts;   /* what the channels hold, wherever it stands */
    uint64_t policy;   /* the numbers of the policies, wherever they stand; 0: there are none */
    uint64_t labels;   /* the bytes of the policies */
    bool is_level;     /* all moves are alike, or hardly are any: as of many positions */
};

/* Makes sketches of the rows of the lane that tells images apart. */
struct sketcher {
    const struct lane *lane; /* borrowed: the planes */
    uint32_t n_cells;
    uint32_t n_still;  /* transforms of the board that leave cells and colours as they are */
    struct board *box; /* owned: its transforms are those of the whole box; NULL: the board has all
                          of these itself */
    uint32_t *room;    /* owned: three times n_cells */
    uint64_t *hashes;  /* owned: of the cells of a channel */
};

int sketcher_init(struct sketcher *sketcher, const struct lanes *lanes, struct error *err);
void sketcher_release(struct sketcher *sketcher);

/* All but policy and labels, of a row of planes. */
void sketch_planes(struct sketcher *sketcher, const uint8_t *row, struct sketch *sketch);

/* Policy and labels of the row at `at` of a window. */
void sketch_policy(const struct window *window, uint64_t at, struct sketch *sketch);

/* The number of the only map of the group that takes the stones of row a to those of row b, their
 * colours left aside; -1 for none or several. */
int sketch_relation(struct sketcher *sketcher, enum sketch_group group, const uint8_t *a,
                    const uint8_t *b);

/* --- the probe: rows that are looked at, and the layouts that explain them (probe.c) --- */

/* What equal numbers a layout is found by. */
enum probe_level {
    PROBE_SHAPE,  /* stones under the board's symmetries, colours left aside */
    PROBE_BOX,    /* stones under the symmetries of the box */
    PROBE_LABELS, /* what planes and policies hold, wherever it stands */
    PROBE_POLICY, /* what policies hold */
    PROBE_N_LEVELS
};

/* How the groups of a set are found: what is known before any row is looked at, and the rows. */
struct probe {
    struct lanes *lanes;             /* borrowed; open while a probe lasts, closed by probe_close */
    const struct lane *planes;       /* or NULL */
    struct orbit_groups *groups;     /* borrowed: what is found */
    uint32_t ids[LAYOUT_MAX_IMAGES]; /* told, or all that are allowed */
    uint32_t n_ids;
    bool ids_are_told;
    bool has_block;      /* the block is told: */
    uint64_t block_rows; /* 0: transform order */
    bool is_irregular;   /* the manifest says that rows are shuffled or left out */

    struct sketcher sketcher;
    struct window window; /* rows 0 .. n - 1 of every lane */
    uint64_t n, n_rows;
    struct sketch *sketches; /* owned: of these, and of */
    uint64_t *far_rows;      /* owned, n_far, ascending: rows after them */
    uint64_t n_far;
    bool has_labels;             /* their policies are read, too */
    uint64_t far_block;          /* the block that they were read for */
    bool may_be_games;           /* the rows begin with blocks of different lengths */
    bool may_be_shuffled;        /* all rows are wanted: images stand anywhere */
    struct verify_result unused; /* of reading: the pass reports it */
};

#define CLEARLY_MORE 0.05 /* of the rows are explained by one layout than by another */

/* A layout that explains rows, and what its images are. */
struct fit {
    enum probe_level level;
    struct layout layout; /* games are borrowed from the probe */
    double saved;         /* share of the rows that repeat another one's position */
    double share;         /* of the sources looked at, those with most of their images */
    bool is_found;        /* most sources have them */
    bool is_confirmed;    /* and most images show a transform, or a map that is none here: numbers
                             that are equal prove less than shapes */

    uint32_t ids[LAYOUT_MAX_IMAGES]; /* transforms, or NO_TRANSFORM: not the same in all */
    int foreign[LAYOUT_MAX_IMAGES];  /* the map (at PROBE_BOX of the box, else of the board) that
                                        is no symmetry here, or -1 */
    uint32_t n_foreign;
    uint64_t n_moved; /* pairs of a first image and another that some transform explains */
    uint64_t n_pairs;
    bool is_exact;     /* in these pairs, all arrays are what the transforms make them */
    bool only_colours; /* images differ in colours alone */
};

/* Read the first rows; all that is known is set. Planes that cannot be read leave n at 0. */
int probe_open(struct probe *probe, struct error *err);
void probe_close(struct probe *probe);

/* Whether every row of the set was looked at. */
static inline bool probe_is_whole(const struct probe *probe)
{
    return probe->n + probe->n_far == probe->n_rows;
}

/* Read the rows of a window, ascending where lanes are open for rows in sequence, and make their
 * sketches, unless that is NULL. Lanes that cannot be read are broken from then on. */
int probe_read_window(struct probe *probe, struct window *window, struct sketch *sketches,
                      struct error *err);

/* Read the planes of rows all over the set where layouts in transform order, or in blocks of
 * block_rows (0: none is known), would have their images; of all rows where they may be blocks of
 * different lengths, or shuffled, and there is memory. Again, with labels: their policies, too. */
int probe_reach(struct probe *probe, uint64_t block_rows, bool with_labels, struct error *err);

/* *best becomes the layout that saves most rows at that level, not confirmed, and its images not
 * named; its share is 0 when none does. */
int probe_find(struct probe *probe, enum probe_level level, struct fit *best, struct error *err);

/* That of the levels which were read that explains most rows, with what its images are. */
int probe_explain(struct probe *probe, struct fit *best, struct error *err);

/* The only allowed transform that makes the planes of one row those of another, whatever was done
 * to the colours, or NO_TRANSFORM. */
uint32_t probe_relate_planes(const struct orbit_pair *pair, const bool *allowed);

/* --- checks of single rows (checks.c) --- */

struct numbers_summary {
    double sum, min, max; /* of the finite ones; 0 when there are none */
    uint64_t n;           /* finite ones */
};

struct numbers_summary numbers_summarize(const struct dtype *dtype, const uint8_t *bytes,
                                         uint64_t n);

/* The first of n floats that is NaN or infinite, or n. Other types have none. */
uint64_t numbers_first_nan(const struct dtype *dtype, const uint8_t *bytes, uint64_t n);

/* True when the element's bytes are all zero, or it is a negative zero. */
bool numbers_is_zero(const struct dtype *dtype, const uint8_t *element);

/* Check the row of an image in lane i; is_own: what is left to check in the first image of its
 * source, or in a row that is no image: mass on actions that no encoder makes, tiles that are none.
 */
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

/* Rows seen and rows that break the rule, whose findings wait for the verdict. */
struct rule_tally {
    uint64_t n_rows, n_broken;
    struct findings findings;
};

/* What is known of off-board cells in one plane. */
struct smear {
    uint64_t first_row; /* with content there; FINDING_NO_ROW: none */
    bool has_empty;     /* some row has content on board and none off it */
};

/* Policies, masks or moves beside the stones. */
struct laid {
    int lane;
    const struct flips *flips; /* borrowed: the lane's */
    struct flip_parts parts;   /* mass on stones */
    uint64_t first_on;         /* the first row with some; FINDING_NO_ROW: none */
    bool keeps_off;            /* has no mass there; a move may be the one that was just played */
};

#define RULES_MAX_LAID 8

struct rules {
    const struct lanes *lanes;
    const struct lane *planes; /* borrowed, or NULL */
    enum board_lead lead;      /* BOARD_LEAD_NONE: no rules of stones apply */
    int policy, to_move;       /* lanes, or -1 */
    struct planes_form form;
    struct stone_planes where;
    struct laid laid[RULES_MAX_LAID]; /* the policy, if it is one, comes first */
    size_t n_laid;
    uint64_t flip_step; /* the orders that there are are compared in one row of so many */

    /* The row at hand. */
    const struct window *window;
    const struct lane_image *image;
    struct row row;       /* of planes */
    uint8_t *occupied;    /* owned: its cells, */
    uint64_t n_stones[2]; /* and the stones on them */

    /* What all rows have shown. */
    struct turn_rows turns;
    struct rule_tally tallies[RULE_N];
    struct smear *smears; /* owned, one per plane of the box */
    uint64_t n_smears;    /* 0: there are no corners to look at */
};

/* What applies to the shard. max: findings kept for each rule. */
int rules_init(struct rules *rules, struct lanes *lanes, size_t max, struct error *err);

/* Rules to be merged into `whole`, which must live longer. */
int rules_init_part(struct rules *rules, const struct rules *whole, struct error *err);
void rules_release(struct rules *rules);

/* A row that is its source's own position, or no image at all. */
void rules_check_row(struct rules *rules, const struct window *window,
                     const struct lane_image *image);

/* Add the tallies of `from`, which become empty. */
void rules_merge(struct rules *rules, struct rules *from);

/* Decide which findings stand. */
void rules_finish(struct rules *rules, struct findings *findings);

/* --- the pass (pass.c) and the diagnosis of groups (diagnose.c) --- */

/* Check every row and, of an expanded set, every group. What cannot be read is a finding. */
int verify_pass_run(struct lanes *lanes, const struct orbit_groups *groups, struct error *err);

/* A group of images in a window. All that is not said to be owned is borrowed. */
struct diagnosis {
    const struct window *window;
    const struct orbit_groups *groups;
    const struct lanes *lanes;
    const struct board *board;
    struct findings *findings;
    const struct lane_image *images; /* n */
    uint64_t n;

    /* While it is diagnosed. */
    uint64_t *references; /* owned, per lane: the member that others are compared with */
    uint32_t *is;         /* owned, per member: the transform that all its arrays are the image
                             under, or NO_TRANSFORM */
    uint64_t member;      /* the row at hand, */
    uint32_t transform;   /* what it should be the image under, */
    uint32_t *by;         /* owned: and, per lane, what it is under, or NO_TRANSFORM */
};

/* True when every image of the group is, in every array, the image of the first one, and each of
 * the images that are expected is there once. */
bool diagnose_is_exact(const struct diagnosis *d);

/* Name what is wrong. */
void diagnose_group(struct diagnosis *d);
