/*
 * report.c - whether a board's transforms form a group, judged by their maps alone: permutations,
 * identity, closure, inverses, edges and lines kept, and action layouts that move as the cells do.
 * The same checks complete a board, where the first failure is the refusal, and write the report of
 * `symaug boards --check`, where each check is a line and the report goes on after a failure.
 */
#include "board/group.h"

#include "base/perm.h"
#include "board/families.h"

#define MAX_CELLS_SHOWN 8 /* of a line, in a message */

/* A report being written. Functions that add to it return 0; or -1 when out of memory or, without a
 * report, when a check fails. */
struct report {
    const struct board *board; /* borrowed */
    struct text *out;          /* borrowed; NULL: the first failure sets err */
    struct error *err;         /* borrowed */
    bool ok;                   /* no check has failed so far */
    uint8_t *products;         /* owned, n_transforms squared: the transform that is a, then b;
                                  n_transforms where there is none. NULL while some map is not a
                                  permutation. */
    uint32_t *kept; /* owned, 2 * n_transforms: edges, and lines that each keeps; UINT32_MAX where
                       the cell map is not a permutation */
};

/* Add the line of one check, "ok ..." or "FAIL ...". */
static int __attribute__((format(printf, 3, 4)))
verdict(struct report *r, bool passed, const char *format, ...)
{
    char line[1024];
    va_list args;

    if (r->out == NULL && passed)
        return 0;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    r->ok = r->ok && passed;
    if (r->out == NULL)
        return error_set(r->err, ERROR_DATA, "%s", line);
    return text_append(r->out, r->err, "%-4s  %s\n", passed ? "ok" : "FAIL", line);
}

static struct text_quoted name_of(const struct report *r, uint32_t t)
{
    return text_quote(r->board->transforms[t].name);
}

/* Check each map by itself. If all are permutations, make room for products. */
static int report_maps(struct report *r)
{
    const struct board *b = r->board;
    bool all_fine = true;

    if (b->fault != NULL && verdict(r, false, "%s", b->fault) != 0)
        return -1;
    for (uint32_t t = 0; t < b->n_transforms; t++) {
        struct text_quoted fault;

        if (group_find_fault(b, t, &fault, r->err) != 0)
            return -1;
        if (fault.text[0] == '\0')
            continue;
        all_fine = false;
        if (verdict(r, false, "transform %s is not a permutation: %s", name_of(r, t).text,
                    fault.text) != 0)
            return -1;
    }
    if (!all_fine)
        return 0;
    if (new_items(&r->products, (size_t)b->n_transforms * b->n_transforms + 1, "table of products",
                  r->err) != 0 ||
        board_alloc_maps(b, b->n_transforms, r->err) != 0)
        return -1;
    return verdict(r, true, "every map is a permutation");
}

static struct text_quoted order_text(const struct board *b, uint32_t t)
{
    const uint64_t order = group_order(b, t);

    return order != 0 ? text_format("order %" PRIu64, order)
                      : text_format("an order beyond 64 bits or unknown");
}

/* The first pair of equal transforms; false where all differ. */
static bool find_equal(const struct board *b, uint32_t *first, uint32_t *second)
{
    for (*first = 0; *first < b->n_transforms; (*first)++)
        for (*second = *first + 1; *second < b->n_transforms; (*second)++)
            if (group_is_same(b, *first, *second))
                return true;
    return false;
}

