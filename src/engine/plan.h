/*
 * plan.h - what will be done, checked before anything is written: arrays x roles x transforms.
 *
 * A plan is built once from the inputs and the request and const from then on, but for what a last
 * survey adds (warnings and counts, see plan_survey); workers only read it.
 */
#pragma once

#include "base/error.h"
#include "base/text.h"
#include "board/actions.h"
#include "board/board.h"
#include "codec/codec.h"
#include "engine/kernel.h"
#include "engine/order.h"
#include "engine/shard.h"
#include "shard/archive_in.h"
#include "shard/batch.h"
#include "shard/conventions.h"
#include "shard/role.h"

/* One array of the output. */
struct plan_array {
    const char *key;    /* borrowed from the first input */
    const char *member; /* borrowed: its name in the container */
    struct role_binding binding;
    const struct array **sources;      /* owned: the array in each input, in order */
    const struct array *const *values; /* borrowed, or NULL: of a sparse policy's indices, the
                                          values */
    const struct csr *csr; /* borrowed from the plan, or NULL: where its lists begin (CSR) */
    struct spec spec;      /* arrays with rows; n_steps 0 elsewhere */
    bool is_object;        /* pickled, one or more dimensions */
};

/* A row that is stored as the image of another one. */
struct stored_image {
    uint64_t row;
    uint32_t transform;
};

struct made;

struct plan {
    const struct settings *settings; /* borrowed; or recalled: */
    struct recall recall; /* what the first input's manifest says, where rows are not expanded */
    struct board *board;  /* owned */
    struct archive_in *archives; /* owned, n_archives */
    size_t n_archives;
    uint64_t *archive_rows;               /* owned: rows of each input */
    uint64_t n_rows;                      /* over all inputs */
    uint8_t chosen[BOARD_MAX_TRANSFORMS]; /* ids of the chosen transforms, in output order */
    uint32_t n_chosen;
    struct conventions conventions;
    unsigned turn_codes;       /* in to-move planes, as far as they were looked for */
    struct plan_array *arrays; /* owned, in the first input's order */
    size_t n_arrays;
    struct csr *csrs; /* owned, one for each array of the first input: of arrays of offsets */
    struct spec_maker maker;
    struct selection selection; /* which images there are; without masks: all */
    struct order order;
    uint64_t *input_ends; /* owned, or NULL: every input has a shard of its own, which ends at this
                             output row */
    bool was_expanded;    /* an input holds images; looked for only when rows are folded */
    json_t *notes;      /* owned, or NULL: what a command did beside expanding, for the manifest: */
    json_t *counts;     /* options, which are texts, and numbers */
    struct made **made; /* owned list: arrays that are made, not read */
    size_t n_made;
    bool provenance;
    bool swaps;                /* a chosen transform swaps colours */
    bool is_surveyed;          /* see plan_survey */
    const struct turns *turns; /* borrowed: counted while rows pass by, for survey_turns; or NULL */
    struct text_list warnings;

    /* Counts for the manifest; UINT64_MAX: does not apply. */
    uint64_t n_ambiguous;     /* policy entries that name a region by one cell */
    uint64_t n_castling_rows; /* rows with castling rights (chess) */
    uint64_t n_unencodable;   /* policy entries no encoder makes */
};

/* Free what a plan owns; accepts a zeroed one. */
void plan_release(struct plan *plan);

/* Neither copied once nor left out. */
static inline bool plan_array_has_rows(const struct plan_array *array)
{
    return array->binding.role != ROLE_META && array->binding.role != ROLE_DROP;
}

/* The array of that key, or NULL. */
struct plan_array *plan_find_array(const struct plan *plan, const char *key);

