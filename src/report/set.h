/*
 * set.h - what a report knows about one set, and the statistics of its rows: how often each label
 * value occurs, how sharp the policies are, where stones and policies lie on the board, and whether
 * that is the same in every image. Internal to src/report.
 *
 * Rows that belong together (a game, the images of a source) go to the same one of TALLY_MAX_PARTS
 * parts, and every sum is kept per part: the variation between parts tells how far chance may take
 * a sum.
 */
#pragma once

#include "engine/shard.h"
#include "positions/positions.h"
#include "report/report.h"

/* With more sets than this, maps and pictures are drawn only for so many that need them. */
#define REPORT_MAX_DRAWN 16

/* --- tallies --- */

#define TALLY_MAX_PARTS  128
#define TALLY_MAX_VALUES 64 /* distinct values that are listed; more are counted in bins */
#define TALLY_N_BINS     32

/* The values of a label. */
struct tally_histogram {
    double values[TALLY_MAX_VALUES]; /* ascending; unless is_binned */
    uint64_t counts[TALLY_MAX_VALUES];
    uint32_t n;
    bool is_binned; /* counts are of TALLY_N_BINS equal bins from low to high */
    double low, high;
};

struct tally_label {
    const char *key; /* borrowed from the first shard, as all keys here */
    enum role role;
    struct tally_histogram all;
    struct tally_histogram *by_transform; /* owned: one per transform of the board, or NULL */
};

/* Means over the rows whose policy has mass, each scaled to the sum 1. */
struct tally_policy {
    const char *key;
    uint64_t n_rows;
    double entropy, top_share; /* sums until tally_finish, then means; entropy in nats */
};

#define TALLY_NO_PLANE UINT64_MAX /* a policy */

/* A map of the board: a plane of stones, or a policy. */
struct tally_map {
    const char *key;
    uint64_t plane;
    uint64_t n_rows;   /* rows counted */
    uint32_t *partner; /* owned: per transform, the map that takes this one's place: the other one
                          where a colour swap exchanges two, else itself */
    double *sums;      /* owned: n_parts x n_cells */
    double *mean, *group, *z; /* in the same memory, n_cells each, set by tally_finish: the mean,
                                 its mean over the group, and their difference in standard errors;
                                 NaN: undefined */
};

/* How far the set is from its image under a transform. */
struct tally_evidence {
    double distance; /* the largest difference of any cell of any map, scaled by its size under
                        random signs */
    double limit;    /* exceeded by one symmetric set in 200 */
    bool fits;
};

struct tally {
    const struct settings *settings; /* borrowed */
    const struct board *board;       /* borrowed; NULL: not known, so nothing is counted */
    /* Borrowed: where each transform takes each cell. */
    const uint32_t *dst[BOARD_MAX_TRANSFORMS];
    uint64_t n_rows;
    uint32_t n_parts;
    struct tally_label *labels; /* owned, as all the others */
    size_t n_labels;
    struct tally_policy *policies;
    size_t n_policies;
    struct tally_map *maps;
    size_t n_maps;
    struct tally_evidence *evidence; /* one per transform, unused for the identity; or NULL */
    bool misfits;                    /* some transform does not fit */
    bool needs_bins;                 /* some label has too many values: a second pass is due */
};

/* Make a tally of a set, from the arrays of its first shard, which must outlive it. The caller
 * releases it in any case. */
int tally_init(struct tally *tally, const struct shard *shard, const struct settings *settings,
               struct error *err);
void tally_release(struct tally *tally);

/* Add the rows of a shard; images: the sources and transforms of its rows, as far as verify found
 * them. Arrays that the first shard lacks are skipped. bins: the second pass, which only counts the
 * values of binned labels. */
int tally_add(struct tally *tally, const struct shard *shard, const struct verify_located *images,
              bool bins, struct error *err);

/* After the last shard: compute means, standard errors and evidence. */
int tally_finish(struct tally *tally, struct error *err);

static inline bool tally_is_label(enum role role)
{
    return role == ROLE_VALUE || role == ROLE_WDL || role == ROLE_TO_MOVE;
}

/* The map of that array and plane, or NULL. */
struct tally_map *tally_find_map(const struct tally *tally, const char *key, uint64_t plane);

/* Where bin i begins and the previous one ends. */
static inline double tally_bin(const struct tally_histogram *h, uint32_t i)
{
    return i == TALLY_N_BINS ? h->high : h->low + (h->high - h->low) / TALLY_N_BINS * i;
}

/* --- sets --- */

enum report_verdict { REPORT_SOUND, REPORT_FINDINGS, REPORT_UNCHECKED };

/* How many rows of each set have a position that occurs in each other set. */
struct report_overlap {
    uint64_t *matrices; /* owned: n x n exactly, then n x n up to symmetry */
    size_t n;           /* sets, without those that cannot be checked */
    struct error why;   /* the sets cannot be compared */
};

/* The first five stay until the end; the others are released once the set has been written. */
struct report_set {
    const struct report_request *request;
    const char *path;        /* as given */
    struct text_list listed; /* owned: the path, or the shards of the folder */
    struct text_list list;   /* owned: the shards that can be read */
    enum report_verdict verdict;
    size_t number;                 /* from 0 */
    struct verify_results results; /* of its files, and of the manifest that lists them */
    struct shard shard;            /* the first readable file, which stands for all; if is_open */
    bool is_open;
    uint64_t n_rows;
    uint64_t *nbytes; /* owned: unpacked and packed size of each array, over all files */
    struct tally tally;
    struct set_positions positions;
    uint64_t counts[FINDING_N_CODES]; /* of findings, in all files */
    struct text sentence, command;    /* owned */
    bool is_drawn;                    /* has maps and pictures on the page */
};

static inline const char *report_verdict_name(enum report_verdict verdict)
{
    return verdict == REPORT_SOUND      ? "sound"
           : verdict == REPORT_FINDINGS ? "findings"
                                        : "unchecked";
}

/* Dimension d of an array over all files. */
static inline uint64_t report_dimension(const struct report_set *set, const struct array *array,
                                        unsigned d)
{
    return d == 0 && set->shard.rows_are_known && array->n_rows == set->shard.n_rows
               ? set->n_rows
               : array->header.shape[d];
}

/* --- page.c: begin, a section for each set, end --- */
void page_begin(struct pen *page, const struct report_request *request);
void page_put_set(struct pen *page, const struct report_set *set);
void page_end(struct pen *page, const struct report_set *sets,
              const struct report_overlap *overlap);
