/*
 * role_spelled.c - strings, which no transform moves: whether they may hold positions, and whether
 * they spell moves or cells, so that to copy them would be wrong.
 */
#include "shard/role_parts.h"

#include <ctype.h>

#define MAX_LOOK_NBYTES (1u << 20)  /* longer rows of strings are not examined, */
#define TEXT_NBYTES     (64u << 10) /* nor more of each */

bool role_read_string(const struct row *row, uint64_t i, char *text, size_t n_bytes)
{
    const struct pickle_item *item = row->items != NULL ? &row->items[i] : NULL;
    const size_t step = item == NULL && row->dtype->kind == DTYPE_UNICODE ? 4 : 1;
    const size_t n = item != NULL ? item->n_bytes_or_items : row->dtype->itemsize / step;
    const uint8_t *bytes = item != NULL ? item->as.bytes : row->bytes + i * row->dtype->itemsize;
    size_t at = 0;
    const bool is_string =
        item != NULL ? item->kind == PICKLE_STRING
                     : row->dtype->kind == DTYPE_UNICODE || row->dtype->kind == DTYPE_BYTES;

    if (!is_string || bytes == NULL)
        return false;
    for (; at < n && at + 1 < n_bytes; at++) {
        const uint64_t code = bytes_get_uint(bytes + at * step, step, row->dtype->big_endian);

        text[at] = code < 128 ? (char)code : '?';
    }
    text[at] = '\0';
    return true;
}

/* True when `holds` is true of every string of an array, as far as they can be read. */
static bool all_strings(const struct role_case *a, bool (*holds)(void *self, const char *text),
                        void *self)
{
    const char kind = a->h->dtype.kind;
    char text[TEXT_NBYTES] = "";
    struct walk walk;
    bool all = true;

    if ((kind != DTYPE_OBJECT && kind != DTYPE_UNICODE && kind != DTYPE_BYTES) ||
        (a->array->row_nbytes == 0 && a->array->objects == NULL) ||
        a->array->row_nbytes > MAX_LOOK_NBYTES)
        return true;
    role_begin_look(a, &walk);
    while (all && walk_next(&walk))
        for (uint64_t i = 0; i < walk.rows->n && all; i++)
            all = !role_read_string(walk.rows, i, text, sizeof text) || holds(self, text);
    (void)role_end_look(a, walk_end(&walk));
    return all;
}

/* False when a string may be a position: as long as the board has cells, unless the name gives a
 * role; or FEN, pieces and numbers with a slash between any two rows of the board, or of chess. */
static bool is_no_position(void *self, const char *text)
{
    const struct role_case *a = self;
    const struct board *board = a->c->board;
    const size_t n = strcspn(text, " ");
    unsigned n_slashes = 0;
    size_t i = 0;

    if (!a->named.is_known && board->n_on_board > 1 && strlen(text) >= board->n_on_board)
        return false;
    for (; i < n && (isalnum((unsigned char)text[i]) || strchr("/+~", text[i]) != NULL); i++)
        n_slashes += text[i] == '/';
    return i < n || (n_slashes != 7 && (board->rows <= 2 || n_slashes != board->rows - 1));
}

bool role_may_hold_positions(const struct role_case *a)
{
    const struct board *board = a->c->board;
    const struct dtype *dtype = &a->h->dtype;
    struct role_case self = *a;

    /* As many numbers as cells, just enough bytes for the bits of whole planes, or bitboards. */
    if (dtype_is_number(dtype)) {
        const uint64_t n = a->array->row_nbytes / dtype->itemsize;
        const bool is_byte = dtype->kind == DTYPE_UINT && dtype->itemsize == 1;

        return !a->named.is_known && board->n_cells > 1 &&
               (n >= board->n_on_board ||
                (is_byte && 8 * n >= board->n_cells && 8 * n % board->n_cells < 8) ||
                role_may_be_bitboards(a));
    }
    return !all_strings(a, is_no_position, &self);
}

/* What strings of moves show: which cells they spell, and how often they change. */
struct spelled {
    const struct board *board;
    bool (*read)(struct spelled *s, const char *text); /* the cells of one string */
    uint64_t cells[64];                                /* by column: bits of rows */
    uint64_t n, n_cells, n_changes;
    char last[16];
};

static bool add_cell(struct spelled *s, uint64_t row, uint64_t col)
{
    if (row >= 64 || col >= 64)
        return false;
    s->cells[col] |= UINT64_C(1) << row;
    s->n_cells++;
    return true;
}