/* Keep a line for the manifest and for standard error. */
int plan_warn(struct plan *plan, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Keep what was done for the manifest: an option, or with a value of NULL a count. */
int plan_note(struct plan *plan, const char *name, const char *value, uint64_t count,
              struct error *err);

/* Write rows as they are from now on: every array is copied, and nothing but the identity is left.
 * Every row is selected; clear bits of the selection, then set the order. */
int plan_keep_rows(struct plan *plan, struct error *err);

/* Set the order of the output rows again, after images were selected. */
int plan_set_order(struct plan *plan, struct error *err);

/* Whether an array is part of the position: planes, packed planes, grids, tiles and the player to
 * move, or those of --key. *planes: which of its planes --key tells ("0-13"), else NULL. */
bool plan_is_key(const struct plan *plan, const struct plan_array *array, const char **planes);

/* ERROR_DATA "FILE: ARRAY: reason"; always -1. */
int plan_refuse(const struct plan *plan, const struct plan_array *array, struct error *err,
                const char *format, ...) __attribute__((format(printf, 4, 5)));

/* What a colour swap does to an array's numbers; LABEL_KEEP where no chosen transform swaps. */
enum label_op plan_swap_label(const struct plan *plan, const struct plan_array *array);

/* "FILE: ARRAY" of the first input, for messages. */
struct text_quoted plan_array_name(const struct plan *plan, const struct plan_array *array);

/*
 * Open the inputs, decide board, roles and transforms, bind every array to its move, survey the
 * data where labels or the choice of images depend on it, and set the order. On failure everything
 * is released and the error names file, array, expected and found. The settings must outlive the
 * plan, which stays where it is; the caller releases a built one.
 */
int plan_build(struct plan *plan, const char *const *paths, size_t n_paths,
               const struct settings *request, struct error *err);

/*
 * Look at what decides codings in each of several inputs that have plans of their own, side by
 * side, and add it to `seen`. What is wrong with an input is no error here: plan_build will say so.
 */
int plan_see(char *const *paths, size_t n_paths, const struct settings *request,
             struct survey_seen *seen, struct error *err);

/*
 * The rest of the survey, which reads whole arrays and decides about nothing: counts and warnings
 * are added to the plan, and data that contradicts the declared conventions is refused. Nothing
 * happens when it has been made; plan_build makes it where it needs memory for arrays in Fortran
 * order. May run while others read the rest of the plan.
 */
int plan_survey(struct plan *plan, struct error *err);

/*
 * Fill plan->chosen, n_chosen and swaps from the text (NULL: all) and the conventions: canonical
 * planes leave out the colour-swapping transforms, Take It Easy without permuted tiles all that
 * change a score. ERROR_USAGE names what is unknown, twice there, or not exact on this board.
 */
int choose_transforms(struct plan *plan, const char *text, struct error *err);

/* --- the steps of plan_build --- */

/* Open all inputs into plan->archives and read their object arrays. */
int plan_open_inputs(struct plan *plan, const char *const *paths, size_t n_paths,
                     struct error *err);

/* Build plan->board from the settings, what the shards say, and where rows are not expanded the
 * first one's manifest; a contradiction is refused. */
int plan_decide_board(struct plan *plan, struct error *err);

/* Infer the roles of every input, and fill plan->arrays and the row counts. All inputs must hold
 * the same arrays, of equal types and row shapes, in equal roles. */
int plan_match_arrays(struct plan *plan, struct error *err);

/*
 * Make array->spec. Looks at the data where it decides (codes) or could contradict (ranges). What
 * the chosen transforms cannot do exactly as declared (plane counts, value shapes, types a label
 * cannot be computed in) is ERROR_DATA naming the array and the flag that would settle it.
 */
int bind_array(struct plan *plan, struct plan_array *array, struct error *err);

/* Leave out the images that options such as --unique and --pick do, and note these: see select.c.
 */
int plan_select(struct plan *plan, struct error *err);

/* The seed of all choices: as told, or mixed with a name. */
uint64_t plan_seed(const struct plan *plan);

/* --- arrays that are made and not read --- */

/* They get rows of their own beside the inputs' arrays, and are written as those are. */

/* What an array is to be. */
struct made_form {
    const char *key; /* borrowed */
    struct dtype dtype;
    unsigned n_dims; /* of a row */
    uint64_t row_shape[NPY_MAX_DIMS - 1];
    uint64_t n_rows; /* over all inputs; of a list of elements, their number */
};

/*
 * Make room for an array: of numbers in an unlinked temp file, zeros at first; of objects (whose
 * rows have no shape) in memory, None at first. The plan owns it, and reads it from made_put on.
 * NULL with err set.
 */
struct made *made_new(struct plan *plan, const struct made_form *form, struct error *err);

/* Write n rows from row `row` on. */
int made_write(struct made *made, uint64_t row, const void *rows, uint64_t n, struct error *err);

/* Of objects: row `row` is an item that outlives the plan's work, or n numbers, which are copied.
 */
void made_put_item(struct made *made, uint64_t row, const struct pickle_item *item);
int made_put_list(struct made *made, uint64_t row, const struct dtype *dtype, const void *numbers,
                  uint64_t n, struct error *err);

/* Make it one of the plan's arrays: in the place of the array of its key, whose role it keeps, or
 * as a new one that is repeated for each image. */
int made_put(struct plan *plan, struct made *made, struct error *err);

/* --- an output cut into several shards: which rows each holds, and what it is called --- */

/*
 * A block of the row order never straddles two shards; orders without blocks (transform, shuffled)
 * are cut after exactly so many rows. A plan that folds its inputs together may give each of them a
 * shard of its own.
 */

/* How a plan's output is cut. */
enum shards_cut {
    SHARDS_ONE,    /* not at all */
    SHARDS_ROWS,   /* after exactly so many rows */
    SHARDS_BLOCKS, /* after so many blocks */
    SHARDS_REACH,  /* after the block that reaches so many rows */
    SHARDS_INPUTS, /* one for each input */
};
enum shards_cut shards_cut(const struct plan *plan);

/* Shard i, which begins at output row `first`, where the one before ends. */
struct order shards_slice(const struct plan *plan, uint64_t i, uint64_t first);

/* The number of shards; at least 1. */
uint64_t shards_count(const struct plan *plan);

/* What shard i of an output is called: OUT.npz -> OUT-00000.npz, x%03d.npz -> x000.npz; the name
 * itself for the only one of an output that is not cut; the name of its input in the folder OUT
 * where each input has a shard. Appended to name. */
int shards_name(const struct plan *plan, const char *output, uint64_t i, struct text *name,
                struct error *err);

/* Warn where a full shard has fewer rows than was asked for, because blocks stay whole. */
int shards_warn(struct plan *plan, struct error *err);