static int report_group(struct report *r)
{
    const struct board *board = r->board;
    const uint32_t n = board->n_transforms, n_products = n * n;
    uint32_t n_missing = 0, first = 0, a, b;

    if (group_is_identity(board, 0) ? verdict(r, true, "id 0 is the identity")
                                    : verdict(r, false, "id 0, %s, is not the identity: %s",
                                              name_of(r, 0).text, group_move_text(board, 0).text))
        return -1;
    if (find_equal(board, &a, &b) ? verdict(r, false, "transforms %s and %s are the same",
                                            name_of(r, a).text, name_of(r, b).text)
                                  : verdict(r, true, "all transforms differ"))
        return -1;
    for (uint32_t i = n_products; i-- > 0;) {
        r->products[i] = (uint8_t)group_multiply(board, i / n, i % n);
        if (r->products[i] < n)
            continue;
        n_missing++;
        first = i;
    }
    if (n_missing == 0)
        return verdict(r, true, "closed: all %u products are transforms of the board", n_products);
    a = first / n;
    b = first % n;
    const uint32_t product = group_multiply(board, a, b); /* in the spare transform again */
    for (uint32_t t = 0; t < n; t++)
        if (memcmp(board->transforms[t].dst, board->transforms[product].dst,
                   board->n_cells * sizeof(uint32_t)) == 0)
            return verdict(
                r, false,
                "the transforms are no group (%u of %u products missing): %s and "
                "then %s moves the cells as %s does, but not the %s",
                n_missing, n_products, name_of(r, a).text, name_of(r, b).text, name_of(r, t).text,
                board->n_numbers > 0 ? "numbers of tiles" : "planes, actions or colours");
    return verdict(r, false,
                   "the transforms are no group (%u of %u products missing): %s (%s) and then "
                   "%s (%s) is none of them: %s; list it, or set generators to true",
                   n_missing, n_products, name_of(r, a).text, order_text(board, a).text,
                   name_of(r, b).text, order_text(board, b).text,
                   group_move_text(board, product).text);
}

/* The transform that undoes t, or -1. */
static int inverse_of(const struct report *r, uint32_t t)
{
    int u = (int)r->board->n_transforms - 1;

    while (u >= 0 && r->products[t * r->board->n_transforms + (uint32_t)u] != 0)
        u--;
    return u;
}

static int report_inverses(struct report *r)
{
    for (uint32_t t = 0; t < r->board->n_transforms; t++)
        if (inverse_of(r, t) < 0)
            return verdict(r, false, "%s has no inverse among the transforms", name_of(r, t).text);
    return verdict(r, true, "every transform has its inverse");
}

static int report_on_board(struct report *r)
{
    const struct board *b = r->board;

    for (uint32_t t = 0; t < b->n_transforms; t++)
        for (uint32_t cell = 0; cell < b->n_cells; cell++)
            if (b->on_board[cell] ? !b->on_board[b->transforms[t].dst[cell]]
                                  : b->transforms[t].dst[cell] != cell)
                return verdict(r, false, "%s moves cell %u across the edge of the board",
                               name_of(r, t).text, cell);
    return verdict(r, true, "cells on board stay on board, all others in place");
}

/* --- order, inverse, and what each transform keeps --- */

/* An empty column of the table. */
#define NOTHING "-"

static struct text_quoted share_text(uint32_t n, uint32_t of)
{
    return n != UINT32_MAX && of > 0 ? text_format("%u/%u", n, of) : text_format(NOTHING);
}

/* The cells of an edge or line, or where dst takes them: "(0,1), (2,3)". */
static struct text_quoted cells_text(const struct report *r, const struct relations *relations,
                                     uint32_t i, const uint32_t *dst)
{
    const uint32_t start = relations_start(relations, i);
    const uint32_t n = relations_start(relations, i + 1) - start;
    struct text_quoted text = {""};

    for (uint32_t k = 0; k < n && k < MAX_CELLS_SHOWN; k++) {
        const uint32_t cell = relations->cells[start + k];

        text_add(text.text, sizeof text.text, "%s%s%s", k > 0 ? ", " : "",
                 board_cell_text(r->board, dst != NULL ? dst[cell] : cell).text,
                 k + 1 == MAX_CELLS_SHOWN && n > k + 1 ? ", ..." : "");
    }
    return text;
}

