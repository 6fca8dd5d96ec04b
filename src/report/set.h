/*
 * set.h - what a report knows of one set, and what its rows add up to: how often each value stands
 * in a label, how sharp the policies are, where stones and policies lie on the board, and whether
 * that is the same in every image. Only for src/report.
 *
 * Rows that belong together (a game, the images of a source) go to the same one of TALLY_MAX_PARTS
 * parts, and every sum is kept for each part: how much the parts differ tells how far chance may
 * take a sum.
 */
#pragma once

#include "engine/shard.h"
#include "positions/positions.h"
#include "report/report.h"

/* Beyond so many sets, maps and pictures are drawn of so many that need them. */
#define REPORT_MAX_DRAWN 16

/* --- tallies --- */

#define TALLY_MAX_PARTS  128
#define TALLY_MAX_VALUES 64 /* different ones that are listed; beyond, they are counted in: */
#define TALLY_N_BINS     32

/* The values of a label. */
struct tally_histogram {
    double values[TALLY_MAX_VALUES]; /* ascending; unless is_binned */
    uint64_t counts[TALLY_MAX_VALUES];
    uint32_t n;
    bool is_binned; /* counts are of TALLY_N_BINS equal parts of low .. high */
    double low, high;
};

struct tally_label {
    const char *key; /* borrowed from the first shard, as all of them */
    enum role role;
    struct tally_histogram all;
    struct tally_histogram *by_transform; /* owned: one per transform of the board, or NULL */
};

/* Means over the rows whose policy has mass, divided by its sum. */
struct tally_policy {
    const char *key;
    uint64_t n_rows;
    double entropy, top_share; /* sums until tally_finish, then means; entropy in nats */
};

#define TALLY_NO_PLANE UINT64_MAX /* a policy */

/* One map of the board: a plane of stones, or a policy. */
struct tally_map {
    const char *key;
    uint64_t plane;
    uint64_t n_rows;   /* that count */
    uint32_t *partner; /* owned: per transform, the map that takes this one's place (a colour swap
                          exchanges two); itself elsewhere */
    double *sums;      /* owned: n_parts x n_cells */
    double *mean, *group, *z; /* in the same memory, n_cells each, after tally_finish: the mean, its
                                 mean over the group, and their difference in standard errors; NaN:
                                 undefined */
};

/* How far the set is from its image under a transform. */
struct tally_evidence {
    double distance; /* the largest difference of any cell of any map, in sizes of such differences
                        with signs thrown at random */
    double limit;    /* that one set in 200 exceeds which is symmetric */
    bool fits;
};

struct tally {
    const struct settings *settings; /* borrowed */
    const struct board *board;       /* borrowed; NULL: not known, and there is nothing to count */
    /* Borrowed: where each transform's image of a cell lies. */
    const uint32_t *dst[BOARD_MAX_TRANSFORMS];
    uint64_t n_rows;
    uint32_t n_parts;
    struct tally_label *labels; /* owned, as all the others */
    size_t n_labels;
    struct tally_policy *policies;
    size_t n_policies;
    struct tally_map *maps;
    size_t n_maps;
    struct tally_evidence *evidence; /* one per transform, of the identity nothing; or NULL */
    bool misfits;                    /* some transform does not fit */
    bool needs_bins;                 /* some label has too many values: read the files once more */
};

/* Make a tally for sets that hold what this shard holds, which must outlive it; the caller releases
 * it. */
int tally_init(struct tally *tally, const struct shard *shard, const struct settings *settings,
               struct error *err);
void tally_release(struct tally *tally);

/* Add the rows of a shard, whose sources and transforms verify has found (or not). Arrays that are
 * not those of the first shard are passed over. With bins, when needs_bins is set after the last
 * shard: count the values of those labels alone. */
int tally_add(struct tally *tally, const struct shard *shard, const struct verify_located *images,
              bool bins, struct error *err);

/* After the last shard: means, standard errors, evidence. */
int tally_finish(struct tally *tally, struct error *err);

static inline bool tally_is_planes(enum role role)
{
    return role == ROLE_PLANES || role == ROLE_PACKED || role == ROLE_GRID;
}

static inline bool tally_is_label(enum role role)
{
    return role == ROLE_VALUE || role == ROLE_WDL || role == ROLE_TO_MOVE;
}

/* The map of that array and plane, or NULL. */
struct tally_map *tally_find_map(const struct tally *tally, const char *key, uint64_t plane);

/* Where bin i begins, and the one before it ends. */
static inline double tally_bin(const struct tally_histogram *h, uint32_t i)
{
    return i == TALLY_N_BINS ? h->high : h->low + (h->high - h->low) / TALLY_N_BINS * i;
}

/* --- sets --- */

enum report_verdict { REPORT_SOUND, REPORT_FINDINGS, REPORT_UNCHECKED };

/* Rows of each set whose position occurs in each other one; those of sets that cannot be checked,
 * and all of them where sets do not compare (why), are left out. */
struct report_overlap {
    uint64_t *matrices; /* owned: exact, then up to symmetry: n x n each, of the other sets */
    size_t n;
    struct error why;
};

/* The first five outlive the others, which are released once the set is written down. */
struct report_set {
    const struct report_request *request;
    const char *path;        /* as given */
    struct text_list listed; /* owned, as is the next: its path, or the shards of the folder */
    struct text_list list;   /* the shards that can be read */
    enum report_verdict verdict;
    size_t number;                 /* from 0 */
    struct verify_results results; /* of its files, and of the manifest that lists them */
    struct shard shard; /* the first file that can be read; its arrays stand for those of all */
    bool is_open;
    uint64_t n_rows;
    uint64_t *nbytes; /* owned: of each array in all files: unpacked, packed */
    struct tally tally;
    struct set_positions positions;
    uint64_t counts[FINDING_N_CODES]; /* of findings, in all files */
    struct text sentence, command;    /* owned */
    bool is_drawn;                    /* maps and pictures */
};

static inline const char *report_verdict_name(enum report_verdict verdict)
{
    return verdict == REPORT_SOUND      ? "sound"
           : verdict == REPORT_FINDINGS ? "findings"
                                        : "unchecked";
}

/* A dimension of an array in all files together. */
static inline uint64_t report_dimension(const struct report_set *set, const struct array *array,
                                        unsigned d)
{
    return d == 0 && set->shard.rows_are_known && array->n_rows == set->shard.n_rows
               ? set->n_rows
               : array->header.shape[d];
}

/* --- page.c: a set is a section between the two others --- */
void page_begin(struct pen *page, const struct report_request *request);
void page_put_set(struct pen *page, const struct report_set *set);
void page_end(struct pen *page, const struct report_set *sets,
              const struct report_overlap *overlap);
