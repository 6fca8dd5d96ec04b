/*
 * role_fit.c - tests whether an array fits a role by dtype and shape, and records how its rows are
 * addressed: one function per kind of shape. role_is_spatial decides whether an array may hold
 * something per cell: by its dimensions, and in strict requests by its values too.
 */
#include "shard/role_parts.h"

#include "shard/planes.h"
#include "shard/spec.h"

bool role_unfit(struct role_case *a, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(a->reason, sizeof a->reason, format, args);
    va_end(args);
    return false;
}

bool role_dtype_moves(const struct dtype *dtype)
{
    return dtype_is_number(dtype) || (dtype->kind == DTYPE_VOID && !dtype->structured);
}

/* --- planes, packed planes, grids --- */

/* True when the dimensions together index the cells of a board without rows and columns, such as
 * (3,3,3) on one of 27 cells. */
static bool dims_are_cells(const struct board *board, const uint64_t *dims, unsigned n_dims)
{
    uint64_t product = 1;

    if (board->rows > 0 || n_dims < 2)
        return false;
    for (unsigned d = 0; d < n_dims; d++)
        if (dims[d] < 2 || __builtin_mul_overflow(product, dims[d], &product))
            return false;
    return product == board->n_cells;
}

/* True when dimensions first to end - 1 are the board's cells, which become the axis. */
static bool match_cells(struct role_case *a, unsigned first, unsigned end)
{
    const struct role_context *c = a->c;
    const struct board *board = c->board;
    const uint64_t *dims = a->h->shape + first;
    const bool is_one = end == first + 1;

    if (end == first + 2 && c->box_rows > 0 && dims[0] == c->box_rows && dims[1] == c->box_cols) {
        a->b->takeiteasy_grid = board->rows == 0;
        a->b->axes.axis = (uint64_t)c->box_rows * c->box_cols;
        return true;
    }
    if (dims_are_cells(board, dims, end - first) || (is_one && dims[0] == board->n_cells)) {
        a->b->axes.axis = board->n_cells;
        return true;
    }
    const struct action_layout *layout =
        is_one && dims[0] == board->n_on_board ? action_layout_by_length(board, dims[0]) : NULL;
    if (layout == NULL || layout->length(layout, board) != dims[0])
        return false;
    a->b->layout = layout;
    a->b->n_actions = a->b->axes.axis = dims[0];
    return true;
}

/* The board's cells as dimensions of a shape: "9, 9" or "19". */
static struct text_quoted cells_text(const struct board *board)
{
    return board->rows > 0 ? text_format("%u, %u", board->rows, board->cols)
                           : text_format("%u", board->n_cells);
}

/* Record that the planes form frames: the positions of a history, one after another. */
static bool set_frames(struct role_case *a, uint64_t n_planes, uint64_t n_frames)
{
    const uint64_t told = a->told->n_frames;

    if (told > 0 && n_frames > 0 && told != n_frames)
        return role_unfit(a, "expected %" PRIu64 " frames as told, found %" PRIu64, told, n_frames);
    if (told > 0 && n_planes % told != 0)
        return role_unfit(a, "%" PRIu64 " planes are not those of %" PRIu64 " frames", n_planes,
                          told);
    n_frames = told > 0 ? told : n_frames;
    a->b->frame_planes = n_frames > 1 ? n_planes / n_frames : 0;
    a->b->options |= a->told->options & ROLE_POSITIONS;
    return true;
}

