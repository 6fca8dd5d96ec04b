/*
 * role.h - what an array means: one role per array, inferred by name and shape together.
 */
#ifndef SYMAUG_SHARD_ROLE_H
#define SYMAUG_SHARD_ROLE_H

#include "base/error.h"
#include "board/actions.h"
#include "board/board.h"
#include "shard/archive_in.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum role {
    ROLE_PLANES,
    ROLE_PACKED,
    ROLE_GRID,
    ROLE_POLICY,
    ROLE_ACTION_VALUES, /* as a policy, but any numbers: Q-values, scores */
    ROLE_MASK,
    ROLE_POLICY_INDEX,   /* sparse policy: the indices */
    ROLE_POLICY_VALUE,   /* sparse policy: their values */
    ROLE_POLICY_OFFSETS, /* sparse policy in CSR form: where each row begins */
    ROLE_ACTION,
    ROLE_COORD,
    ROLE_VALUE,
    ROLE_WDL,
    ROLE_TO_MOVE,
    ROLE_TILE,
    ROLE_COPY,
    ROLE_META,
    ROLE_DROP, /* stale after expansion (data_checksums): left out, with a notice */
};

/* How the items of a sparse policy are laid out. */
enum sparse_form {
    SPARSE_NONE,
    SPARSE_OBJECT, /* (N,) of 1-D ndarrays, or (N,k) of Python numbers */
    SPARSE_PADDED, /* (N,L) numeric: a row's trailing run of (index 0, value 0) is padding */
    SPARSE_CSR,    /* offsets (N+1,), indices and values (M,) */
};

/* How an array's rows are addressed: row = outer x axis x inner elements. A transform permutes the
 * axis; planes are the outer elements (channels first) or the inner ones (channels last). PACKED
 * counts bits: a plane takes (axis + 7) / 8 bytes. */
struct role_axes {
    uint64_t outer;
    uint64_t axis;
    uint64_t inner;
};

/* The role of one array with everything that a transform needs to know about it. */
struct role_binding {
    enum role role;
    bool inferred;                      /* by name and shape; false: told by the user */
    struct role_axes axes;              /* PLANES, PACKED, GRID, POLICY, ACTION_VALUES, MASK */
    const struct action_layout *layout; /* POLICY and its relatives, ACTION: borrowed. Chess
                                           planes of moves get the layout in the array's order.
                                           PLANES, GRID: NULL when the axis is the board's cells,
                                           else the layout that numbers the on-board cells */
    uint64_t n_actions;                 /* length of that layout's axis (a padded head counts) */
    enum sparse_form sparse;            /* POLICY_INDEX, POLICY_VALUE, POLICY_OFFSETS */
    int index_array;                    /* of the sparse triple: positions in archive->arrays, */
    int value_array;                    /*   -1 where there is none */
    int offsets_array;
    bool takeiteasy_grid; /* PLANES, GRID: an axis of 25, see grid_cells of a family */
    bool col_first;       /* COORD as (col,row) */
    enum action_flip
        flip;        /* POLICY and its relatives, ACTION stored in another order than planes */
    bool per_player; /* VALUE: a column for each player, the first two are the colours */
    bool lsb_first;  /* PACKED: bit order within a byte */
    bool plane_xy;   /* PLANES, PACKED, GRID stored [c][x][y] (RingRift squares) */
    bool is_winner;  /* TO_MOVE: who won, or nobody; not whose turn it is */
    bool is_counts;  /* POLICY and its sparse parts: visits, which need not add up to 1 */
};

/* What the user said about roles: --role, --copy, --schema, and the options that bear on them. */
struct role_override {
    char *array; /* owned: the key */
    enum role role;
    char *layout;      /* owned, or NULL: :layout=L */
    int col_first;     /* -1 not said, 0, 1: :rowcol, :colrow */
    int lsb_first;     /* :msb, :lsb */
    int channels_last; /* :nchw, :nhwc */
    int per_player;    /* :players */
    int flip;          /* :flipud, :fliplr, :transpose (enum action_flip); else -1 */
    int is_winner;     /* :player, :winner */
};

