/*
 * board.c - the registry: presets, families, and boards by name. A name is looked up as a preset,
 * then as FAMILY:SIZE. families.c or custom.c builds cells and maps; the rest is filled in here.
 * report.c proves that the transforms form a group before anyone sees the board, except for boards
 * built for a report.
 *
 * Guesses are made here, too: the known names nearest to an unknown one, by edit distance, and the
 * boards that fit the shapes of a shard's arrays. Shapes that only one system is known to write
 * decide; otherwise every family whose box fits is listed, by rank.
 */
#include "board/board.h"

#include "board/families.h"
#include "board/group.h"

#include <ctype.h>
#include <unistd.h>

#define FAMILY_ROW(id)           &board_family_##id,
#define GAME_ROW(id, form, what) FAMILY_ROW(katago_##id)
const struct board_family *const board_families[] = {BOARD_FAMILIES(FAMILY_ROW, GAME_ROW)};
const size_t board_n_families = N_OF(board_families);

const struct board_preset board_presets[] = {
    {"hex8", "hexagon:4",
     "RingRift's hexagon of radius 4, side 5; not an 8 x 8 Hex board: that is rhombus:8", 0, 0},
    {"hexagonal", "hexagon:12", "RingRift's hexagon of radius 12, side 13", 0, 0},
    {"square8", "square:8", "RingRift's 8 x 8 board", 0, BOARD_GAME_RINGS},
    {"square19", "square:19", "RingRift's 19 x 19 board", 0, BOARD_GAME_RINGS},
    {"gomoku15", "square:15", "Gomoku", BOARD_LEAD_BALANCED, 0},
    {"go9", "square:9", "Go on 9 x 9", 0, BOARD_GAME_GO},
    {"go13", "square:13", "Go on 13 x 13", 0, BOARD_GAME_GO},
    {"go19", "square:19", "Go on 19 x 19", 0, BOARD_GAME_GO},
    {"tictactoe", "square:3", "TicTacToe", BOARD_LEAD_BALANCED, 0},
    {"othello", "square:8", "Othello; only ids 0, 2, 6 and 7 keep its start position", 0,
     BOARD_GAME_OTHELLO},
    {"hex11", "rhombus:11", "the game of Hex on 11 x 11", 0, 0},
    {"hex13", "rhombus:13", "the game of Hex on 13 x 13", 0, 0},
    {"hex14", "rhombus:14", "the game of Hex on 14 x 14", 0, 0},
    {"hex19", "rhombus:19", "the game of Hex on 19 x 19", 0, 0},
    {"connect4", "mirror:6x7", "Connect 4", BOARD_LEAD_BALANCED, 0},
    {"chess", "chess", "mirror:8x8 with the planes and moves of chess; the mirror approximates", 0,
     0},
};
const size_t board_n_presets = N_OF(board_presets);

const struct board_preset *board_find_preset(const char *name)
{
    for (size_t i = 0; i < board_n_presets; i++)
        if (strcmp(board_presets[i].name, name) == 0)
            return &board_presets[i];
    return NULL;
}

/* The family with whose name a board's begins; *size is the text after the colon that follows, or
 * NULL. */
static const struct board_family *find_family(const char *name, const char **size)
{
    for (size_t i = board_n_families; i-- > 0;) { /* "katago:hex" stands after "katago" */
        const size_t n = strlen(board_families[i]->name);

        if (strncmp(name, board_families[i]->name, n) != 0 || (name[n] != ':' && name[n] != '\0'))
            continue;
        *size = name[n] == ':' ? name + n + 1 : NULL;
        return board_families[i];
    }
    return NULL;
}

bool board_has_size_of_shard(const char *name)
{
    const char *size = NULL;
    const struct board_family *family = find_family(name, &size);

    return family != NULL && family->only_known_members && size == NULL;
}

#define MAX_NAME      TEXT_MAX_WORD
#define N_SUGGESTIONS 3

/* Copy letters and digits in lower case; false when there are none, or more than MAX_NAME. */
static bool simplify(const char *name, char *simple)
{
    size_t n = 0;

    for (; *name != '\0'; name++) {
        if (!isalnum((unsigned char)*name))
            continue;
        if (n == MAX_NAME)
            return false;
        simple[n++] = (char)tolower((unsigned char)*name);
    }
    simple[n] = '\0';
    return n > 0;
}

