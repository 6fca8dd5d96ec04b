/*
 * role.h - what an array means: each array of a shard has one role, given by the user or inferred
 * from name and shape.
 */
#pragma once

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
    ROLE_DROP, /* left out, with a notice: stale after expansion (data_checksums) */
    ROLE_N_KINDS
};

/* How the items of a sparse policy are laid out. */
enum sparse_form {
    SPARSE_NONE,
    SPARSE_OBJECT, /* (N,) of 1-D ndarrays, or (N,k) of Python numbers */
    SPARSE_PADDED, /* (N,L) numeric: trailing pairs (index 0, value 0) of a row are padding */
    SPARSE_CSR,    /* offsets (N+1,), indices and values (M,) */
};

/* How an array's rows are addressed: a row is outer x axis x inner elements, and a transform
 * permutes the axis. Planes are the outer elements (channels first), the inner ones (channels
 * last), or, with the frames of a history outside, both. PACKED counts bits: a plane takes (axis +
 * 7) / 8 bytes. */
struct role_axes {
    uint64_t outer;
    uint64_t axis;
    uint64_t inner;
};

/* Options of roles, after the colon: bits, of which the first ones exclude each other in pairs. */
enum role_option {
    ROLE_ROWCOL = 1,       /* COORD: (row, col), */
    ROLE_COLROW = 2,       /* or (col, row) */
    ROLE_MSB = 4,          /* PACKED: the first cell of a byte is its highest bit, */
    ROLE_LSB = 8,          /* or its lowest */
    ROLE_NCHW = 16,        /* PLANES: channels first, */
    ROLE_NHWC = 32,        /* or last, even if there is only one */
    ROLE_PLAYER = 64,      /* TO_MOVE: whose turn it is, as the user says, whatever its name, */
    ROLE_WINNER = 128,     /* or who won, if anybody */
    ROLE_PLAYERS = 256,    /* VALUE: a column per player, the colours first */
    ROLE_PAIRS = 512,      /* ACTION: (index, count) pairs, see struct spec */
    ROLE_POSITIONS = 1024, /* PLANES of a history: a frame of zeros is an empty board */
};

/* The role of one array, with all that a transform needs to know about it. */
struct role_binding {
    enum role role;
    bool inferred;                      /* from name and shape; false: given by the user */
    struct role_axes axes;              /* PLANES, PACKED, GRID, POLICY, ACTION_VALUES, MASK */
    const struct action_layout *layout; /* borrowed. POLICY and its relatives, ACTION: the order of
                                           their actions. PLANES, GRID: NULL if the axis is the
                                           cells of the box, else what numbers those on board */
    uint64_t n_actions;                 /* length of that axis, padding included */
    enum sparse_form sparse;            /* POLICY_INDEX, POLICY_VALUE, POLICY_OFFSETS */
    int index_array;                    /* the parts of a sparse policy: positions in */
    int value_array;                    /*   archive->arrays, or -1 */
    int offsets_array;
    unsigned options;      /* enum role_option, also where they were not told but found */
    uint64_t frame_planes; /* PLANES, PACKED: planes per position of a history; 0: not one */
    bool takeiteasy_grid;  /* PLANES, GRID: an axis of 25, see grid_cells of a family */
    enum action_flip flip; /* POLICY and its relatives, ACTION: stored flipped against the planes */
    bool plane_xy;         /* PLANES, PACKED, GRID: stored [c][x][y] (RingRift squares) */
    bool is_counts;        /* POLICY and its sparse parts: counts, which need not add up to 1 */
    bool may_hold_positions; /* COPY, TO_MOVE: rows look like positions (FEN): worth a warning */
};

/* One role given by the user, with --role, --copy or --schema. */
struct role_override {
    char *array; /* owned: the key */
    enum role role;
    char *layout;          /* owned, or NULL: :layout=L */
    unsigned options;      /* enum role_option */
    enum action_flip flip; /* :flipud and so on */
    uint64_t n_frames;     /* :frames=N; 0: not given */
};

