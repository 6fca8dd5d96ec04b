/*
 * verify_locate.c - the images of one row's source, for `symaug show`, or the source and transform
 * of every row, for `symaug report`. The groups are found exactly as verify finds them, then walked
 * until one holds the row, or to the end; no content is checked. Also hands on
 * the settings that the manifest adds to the command line's, and the name of the board, where that
 * is sure.
 */
#include "verify/verify_locate.h"

#include "base/text.h"
#include "verify/explain.h"
#include "verify/verify_shard.h"

#include <stdlib.h>
#include <string.h>

#define ROWS_AT_ONCE 4096
#define MAX_FINDINGS 100

/* What is looked for: the group of one row, or all rows. */
struct search {
    uint64_t row;
    struct verify_located *located;
    struct verify_images *all; /* or NULL */
};

/* Copy group g of the window if it holds the row. */
static int take_group(const struct window *window, uint64_t g, const struct search *search,
                      struct error *err)
{
    struct verify_located *located = search->located;
    const uint64_t begin = window->groups[g], end = window->groups[g + 1];
    bool found = false;

    for (uint64_t m = begin; m < end; m++)
        found |= window->images[window->members[m]].row == search->row;
    if (!found)
        return 0;
    located->images = calloc(end - begin, sizeof *located->images);
    if (located->images == NULL)
        return error_no_memory(err, "images of a row");
    for (uint64_t m = begin; m < end; m++)
        if (window->images[window->members[m]].transform != ORBIT_NO_TRANSFORM)
            located->images[located->n++] = window->images[window->members[m]];
    return 0;
}

static void take_all(const struct window *window, struct verify_images *all)
{
    for (uint64_t i = 0; i < window->n; i++) {
        const struct lane_image *image = &window->images[i];

        if (image->row >= all->n_rows)
            continue;
        all->sources[image->row] = image->source;
        all->transforms[image->row] = image->transform;
    }
}

static int walk(const struct orbit_groups *groups, const struct lanes *lanes,
                const struct search *search, struct error *err)
{
    const struct verify_located *located = search->located;
    struct orbit_cursor cursor = {0};
    struct window window = {0};
    int status = window_init(&window, lanes, orbit_groups_capacity(groups, ROWS_AT_ONCE), err);

    if (status == 0)
        status = orbit_cursor_open(&cursor, groups, err);
    while (status == 0 && located->images == NULL) {
        status = orbit_cursor_next(&cursor, &window, ROWS_AT_ONCE, err);
        if (status != 0 || window.n == 0)
            break;
        if (search->all != NULL) {
            take_all(&window, search->all);
            continue;
        }
        for (uint64_t g = 0; g < window.n_groups && status == 0 && located->images == NULL; g++)
            status = take_group(&window, g, search, err);
    }
    orbit_cursor_close(&cursor);
    window_release(&window, lanes);
    return status;
}

static int make_room(struct verify_images *all, uint64_t n_rows, struct error *err)
{
    all->n_rows = n_rows;
    all->sources = calloc(n_rows + 1, sizeof *all->sources);
    all->transforms = calloc(n_rows + 1, sizeof *all->transforms);
    if (all->sources == NULL || all->transforms == NULL)
        return error_no_memory(err, "images of all rows");
    for (uint64_t i = 0; i < n_rows; i++)
        all->transforms[i] = ORBIT_NO_TRANSFORM;
    return 0;
}

static int find_images(const struct verify_request *request, struct verify_shard *shard,
                       const struct search *search, struct verify_result *result, struct error *err)
{
    /* --transforms chooses what is looked at, it does not say what the set holds. */
    struct settings settings = *request->settings;
    struct verify_request own = *request;
    struct lanes lanes = {0};
    struct orbit_groups groups = {0};
    int status = lanes_init(&lanes, shard, result, err);

    settings.transforms = NULL;
    own.settings = &settings;
    if (status == 0)
        status = explain_set(&groups, shard, &lanes, &own, result, err);
    if (status == 0 && result->is_expanded) {
        status = orbit_groups_settle(&groups, lanes.row_nbytes, request->settings->max_memory, err);
        if (status == 0 && search->all != NULL)
            status = make_room(search->all, shard->n_rows, err);
        if (status == 0)
            status = walk(&groups, &lanes, search, err);
    }
    orbit_groups_release(&groups);
    lanes_release(&lanes);
    return status;
}