bool role_fit_planes(struct role_case *a)
{
    const struct npy_header *h = a->h;
    const struct board *board = a->c->board;
    const unsigned n = h->n_dims;
    const bool first = a->told->options & ROLE_NCHW, box = a->c->box_rows > 0;
    bool last = a->told->options & ROLE_NHWC;
    uint64_t outer = 1, inner = 1, n_frames = 0;

    if (!role_dtype_moves(&h->dtype))
        return role_unfit(a, "planes hold numbers");
    /* A history, (N, T, C, H, W) or (N, T, H, W, C), must be told; channels first wins when both
     * fit. Channels last is inferred for (N, H, W, C) only: in (N, cells, C) nothing distinguishes
     * cells from planes. */
    if (a->is_told && !last && box && n == 5 && match_cells(a, 3, 5)) {
        n_frames = h->shape[1];
        outer = n_frames * h->shape[2];
    } else if (a->is_told && !first && box && n == 5 && match_cells(a, 2, 4)) {
        outer = n_frames = h->shape[1];
        inner = h->shape[4];
        last = true;
    } else if (!last && n >= 3 && match_cells(a, 2, n)) {
        outer = h->shape[1];
    } else if ((last || (!first && box && n == 4)) && n >= 3 && match_cells(a, 1, n - 1)) {
        inner = h->shape[n - 1];
    } else if (n == 2 && h->shape[1] % board->n_cells == 0) {
        a->b->axes.axis = board->n_cells;
        outer = h->shape[1] / board->n_cells;
        if (last && a->told->n_frames > 0 && outer % a->told->n_frames == 0) {
            inner = outer / a->told->n_frames;
            outer = a->told->n_frames;
        } else if (last) {
            inner = outer;
            outer = 1;
        }
    } else {
        return role_unfit(a, "expected planes of the board %s: (N, C, %s), %s(N, C*%u)%s",
                          board->name, cells_text(board).text,
                          board->rows > 0 ? "(N, H, W, C) or " : "", board->n_cells,
                          n == 5 ? ", or told, (N, T, C, H, W) or (N, T, H, W, C)" : "");
    }
    if (outer == 0 || inner == 0)
        return role_unfit(a, "expected at least one plane, found none");
    if (!set_frames(a, outer * inner, n_frames))
        return false;
    a->b->options |= last || inner > 1 ? ROLE_NHWC : outer > 1 ? ROLE_NCHW : 0;
    a->b->axes.outer = outer;
    a->b->axes.inner = inner;
    return true;
}

bool role_fit_packed(struct role_case *a)
{
    const struct npy_header *h = a->h;
    const struct board *board = a->c->board;
    const uint64_t n_bytes = ((uint64_t)board->n_cells + 7) / 8;
    uint64_t n_planes = 1;

    bool is_lsb = a->told->options & ROLE_LSB;
    /* Bitboards: bit i of a little-endian 64-bit integer, counted from the lowest, is cell i. */
    if (a->is_told && h->dtype.kind == DTYPE_UINT && h->dtype.itemsize == 8) {
        if (n_bytes != 8 || h->dtype.big_endian || (a->told->options & ROLE_MSB))
            return role_unfit(a,
                              "expected bitboards of 57 to 64 cells, little-endian, the first cell "
                              "in the lowest bit; board %s has %u cells",
                              board->name, board->n_cells);
        for (unsigned d = 1; d < h->n_dims; d++)
            n_planes *= h->shape[d];
        if (n_planes == 0)
            return role_unfit(a, "expected at least one bitboard, found none");
        is_lsb = true;
    } else {
        if (h->dtype.kind != DTYPE_UINT || h->dtype.itemsize != 1 || h->n_dims != 3 ||
            h->shape[1] == 0 || h->shape[2] != n_bytes)
            return role_unfit(a, "expected packed planes of %u cells: |u1, (N, C, %" PRIu64 ")",
                              board->n_cells, n_bytes);
        n_planes = h->shape[1];
    }
    if (!set_frames(a, n_planes, 0))
        return false;
    a->b->options |= is_lsb ? ROLE_LSB : ROLE_MSB;
    a->b->axes = (struct role_axes){n_planes, board->n_cells, 1};
    return true;
}

bool role_fit_grid(struct role_case *a)
{
    const struct board *board = a->c->board;

    if (!role_dtype_moves(&a->h->dtype))
        return role_unfit(a, "a grid holds numbers");
    if (a->h->n_dims < 2 || !match_cells(a, 1, a->h->n_dims))
        return role_unfit(a, "expected a code per cell of the board %s: (N, %s)", board->name,
                          cells_text(board).text);
    a->b->axes.outer = a->b->axes.inner = 1;
    return true;
}

/* True when that many elements may be one per cell, the bits of the cells, or one per action. */
static bool is_spatial_length(struct role_case *a, uint64_t length)
{
    const struct board *board = a->c->board;
    const struct dtype *dtype = &a->h->dtype;

    if (length == board->n_cells || length == board->n_on_board ||
        (a->c->box_rows > 0 && length == (uint64_t)a->c->box_rows * a->c->box_cols))
        return !role_unfit(a, "%" PRIu64 " is the number of cells of the board %s", length,
                           board->name);
    if (dtype->kind == DTYPE_UINT && dtype->itemsize == 1 && length == (board->n_cells + 7) / 8)
        return !role_unfit(a, "%" PRIu64 " bytes hold the cells of the board %s as bits", length,
                           board->name);
    const struct action_layout *layout = action_layout_by_length(board, length);
    return layout != NULL &&
           !role_unfit(a, "%" PRIu64 " is the length of the policy %s of the board %s", length,
                       layout->name, board->name);
}

