/*
 * shard.c - opens a shard and decides what it means, in the order in which one thing tells another:
 * manifest, board, roles. Roles are decided as `expand` decides them.
 */
#include "engine/shard.h"

#include "engine/plan.h"

#include <stdlib.h>
#include <string.h>

/* What expand would ask is asked here, so that a schema holds no guess; but not of an expansion,
 * whose arrays are told by its manifest, or were decided before. */
static bool is_source(const struct shard *shard)
{
    return shard->recall.manifest == NULL && strncmp(shard->archive.comment, "symaug ", 7) != 0 &&
           archive_in_find(&shard->archive, PLAN_SOURCE_KEY) == NULL;
}

static int infer(struct shard *shard, struct error *err)
{
    struct role_request request = shard->recall.settings.roles; /* borrowed */
    struct text head = {0}, file = {0};
    int status = text_append(&head, err, "symaug expand --board ");

    if (status == 0)
        status = text_append_shell(&head, shard->found.board->preset, err);
    if (status == 0)
        status = text_append(&file, err, " -- ");
    if (status == 0)
        status = text_append_shell(&file, shard->archive.path, err);
    if (status == 0)
        status = text_append(&file, err, " OUT.npz");
    request.is_strict = is_source(shard);
    request.swaps_colours = request.is_strict && board_swaps_colours(shard->found.board);
    request.command = head.text;
    request.operands = file.text;
    if (status == 0)
        status = role_infer(&shard->archive, shard->found.board, &request, shard->bindings,
                            &shard->n_rows, &shard->problems, err);
    shard->rows_are_known = status == 0 && shard->n_rows > 0;
    if (status == 0 && shard->problems.n > 0)
        status = role_problems_command(&shard->problems, &shard->archive, &request, &shard->command,
                                       err);
    text_release(&head);
    text_release(&file);
    return status;
}

static int decide_roles(struct shard *shard, struct error *err)
{
    const struct array *first;

    if (archive_in_load_objects(&shard->archive, err) != 0)
        return -1;
    if (shard->found.board == NULL) {
        first = role_rows_array(&shard->archive);
        shard->rows_are_known = first != NULL;
        shard->n_rows = first != NULL ? first->n_rows : 0;
        return 0;
    }
    shard->bindings = calloc(shard->archive.n_arrays + 1, sizeof *shard->bindings);
    return shard->bindings != NULL ? infer(shard, err) : error_no_memory(err, "roles");
}

int shard_open(struct shard *shard, const char *path, const struct settings *settings,
               struct error *err)
{
    *shard = (struct shard){0};
    if (role_open(&shard->archive, path, settings->use_map, &settings->roles, err) != 0)
        return -1;
    if (recall_open(&shard->recall, settings, &shard->archive, NULL, 0, true, err) != 0 ||
        shard_find_board(&shard->found, &shard->archive, &shard->recall.settings, &shard->recall,
                         err) != 0)
        return -1;
    return decide_roles(shard, err);
}

void shard_close(struct shard *shard)
{
    free(shard->bindings);
    role_problems_release(&shard->problems);
    text_release(&shard->command);
    board_free(shard->found.board);
    recall_release(&shard->recall);
    archive_in_close(&shard->archive);
}

bool shard_is_undecided(const struct shard *shard, size_t i)
{
    const int index = shard->bindings != NULL ? shard->bindings[i].index_array : -1;

    return role_problem_of(&shard->problems, i) != NULL ||
           (index >= 0 && role_problem_of(&shard->problems, (size_t)index) != NULL);
}

int shard_flag(const struct shard *shard, size_t i, struct text *flag, struct error *err)
{
    const struct role_problem *problem = role_problem_of(&shard->problems, i);

    if (problem == NULL || problem->role[0] == '\0')
        return 0;
    return text_append(flag, err, "--role %s=%s%s", shard->archive.arrays[i].key, problem->role,
                       problem->flags);
}