/* All that the user said about roles, and how strict to be about the rest. */
struct role_request {
    const struct role_request *under; /* borrowed, or NULL: overrides of lower precedence */
    bool is_recalled; /* the overrides are those of another shard, for arrays that are here, too */
    struct role_override *overrides; /* owned */
    size_t n_overrides;
    const char *only_key; /* borrowed, or NULL: what the array of a .npy file was called before */
    char *policy_layout;  /* owned, or NULL: --policy */
    int plane_xy;         /* --plane-order: -1 not given, 0 yx, 1 xy */
    bool is_strict;       /* copy nothing by guess that may be spatial (expand) */
    bool swaps_colours;   /* nor anything with rows, which a colour swap may change */
    const struct conventions *conventions; /* borrowed; with swaps_colours or try_roles only */
    const char *command;  /* borrowed, or NULL: a command line to which refusals add flags, */
    const char *operands; /* and what follows the flags ("-- a.npz"), or "" */

    /* Or NULL: try roles and conventions that settle all problems. Returns what is refused then, or
     * no error; owned by `self`. */
    const struct error *(*try_roles)(void *self, const struct role_request *roles);
    void *self; /* borrowed */
};

/* An empty request. */
#define ROLE_REQUEST_INIT                 \
    {                                     \
        .overrides = NULL, .plane_xy = -1 \
    }

