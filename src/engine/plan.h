/*
 * plan.h - what will be done, checked before anything is written: arrays x roles x transforms.
 *
 * A plan is built once from the inputs and the settings. After that it changes only by what the
 * last survey adds (warnings and counts, see plan_survey); workers only read it.
 */
#pragma once

#include "engine/order.h"
#include "engine/shard.h"
#include "shard/batch.h"
#include "shard/spec.h"

/* One array of the output. */
struct plan_array {
    const char *key; /* borrowed from the first input */
    struct role_binding binding;
    const struct array **sources;      /* owned: the array in each input, in order */
    const struct array *const *values; /* borrowed, or NULL: the values of a sparse policy's
                                          indices */
    const struct csr *csr; /* borrowed from the plan, or NULL: where its lists begin (CSR) */
    struct spec spec;      /* of arrays with rows; n_steps is 0 in others */
    bool is_object;        /* pickled, with one or more dimensions */
};

struct made;

struct plan {
    const struct settings *settings; /* borrowed; or but for `expand` recalled: from the manifest of
                                        the first input */
    struct shard *inputs;            /* owned, n_inputs */
    size_t n_inputs;
    struct board *board;                  /* borrowed from the first input */
    uint64_t n_rows;                      /* over all inputs */
    uint8_t chosen[BOARD_MAX_TRANSFORMS]; /* ids of the chosen transforms, in output order */
    uint32_t n_chosen;
    struct conventions conventions;
    unsigned turn_codes;       /* evidence for the coding of to-move planes: enum turn_code */
    struct plan_array *arrays; /* owned, in the first input's order */
    size_t n_arrays;
    struct csr *csrs; /* owned, by array of the first input; empty but for arrays of offsets */
    struct spec_maker maker;
    struct selection selection; /* the images that are written; all if it has no masks */
    struct order order;
    uint64_t *input_ends; /* owned, or NULL: each input has its own shard, which ends before this
                             output row */
    bool was_expanded;    /* an input holds images; `expand` refuses those */
    json_t *notes;        /* owned: further options for the manifest, as texts, */
    json_t *counts;       /* and further counts */
    struct made **made;   /* owned list: arrays that are made, not read */
    size_t n_made;
    bool provenance;
    bool swaps;                /* a chosen transform swaps colours */
    bool is_surveyed;          /* see plan_survey */
    const struct turns *turns; /* borrowed: what was counted as rows passed by; or NULL */
    struct text_list warnings;

    /* Counts for the manifest; UINT64_MAX: does not apply. */
    uint64_t n_ambiguous;     /* policy entries that name a region by one of its cells */
    uint64_t n_castling_rows; /* rows with castling rights (chess) */
    uint64_t n_unencodable;   /* policy entries that no encoder makes */
};

void plan_release(struct plan *plan);

/* What reads an array through all inputs, once it is opened. */
static inline struct reader plan_reader(const struct plan *plan, const struct plan_array *array)
{
    return (struct reader){.arrays = array->sources, .n_arrays = plan->n_inputs, .csr = array->csr};
}

/* Whether it has rows, which are moved or copied: it is neither copied as a whole nor dropped. */
static inline bool plan_array_has_rows(const struct plan_array *array)
{
    return array->binding.role != ROLE_META && array->binding.role != ROLE_DROP;
}

/* The array of that key, or NULL. */
struct plan_array *plan_find_array(const struct plan *plan, const char *key);

