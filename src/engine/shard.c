/*
 * shard.c - opens a shard and decides what it means, in the order in which one thing tells another:
 * manifest, board, roles.
 *
 * Of the board, what was told counts most, then what the shard says of itself, then what is written
 * beside it, then its shapes. A contradiction between the first two does not end the search:
 * `expand` refuses it, `verify` lists it. Roles are decided as `expand` decides them.
 */
#include "engine/shard.h"

#include "base/text.h"
#include "engine/plan.h"

#include <stdlib.h>
#include <string.h>

/* --- what it says itself --- */

const char *shard_expansion(const struct archive_in *archive)
{
    if (strncmp(archive->comment, "symaug ", 7) == 0)
        return "its zip comment says so";
    return archive_in_find(archive, PLAN_SOURCE_KEY) != NULL ||
                   archive_in_find(archive, PLAN_TRANSFORM_KEY) != NULL
               ? "it holds " PLAN_SOURCE_KEY " or " PLAN_TRANSFORM_KEY
               : NULL;
}

/* --- its board --- */

static const char katago[] = "katago";

int shard_check_board(const struct archive_in *archive, const struct board *board,
                      struct error *err)
{
    const struct error_place place = {.file = archive->path};
    struct error why = {0};
    struct board *said;
    char name[64];
    bool same;

    if (role_guess_board(archive, name, sizeof name) != 0)
        return 0;
    said = board_new(name, &why);
    if (said == NULL && why.kind == ERROR_INTERNAL)
        return error_pass(err, &why);
    if (said == NULL) /* a board_type this program does not know proves nothing */
        return 0;
    same = strcmp(said->name, board->name) == 0;
    board_free(said);
    if (same)
        return 0;
    return error_set_at(err, ERROR_DATA, &place, "is of board %s, not of %s (--board)",
                        text_quote(name).text, board->preset);
}

/* --board katago: of which size, the shard says. */
static void check_katago(struct shard_board *found, const struct archive_in *archive,
                         const char *says)
{
    const struct error_place place = {.file = archive->path};

    if (says == NULL)
        error_fill_at(&found->problem, ERROR_DATA, &place, "has not the members of a KataGo shard");
    else if (strncmp(says, katago, strlen(katago)) != 0)
        error_fill_at(&found->problem, ERROR_DATA, &place,
                      "is of board %s, not of katago (--board)", text_quote(says).text);
}

int shard_find_board(struct shard_board *found, const struct archive_in *archive,
                     const struct settings *said, const struct recall *recall, struct error *err)
{
    const struct error_place place = {.file = archive->path};
    const bool wants_katago = said->board != NULL && strcmp(said->board, katago) == 0;
    struct error why = {0};
    char says[64];
    bool is_guessed;
    const bool shard_says = role_guess_board(archive, says, sizeof says) == 0;

    *found = (struct shard_board){.from = "--board", .is_sure = true};
    if (said->board != NULL && !wants_katago) {
        found->board = said->board_text != NULL
                           ? board_new_from_text(said->board, said->board_text, err)
                           : board_new(said->board, err);
        if (found->board == NULL)
            return -1;
        (void)shard_check_board(archive, found->board, &found->problem);
        return found->problem.kind == ERROR_INTERNAL ? error_pass(err, &found->problem) : 0;
    }
    if (wants_katago)
        check_katago(found, archive, shard_says ? says : NULL);
    if (shard_says) {
        found->from = "said by the shard";
        found->board = board_new(says, &why);
    } else if (recall != NULL && !wants_katago) {
        found->board = recall_board(recall, archive, &found->from, &why);
    }
    if (why.kind == ERROR_INTERNAL)
        return error_pass(err, &why);
    if (found->board != NULL || found->problem.kind != ERROR_NONE)
        return 0;
    found->is_sure = false;
    found->from = "guessed from shapes";
    is_guessed = role_guess_board_by_shape(archive, &found->guess) == 0;
    if (recall != NULL && is_guessed)
        found->board = board_new(found->guess.board, &why);
    if (why.kind == ERROR_INTERNAL)
        return error_pass(err, &why);
    if (found->board == NULL)
        error_fill_at(&found->problem, ERROR_USAGE, &place,
                      "does not say of which board it is; use --board%s%s%s%s%s",
                      is_guessed ? " " : " (`symaug boards` lists them)",
                      is_guessed ? found->guess.board : "", is_guessed ? " (" : "",
                      is_guessed ? found->guess.reason : "", is_guessed ? ")" : "");
    return 0;
}

/* --- its roles --- */

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
    /* What expand would ask is asked here, so that a schema holds no guess; but not of an
     * expansion, whose arrays are told by its manifest, or were decided before. */
    request.is_strict = shard->recall.manifest == NULL && shard_expansion(&shard->archive) == NULL;
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
    shard->conventions = shard->recall.settings.conventions;
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

const struct board *shard_known_board(const struct shard *shard)
{
    return shard->found.is_lent ? NULL : shard->found.board;
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
