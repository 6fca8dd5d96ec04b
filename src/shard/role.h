/*
 * role.h - what an array means: one role per array, inferred by name and shape together.
 */
#pragma once

#include "base/error.h"
#include "base/text.h"
#include "board/actions.h"
#include "board/board.h"
#include "shard/archive_in.h"
#include "shard/conventions.h"

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
    ROLE_GLOBALS, /* the first column is whose turn it is */
    ROLE_TILE,
    ROLE_COPY,
    ROLE_META,
    ROLE_DROP, /* stale after expansion (data_checksums): left out, with a notice */
    ROLE_N_KINDS
};

/* How the items of a sparse policy are laid out. */
enum sparse_form {
    SPARSE_NONE,
    SPARSE_OBJECT, /* (N,) of 1-D ndarrays, or (N,k) of Python numbers */
    SPARSE_PADDED, /* (N,L) numeric: a row's trailing run of (index 0, value 0) is padding */
    SPARSE_CSR,    /* offsets (N+1,), indices and values (M,) */
};

/* How an array's rows are addressed: row = outer x axis x inner elements. A transform permutes the
 * axis; planes are the outer elements (channels first), the inner ones (channels last), or those of
 * frames one after the other (both). PACKED counts bits: a plane takes (axis + 7) / 8 bytes. */
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
    uint64_t frame_planes; /* PLANES, PACKED: of one position of a history, 0 where there is none */
    bool channels_last;    /* PLANES stored so, perhaps with one channel */
    bool is_positions;     /* PLANES of a history: frames of zeros are empty boards */
    bool takeiteasy_grid;  /* PLANES, GRID: an axis of 25, see grid_cells of a family */
    bool col_first;        /* COORD as (col,row) */
    enum action_flip
        flip;        /* POLICY and its relatives, ACTION stored in another order than planes */
    bool per_player; /* VALUE: a column for each player, the first two are the colours */
    bool lsb_first;  /* PACKED: bit order within a byte */
    bool is_pairs;   /* ACTION: (index, count), see spec */
    bool plane_xy;   /* PLANES, PACKED, GRID stored [c][x][y] (RingRift squares) */
    bool is_winner;  /* TO_MOVE: who won, or nobody; not whose turn it is */
    bool is_player;  /* TO_MOVE: whose turn it is, told so whatever its name says */
    bool is_counts;  /* POLICY and its sparse parts: visits, which need not add up to 1 */
    bool may_hold_positions; /* COPY: rows that look like positions (FEN): worth a warning */
};

/* Options of roles, after the colon: bits, the first ones in pairs of which one excludes the other.
 */
enum role_option {
    ROLE_ROWCOL = 1,
    ROLE_COLROW = 2,
    ROLE_MSB = 4,
    ROLE_LSB = 8,
    ROLE_NCHW = 16,
    ROLE_NHWC = 32,
    ROLE_PLAYER = 64,
    ROLE_WINNER = 128,
    ROLE_PLAYERS = 256,
    ROLE_PAIRS = 512,
    ROLE_POSITIONS = 1024,
};

/* What the user said about roles: --role, --copy, --schema, and the options that bear on them. */
struct role_override {
    char *array; /* owned: the key */
    enum role role;
    char *layout;          /* owned, or NULL: :layout=L */
    unsigned options;      /* enum role_option */
    enum action_flip flip; /* :flipud and so on */
    uint64_t n_frames;     /* :frames=N; 0 not said */
};

struct role_request {
    const struct role_request *under; /* borrowed, or NULL: its overrides count less */
    struct role_override *overrides;  /* owned */
    size_t n_overrides;
    char *policy_layout; /* owned, or NULL: --policy */
    int plane_xy;        /* --plane-order: -1 not said, 0 yx, 1 xy */
    bool is_strict;      /* nothing that may be spatial is copied by guess (expand) */
    bool swaps_colours;  /* nor anything with rows: a colour swap may change it */
    const struct conventions *conventions; /* borrowed; with swaps_colours only */
    const char *command;  /* borrowed, or NULL: the command line, to which a refusal adds flags, */
    const char *operands; /* and what must stand behind them ("-- a.npz"), or "" */
};

/* A request that says nothing. */
#define ROLE_REQUEST_INIT                 \
    {                                     \
        .overrides = NULL, .plane_xy = -1 \
    }

/* What the name of an array says about its role, before its shape is looked at. */
struct role_named {
    enum role role; /* of an array with that name and a fitting shape; META: it says nothing */
    unsigned flags; /* enum role_name_flag */
};

