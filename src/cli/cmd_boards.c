/*
 * cmd_boards.c - symaug boards: lists the boards, prints one (cells, transforms, policy layouts)
 * for people or as JSON, says what a policy index means and where it goes (--action), and proves a
 * board's group (--check). Everything comes from the board's tables; nothing here knows a family.
 * The proof is made on a board built unchecked, so that a bad board file is reported instead of
 * refused.
 */
#include "base/perm.h"
#include "base/text.h"
#include "board/actions.h"
#include "board/board.h"
#include "board/group.h"
#include "cli/command.h"
#include "cli/json_out.h"
#include "cli/option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- all boards --- */

static void print_boards(void)
{
    printf("presets:\n");
    for (size_t i = 0; i < board_n_presets; i++)
        printf("  %-12s %-14s %s\n", board_presets[i].name, board_presets[i].board,
               board_presets[i].note);
    printf("\nfamilies:\n");
    for (size_t i = 0; i < board_n_families; i++)
        printf("  %-16s %s\n", board_families[i]->syntax, board_families[i]->summary);
    printf("\n`symaug boards BOARD` shows one of them, for example `symaug boards hex8`.\n");
}

static json_t *boards_json(void)
{
    json_t *presets = json_array(), *families = json_array();

    for (size_t i = 0; i < board_n_presets; i++)
        json_array_append_new(presets,
                              json_pack("{s:s, s:s, s:s}", "name", board_presets[i].name, "board",
                                        board_presets[i].board, "note", board_presets[i].note));
    for (size_t i = 0; i < board_n_families; i++)
        json_array_append_new(
            families, json_pack("{s:s, s:s, s:s}", "name", board_families[i]->name, "syntax",
                                board_families[i]->syntax, "summary", board_families[i]->summary));
    return json_pack("{s:o, s:o}", "presets", presets, "families", families);
}

/* --- one board --- */

static void print_cells(const struct board *board)
{
    if (board->rows > 0)
        printf("  box of %u x %u, ", board->rows, board->cols);
    else
        printf("  ");
    printf("%u cells on board, %u transforms", board->n_on_board, board->n_transforms);
    if (board->n_default_ids < board->n_transforms)
        printf(", of which %u keep every label", board->n_default_ids);
    printf("\n");
}

static void print_transforms(const struct board *board)
{
    printf("\n  id  name                      order  inverse\n");
    for (uint32_t t = 0; t < board->n_transforms; t++)
        printf("  %2u  %-24s  %5llu  %7u%s\n", t, board->transforms[t].name,
               (unsigned long long)perm_order(board->transforms[t].dst, board->n_cells),
               board->inverse[t], board->transforms[t].swaps_colours ? "  swaps colours" : "");
}

static void print_layouts(const struct board *board)
{
    printf("\n  policy layouts:\n");
    for (size_t i = 0; i < board->family->n_layouts; i++) {
        const struct action_layout *layout = board->family->layouts[i];
        uint64_t length = layout->length(layout, board);
        uint64_t padded = layout->padded_length != NULL ? layout->padded_length(layout, board) : 0;

        if (length == 0)
            continue;
        printf("  %-18s %7llu  %s", layout->name, (unsigned long long)length, layout->summary);
        if (padded > length)
            printf(" (head of %llu: the rest is unused)", (unsigned long long)padded);
        printf("\n");
    }
}

static const char *preset_note(const struct board *board)
{
    for (size_t i = 0; i < board_n_presets; i++)
        if (strcmp(board_presets[i].name, board->preset) == 0)
            return board_presets[i].note;
    return board->family->summary;
}

static void print_board(const struct board *board)
{
    printf("%s", text_path(board->preset).text);
    if (strcmp(board->preset, board->name) != 0)
        printf(" = %s", text_path(board->name).text);
    printf(": %s\n", preset_note(board));
    print_cells(board);
    print_transforms(board);
    print_layouts(board);
}

static json_t *map_json(const uint32_t *map, uint64_t n)
{
    json_t *json = json_array();

    for (uint64_t i = 0; i < n; i++)
        json_array_append_new(json, json_integer(map[i]));
    return json;
}

static json_t *transforms_json(const struct board *board)
{
    const uint32_t n = board->n_transforms;
    json_t *json = json_array();

    for (uint32_t t = 0; t < n; t++) {
        json_t *compose = json_array();

        for (uint32_t then = 0; then < n; then++)
            json_array_append_new(compose, json_integer(board->compose[t * n + then]));
        json_array_append_new(json,
                              json_pack("{s:i, s:o, s:b, s:i, s:o, s:o}", "id", (int)t, "name",
                                        json_name(board->transforms[t].name), "swaps_colours",
                                        board->transforms[t].swaps_colours, "inverse",
                                        (int)board->inverse[t], "compose", compose, "dst",
                                        map_json(board->transforms[t].dst, board->n_cells)));
    }
    return json;
}