/* Write the known names nearest to an unknown one, "hex8, hex11"; "" if none is near. */
static void suggest(const char *name, char *text, size_t n_bytes)
{
    char asked[MAX_NAME + 1], family[MAX_NAME + 1], known[MAX_NAME + 1];
    int n = 0;

    text[0] = '\0';
    if (!simplify(name, asked))
        return;
    if (strcmp(asked, "hex") == 0) { /* may mean the game of Hex or a hexagonal board */
        snprintf(text, n_bytes,
                 "hex11 or rhombus:N (the game of Hex), hex8 or hexagon:R (RingRift)");
        return;
    }
    /* Families are compared without a size. */
    const size_t n_word = strcspn(asked, "0123456789");
    snprintf(family, sizeof family, "%.*s", (int)n_word, asked);
    for (size_t d = 0; d <= 1 + strlen(asked) / 4; d++) {
        for (size_t i = 0; i < board_n_presets + board_n_families; i++) {
            const bool is_preset = i < board_n_presets;
            const struct board_family *of = is_preset ? NULL : board_families[i - board_n_presets];

            if (n == N_SUGGESTIONS ||
                !simplify(is_preset ? board_presets[i].name : of->name, known) ||
                (!is_preset && d >= strlen(known)) ||
                text_distance(is_preset ? asked : family, known) != d)
                continue;
            text_add(text, n_bytes, "%s%s", n++ > 0 ? ", " : "",
                     is_preset ? board_presets[i].name : of->syntax);
        }
    }
    /* A preset's word and another size: the family that has the preset's size, with this one. */
    uint64_t wanted = 0;
    (void)text_parse_u64(asked + n_word, &wanted);
    for (size_t i = 0; i < board_n_presets && wanted > 1 && wanted < 100 && n_word > 1; i++) {
        const char *size = board_presets[i].name + n_word, *board = board_presets[i].board;
        const char *of = strchr(board, ':');

        if (strncmp(asked, board_presets[i].name, n_word) == 0 && of != NULL &&
            strcmp(of + 1, size) == 0) {
            text_add(text, n_bytes, "%s%.*s%llu", n > 0 ? ", " : "", (int)(of + 1 - board), board,
                     (unsigned long long)wanted);
            return;
        }
    }
}

/* Build the board of that name, or the one that the text of a board file describes. */
static int build(struct board *b, const char *asked, const char *text, bool check,
                 struct error *err)
{
    const struct board_preset *preset = text == NULL ? board_find_preset(asked) : NULL;
    const char *name = preset != NULL ? preset->board : asked, *size = asked;
    const struct board_family *family =
        text != NULL ? &board_family_file : find_family(name, &size);
    struct error refusal = {0};
    char nearest[128];

    b->family = family;
    if (family == NULL) {
        if (access(asked, R_OK) == 0)
            return error_set(err, ERROR_USAGE,
                             "unknown board %s; if this is a board file, write --board file:%s",
                             text_quote(asked).text, text_path(asked).text);
        suggest(asked, nearest, sizeof nearest);
        return error_set(err, ERROR_USAGE, "unknown board %s%s%s; 'symaug boards' lists all boards",
                         text_quote(asked).text, nearest[0] != '\0' ? ": did you mean " : "",
                         nearest);
    }
    if (text == NULL && size != NULL && strchr(family->syntax, ':') == NULL)
        return error_set(err, ERROR_USAGE, "board %s has no size, not %s", family->name,
                         text_quote(size).text);
    if ((family->box != NULL ? board_build_box(b, size, err)
                             : board_build_custom(b, size, text, err)) != 0)
        return -1;
    b->preset = preset != NULL ? preset->name : b->name;
    b->lead = preset != NULL && preset->lead != BOARD_LEAD_NONE ? preset->lead : family->lead;
    b->game = preset != NULL && preset->game != 0 ? preset->game : family->game;
    if (new_items(&b->order, b->n_on_board, "cells of a board", err) != 0)
        return -1;
    for (uint32_t cell = 0, n = 0; cell < b->n_cells; cell++)
        if (b->on_board[cell])
            b->order[n++] = cell;
    if (!check || group_complete(b, &refusal) == 0)
        return 0;
    if (b->file_text != NULL && refusal.kind == ERROR_DATA)
        return error_set(err, ERROR_DATA, "%s: %s", text_path(size).text, refusal.message);
    return error_pass(err, &refusal);
}

static struct board *new_board(const char *name, const char *text, bool check, struct error *err)
{
    struct board *b = calloc(1, sizeof *b);

    if (b == NULL)
        error_no_memory(err, "board");
    else if (build(b, name, text, check, err) == 0)
        return b;
    board_free(b);
    return NULL;
}

struct board *board_new(const char *name, struct error *err)
{
    return new_board(name, NULL, true, err);
}

struct board *board_new_unchecked(const char *name, struct error *err)
{
    return new_board(name, NULL, false, err);
}

struct board *board_new_from_text(const char *name, const char *text, struct error *err)
{
    return new_board(strncmp(name, "file:", 5) == 0 ? name + 5 : name, text, true, err);
}

void board_free(struct board *b)
{
    if (b == NULL)
        return;
    for (uint32_t t = 0; b->transforms != NULL && t <= b->n_transforms; t++) /* and a product */
        board_release_transform(&b->transforms[t]);
    free(b->transforms);
    free(b->name);
    free(b->file_text);
    free(b->fault);
    free(b->on_board);
    free(b->order);
    free(b->compose);
    free(b->inverse);
    free(b->edges);
    free(b->line_cells);
    free(b->line_start);
    for (uint32_t i = 0; i < b->n_colours; i++) {
        free(b->colours[i].name);
        free(b->colours[i].cells);
    }
    free(b->colours);
    free(b);
}

