/*
 * actions.c - action spaces: a layout is found by its length or name, and its maps are computed
 * once for every transform. Entries after the layout's own length stay in place; the maps of a
 * policy whose cells are in another order than its planes are conjugated by that order.
 *
 * The layouts are in layouts.c, those of chess in chess.c.
 */
#include "board/actions.h"

#include "board/families.h"

const struct action_layout *action_layout_at(const struct board *board, size_t i)
{
    const struct board_family *family = board->family;

    for (size_t k = 0; k < family->n_layouts; k++)
        if (family->layouts[k]->length(family->layouts[k], board) > 0 && i-- == 0)
            return family->layouts[k];
    return NULL;
}

const struct action_layout *action_layout_by_length(const struct board *board, uint64_t length)
{
    const struct action_layout *layout;

    for (size_t i = 0; (layout = action_layout_at(board, i)) != NULL; i++)
        if (layout->length(layout, board) == length ||
            (length != 0 && action_padded_length(layout, board) == length))
            return layout;
    return NULL;
}

const struct action_layout *action_layout_by_name(const struct board *board, const char *name)
{
    const size_t n_family = strlen(board->family->name);
    struct text_quoted rest = text_format("%s", name); /* what follows "FAMILY-" */
    const struct action_layout *layout;

    for (char *c = rest.text; (c = strchr(c, ':')) != NULL;)
        *c = '-';
    for (size_t i = 0; (layout = action_layout_at(board, i)) != NULL; i++)
        if (strcmp(layout->name, name) == 0 ||
            (strncmp(layout->name, board->family->name, n_family) == 0 &&
             layout->name[n_family] == '-' && strcmp(layout->name + n_family + 1, rest.text) == 0))
            return layout;
    return NULL;
}

const char *action_layout_list(const struct board *board, char *text, size_t n_bytes)
{
    const struct action_layout *layout;

    text[0] = '\0';
    for (size_t i = 0; (layout = action_layout_at(board, i)) != NULL; i++) {
        const uint64_t own = layout->length(layout, board);
        const uint64_t padded = action_padded_length(layout, board);
        const struct text_quoted item =
            padded > 0 ? text_format("%s (%" PRIu64 " or %" PRIu64 ")", layout->name, own, padded)
                       : text_format("%s (%" PRIu64 ")", layout->name, own);

        if (strlen(text) + strlen(item.text) + 2 >= n_bytes)
            break;
        text_add(text, n_bytes, "%s%s", text[0] != '\0' ? ", " : "", item.text);
    }
    return text;
}

size_t action_spans(const struct action_layout *layout, const struct board *board, uint64_t length,
                    struct symaug_span spans[ACTION_MAX_SPANS])
{
    const uint64_t own = layout->length(layout, board);
    size_t n = 0;

    for (uint64_t a = 0; a < own || (a == own && length > own); a++) {
        const char *kind = layout->about(layout, board, a, NULL).kind;

        if (n == 0 || (strcmp(spans[n - 1].name, kind) != 0 && n < ACTION_MAX_SPANS))
            spans[n++] = (struct symaug_span){kind, a, a};
        spans[n - 1].stop = a < own ? a + 1 : length;
    }
    return n;
}

