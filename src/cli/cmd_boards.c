/*
 * cmd_boards.c - symaug boards: lists the boards, prints one (cells, transforms, policy layouts) as
 * text or JSON, tells what a policy index means and where it goes (--action), maps streams of
 * indices (--action -), and proves a board's group (--check). Everything comes from the board's
 * tables; nothing here knows a family. The proof uses a board built unchecked, so that a bad board
 * file is reported instead of refused.
 */
#include "cli/cli.h"

#include "base/perm.h"
#include "board/group.h"

static int list_boards(bool as_json, struct error *err)
{
    if (!as_json) {
        printf("presets:\n");
        for (size_t i = 0; i < board_n_presets; i++)
            printf("  %-12s %-14s %s\n", board_presets[i].name, board_presets[i].board,
                   board_presets[i].note);
        printf("\nfamilies:\n");
        for (size_t i = 0; i < board_n_families; i++)
            printf("  %-21s %s\n", board_families[i]->syntax, board_families[i]->summary);
        printf("\n`symaug boards BOARD` shows one of them, for example `symaug boards hex8`.\n");
        return 0;
    }
    json_t *presets = json_array(), *families = json_array();
    for (size_t i = 0; i < board_n_presets; i++)
        json_array_append_new(presets,
                              json_pack("{s:s, s:s, s:s}", "name", board_presets[i].name, "board",
                                        board_presets[i].board, "note", board_presets[i].note));
    for (size_t i = 0; i < board_n_families; i++)
        json_array_append_new(
            families, json_pack("{s:s, s:s, s:s}", "name", board_families[i]->name, "syntax",
                                board_families[i]->syntax, "summary", board_families[i]->summary));
    return command_put_json(NULL, json_pack("{s:o, s:o}", "presets", presets, "families", families),
                            err);
}

static int print_board(const struct board *board, struct error *err)
{
    const struct board_preset *preset = board_find_preset(board->preset);
    const char *note = preset != NULL ? preset->note : board->family->summary;
    const struct action_layout *layout;
    uint32_t n_exact = 0;

    printf("%s", text_path(board->preset).text);
    if (strcmp(board->preset, board->name) != 0)
        printf(" = %s", text_path(board->name).text);
    printf(": %s\n  ", note);
    if (board->rows > 0)
        printf("box of %u x %u, ", board->rows, board->cols);
    printf("%u cells on board, %u transforms", board->n_on_board, board->n_transforms);
    for (uint32_t t = 0; t < board->n_transforms; t++)
        n_exact += board_is_exact(board, t);
    if (n_exact < board->n_transforms)
        printf(", of which %u keep every label", n_exact);
    printf("\n\n  id  name                      order  inverse\n");
    for (uint32_t t = 0; t < board->n_transforms; t++) {
        const struct board_transform *transform = &board->transforms[t];
        const bool swaps = transform->swaps_colours;

        printf("  %2u  %-24s  %5" PRIu64 "  %7u%s\n", t, transform->name,
               perm_order(swaps ? 2 : 1, transform->dst, board->n_cells), board->inverse[t],
               swaps ? "  swaps colours" : "");
    }
    /* Does a board file list all transforms that its edges, lines and colours allow? */
    if (board->file_text != NULL && (board->n_edges > 0 || board->n_lines > 0)) {
        struct error refusal = {0};
        struct text names = {0};
        const int n = group_missing(board, &names, &refusal);

        if (n < 0 && refusal.kind != ERROR_DATA)
            return error_pass(err, &refusal);
        if (n < 0)
            printf("\n  not known to be complete: %s\n", refusal.message);
        else if (n == 0)
            printf("\n  complete: edges, lines and colours of cells allow no other transform\n");
        else
            printf("\n  you missed %d that edges, lines and colours of cells allow: %s\n", n,
                   names.text);
        text_release(&names);
    }
    printf("\n  policy layouts:\n");
    for (size_t i = 0; (layout = action_layout_at(board, i)) != NULL; i++) {
        const uint64_t length = layout->length(layout, board);
        const uint64_t padded = action_padded_length(layout, board);

        printf("  %-18s %7llu  %s", layout->name, (unsigned long long)length, layout->summary);
        if (padded > length)
            printf(" (head of %llu: the rest is unused)", (unsigned long long)padded);
        printf("\n");
    }
    return 0;
}