enum role_name_flag {
    NAME_PER_PLAYER = 1, /* one column per player, however many (values_mp) */
    NAME_MAY_SPREAD = 2, /* COPY: may also hold something per cell, so the shape is looked at */
    NAME_NEVER_ROWS = 4, /* DROP: whatever its shape */
    NAME_COUNTS = 8,     /* POLICY: counts, which need not add up to 1 */
    NAME_TILES = 16,     /* only on boards with tiles */
};

/* Names met in the wild. */
struct role_names {
    const char *words; /* separated by spaces, matched without regard to case; or NULL */
    unsigned flags;    /* enum role_name_flag */
};
#define ROLE_N_NAMES 2

/* What a transform does to rows: see spec.h. */
enum spec_kind {
    SPEC_KEEP,    /* the row as it is, but for what a colour swap does to its numbers */
    SPEC_AXIS,    /* element j of an axis comes from src[j], plane p from plane_src[p] */
    SPEC_BITS,    /* the same over packed bits, one plane per outer element */
    SPEC_INDICES, /* integers: new = dst[old]; negative ones stay */
    SPEC_PADDED,  /* the same for a padded sparse row: trailing (index 0, value 0) stay */
    SPEC_COORD,   /* (row, col) pairs of integers; negative ones stay */
    SPEC_TRIPLE,  /* Take It Easy: a tile's three numbers */
};

struct role_case;

/*
 * Does an array that has the right number of rows fit a role? True: its binding is complete but for
 * the role itself and the layout of an action that was not told one. False: a reason says what was
 * expected.
 */
typedef bool role_fit(struct role_case *array);

/* All that is particular to a role, in one row. */
struct role_kind {
    const char *name;         /* "policy-index" */
    const char *options;      /* after the colon: "msb lsb"; or NULL */
    role_fit *fit;            /* NULL: anything fits, or the arrays of a list are bound together */
    const enum role *by_name; /* what an array named so may be, the first that fits, up to META;
                                 NULL: this role alone */
    enum spec_kind moves_as;
    struct role_names names[ROLE_N_NAMES];
};

/* By role: in the order in which arrays are trusted to tell the number of rows. */
extern const struct role_kind role_kinds[ROLE_N_KINDS];

/* The role that arrays have whose key is those n_bytes, or none. Without a board (NULL) names of
 * every family count. */
struct role_named role_by_name(const char *key, size_t n_bytes, const struct board *board);

/* True when array KEY has win, draw and loss by its name and its three columns, and --value was
 * told to be for one or two. */
bool role_value_contradicts(const struct role_binding *binding, const char *key,
                            const struct board *board, const struct conventions *conventions);

static inline const char *role_name(enum role role)
{
    return role_kinds[role].name;
}

/* True when a transform moves what arrays of the role hold, not only its colours; tiles aside,
 * which are permuted only if told so. */
static inline bool role_moves(enum role role)
{
    return role_kinds[role].moves_as != SPEC_KEEP && role != ROLE_TILE;
}

/* True when arrays of the role hold something for each cell, in the planes' order. */
static inline bool role_is_on_cells(enum role role)
{
    return role <= ROLE_GRID;
}

/* True when arrays of the role are in the order of the actions of a layout, or index them. */
static inline bool role_has_layout(enum role role)
{
    return (role >= ROLE_POLICY && role <= ROLE_POLICY_INDEX) || role == ROLE_ACTION;
}

/* True when arrays of the role tell players apart: a colour swap may change their numbers. */
static inline bool role_is_label(enum role role)
{
    return role >= ROLE_VALUE && role <= ROLE_GLOBALS;
}

/* Open a shard; arrays that the user told to leave out need not even be readable. */
int role_open(struct archive_in *archive, const char *path, bool use_map,
              const struct role_request *request, struct error *err);

/* Parse NAME=ROLE[:option,...] of --role and append it; NAME ends at the first '='. Of several
 * overrides of one array the last one counts. ERROR_USAGE. */
int role_request_add(struct role_request *request, const char *text, struct error *err);

/* The same with the array's name apart from ROLE[:option,...] (a line of a schema, or --copy). */
int role_request_add_spec(struct role_request *request, const char *array, const char *spec,
                          struct error *err);

/* Free what a request owns and make it say nothing again; accepts a zeroed one. */
void role_request_release(struct role_request *request);

/* The same request with room for overrides that count more; nothing else of it may change. Free the
 * overrides with role_overrides_release. */
struct role_request role_request_over(const struct role_request *under);
void role_overrides_release(struct role_request *request);