struct action_space *action_space_new(const struct board *board, const struct action_layout *layout,
                                      uint64_t length, enum action_flip flip, struct error *err)
{
    const uint64_t own = layout->length(layout, board);
    struct action_space *space;
    uint32_t *plain, *entry_of; /* of the layout's actions */

    if (length == 0)
        length = own;
    const bool is_misfit = own == 0 || length < own || length > UINT32_MAX;
    if (is_misfit)
        error_set(err, ERROR_DATA,
                  "a policy of length %" PRIu64 " is too %s for layout %s of board %s, which has "
                  "%" PRIu64 " actions",
                  length, length < own ? "short" : "long", layout->name, board->name, own);
    if (is_misfit || new_items(&space, 1, "maps of actions", err) != 0)
        return NULL;
    *space =
        (struct action_space){.board = board, .layout = layout, .length = length, .flip = flip};
    if (new_items(&space->dst, (board->n_transforms + 2) * length, "maps of actions", err) != 0 ||
        new_items(&space->flags, length, "maps of actions", err) != 0) {
        action_space_free(space);
        return NULL;
    }
    plain = space->dst + board->n_transforms * length;
    entry_of = plain + length;
    for (uint64_t i = 0; i < length; i++)
        entry_of[action_of_entry(board, flip, length, i)] = (uint32_t)i;
    for (uint32_t t = 0; t < board->n_transforms; t++) {
        uint32_t *dst = space->dst + t * length;

        layout->images(layout, board, t, dst);
        for (uint64_t a = own; a < length; a++)
            dst[a] = (uint32_t)a;
        memcpy(plain, dst, length * sizeof *dst);
        for (uint64_t a = 0; a < length && flip != ACTION_AS_IS; a++)
            dst[entry_of[a]] = entry_of[plain[a]];
    }
    memset(space->flags, UINT8_MAX, length);
    for (uint64_t a = 0; a < length; a++) { /* all images of an action have its flags */
        if (space->flags[entry_of[a]] != UINT8_MAX)
            continue;
        const uint8_t flags = a < own ? (uint8_t)action_flags(layout, board, a) : 0;
        for (uint32_t t = 0; t < board->n_transforms; t++)
            space->flags[space->dst[t * length + entry_of[a]]] = flags;
    }
    return space;
}

uint64_t action_of_entry(const struct board *board, enum action_flip flip, uint64_t n, uint64_t i)
{
    if (flip & ACTION_FROM_1)
        i = i > 0 ? i - 1 : n - 1;
    return i < board->n_cells ? action_flip_cell(board, flip % ACTION_N_FLIPS, i) : i;
}

#define FLIPS(more)                                                                             \
    "flipud" more, "fliplr" more, "rot180" more, "transpose" more, "rot90" more, "rot270" more, \
        "anti-transpose" more

const char *action_flip_name(enum action_flip flip)
{
    static const char *const names[ACTION_N_ORDERS] = {"", FLIPS(""), "from1", FLIPS(",from1")};

    return names[flip];
}

bool board_keeps_flip(const struct board *board, enum action_flip flip)
{
    uint64_t cell = 0;

    while (cell < board->n_cells && board->rows > 0 &&
           board->on_board[cell] == board->on_board[action_flip_cell(board, flip, cell)])
        cell++;
    return cell == board->n_cells;
}

bool action_can_flip(const struct board *board, const struct action_layout *layout,
                     enum action_flip flip)
{
    flip %= ACTION_N_FLIPS;
    if (flip == ACTION_AS_IS)
        return true;
    if (layout == NULL || layout->length(layout, board) < board->n_cells ||
        layout->length(layout, board) > (uint64_t)board->n_cells + 1 ||
        (action_flip_exchanges(flip) && board->rows != board->cols))
        return false;
    for (uint64_t a = 0; a < board->n_cells; a++)
        if (action_cell(layout, board, a) != (int64_t)a)
            return false;
    return board_keeps_flip(board, flip);
}

uint64_t action_flip_cell(const struct board *board, enum action_flip flip, uint64_t cell)
{
    const uint64_t cols = board->cols > 0 ? board->cols : 1;
    uint64_t row = cell / cols, col = cell % cols;

    if (flip == ACTION_AS_IS)
        return cell;
    if (action_flip_exchanges(flip)) {
        row = cell % board->rows;
        col = cell / board->rows;
    }
    if (flip & ACTION_FLIPUD)
        row = board->rows - 1 - row;
    if (flip & ACTION_FLIPLR)
        col = cols - 1 - col;
    return row * cols + col;
}

void action_space_free(struct action_space *space)
{
    if (space == NULL)
        return;
    free(space->dst);
    free(space->flags);
    free(space);
}