static json_t *board_json(const struct board *board)
{
    const uint32_t n = board->n_transforms;
    json_t *on_board = json_array(), *layouts = json_array(), *transforms = json_array();
    const struct action_layout *layout;

    for (uint32_t i = 0; i < board->n_cells; i++)
        json_array_append_new(on_board, json_boolean(board->on_board[i]));
    for (size_t i = 0; (layout = action_layout_at(board, i)) != NULL; i++) {
        const uint64_t length = layout->length(layout, board);
        const uint64_t padded = action_padded_length(layout, board);
        struct symaug_span spans[ACTION_MAX_SPANS];
        const size_t n_spans = action_spans(layout, board, length, spans);
        json_t *list = json_array();

        for (size_t k = 0; k < n_spans; k++)
            json_array_append_new(list, json_pack("{s:s, s:I, s:I}", "name", spans[k].name, "start",
                                                  (json_int_t)spans[k].start, "stop",
                                                  (json_int_t)spans[k].stop));
        json_array_append_new(layouts,
                              json_pack("{s:s, s:I, s:s, s:o, s:o*}", "name", layout->name,
                                        "length", (json_int_t)length, "summary", layout->summary,
                                        "spans", list, "padded_length",
                                        padded > length ? json_integer((json_int_t)padded) : NULL));
    }
    for (uint32_t t = 0; t < n; t++) {
        json_t *compose = json_array(), *dst = json_array();

        for (uint32_t i = 0; i < board->n_cells; i++)
            json_array_append_new(dst, json_integer(board->transforms[t].dst[i]));
        for (uint32_t then = 0; then < n; then++)
            json_array_append_new(compose, json_integer(board->compose[t * n + then]));
        json_array_append_new(transforms,
                              json_pack("{s:i, s:o, s:b, s:i, s:o, s:o}", "id", (int)t, "name",
                                        json_name(board->transforms[t].name), "swaps_colours",
                                        board->transforms[t].swaps_colours, "inverse",
                                        (int)board->inverse[t], "compose", compose, "dst", dst));
    }
    return json_pack("{s:o, s:o, s:i, s:i, s:i, s:o, s:o, s:o}", "name", json_name(board->name),
                     "preset", json_name(board->preset), "rows", (int)board->rows, "cols",
                     (int)board->cols, "cells", (int)board->n_cells, "on_board", on_board,
                     "layouts", layouts, "transforms", transforms);
}

static int refuse_layout(const struct board *board, const char *what, struct error *err)
{
    return error_set(err, ERROR_USAGE, "--action: %s: %s", what, ACTION_LAYOUTS(board, 512));
}

/* Print an action and its images in every layout that has it, or in the wanted one. */
static int print_actions(const struct plan *plan, uint64_t action,
                         const struct action_layout *wanted, struct error *err)
{
    const struct board *board = plan->board;
    char text[160];
    const struct action_layout *layout;
    bool found = false;

    for (size_t i = 0; (layout = action_layout_at(board, i)) != NULL; i++) {
        if (action >= layout->length(layout, board) || (wanted != NULL && layout != wanted))
            continue;
        found = true;
        struct action_space *space = action_space_new(board, layout, 0, ACTION_AS_IS, err);
        if (space == NULL)
            return -1;
        layout->about(layout, board, action, text);
        printf("%s: %llu is %s%s\n", layout->name, (unsigned long long)action, text,
               action_flags(layout, board, action) & ACTION_ENCODABLE ? ""
                                                                      : " (no encoder makes it)");
        for (uint32_t k = 0; k < plan->n_chosen; k++) {
            const uint32_t t = plan->chosen[k];
            const uint32_t image = space->dst[t * space->length + action];

            layout->about(layout, board, image, text);
            printf("  %2u  %-24s  %8llu  %s\n", t, board->transforms[t].name,
                   (unsigned long long)image, text);
        }
        action_space_free(space);
    }
    snprintf(text, sizeof text, "%llu is beyond %s of %.100s", (unsigned long long)action,
             wanted != NULL ? wanted->name : "every layout", board->preset);
    return found ? 0 : refuse_layout(board, text, err);
}

/* Read indices from standard input, one per line, and print a line of images for each. */
static int print_stream(const struct plan *plan, const struct action_layout *wanted,
                        struct error *err)
{
    const struct board *board = plan->board;
    const struct action_layout *layout = wanted != NULL ? wanted : action_layout_at(board, 0);
    char *line = NULL;
    size_t capacity = 0;