int board_find_transform(const struct board *b, const char *id_or_name)
{
    uint64_t id;

    if (text_parse_u64(id_or_name, &id) == 0)
        return id < b->n_transforms ? (int)id : -1;
    for (uint32_t t = 0; t < b->n_transforms; t++)
        if (strcmp(b->transforms[t].name, id_or_name) == 0)
            return (int)t;
    return -1;
}

int board_sense(const struct board *b, uint32_t t)
{
    const struct board_element *as = b->transforms[t].turn;

    if (as != NULL)
        return as->turn.rr * as->turn.cc - as->turn.rc * as->turn.cr;
    if (t == 0 || b->file_text == NULL || b->rows == 0)
        return t == 0 || strncmp(b->transforms[t].name, "rotate", 6) == 0 ? 1 : -1;
    return 0;
}

bool board_swaps_colours(const struct board *b)
{
    for (uint32_t t = 0; t < b->n_transforms; t++)
        if (b->transforms[t].swaps_colours)
            return true;
    return false;
}

uint32_t board_xy_plane_transform(const struct board *b, uint32_t t)
{
    const uint32_t n = b->rows == 0 || b->rows != b->cols ? 0 : b->n_transforms;

    for (uint32_t swap = 0; swap < n; swap++) { /* find the one that exchanges rows and columns */
        uint32_t cell = 0;

        while (cell < b->n_cells &&
               (!b->on_board[cell] ||
                b->transforms[swap].dst[cell] == cell % b->cols * b->cols + cell / b->cols))
            cell++;
        if (cell == b->n_cells)
            return b->compose[b->compose[swap * n + t] * n + swap];
    }
    return UINT32_MAX;
}

/* --- by shapes --- */

/* Shapes that only one system is known to write. */
static const struct {
    uint32_t rows, cols;
    uint64_t n_actions; /* 0: any */
    bool is_ringrift;   /* RingRift's policy_encoding decides without a number of actions */
    const char *board;
} shapes[] = {
    {9, 9, 4132, true, "hex8"},        {9, 9, 4500, true, "hex8"},
    {9, 9, 61, false, "hex8"},         {25, 25, 91876, true, "hexagonal"},
    {25, 25, 469, false, "hexagonal"}, {8, 8, 7000, true, "square8"},
    {19, 19, 67000, true, "square19"}, {3, 3, 0, false, "tictactoe"},
    {15, 15, 225, false, "gomoku15"},  {6, 7, 0, false, "connect4"},
    {8, 8, 1814, false, "chess"},      {8, 8, 1880, false, "chess"},
    {8, 8, 4096, false, "chess"},      {8, 8, 4672, false, "chess"},
    {8, 8, 4864, false, "chess"},      {8, 8, 1858, false, "chess"},
    {8, 8, 4674, false, "chess"},      {8, 8, 768, false, "breakthrough:8x8"},
};

const char *board_by_shape(const struct board_seen *seen)
{
    for (size_t i = 0; i < N_OF(shapes); i++)
        if (shapes[i].rows == seen->rows && shapes[i].cols == seen->cols &&
            (shapes[i].n_actions == 0 || shapes[i].n_actions == seen->n_actions ||
             (shapes[i].is_ringrift && seen->is_ringrift && seen->n_actions == 0)))
            return shapes[i].board;
    return NULL;
}

bool board_shape_is_known(uint64_t rows, uint64_t cols)
{
    for (size_t i = 0; i < N_OF(shapes); i++)
        if (shapes[i].rows == rows && shapes[i].cols == cols)
            return true;
    return false;
}

/* A rectangle may have any policy; a square none, or one of cells with or without a pass; a hexagon
 * none, since its policies have lengths of their own. */
size_t board_guess(const struct board_seen *seen, char names[BOARD_MAX_GUESSES][64])
{
    const uint64_t rows = seen->rows, cols = seen->cols, n_actions = seen->n_actions;
    const uint64_t n_cells = rows * cols;
    size_t n = 0;

    if (rows > BOARD_MAX_CELLS || cols > BOARD_MAX_CELLS || n_cells > BOARD_MAX_CELLS)
        return 0;
    for (size_t i = 0; i < 3 * board_n_families && n < BOARD_MAX_GUESSES; i++) {
        const struct board_family *family = board_families[i % board_n_families];
        const struct board_box *box = family->box;
        const uint32_t *n_planes = family->guess_planes;

        if (family->guess_rank != i / board_n_families + 1 || (rows == cols) != (box->max_size > 0))
            continue;
        const uint64_t size = box->is_hexagon ? rows / 2 : rows;
        if (size < box->min_rows || cols < box->min_cols)
            continue;
        if (box->max_size == 0) {
            snprintf(names[n++], 64, "%s:%" PRIu64 "x%" PRIu64, family->name, rows, cols);
            continue;
        }
        if (size > box->max_size ||
            (box->is_hexagon ? rows % 2 == 0 || n_actions != 0
                             : n_actions != 0 && n_actions != n_cells && n_actions != n_cells + 1))
            continue;
        snprintf(names[n], 64, "%s:%" PRIu64, family->name, size);
        n += n_planes[0] == 0 || seen->any_planes || seen->n_planes == n_planes[0] ||
             seen->n_planes == n_planes[1] || seen->n_planes == n_planes[2];
    }
    return n;
}
