/*
 * shard_board.c - the board of a shard: what was told counts most, then what the shard says of
 * itself, then what is written beside it, then its shapes. A contradiction between the first two
 * does not end the search: `expand` refuses it, `verify` lists it.
 */
#include "engine/shard_board.h"

#include "base/text.h"

#include <string.h>

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
    if (recall != NULL && role_guess_board_by_shape(archive, &found->guess) == 0)
        found->board = board_new(found->guess.board, &why);
    if (why.kind == ERROR_INTERNAL)
        return error_pass(err, &why);
    if (found->board == NULL)
        error_fill_at(
            &found->problem, ERROR_USAGE, &place,
            "does not say of which board it is; use --board (`symaug boards` lists them)");
    return 0;
}