struct role_request {
    struct role_override *overrides; /* owned */
    size_t n_overrides;
    char *policy_layout;  /* owned, or NULL: --policy */
    int plane_xy;         /* --plane-order: -1 not said, 0 yx, 1 xy */
    bool is_strict;       /* nothing that may be spatial is copied by guess (expand) */
    bool swaps_colours;   /* nor anything with rows: a colour swap may change it */
    const char *command;  /* borrowed, or NULL: the command line, to which a refusal adds flags, */
    const char *operands; /* and what must stand behind them ("-- a.npz"), or "" */
};

/* A request that says nothing. */
#define ROLE_REQUEST_INIT                 \
    {                                     \
        .overrides = NULL, .plane_xy = -1 \
    }

/* A role's row in the table: its name and meaning, printed by `symaug info` and help. */
struct role_info {
    enum role role;
    const char *name;   /* "policy-index" */
    const char *shape;  /* "(N,C,H,W) or (N,H,W,C) or (N,C*H*W)" */
    const char *effect; /* "gather over the action axis" */
};

extern const struct role_info role_table[];
extern const size_t role_n_table;

/* The name of a role. */
const char *role_name(enum role role);

/* True when a transform moves what arrays of the role hold, not only its colours. */
bool role_moves(enum role role);

/* Open a shard; arrays that the user told to leave out need not even be readable. */
int role_open(struct archive_in *archive, const char *path, bool use_map,
              const struct role_request *request, struct error *err);

/* Parse NAME=ROLE[:option,...] of --role and append it; NAME ends at the first '='. Of several
 * overrides of one array the last one counts. ERROR_USAGE. */
int role_request_add(struct role_request *request, const char *text, struct error *err);

/* The same with the array's name apart from ROLE[:option,...] (a line of a schema). */
int role_request_add_spec(struct role_request *request, const char *array, const char *spec,
                          struct error *err);

/* Append NAME=copy of --copy. */
int role_request_add_copy(struct role_request *request, const char *name, struct error *err);

/* Free what a request owns and make it say nothing again; accepts a zeroed one. */
void role_request_release(struct role_request *request);

/* Write ROLE[:option,...] so that role_request_add_spec gives the same binding again on the same
 * array. Returns 0, or -1 (no error set) when it does not fit. */
int role_binding_spec(const struct role_binding *binding, char *spec, size_t n_bytes);

/*
 * Give every array of the archive its role. *n_rows is the common number of rows N. bindings has
 * archive->n_arrays elements, in the arrays' order. An array that cannot be decided is ERROR_DATA
 * naming file, array, dtype, shape and the flags that would settle it, and ends in the code of
 * `verify` for it, [rows], [shape] or [length-mismatch]; an override that names no array is
 * ERROR_USAGE. Object arrays of one dimension and up must have been loaded (array_load_objects).
 */
int role_infer(const struct archive_in *archive, const struct board *board,
               const struct role_request *request, struct role_binding *bindings, uint64_t *n_rows,
               struct error *err);

/* The board a shard says it is of (0-d board_type; member set of KataGo), as a name for board_new;
 * 0 when it says so, -1 (no error) when it does not. */
int role_guess_board(const struct archive_in *archive, char *name, size_t n_bytes);

/* A guess from shapes alone, for people to read. */
struct role_guess {
    char board[64]; /* a name for board_new; "" when several boards, or none, would do */
    char
        reason[256]; /* "planes of 9 x 9, policy of 4132 actions", with the candidates if several */
};

/* Guess from the shapes of the planes and the policy. 0 when one board fits, -1 (no error) else. */
int role_guess_board_by_shape(const struct archive_in *archive, struct role_guess *guess);

#endif