/* What the name of an array says about its role, before its shape is looked at. */
struct role_named {
    bool is_known;
    enum role role; /* of an array with that name and a fitting shape; META when not known */
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

enum role_flag {
    ROLE_MOVES = 1,       /* a transform moves what it holds, not only its colours */
    ROLE_ON_CELLS = 2,    /* something for each cell, in the planes' order */
    ROLE_HAS_LAYOUT = 4,  /* in the order of the actions of a layout, or indices of them */
    ROLE_ONLY_SWAPS = 8,  /* means nothing to a board that never swaps colours */
    ROLE_IS_INDICES = 16, /* parts of a list for each row: indices of actions, */
    ROLE_IS_VALUES = 32,  /* something about each of them, */
    ROLE_IS_OFFSETS = 64, /* and where each row begins */
};

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
 * Try an array, which has the right number of rows, as one role. True: its binding is complete but
 * for the role itself and the layout of an action that was not told one. False: a reason says what
 * was expected.
 */
typedef bool role_fit(struct role_case *array);

/* What a colour swap does to its numbers. */
enum role_swap {
    ROLE_SWAP_NOTHING, /* but for a to-move plane, which the planes' convention tells */
    ROLE_SWAP_CODES,   /* codes of stones are exchanged */
    ROLE_SWAP_VALUES,  /* values change sides */
    ROLE_SWAP_PLAYER,  /* the other player is named, */
    ROLE_SWAP_FIRST,   /* by 0 or 1 in the first column */
};

/* What `verify` checks of its numbers. */
enum role_check {
    ROLE_CHECK_NOTHING,
    ROLE_CHECK_PAD_BITS,
    ROLE_CHECK_TILES,
    ROLE_CHECK_POLICY, /* nowhere negative, and a sum of 1 */
    ROLE_CHECK_INDICES,
    ROLE_CHECK_ACTION,
    ROLE_CHECK_COORD,
    ROLE_CHECK_VALUE,
    ROLE_CHECK_PLAYER,
    ROLE_N_CHECKS
};

/* What is wrong when it is not the image that it should be. */
enum role_mistake {
    ROLE_MISTAKE_COPY, /* it differs from its source */
    ROLE_MISTAKE_PLANES,
    ROLE_MISTAKE_POLICY,
    ROLE_MISTAKE_INDEX_VALUES,
    ROLE_MISTAKE_MOVE,
    ROLE_MISTAKE_VALUE,
    ROLE_MISTAKE_PLAYER,
};

/* All that is particular to a role, in one row. */
struct role_kind {
    const char *name;    /* "policy-index" */
    const char *options; /* after the colon: "msb lsb"; or NULL */
    unsigned flags;      /* enum role_flag */
    role_fit *fit; /* how an array must fit it; NULL: any does, or its parts are bound together */
    const enum role *by_name; /* the roles that an array with such a name may have, in the order in
                                 which they are tried, up to ROLE_N_KINDS; NULL: this one */
    enum spec_kind moves_as;
    enum role_swap swap;
    enum role_check check;
    enum role_mistake mistake;
    struct role_names names[ROLE_N_NAMES];
    const char *prefixes; /* ROLE_IS_VALUES: names of such lists, PREFIX_indices and so on */
};

/* By role: in the order in which arrays are trusted to tell the number of rows. */
extern const struct role_kind role_kinds[ROLE_N_KINDS];

/* True when the text is one of the words, which are separated by spaces; case does not matter. */
bool role_lists(const char *words, const char *text, size_t n_bytes);

/* What a key of n_bytes says about its array's role. Without a board (NULL) names of every family
 * count. */
struct role_named role_by_name(const char *key, size_t n_bytes, const struct board *board);

/* The role of the values of a list whose name is the first n_bytes of key ("policy", "pol", "pi",
 * "visits", ...); META if there is none. */
enum role role_values_by_prefix(const char *key, size_t n_bytes);

/* True when the array was inferred to be win, draw and loss from its name and three columns, but
 * --value gives a convention for one or two. */
bool role_value_contradicts(const struct role_binding *binding, const char *key,
                            const struct board *board, const struct conventions *conventions);

/* How arrays of the role write the player to move. */
static inline enum to_move_coding role_coding(enum role role, const struct conventions *conventions)
{
    return role_kinds[role].swap == ROLE_SWAP_FIRST ? TO_MOVE_01 : conventions->to_move;
}

static inline const char *role_name(enum role role)
{
    return role_kinds[role].name;
}

/* True when arrays of the role hold something for each cell: planes, packed planes, grids. */
static inline bool role_is_on_cells(enum role role)
{
    return (role_kinds[role].flags & ROLE_ON_CELLS) != 0;
}

/* Whether a request, `self`, drops the array of that key, which need not even be readable then. */
bool role_is_dropped(const void *self, const char *key);

/* Parse NAME=ROLE[:option,...] and append it; NAME ends at the first '=' that a role follows, else
 * at the first. Of several overrides for one array the last counts. ERROR_USAGE. */
int role_request_add(struct role_request *request, const char *text, struct error *err);

/* The same with the array's name apart from ROLE[:option,...] (an entry of a schema, or --copy). */
int role_request_add_spec(struct role_request *request, const char *array, const char *spec,
                          struct error *err);

/* Free what a request owns and make it empty; accepts a zeroed one. */
void role_request_release(struct role_request *request);

/* Free its overrides alone. */
void role_overrides_release(struct role_request *request);

/* ROLE[:option,...], which gives the same array the same binding when it is parsed again. */
struct text_quoted role_binding_spec(const struct role_binding *binding);

/* Something that could not be decided about an array, or about the shard as a whole. */
struct role_problem {
    int array;         /* position in archive->arrays; -1: the shard as a whole */
    char role[64];     /* ROLE[:option,...] that would settle it, as was tried; "": none would */
    const char *flags; /* static: other flags that go with it, " --value colour11"; or "" */
    bool is_offered;   /* by a refusal, after other roles had been tried */
    struct error why;  /* its code is that of `verify`: [rows], [shape] or [length-mismatch] */
};

struct role_problems {
    struct role_problem *items; /* owned; zero-initialise */
    size_t n;
    size_t *places; /* owned: n_places. By array + 1: the item of its problem + 1; 0: it has none */
    size_t n_places;
    const struct board *board; /* borrowed: whose roles were looked for */
};

void role_problems_release(struct role_problems *problems);

/* The problem of an array, or NULL. */
struct role_problem *role_problem_of(const struct role_problems *problems, int array);

/*
 * Give every array of the archive its role. bindings has archive->n_arrays elements, in the arrays'
 * order; those that could not be decided are META. *n_rows is the common number of rows, 0 if that
 * is one of the problems. What could not be decided goes to problems; if that is NULL, the first
 * problem is ERROR_DATA. An override that names no array is ERROR_USAGE. Object arrays of one or
 * more dimensions must have been loaded (array_load_objects).
 */
int role_infer(const struct archive_in *archive, const struct board *board,
               const struct role_request *request, struct role_binding *bindings, uint64_t *n_rows,
               struct role_problems *problems, struct error *err);

/*
 * Try the roles that the problems suggest and, if the request says so, what else is done with them:
 * a role that would be refused becomes "drop", which never is, and what else would then be
 * undecided becomes a problem too, so that the user is not led from one refusal to the next. If the
 * problems cannot be settled their roles become "".
 */
int role_settle(struct role_problems *problems, const struct archive_in *archive,
                const struct board *board, const struct role_request *request, struct error *err);

/* Append "--role NAME=ROLE", as a shell reads it, and the flags that go with it, unless the text
 * has them already. */
int role_problem_flags(const struct role_problem *problem, const struct archive_in *archive,
                       struct text *to, struct error *err);

/* Append request->command with the flags that settle all problems; nothing if some cannot be. */
int role_problems_command(const struct role_problems *problems, const struct archive_in *archive,
                          const struct role_request *request, struct text *command,
                          struct error *err);

/* Set an error that names all problems and ends in that command; `next`, or NULL, is what would be
 * wrong after it. Returns -1. */
int role_refuse_all(const struct role_problems *problems, const struct archive_in *archive,
                    const struct role_request *request, const struct error *next,
                    struct error *err);

/* Without a board, by names alone: the array to take the number of rows from: planes, else a
 * policy, a value or an action; NULL if there is none. */
const struct array *role_rows_array(const struct archive_in *archive);

/* Without a board: take planes, rows and columns from the first array with the name and dimensions
 * of planes; false if there is none. */
bool role_see_planes(const struct archive_in *archive, struct board_seen *seen);

/* The board that a shard says it is of (0-d board_type, or KataGo's members), as a name for
 * board_new. -1 (no error set) if it does not say. */
int role_guess_board(const struct archive_in *archive, char *name, size_t n_bytes);

/* A guess from shapes, for people to read. */
struct role_guess {
    char board[64];   /* a name for board_new; "" unless exactly one board fits */
    char reason[256]; /* "planes of 9 x 9, policy of 4132 actions", and the candidates if several */
    size_t n_boards;  /* how many fit */
    bool is_said;     /* the shard says so */
};

/* Guess from the shapes of planes and policy. 0 if one board fits, else -1 (no error set). */
int role_guess_board_by_shape(const struct archive_in *archive, struct role_guess *guess);

/* --- schemas: roles as a JSON file, read with --schema and written by `info --schema` --- */

/*
 *   {"symaug_schema": 1,
 *    "policy": "ringrift",
 *    "plane_order": "xy",
 *    "arrays": {"features": "planes:nchw", "policy_indices": "policy-index:layout=ringrift"}}
 *
 * "policy" and "plane_order" mean the same as --policy and --plane-order, an entry of "arrays" the
 * same as --role NAME=ROLE[:option,...]. All keys but the first are optional.
 */
#define SCHEMA_VERSION    1
#define SCHEMA_MAX_NBYTES (16u << 20)

/*
 * Append what the file says to the request, ahead of the command line's options, so that these take
 * precedence. ERROR_NO_INPUT: it cannot be opened; ERROR_DATA, with the file's name: bad JSON,
 * unknown keys, roles or options.
 */
int schema_read(const char *path, struct role_request *request, struct error *err);

/*
 * Append the schema of a shard to `out`: every array with its role, which gives the same bindings
 * when read. A name that is not UTF-8 is ERROR_DATA.
 */
int schema_write(const struct archive_in *archive, const struct role_binding *bindings,
                 struct text *out, struct error *err);