/* Letters and numbers, as in GTP, UCI or SAN, with marks between them. */
static bool read_names(struct spelled *s, const char *text)
{
    const struct board *board = s->board;
    const char *of_pieces = board->family->castling != NULL ? "KQRBNPOabcdefghxqrn" : "x";

    while (*text != '\0') {
        const size_t n_before = strspn(text, of_pieces);
        size_t n_letters = 0;
        char *end;

        while (isalpha((unsigned char)text[n_letters]))
            n_letters++;
        const char *number = text + n_letters;
        const int letter = n_letters > 0 ? tolower((unsigned char)number[-1]) - 'a' : 0;
        const bool is_side = n_letters == 1 && *number == ' ' && (letter == 1 || letter == 22);

        if (n_letters == 0 && strchr(" ,;-:=+#!?@*/", *text++) != NULL)
            continue;
        if (n_letters == 0 || (n_before + 1 < n_letters && !is_side))
            return false;
        text = number;
        if (is_side || (!isdigit((unsigned char)*number) && n_before >= n_letters))
            continue;
        if (*number < '1' || *number > '9')
            return false;
        const uint64_t row = strtoul(number, &end, 10) - 1;
        /* Go leaves out the letter i. */
        const uint64_t col = (uint64_t)letter - (letter > 8 && letter == (int)board->cols);
        text = end;
        if ((row >= board->rows || col >= board->cols || !add_cell(s, row, col)) &&
            (n_before < n_letters || row >= board->rows)) /* R1d2 */
            return false;
    }
    return true;
}

/* Two letters for each cell, as in SGF. */
static bool read_letters(struct spelled *s, const char *text)
{
    static const char marks[] = " ,;BW[]";

    for (text += strspn(text, marks); *text != '\0'; text += 2 + strspn(text + 2, marks)) {
        const uint64_t col = (uint64_t)(text[0] - 'a'), row = (uint64_t)(text[1] - 'a');

        if ((strncmp(text, "tt", 2) != 0 &&
             (col >= s->board->cols || row >= s->board->rows || !add_cell(s, row, col))) ||
            isalnum((unsigned char)text[2]))
            return false;
    }
    return true;
}

/* Two numbers for each cell, from 0 or from 1. */
static bool read_pairs(struct spelled *s, const char *text)
{
    const uint64_t rows = s->board->rows, cols = s->board->cols, end = rows > cols ? rows : cols;
    static const char marks[] = " ,;:-()[]";
    uint64_t pair[2] = {0};
    unsigned n = 0;
    char *after;

    for (text += strspn(text, marks); *text != '\0'; text = after + strspn(after, marks)) {
        pair[n % 2] = strtoul(text, &after, 10);
        if (!isdigit((unsigned char)*text) || pair[n % 2] > end ||
            (n++ % 2 == 1 && !add_cell(s, pair[0], pair[1])))
            return false;
    }
    return n % 2 == 0;
}

/* The index of an action. */
static bool read_index(struct spelled *s, const char *text)
{
    char *after;

    (void)strtoul(text, &after, 10);
    s->n_cells++;
    return isdigit((unsigned char)*text) && *after == '\0';
}

/* True for a string of nothing but cells and for words for no cell. */
static bool is_of_cells(void *self, const char *text)
{
    struct spelled *s = self;
    char now[sizeof s->last];

    if (*text == '\0' ||
        role_lists("pass resign none null swap -1 0000 0-0 0-0-0", text, strlen(text)))
        return true;
    snprintf(now, sizeof now, "%s", text);
    s->n_changes += s->n++ > 0 && strcmp(now, s->last) != 0;
    memcpy(s->last, now, sizeof now);
    return s->read(s, text);
}

bool role_spells_cells(const struct role_case *a)
{
    static bool (*const spellings[])(struct spelled * s, const char *text) = {
        read_names, read_letters, read_pairs, read_index};
    const uint64_t n_cells = a->c->board->n_cells;
    const bool is_named = role_name_has(a, role_words_of_cells);

    if (a->named.is_known || dtype_is_number(&a->h->dtype))
        return false;
    if (a->array->objects == NULL &&
        role_name_has(a, "move$ moves$ action$ coord$ coords$ square$") &&
        !role_may_hold_positions(a))
        return true;
    for (size_t k = 0; k < N_OF(spellings); k++) {
        struct spelled s = {.board = a->c->board, .read = spellings[k]};
        uint64_t n_cols = 0, n_distinct = 0, rows = 0;

        if (s.board->rows == 0 || !all_strings(a, is_of_cells, &s) || s.n_cells == 0)
            continue;
        for (size_t i = 0; i < N_OF(s.cells); i++) {
            n_cols += s.cells[i] != 0;
            n_distinct += (uint64_t)__builtin_popcountll(s.cells[i]);
            rows |= s.cells[i];
        }
        /* Names of games and players such as a1 stay the same from row to row, or are few. */
        if (is_named || (2 * s.n_changes >= s.n && n_cols >= 3 && __builtin_popcountll(rows) >= 3 &&
                         (n_distinct * n_distinct >= s.n_cells || 4 * n_distinct >= n_cells)))
            return true;
    }
    return false;
}