bool role_may_be_bitboards(const struct role_case *a)
{
    const struct dtype *dtype = &a->h->dtype;
    double low, high;

    if (a->c->board->n_cells < 33 || a->c->board->n_cells > 64 || a->array->row_nbytes < 8)
        return false;
    if (dtype->structured)
        return strstr(a->h->descr, "u8'") != NULL || strstr(a->h->descr, "i8'") != NULL;
    return dtype_is_integer(dtype) && dtype->itemsize == 8 &&
           role_find_range(a, UINT64_MAX, &low, &high) && (high > 0x1p32 || low < -0x1p32);
}

bool role_is_spatial(struct role_case *a, unsigned first_dim)
{
    const struct board *board = a->c->board;
    const struct npy_header *h = a->h;
    const bool is_strict = a->c->request->is_strict;

    if (board->n_cells == 1)
        return false;
    for (unsigned first = first_dim; first < h->n_dims; first++) {
        uint64_t product = 1;

        for (unsigned dim = first; dim < h->n_dims; dim++) {
            if (__builtin_mul_overflow(product, h->shape[dim], &product))
                break;
            if (product > 0 && is_spatial_length(a, product))
                return true;
        }
        /* Or a multiple of such a length. */
        for (uint64_t k = 2; first > 0 && is_strict && k <= product / 2 && k <= 1024; k++)
            if (product % k == 0 && is_spatial_length(a, product / k))
                return !role_unfit(a, "%" PRIu64 " is %" PRIu64 " times %" PRIu64 ", and %s",
                                   product, k, product / k, text_format("%.200s", a->reason).text);
    }
    if (!is_strict || first_dim == 0)
        return false;
    if (h->dtype.kind == DTYPE_UINT && a->array->row_nbytes == board->n_cells / 8 + 1 &&
        h->dtype.itemsize == 1)
        return !role_unfit(a, "%" PRIu64 " bytes hold a bit for each cell and a pass",
                           a->array->row_nbytes);
    if (board->n_cells >= 49 && role_may_be_bitboards(a))
        return !role_unfit(a, "numbers above 2^32 may be the %u cells of the board %s as bits",
                           board->n_cells, board->name);
    return (h->dtype.kind == DTYPE_VOID || h->dtype.kind == DTYPE_BYTES) &&
           a->array->row_nbytes >= board->n_on_board &&
           !role_unfit(a, "%" PRIu64 " bytes may hold the %u cells of the board %s",
                       a->array->row_nbytes, board->n_on_board, board->name);
}

/* --- the order of planes and bits, as the numbers show it --- */

#define ORDER_LOOK_ROWS 4096
#define MIN_ROWS        3 /* that are no game if planes come first */
#define SURE            5 /* evidence */

static bool is_channels_last(const struct role_case *a)
{
    const struct npy_header *h = a->h;
    const uint64_t *s = h->shape;
    const bool fits_both = h->n_dims == 4 && s[1] == s[2] && s[2] == s[3];
    struct planes_form form = {.dtype = &h->dtype, .axis = a->c->board->n_cells, .stones = {0, 1}};
    form.n_planes = a->array->row_nbytes / (form.axis * h->dtype.itemsize);
    const bool fits = (h->n_dims == 2 || fits_both) && dtype_is_number(&h->dtype);
    bool apart = fits && form.n_planes > 1, even = true; /* all rows, if planes come last */
    uint64_t n_odd = 0, n_mixed = 0, n[2];               /* rows, if planes come first */
    double by_cells = 0, by_counts = 0; /* -ln of the probability that rows are so by chance */
    uint8_t *marks = apart ? malloc(form.axis) : NULL;
    struct walk walk;

    if (!apart)
        return false;
    role_begin_look(a, &walk);
    if (marks == NULL)
        walk.status = error_no_memory(walk.err, "stones of a row");
    while (marks != NULL && apart && walk.number < ORDER_LOOK_ROWS && walk_next(&walk)) {
        bool is_apart[2], is_even[2]; /* no cell has both first planes; as many have each */

        for (unsigned last = 0; last < 2; last++) {
            form.n_last = last ? form.n_planes : 1;
            planes_count_stones(&form, walk.rows->bytes, n, marks);
            is_apart[last] = memchr(marks, 1 | 2, form.axis) == NULL;
            is_even[last] = n[0] <= n[1] + 1 && n[1] <= n[0] + 1;
        }
        apart = is_apart[1];
        even &= is_even[1];
        by_cells += (double)(n[0] * n[1]) / (double)form.axis;
        by_counts += fmax(0, log((double)(n[0] + n[1])) / 2 - 0.2);
        n_mixed += !is_apart[0];
        n_odd += !is_apart[0] || !is_even[0];
    }
    free(marks);
    return role_end_look(a, walk_end(&walk)) && apart &&
           ((even && n_odd >= MIN_ROWS && by_cells >= 1 && by_cells + by_counts >= SURE) ||
            (n_mixed >= MIN_ROWS && by_cells >= SURE));
}