/* Count and report what each transform keeps of the edges, or of the lines. */
static int report_kept(struct report *r, bool are_lines)
{
    const struct board *b = r->board;
    struct relations relations = {0};
    bool all_kept = true;
    int status = 0;

    if (relations_init(&relations, b, are_lines, r->err) != 0)
        return -1;
    for (uint32_t t = 0; t < b->n_transforms && status == 0; t++) {
        const uint32_t *dst = b->transforms[t].dst;
        const size_t fault = perm_first_fault(dst, b->n_cells, r->err);
        uint32_t *n_kept = &r->kept[2 * t + are_lines], lost;

        *n_kept = UINT32_MAX;
        status = fault == SIZE_MAX ? -1 : 0;
        if (fault != b->n_cells)
            continue;
        *n_kept = relations_kept(&relations, dst, &lost);
        if (*n_kept == relations.n)
            continue;
        all_kept = false;
        status = verdict(r, false,
                         "transform %s keeps %u of %u %ss: %s %u (%s) goes to (%s), which is not "
                         "one",
                         name_of(r, t).text, *n_kept, relations.n, relations.name, relations.name,
                         lost, cells_text(r, &relations, lost, NULL).text,
                         cells_text(r, &relations, lost, dst).text);
    }
    if (status == 0 && all_kept && relations.n > 0)
        status = are_lines ? verdict(r, true, "lines stay lines (%u lines)", relations.n)
                           : verdict(r, true, "neighbours stay neighbours (%u edges)", relations.n);
    free(relations.slots);
    return status;
}

static int report_colours(struct report *r)
{
    const struct board *b = r->board;
    uint32_t lost;

    for (uint32_t t = 0; t < b->n_transforms; t++)
        if (!group_keeps_colours(b, b->transforms[t].dst, b->transforms[t].swaps_colours, &lost))
            return verdict(r, false, "transform %s takes cells of colour %s to cells without it",
                           name_of(r, t).text, text_quote(b->colours[lost].name).text);
    return b->n_colours > 0
               ? verdict(r, true, "colours of cells are kept (%u colours)", b->n_colours)
               : 0;
}

/* Report what each transform keeps, then a table of orders, inverses and what is kept. */
static int report_transforms(struct report *r)
{
    const struct board *b = r->board;
    const uint32_t n = b->n_transforms;

    if (new_items(&r->kept, 2 * (size_t)n, "report on transforms", r->err) != 0 ||
        report_kept(r, false) != 0 || report_kept(r, true) != 0)
        return -1;
    if (r->out == NULL)
        return 0;
    if (text_append(r->out, r->err, "  %3s  %5s  %7s  %13s  %11s  %-7s  %s\n", "id", "order",
                    "inverse", "edges kept", "lines kept", "colours", "name") != 0)
        return -1;
    for (uint32_t t = 0; t < n; t++) {
        const struct board_transform *one = &b->transforms[t];
        const uint32_t *kept = r->kept + 2 * (size_t)t;
        const uint64_t found = kept[0] != UINT32_MAX ? perm_order(1, one->dst, b->n_cells) : 0;
        const int undone = r->products != NULL ? inverse_of(r, t) : -1;

        if (text_append(r->out, r->err, "  %3u  %5s  %7s  %13s  %11s  %-7s  %s\n", t,
                        found != 0 ? text_format("%" PRIu64, found).text : NOTHING,
                        undone >= 0 ? text_format("%d", undone).text : NOTHING,
                        share_text(kept[0], b->n_edges).text, share_text(kept[1], b->n_lines).text,
                        one->swaps_colours ? "swapped" : "kept", one->name) != 0)
            return -1;
    }
    return 0;
}

/* --- action layouts --- */

/* Layouts with larger maps, 64 MiB, are not checked. */
#define MAX_TABLE ((uint64_t)1 << 24)