    if (layout == NULL || (wanted == NULL && action_layout_at(board, 1) != NULL))
        return refuse_layout(board, "the indices are of which layout? use --policy LAYOUT", err);
    struct action_space *space =
        action_space_new(board, layout, action_padded_length(layout, board), ACTION_AS_IS, err);
    int status = space != NULL ? 0 : -1;
    for (uint64_t n = 1; status == 0 && getline(&line, &capacity, stdin) >= 0; n++) {
        const bool is_negative = *line == '-';
        uint64_t index = 0;

        line[strcspn(line, "\r\n")] = '\0';
        if (text_parse_u64(line + is_negative, &index) != 0 ||
            (!is_negative && index >= space->length)) {
            status = error_set(err, ERROR_DATA,
                               "standard input: line %llu: %s, expected an index below %llu of the "
                               "policy %s, or a negative one",
                               (unsigned long long)n, text_quote(line).text,
                               (unsigned long long)space->length, space->layout->name);
            break;
        }
        for (uint32_t k = 0; k < plan->n_chosen; k++) {
            if (k > 0)
                putchar('\t');
            if (is_negative)
                fputs(line, stdout);
            else
                printf("%u", space->dst[plan->chosen[k] * space->length + index]);
        }
        putchar('\n');
    }
    if (status == 0 && !feof(stdin))
        status = error_set_errno(err, ERROR_IO, errno, "standard input: cannot read");
    free(line);
    action_space_free(space);
    return status;
}

/* Print the proof of a board's group, on a board that is not checked when it is built. */
static int check(const char *name, struct error *err)
{
    struct board *board = board_new_unchecked(name, err);
    struct text report = {0};
    bool ok = false;

    if (board == NULL)
        return -1;
    const int status = group_report(board, &report, &ok, err);
    if (status == 0)
        fputs(report.text, stdout);
    text_release(&report);
    board_free(board);
    return status != 0 || ok ? status : error_exit_code(ERROR_DATA);
}

static int run_boards(struct call *call, struct error *err)
{
    const struct settings *settings = &call->settings;
    const char *policy = settings->roles.policy_layout, *name = call->operands[0];
    const struct action_layout *layout = NULL;
    /* Only actions are moved: tiles do not restrict the transforms. */
    struct plan plan = {.conventions = {.tiles = TILES_PERMUTE}};
    struct text path = {0};
    char what[160];

    if (call->n_operands > 1)
        return command_misuse(err, "expected one board, found %d operands", call->n_operands);
    if (name == NULL && (settings->check || settings->action_said))
        return command_misuse(err, "--%s needs a board", settings->check ? "check" : "action");
    if (settings->check + settings->action_said + settings->json > 1)
        return command_misuse(err, "--check, --action and --json exclude each other");
    if (name == NULL)
        return list_boards(settings->json, err);
    if (!settings->action_said && (policy != NULL || settings->transforms != NULL))
        return command_misuse(err, "--%s requires --action",
                              policy != NULL ? "policy" : "transforms");
    /* "file:" may be left out when the name ends in .json. */
    const bool is_path = text_ends_with(name, ".json") && strncmp(name, "file:", 5) != 0;
    int status = text_append(&path, err, "%s%s", is_path ? "file:" : "", name);
    if (status == 0 && settings->check)
        status = check(path.text, err);
    else if (status == 0 && (plan.board = board_new(path.text, err)) == NULL)
        status = -1;
    else if (status == 0 && !settings->action_said) {
        status = settings->json ? command_put_json(NULL, board_json(plan.board), err)
                                : print_board(plan.board, err);
    } else if (status == 0 && policy != NULL &&
               (layout = action_layout_by_name(plan.board, policy)) == NULL) {
        snprintf(what, sizeof what, "board %.60s has no layout %.60s", plan.board->preset,
                 text_quote(policy).text);
        status = refuse_layout(plan.board, what, err);
    } else if (status == 0 && (status = choose_transforms(&plan, settings->transforms, err)) == 0) {
        status = settings->action_stream ? print_stream(&plan, layout, err)
                                         : print_actions(&plan, settings->action, layout, err);
    }
    board_free(plan.board);
    text_release(&path);
    return status;
}

const struct command command_boards = {
    "boards",
    "boards",
    TAKES_ANY,
    "[OPTION]... [BOARD|FILE]",
    "list the boards, or show one: its transforms and policies",
    "hex8 is the hexagon of radius 4 (61 cells), not an 8 x 8 board of the game of Hex: that is "
    "rhombus:8. FILE is a board description in JSON.",
    "boards hex11",
    NULL,
    run_boards,
};