/* Add a warning, for the manifest and standard error. */
int plan_warn(struct plan *plan, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Note for the manifest an option with its value, or if the value is NULL a count. */
void plan_note(struct plan *plan, const char *name, const char *value, uint64_t count);

/* Write rows unchanged from now on: every array is copied, under the identity only. All rows are
 * selected: clear bits of the selection, then set the order. */
int plan_keep_rows(struct plan *plan, struct error *err);

/* Set the order of the output rows, once images have been selected. */
int plan_set_order(struct plan *plan, struct error *err);

/* What follows an array's name in --key (":0-13,..."); without --key "" for planes, packed planes,
 * grids, tiles and the player to move. NULL: it is not part of the position. */
const char *plan_key_planes(const struct plan *plan, const struct plan_array *array);

/* Refuse an array of a plan: ERROR_DATA "FILE: ARRAY: reason", printf-style. -1. */
#define plan_refuse(plan, of, err, ...) plan_refuse_with(plan, of, NULL, err, __VA_ARGS__)

/* The same; the message ends with advice. */
#define plan_refuse_with(plan, of, said, err, ...)                                    \
    error_set_at(err, ERROR_DATA,                                                     \
                 (&(const struct error_place){.file = (plan)->inputs[0].archive.path, \
                                              .array = (of)->key,                     \
                                              .advice = (said)}),                     \
                 __VA_ARGS__)

/* What a colour swap does to an array's numbers; LABEL_KEEP when no chosen transform swaps. */
enum label_op plan_swap_label(const struct plan *plan, const struct plan_array *array);

/*
 * Open the inputs, decide board, roles and transforms, make each array's spec, survey the data
 * where labels or the choice of images depend on it, and set the order. On failure everything is
 * released, and the error names file, array, expected and found. The settings must outlive the
 * plan, which must not be moved. The caller releases it.
 */
int plan_build(struct plan *plan, const char *const *paths, size_t n_paths,
               const struct settings *request, struct error *err);

/*
 * Add the data that decides codings to `seen`, for several inputs that will have plans of their
 * own. Reads them in parallel. Errors in an input are left for plan_build to report.
 */
int plan_see(char *const *paths, size_t n_paths, const struct settings *request,
             struct survey_seen *seen, struct error *err);

/*
 * The last survey, which reads whole arrays but decides nothing: it adds counts and warnings to the
 * plan and refuses data that contradicts the declared conventions. Only the first call does
 * anything; for arrays in Fortran order, which take memory, plan_build makes it. May run while
 * other threads read the rest of the plan.
 */
int plan_survey(struct plan *plan, struct error *err);

/*
 * Set plan->chosen, n_chosen and swaps from a list (NULL: all) and the conventions: with canonical
 * planes no transform swaps colours, in Take It Easy without permuted tiles none changes a score.
 * ERROR_USAGE names what is unknown, listed twice, or not exact on this board.
 */
int choose_transforms(struct plan *plan, const char *text, struct error *err);

/* --- steps of plan_build --- */

/*
 * Make array->spec. Reads the data where it decides (codes) or could contradict what was declared
 * (ranges). What the chosen transforms cannot do exactly (numbers of planes, shapes of values,
 * types that a label cannot be computed in) is ERROR_DATA with the flag that would settle it.
 */
int bind_array(struct plan *plan, struct plan_array *array, struct error *err);

/*
 * What a colour swap does to the numbers of an array of that range: as the conventions say or,
 * where they leave it open, as its codes -1 and 2, or values below 0, tell. A winner is coded like
 * the players beside it, if there are any; how players to move are coded is noted in c->to_move.
 */
enum label_op bind_label(struct conventions *c, const struct role_binding *b,
                         const struct array *array, bool has_players,
                         const struct number_range *range);

/* Leave out images as --unique and --pick say, and note these options: see select.c. */
int plan_select(struct plan *plan, struct error *err);

/* The seed of all random choices: --seed, mixed with the input's name under --out-dir. */
uint64_t plan_seed(const struct plan *plan);

/* --- arrays that are made and not read --- */

/* They have rows of their own beside the inputs' arrays, and are written in the same way. */

/*
 * Make room for an array of form's dtype, dimensions and shape, with its rows over all inputs: of
 * numbers in an unlinked temp file, zeros at first; of objects (whose rows have no shape) in
 * memory, None at first. The plan owns it, and reads it from made_put on. NULL with err set.
 */
struct made *made_new(struct plan *plan, const char *key, const struct npy_header *form,
                      struct error *err);

/* Write n rows, starting at `row`. */
int made_write(struct made *made, uint64_t row, const void *rows, uint64_t n, struct error *err);

/* Set a row of objects: to an item, whose data must outlive the plan, or to a copy of n numbers. */
void made_put_item(struct made *made, uint64_t row, const struct pickle_item *item);
int made_put_list(struct made *made, uint64_t row, const struct dtype *dtype, const void *numbers,
                  uint64_t n, struct error *err);

/* Make it one of the plan's arrays: in place of the array with its key, whose role it keeps, or as
 * a new one whose rows are repeated for each image. */
int made_put(struct plan *plan, struct made *made, struct error *err);

/* --- an output cut into several shards: the rows of each, and its name --- */

/* How a plan's output is cut, into slices of its order. A block of rows is never divided; orders
 * without blocks (transform, shuffled) are cut after exactly so many rows. */
enum shards_cut {
    SHARDS_ONE,    /* not at all */
    SHARDS_ROWS,   /* after exactly so many rows */
    SHARDS_BLOCKS, /* after so many blocks */
    SHARDS_REACH,  /* after the block that reaches so many rows: --unique makes them uneven */
    SHARDS_INPUTS, /* one shard for each input */
};
enum shards_cut shards_cut(const struct plan *plan);

/* Shard i, which begins at output row `first`, where the previous one ends. */
struct order shards_slice(const struct plan *plan, uint64_t i, uint64_t first);

/* The number of shards; at least 1. */
uint64_t shards_count(const struct plan *plan);

/* Append the name of shard i of an output: OUT.npz -> OUT-00000.npz, x%03d.npz -> x000.npz; the
 * output's own name if it is not cut. Not for SHARDS_INPUTS, whose names the caller knows. */
int shards_name(const struct plan *plan, const char *output, uint64_t i, struct text *name,
                struct error *err);

/* Warn when full shards have another number of rows than --rows-per-shard, so that blocks stay
 * whole. */
int shards_warn(struct plan *plan, struct error *err);