static json_t *board_json(const struct board *board)
{
    json_t *on_board = json_array(), *layouts = json_array();

    for (uint32_t i = 0; i < board->n_cells; i++)
        json_array_append_new(on_board, json_boolean(board->on_board[i]));
    for (size_t i = 0; i < board->family->n_layouts; i++) {
        const struct action_layout *layout = board->family->layouts[i];

        if (layout->length(layout, board) > 0)
            json_array_append_new(layouts,
                                  json_pack("{s:s, s:I, s:s}", "name", layout->name, "length",
                                            (json_int_t)layout->length(layout, board), "summary",
                                            layout->summary));
    }
    return json_pack("{s:o, s:o, s:i, s:i, s:i, s:o, s:o, s:o}", "name", json_name(board->name),
                     "preset", json_name(board->preset), "rows", (int)board->rows, "cols",
                     (int)board->cols, "cells", (int)board->n_cells, "on_board", on_board,
                     "layouts", layouts, "transforms", transforms_json(board));
}

/* --- one action --- */

static void print_action(const struct board *board, const struct action_layout *layout,
                         uint64_t action)
{
    char text[128];

    layout->describe(layout, board, action, text, sizeof text);
    printf("%s: %llu is %s%s\n", layout->name, (unsigned long long)action, text,
           layout->flags(layout, board, action) & ACTION_ENCODABLE ? "" : " (no encoder makes it)");
    for (uint32_t t = 0; t < board->n_transforms; t++) {
        uint64_t image = layout->image(layout, board, t, action);

        layout->describe(layout, board, image, text, sizeof text);
        printf("  %2u  %-24s  %8llu  %s\n", t, board->transforms[t].name, (unsigned long long)image,
               text);
    }
}

static int print_actions(const struct board *board, uint64_t action, struct error *err)
{
    char list[512];
    bool found = false;

    for (size_t i = 0; i < board->family->n_layouts; i++) {
        const struct action_layout *layout = board->family->layouts[i];

        if (action >= layout->length(layout, board))
            continue;
        print_action(board, layout, action);
        found = true;
    }
    if (found)
        return 0;
    action_layout_list(board, list, sizeof list);
    return error_set(err, ERROR_USAGE, "--action: %llu is beyond every layout of %s: %s",
                     (unsigned long long)action, board->preset, list);
}

/* --- the proof --- */

/* The report goes on after a failure, so the board must not have been refused when it was built. */
static int check(const char *name, struct error *err)
{
    struct board *board = board_new_unchecked(name, err);
    struct text report = {0};
    bool ok = false;
    int status;

    if (board == NULL)
        return -1;
    status = group_report(board, &report, &ok, err);
    if (status == 0)
        fputs(report.text, stdout);
    text_release(&report);
    board_free(board);
    if (status != 0 || !ok)
        return status != 0 ? -1 : error_exit_code(ERROR_DATA);
    /* What a report does not look at (names, double transforms) is looked at here. */
    board = board_new(name, err);
    board_free(board);
    return board != NULL ? 0 : -1;
}

/* --- running --- */

/* A path is a board too: "file:" may be left out where the name ends in .json. */
static int board_name(const char *operand, struct text *name, struct error *err)
{
    const size_t n = strlen(operand);
    const bool is_file = n > 5 && strcmp(operand + n - 5, ".json") == 0;

    return text_append(name, err, "%s%s",
                       is_file && strncmp(operand, "file:", 5) != 0 ? "file:" : "", operand);
}

static int run_one(const struct settings *settings, const char *name, struct error *err)
{
    struct board *board;
    int status = 0;

    if (settings->check)
        return check(name, err);
    board = board_new(name, err);
    if (board == NULL)
        return -1;
    if (settings->action_said)
        status = print_actions(board, settings->action, err);
    else if (settings->json)
        status = json_out_print(board_json(board), err);
    else
        print_board(board);
    board_free(board);
    return status;
}

static int run_all(const struct settings *settings, struct error *err)
{
    if (settings->check || settings->action_said)
        return error_set(err, ERROR_USAGE, "--%s needs a board",
                         settings->check ? "check" : "action");
    if (settings->json)
        return json_out_print(boards_json(), err);
    print_boards();
    return 0;
}

static int run_boards(int argc, char **argv, struct error *err)
{
    struct settings settings;
    struct text name = {0};
    int first, status = option_parse("boards", argc, argv, &settings, &first, err);

    if (status == 0 && argc - first > 1)
        status = error_set(err, ERROR_USAGE, "expected one board, found %d operands", argc - first);
    if (status == 0 && first == argc)
        status = run_all(&settings, err);
    else if (status == 0 && (status = board_name(argv[first], &name, err)) == 0)
        status = run_one(&settings, name.text, err);
    text_release(&name);
    settings_release(&settings);
    return status;
}

const struct command command_boards = {
    "boards",
    "[OPTION]... [BOARD|FILE]",
    "list the boards, or show one: its transforms, cells and policy layouts",
    "hex8 is the hexagon of radius 4 (61 cells), not an 8 x 8 board of the game of Hex: that is\n"
    "rhombus:8. FILE is a board description in JSON.",
    run_boards,
};