static bool is_lsb_first(const struct role_case *a)
{
    const uint64_t n_cells = a->c->board->n_cells;
    unsigned pad[2] = {0}; /* bits of all planes, if their last cell is a low bit, or a high one */
    struct walk walk;

    role_begin_look(a, &walk);
    while (walk.number < ORDER_LOOK_ROWS && walk_next(&walk))
        for (uint64_t i = 0; i < walk.rows->n; i += (n_cells + 7) / 8)
            for (int lsb = 0; lsb < 2; lsb++)
                pad[lsb] |= plane_pad_bits(walk.rows->bytes + i, n_cells, lsb);
    return role_end_look(a, walk_end(&walk)) && pad[0] != 0 && pad[1] == 0;
}

const char *role_order_of(const struct role_case *a, enum role role)
{
    return role == ROLE_PLANES && is_channels_last(a) ? "planes:nhwc"
           : role == ROLE_PACKED && is_lsb_first(a)   ? "packed:lsb"
                                                      : NULL;
}

/* --- policies and masks --- */

bool role_told_layout(struct role_case *a, const struct action_layout **layout)
{
    const struct board *board = a->c->board;
    const char *name = a->told->layout != NULL ? a->told->layout : a->c->request->policy_layout;

    *layout = name != NULL ? action_layout_by_name(board, name) : NULL;
    if (name == NULL || (*layout != NULL && (*layout)->length(*layout, board) > 0))
        return true;
    *layout = NULL;
    return role_unfit(a, "the board %s has no policy layout %.60s; it has %s", board->name,
                      text_quote(name).text, ACTION_LAYOUTS(board, 160));
}

/* The layout of a chess policy in planes of moves, (planes, 8, 8) or (8, 8, planes); NULL: it is
 * not one. A layout in one of these orders has a twin for the other, named with one of the endings.
 */
static const struct action_layout *layout_of_planes(struct role_case *a, const uint64_t *dims)
{
    static const char *const endings[] = {"-squares", "-planes"};
    const struct board *board = a->c->board;
    const bool planes_first = dims[1] == board->n_cells;
    const struct action_layout *base, *twin;
    uint64_t total;

    if ((dims[0] == board->n_cells) == planes_first ||
        __builtin_mul_overflow(dims[0], dims[1], &total))
        return NULL;
    (void)role_told_layout(a, &base);
    if (base == NULL)
        base = action_layout_by_length(board, total);
    if (base == NULL || base->length(base, board) != total)
        return NULL;
    size_t n_stem = strlen(base->name);
    for (size_t k = 0; k < 2; k++)
        if (text_ends_with(base->name, endings[k]))
            n_stem = strlen(base->name) - strlen(endings[k]);
    const struct text_quoted stem = text_format("%.*s", (int)n_stem, base->name);
    for (size_t k = 0; k < 2; k++) {
        twin = action_layout_by_name(
            board, text_format("%s%s", stem.text, endings[planes_first ^ k]).text);
        if (twin != NULL)
            return k == 0 ? twin : action_layout_by_name(board, stem.text);
    }
    return NULL;
}

/* The policy of moves from each cell to each cell, and for squares the board that has it. */
static struct text_quoted from_to_of(const struct board *board)
{
    const bool is_square = board->rows == board->cols && board->n_transforms == 8;

    return text_format("a policy of a board from a file (from-to)%s",
                       is_square ? text_format(": --board file:FILE with {\"rows\": %u, \"cols\": "
                                               "%u, \"neighbours\": \"king\"}",
                                               board->rows, board->cols)
                                       .text
                                 : "");
}

/*
 * The layout of a policy of that length: the one told, else by length; NULL with a reason. The one
 * told may cover just the head of a longer policy, unless the board has a layout of the policy's
 * own length: then --policy is taken to mean other arrays, and :layout= may be short of a pass
 * only.
 */