/* ROLE[:option,...], from which role_request_add_spec gives the same binding again on the same
 * array. By value. */
struct text_quoted role_binding_spec(const struct role_binding *binding);

/* An array, or the shard as a whole, whose meaning could not be decided. */
struct role_problem {
    int array;         /* position in archive->arrays; -1: the shard as a whole */
    char role[64];     /* ROLE[:option,...] that would settle it, tried; "" when none would */
    const char *flags; /* static: other flags that go with it, " --value colour11"; or "" */
    struct error why;  /* its code is that of `verify`: [rows], [shape] or [length-mismatch] */
};

struct role_problems {
    struct role_problem *items; /* owned; zero-initialise */
    size_t n;
};

/* Flags that go with a history whose colours are swapped, likeliest first; the last, empty one is
 * at a place of its own: the user must tell. Up to a NULL. */
extern const char *const role_flags_of_frames[];

/* Accepts a zeroed one. */
void role_problems_release(struct role_problems *problems);

/* The problem of array i, or NULL. */
struct role_problem *role_problem_of(const struct role_problems *problems, size_t i);

/*
 * Give every array of the archive its role. *n_rows is the common number of rows N; 0 when that is
 * one of the problems. bindings has archive->n_arrays elements, in the arrays' order; those that
 * could not be decided are META. problems (NULL: none are wanted) takes what could not be decided;
 * without it the first of these is ERROR_DATA. An override that names no array is ERROR_USAGE.
 * Object arrays of one dimension and up must have been loaded (array_load_objects).
 */
int role_infer(const struct archive_in *archive, const struct board *board,
               const struct role_request *request, struct role_binding *bindings, uint64_t *n_rows,
               struct role_problems *problems, struct error *err);

/* Append request->command with the flags that settle all problems; nothing when some cannot be. */
int role_problems_command(const struct role_problems *problems, const struct archive_in *archive,
                          const struct role_request *request, struct text *command,
                          struct error *err);

/* All problems in one message, which ends in that command; next: what would be wrong then, or NULL.
 * Returns -1. */
int role_refuse_all(const struct role_problems *problems, const struct archive_in *archive,
                    const struct role_request *request, const struct error *next,
                    struct error *err);

/* Without a board: the array that tells the number of rows: planes, else a policy, else a value or
 * an action, by their names; NULL when there is none. */
const struct array *role_rows_array(const struct archive_in *archive);

/* Without a board: planes, rows and columns of the array of planes, by its name and dimensions;
 * false when there is none. */
bool role_see_planes(const struct archive_in *archive, struct board_seen *seen);

/* The board a shard says it is of (0-d board_type; member set of KataGo), as a name for board_new;
 * 0 when it says so, -1 (no error) when it does not. */
int role_guess_board(const struct archive_in *archive, char *name, size_t n_bytes);

/* A guess from shapes alone, for people to read. */
struct role_guess {
    char board[64]; /* a name for board_new; "" when several boards, or none, would do */
    char
        reason[256]; /* "planes of 9 x 9, policy of 4132 actions", with the candidates if several */
    size_t n_boards; /* that would do, as the reason tells */
    bool is_said;    /* by the shard, not guessed */
};

/* Guess from the shapes of the planes and the policy. 0 when one board fits, -1 (no error) else. */
int role_guess_board_by_shape(const struct archive_in *archive, struct role_guess *guess);

/* --- schemas: roles as a JSON file, read with --schema and written by `info --schema` --- */

/*
 *   {"symaug_schema": 1,
 *    "policy": "ringrift",
 *    "plane_order": "xy",
 *    "arrays": {"features": "planes:nchw", "policy_indices": "policy-index:layout=ringrift"}}
 *
 * "policy" and "plane_order" say the same as the options --policy and --plane-order, an entry of
 * "arrays" the same as --role NAME=ROLE[:option,...]. Everything but the first key is optional.
 */
#define SCHEMA_VERSION    1
#define SCHEMA_MAX_NBYTES (16u << 20)

/*
 * Append what the file says to the request; read it before the options of the command line, which
 * then count more. A file that cannot be opened is ERROR_NO_INPUT; bad JSON, unknown keys, roles
 * and options are ERROR_DATA with the file's name.
 */
int schema_read(const char *path, struct role_request *request, struct error *err);

/*
 * Append the schema of a shard to `out`: every array with its role, so that reading it gives the
 * same bindings. A name that is not UTF-8 is ERROR_DATA.
 */
int schema_write(const struct archive_in *archive, const struct role_binding *bindings,
                 struct text *out, struct error *err);
