/*
 * board.c - the registry: presets, families, and boards by name. A name is looked up as a preset,
 * then as FAMILY:SIZE; the family's build function fills in cells and maps, and what it leaves out
 * (name, default transforms, who may have more stones) is filled in here. Every board is completed
 * and proved to be a group by group.c before anybody sees it, but for boards built for a report.
 */
#include "board/board.h"

#include "base/text.h"
#include "board/families.h"
#include "board/group.h"

#include <stdlib.h>
#include <string.h>

#define FAMILY_ROW(id) &board_family_##id,
const struct board_family *const board_families[] = {BOARD_FAMILIES(FAMILY_ROW)};
const size_t board_n_families = sizeof board_families / sizeof board_families[0];

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
     BOARD_GAME_GO},
    {"hex11", "rhombus:11", "the game of Hex on 11 x 11", 0, 0},
    {"hex13", "rhombus:13", "the game of Hex on 13 x 13", 0, 0},
    {"hex14", "rhombus:14", "the game of Hex on 14 x 14", 0, 0},
    {"hex19", "rhombus:19", "the game of Hex on 19 x 19", 0, 0},
    {"connect4", "mirror:6x7", "Connect 4", BOARD_LEAD_BALANCED, 0},
    {"chess", "chess", "mirror:8x8 with the planes and moves of chess; the mirror approximates", 0,
     0},
};
const size_t board_n_presets = sizeof board_presets / sizeof board_presets[0];

static const struct board_preset *find_preset(const char *name)
{
    for (size_t i = 0; i < board_n_presets; i++)
        if (strcmp(board_presets[i].name, name) == 0)
            return &board_presets[i];
    return NULL;
}

/* The family a full name starts with; *size is the text behind the colon, or NULL. */
static const struct board_family *find_family(const char *name, const char **size)
{
    const size_t n = strcspn(name, ":");

    *size = name[n] == ':' ? name + n + 1 : NULL;
    for (size_t i = 0; i < board_n_families; i++)
        if (strlen(board_families[i]->name) == n && memcmp(board_families[i]->name, name, n) == 0)
            return board_families[i];
    return NULL;
}

static int unknown_board(const char *name, struct error *err)
{
    char nearest[128];

    board_suggest(name, nearest, sizeof nearest);
    return error_set(err, ERROR_USAGE, "unknown board %s%s%s; 'symaug boards' lists all boards",
                     text_quote(name).text, nearest[0] != '\0' ? ": did you mean " : "", nearest);
}

/* Fill in what a build function may leave out, and what a preset says. */
static int finish(struct board *b, const char *size, const struct board_preset *preset,
                  struct error *err)
{
    uint8_t ids[BOARD_MAX_TRANSFORMS];

    if (b->name == NULL && board_set_name(b, err, "%s%s%s", b->family->name,
                                          size != NULL ? ":" : "", size != NULL ? size : "") != 0)
        return -1;
    for (uint32_t t = 0; t < b->n_transforms; t++)
        ids[t] = (uint8_t)t;
    if (b->default_ids == NULL && board_set_default_ids(b, ids, b->n_transforms, err) != 0)
        return -1;
    b->lead = preset != NULL && preset->lead != BOARD_LEAD_NONE ? preset->lead : b->family->lead;
    b->game = preset != NULL && preset->game != 0 ? preset->game : b->family->game;
    if (b->game == 0)
        b->game = BOARD_GAME_STONES;
    b->preset = strdup(preset != NULL ? preset->name : b->name);
    b->order = malloc(b->n_on_board * sizeof *b->order);
    if (b->preset == NULL || b->order == NULL)
        return error_no_memory(err, "board name");
    for (uint32_t cell = 0, n = 0; cell < b->n_cells; cell++)
        if (b->on_board[cell])
            b->order[n++] = cell;
    return 0;
}

/* The board of that name, or the one that a board file's text describes. */
static int build(struct board *b, const char *asked, const char *text, bool check,
                 struct error *err)
{
    const struct board_preset *preset = text == NULL ? find_preset(asked) : NULL;
    const char *name = preset != NULL ? preset->board : asked, *size = asked;
    struct error refusal = {0};
    int status;

    b->family = text != NULL ? &board_family_file : find_family(name, &size);
    if (b->family == NULL)
        return unknown_board(asked, err);
    if (text != NULL)
        status = board_build_from_text(b, asked, text, err);
    else
        status = (b->family->build != NULL ? b->family->build : board_build_sized)(b, size, err);
    if (status != 0 || finish(b, size, preset, err) != 0)
        return -1;
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
    for (uint32_t t = 0; b->transforms != NULL && t < b->n_transforms; t++)
        board_release_transform(&b->transforms[t]);
    free(b->transforms);
    free(b->name);
    free(b->preset);
    free(b->file_text);
    free(b->fault);
    free(b->on_board);
    free(b->order);
    free(b->compose);
    free(b->inverse);
    free(b->default_ids);
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

bool board_swaps_colours(const struct board *b)
{
    for (uint32_t t = 0; t < b->n_transforms; t++)
        if (b->transforms[t].swaps_colours)
            return true;
    return false;
}

/* The transform that exchanges rows and columns, or n_transforms. */
static uint32_t find_transposition(const struct board *b)
{
    uint32_t t, cell;

    if (b->rows == 0 || b->rows != b->cols)
        return b->n_transforms;
    for (t = 0; t < b->n_transforms; t++) {
        for (cell = 0; cell < b->n_cells; cell++)
            if (b->on_board[cell] &&
                b->transforms[t].dst[cell] != cell % b->cols * b->cols + cell / b->cols)
                break;
        if (cell == b->n_cells)
            break;
    }
    return t;
}

uint32_t board_xy_plane_transform(const struct board *b, uint32_t t)
{
    const uint32_t n = b->n_transforms;
    const uint32_t swap = find_transposition(b);

    if (swap == n)
        return UINT32_MAX;
    return b->compose[b->compose[swap * n + t] * n + swap];
}