static int check_layout(struct report *r, const struct action_layout *layout)
{
    const uint64_t length = layout->length(layout, r->board);
    const uint32_t n = r->board->n_transforms;
    const struct board *b = r->board;
    const char *fault = NULL;
    uint32_t *maps, t = 0, action = 0;
    int status = -1;

    if (length > MAX_TABLE / n)
        return text_append(r->out, r->err,
                           "%-4s  actions %s (%" PRIu64 "): too long to be checked here\n", "-",
                           layout->name, length);
    if (new_items(&maps, n * length, "maps of an action layout", r->err) != 0)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        layout->images(layout, b, i, maps + i * length);
    for (uint32_t i = 0; i < n && fault == NULL; i++) {
        const uint32_t *map = maps + i * length;
        const size_t first = perm_first_fault(map, length, r->err);

        if (first == SIZE_MAX)
            goto out;
        t = i;
        action = (uint32_t)first;
        if (first < length)
            fault = "which is taken or out of range";
        /* The image must have the same flags and be on the image of the cell. */
        for (uint32_t a = 0; a < length && fault == NULL; a++) {
            const struct action_about one = layout->about(layout, b, a, NULL);
            const struct action_about other = layout->about(layout, b, map[a], NULL);

            action = a;
            if (other.flags != one.flags)
                fault = "an action of another kind";
            else if (other.cell != (one.cell < 0 ? -1 : (int64_t)b->transforms[t].dst[one.cell]))
                fault = "which is on another cell";
        }
    }
    /* One transform and then another must move the actions as their product does. */
    for (uint32_t i = 0; i < n * n && fault == NULL; i++) {
        const uint32_t *first = maps + i / n * length, *then = maps + i % n * length;

        for (uint32_t a = 0; r->products[i] < n && a < length && fault == NULL; a++) {
            if (then[first[a]] == maps[r->products[i] * length + a])
                continue;
            t = r->products[i];
            action = a;
            fault = "not where the two transforms it is made of take it";
        }
    }
    if (fault != NULL) {
        char meaning[ACTION_TEXT_NBYTES];

        layout->about(layout, r->board, action, meaning);
        status = verdict(r, false, "actions %s (%" PRIu64 "): %s takes action %u (%s) to %u, %s",
                         layout->name, length, name_of(r, t).text, action, meaning,
                         maps[t * length + action], fault);
    } else {
        status = verdict(r, true, "actions %s (%" PRIu64 "): permuted as the cells are",
                         layout->name, length);
    }
out:
    free(maps);
    return status;
}

/* --- the whole --- */

/* Check the maps. To complete a built-in board only the checks of the group are needed. */
static int check_maps(struct report *r)
{
    const bool is_whole = r->out != NULL || r->board->file_text != NULL;

    if (report_maps(r) != 0)
        return -1;
    if (r->products != NULL && (report_group(r) != 0 || report_inverses(r) != 0 ||
                                (is_whole && (report_on_board(r) != 0 || report_colours(r) != 0))))
        return -1;
    return is_whole ? report_transforms(r) : 0;
}

static void release(struct report *r)
{
    board_release_transform(&r->board->transforms[r->board->n_transforms]);
    free(r->products);
    free(r->kept);
}

int group_complete(struct board *b, struct error *err)
{
    const size_t n = b->n_transforms;
    struct report r = {.board = b, .err = err, .ok = true};
    int status = check_maps(&r);

    if (status == 0)
        status = new_items(&b->inverse, n, "tables of a group", err);
    for (uint32_t t = 0; t < n && status == 0; t++) {
        b->inverse[t] = (uint8_t)inverse_of(&r, t);
        b->transforms[t].src = b->transforms[b->inverse[t]].dst;
    }
    if (status == 0) {
        b->compose = r.products;
        r.products = NULL;
    }
    release(&r);
    return status;
}

int group_report(const struct board *b, struct text *out, bool *ok, struct error *err)
{
    struct report r = {.board = b, .out = out, .err = err, .ok = true};
    const char *preset = b->preset != NULL ? b->preset : b->name;
    const bool has_preset = strcmp(preset, b->name) != 0;
    const struct action_layout *layout;
    int status = -1;

    if (text_append(out, err, "board %s%s%s%s: ", b->name, has_preset ? " (" : "",
                    has_preset ? preset : "", has_preset ? ")" : "") == 0 &&
        (b->rows == 0 || text_append(out, err, "box %u x %u, ", b->rows, b->cols) == 0) &&
        text_append(out, err, "%u cells, %u transform%s\n", b->n_on_board, b->n_transforms,
                    b->n_transforms == 1 ? "" : "s") == 0)
        status = check_maps(&r);
    for (size_t i = 0;
         r.products != NULL && (layout = action_layout_at(b, i)) != NULL && status == 0; i++)
        status = check_layout(&r, layout);
    release(&r);
    *ok = r.ok;
    return status;
}