static const struct action_layout *layout_as_told(struct role_case *a, uint64_t length)
{
    const struct board *board = a->c->board;
    const struct action_layout *const own = action_layout_by_length(board, length), *told;
    const bool is_of_this = a->told->layout != NULL;

    if (!role_told_layout(a, &told))
        return NULL;
    const uint64_t n_told = told != NULL ? told->length(told, board) : 0;
    const bool is_from_to = length == (uint64_t)board->n_cells * board->n_cells;
    const bool is_head = own == NULL || own == told || (is_of_this && length == n_told + 1);
    if (told != NULL && (length == n_told || (length > n_told && is_head)))
        return told;
    if (told != NULL && (is_of_this || own == NULL))
        (void)role_unfit(a, "%" PRIu64 " actions are %s the %" PRIu64 " of the layout %s", length,
                         length < n_told ? "fewer than" : "not", n_told, told->name);
    else if (own == NULL)
        (void)role_unfit(
            a, "no policy of the board %s has %" PRIu64 " actions; expected one of %s%s%s",
            board->name, length, ACTION_LAYOUTS(board, 200), is_from_to ? ", or " : "",
            is_from_to ? from_to_of(board).text : "");
    else
        return own;
    return NULL;
}

/* True when policies side by side do not add up to 1 each, but together: they are one, of moves of
 * several kinds. */
static bool add_up_together(const struct role_case *a, uint64_t length)
{
    const struct dtype *dtype = &a->h->dtype;
    uint64_t n_rows = 0;
    struct walk walk;

    role_begin_look(a, &walk);
    while (dtype->kind == DTYPE_FLOAT && walk.number < ORDER_LOOK_ROWS && n_rows < MIN_ROWS &&
           walk_next(&walk)) {
        const struct row_summary all = row_summarize(walk.rows, 0, walk.rows->n);
        bool are_shares = true;

        for (uint64_t i = 0; i < walk.rows->n; i += length) {
            const struct row_summary one = row_summarize(walk.rows, i, length);

            are_shares &= label_are_shares(dtype, false, one.min, one.sum);
        }
        n_rows += !are_shares && label_are_shares(dtype, false, all.min, all.sum);
    }
    return role_end_look(a, walk_end(&walk)) && n_rows == MIN_ROWS;
}

bool role_fit_policy(struct role_case *a)
{
    const struct board *board = a->c->board;
    const struct npy_header *h = a->h;
    const uint64_t cells = board->n_cells;
    const bool spread = h->n_dims == 4;
    const struct action_layout *layout = NULL;
    uint64_t dims[3], n_policies = 1, length;
    unsigned n = 0;

    if (!role_dtype_moves(&h->dtype))
        return role_unfit(a, "a policy holds numbers");
    /* The dimensions after the rows, with those of the cells merged into one. */
    for (unsigned i = 1; i < h->n_dims && n < 3; i++, n++) {
        const bool is_box = board->rows > 0 && i + 1 < h->n_dims && (h->n_dims == 3 || spread) &&
                            h->shape[i] == board->rows && h->shape[i + 1] == board->cols;

        dims[n] = is_box ? cells : h->shape[i];
        i += is_box;
    }
    if (h->n_dims > 2 && dims_are_cells(board, h->shape + 1, h->n_dims - 1)) {
        dims[0] = cells;
        n = 1;
    }
    if (n != 1 && n != 2)
        return role_unfit(a, "expected a policy (N, A), (N, H, W) or (N, k, A)");
    if (n == 1) {
        length = dims[0];
    } else if ((layout = layout_of_planes(a, dims)) != NULL) {
        length = dims[0] * dims[1];
    } else if (dims[0] == cells && !__builtin_mul_overflow(dims[0], dims[1], &length) &&
               action_layout_by_length(board, length) != NULL) {
        /* a table of from-square by to-square */
    } else if (spread && (dims[0] == 1 || dims[1] == 1)) {
        length = cells;
    } else if (dims[0] == cells && !spread && !a->is_told) {
        return role_unfit(a,
                          "%" PRIu64 " policies, as many as there are cells, may be moves from "
                          "each cell, which are %s",
                          cells, from_to_of(board).text);
    } else if (spread && (!a->is_told || dims[1] != cells)) {
        /* Only the user can say that k boards' worth of moves are k separate policies. */
        return role_unfit(a, "expected a policy (N, A), (N, H, W), (N, k, A) or, if told, "
                             "(N, k, H, W)");
    } else if (dims[0] == 0) {
        return role_unfit(a, "expected at least one policy, found none");
    } else {
        n_policies = dims[0];
        length = dims[1];
    }
    if (layout == NULL)
        layout = layout_as_told(a, length);
    if (layout == NULL)
        return false;
    a->b->layout = layout;
    a->b->n_actions = length;
    a->b->axes = (struct role_axes){n_policies, length, 1};
    return n_policies == 1 || a->is_told || !a->c->request->is_strict ||
           !add_up_together(a, length) ||
           role_unfit(a,
                      "its %" PRIu64
                      " policies add up to 1 together, not each, as moves of several "
                      "kinds do, which a transform may exchange",
                      n_policies);
}