static int name_board(const struct verify_request *request, const struct verify_shard *shard,
                      struct verify_located *located, struct error *err)
{
    const char *said = request->settings->board;

    if (shard->board == NULL || !shard->board_is_sure)
        return 0;
    located->board =
        strdup(said != NULL && strcmp(said, "katago") != 0 ? said : shard->board->preset);
    return located->board != NULL ? 0 : error_no_memory(err, "board");
}

/* A file that cannot be read: the first finding that is an error says why. */
static int refuse(const struct verify_result *result, struct error *err)
{
    const struct findings *found = &result->findings;
    size_t i = 0;

    if (found->no_memory)
        return error_no_memory(err, "findings");
    while (i < found->n && found->items[i].is_warning)
        i++;
    if (i == found->n)
        return error_set(err, result->fatal, "%s: cannot be read", text_path(result->path).text);
    return error_set(err, result->fatal, "%s: %s%s%s", text_path(result->path).text,
                     found->items[i].array != NULL ? text_path(found->items[i].array).text : "",
                     found->items[i].array != NULL ? ": " : "", found->items[i].message);
}

/* The settings, with the board that was found, outlive the shard. */
static void keep_settings(struct verify_shard *shard, struct verify_located *located)
{
    located->recall = shard->recall;
    shard->recall = (struct recall){0};
    if (located->recall.settings.board == NULL && shard->board != NULL && shard->board_is_sure &&
        shard->board->file_text != NULL)
        located->recall.settings.board_text = located->recall.manifest->board.file_text;
    if (located->board != NULL)
        located->recall.settings.board = located->board;
}

static int locate(const struct verify_request *request, const struct search *search,
                  struct verify_result *result, struct error *err)
{
    struct verify_located *located = search->located;
    struct verify_shard shard;
    struct error why = {0};
    int status = verify_shard_open(&shard, request, result->path, result, &why);

    if (status == 0 && shard.is_open)
        status = name_board(request, &shard, located, &why);
    if (status == 0 && shard.bindings != NULL && result->fatal == ERROR_NONE)
        status = find_images(request, &shard, search, result, &why);
    if (shard.is_open)
        keep_settings(&shard, located);
    verify_shard_close(&shard);
    if (status != 0 && why.kind != ERROR_DATA)
        return error_pass(err, &why);
    return result->fatal != ERROR_NONE || result->findings.no_memory ? refuse(result, err) : 0;
}

static int search_file(const struct verify_request *request, const char *path,
                       const struct search *search, struct error *err)
{
    char *copy = strdup(path);
    struct verify_result result = {.path = copy, .findings = {.max = MAX_FINDINGS}};
    int status;

    *search->located = (struct verify_located){.recall = {.settings = *request->settings}};
    status = copy != NULL ? locate(request, search, &result, err)
                          : error_no_memory(err, "name of a file");
    findings_release(&result.findings);
    free(result.note);
    free(copy);
    if (status != 0)
        verify_located_release(search->located);
    return status;
}

int verify_locate(const struct verify_request *request, const char *path, uint64_t row,
                  struct verify_located *located, struct error *err)
{
    const struct search search = {row, located, NULL};

    return search_file(request, path, &search, err);
}

int verify_images(const struct verify_request *request, const char *path,
                  struct verify_images *images, struct error *err)
{
    struct verify_located located;
    const struct search search = {UINT64_MAX, &located, images};
    int status;

    *images = (struct verify_images){0};
    status = search_file(request, path, &search, err);
    if (status == 0)
        verify_located_release(&located);
    else
        verify_images_release(images);
    return status;
}

void verify_images_release(struct verify_images *images)
{
    free(images->sources);
    free(images->transforms);
    *images = (struct verify_images){0};
}

void verify_located_release(struct verify_located *located)
{
    recall_release(&located->recall);
    free(located->board);
    free(located->images);
    *located = (struct verify_located){0};
}