/* --- labels: a few numbers per row --- */

/* Columns of an array of labels: 1 for (N,), k for (N,k), 0 for anything else. */
static uint64_t n_columns(const struct npy_header *h)
{
    if (h->n_dims == 1)
        return 1;
    return h->n_dims == 2 ? h->shape[1] : 0;
}

/* Numbers, or on a board that never swaps colours, where nothing is computed, opaque ones too. */
static bool is_label(const struct role_case *a)
{
    return a->c->swaps_colours ? dtype_is_number(&a->h->dtype) : role_dtype_moves(&a->h->dtype);
}

bool role_fit_action(struct role_case *a)
{
    const struct npy_header *h = a->h;
    const bool is_integer = dtype_is_integer(&h->dtype);

    const unsigned pairs = a->told->options & ROLE_PAIRS;

    if (pairs && (!is_integer || h->n_dims != 3 || h->shape[2] != 2))
        return role_unfit(a, "expected pairs of an action's index and a count: integers (N, k, 2)");
    if (!pairs && (!is_integer || (a->is_told ? n_columns(h) == 0 : n_columns(h) != 1)))
        return role_unfit(a, "expected the index of an action: integers (N,), or told, (N, k)");
    a->b->options = pairs;
    return true;
}

bool role_fit_coord(struct role_case *a)
{
    const struct npy_header *h = a->h;

    if (!dtype_is_integer(&h->dtype) || h->n_dims < 2 || h->shape[h->n_dims - 1] != 2 ||
        h->n_dims > (a->is_told ? 3 : 2))
        return role_unfit(a, "expected (row, col) of a cell: integers (N, 2), or told, (N, k, 2)");
    if (a->c->board->rows == 0)
        return role_unfit(a, "the cells of the board %s have no rows and columns",
                          a->c->board->name);
    a->b->options = a->told->options & ROLE_COLROW ? ROLE_COLROW : ROLE_ROWCOL;
    return true;
}

/* Up to three columns are a value, values by colour, or win-draw-loss. More are values per player
 * if the name says so; otherwise they may be anything. */
bool role_fit_value(struct role_case *a)
{
    const uint64_t n = n_columns(a->h);
    const bool by_name = (a->named.flags & NAME_PER_PLAYER) != 0;

    if (!is_label(a) || n == 0)
        return role_unfit(a, "expected values: numbers (N,) or (N, k)");
    if (n > 3 && !a->is_told && a->named.is_known && !by_name &&
        (a->c->swaps_colours || role_is_spatial(a, 1)))
        return role_unfit(a, "expected values: numbers (N,), (N, 1), (N, 2) or (N, 3)");
    a->b->options = by_name ? ROLE_PLAYERS : a->told->options & ROLE_PLAYERS;
    return true;
}

bool role_fit_wdl(struct role_case *a)
{
    return (is_label(a) && a->h->n_dims == 2 && a->h->shape[1] == 3) ||
           role_unfit(a, "expected win, draw, loss: numbers (N, 3)");
}

bool role_fit_to_move(struct role_case *a)
{
    return (is_label(a) && n_columns(a->h) == 1) ||
           role_unfit(a, "expected a player: numbers (N,)");
}

bool role_fit_globals(struct role_case *a)
{
    return (is_label(a) && a->h->n_dims == 2 && a->h->shape[1] > 0) ||
           role_unfit(a, "expected global inputs, the player to move first: numbers (N, k)");
}

bool role_fit_tile(struct role_case *a)
{
    if (!a->c->board->family->has_tiles)
        return role_unfit(a, "tiles belong to the board takeiteasy, not to %s", a->c->board->name);
    const bool fits = a->is_told ? dtype_is_number(&a->h->dtype) : dtype_is_integer(&a->h->dtype);
    return (fits && a->h->n_dims == 2 && a->h->shape[1] == 3) ||
           role_unfit(a, "expected a tile's numbers: integers (N, 3), or told, any numbers");
}
