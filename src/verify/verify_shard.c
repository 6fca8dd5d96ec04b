/* verify_shard.c - see verify_shard.h: opening, the board, the conventions. */
#include "verify/verify_shard.h"

#include "base/text.h"
#include "shard/manifest_json.h"
#include "verify/verify_roles.h"

#include <stdlib.h>
#include <string.h>

/* --- failures of reading --- */

int verify_read_failed(struct verify_result *result, const char *array, const struct error *why,
                       struct error *err)
{
    const struct finding_place place = {.code = why->code == ERROR_CODE_CRC ? FINDING_CRC
                                                                            : FINDING_CONTAINER,
                                        .array = array != NULL         ? array
                                                 : *why->array != '\0' ? why->array
                                                                       : NULL,
                                        .row = why->has_row ? why->row : FINDING_NO_ROW};
    char reason[ERROR_MESSAGE_NBYTES];

    if (why->kind == ERROR_INTERNAL || why->kind == ERROR_USAGE)
        return error_pass(err, why);
    if (result->fatal == ERROR_NONE)
        result->fatal = why->kind;
    findings_add(&result->findings, &place, "", "", "%s", error_reason(why, reason));
    return 0;
}

/* --- the manifest beside the shard --- */

static int read_manifest(struct verify_shard *shard, const struct manifest *given,
                         struct error *err)
{
    struct verify_manifest *said = &shard->said;
    struct text path = {0};
    const json_t *list, *entry;
    size_t i;

    said->manifest = given;
    if (given == NULL) {
        if (text_append(&path, err, "%s" MANIFEST_SUFFIX, shard->archive.path) != 0)
            return -1;
        said->manifest = said->own = manifest_read(path.text, NULL);
        text_release(&path);
    }
    if (said->manifest == NULL)
        return 0;
    list = json_object_get(said->manifest->root, "transforms");
    json_array_foreach(list, i, entry)
    {
        const json_int_t id = json_integer_value(json_object_get(entry, "id"));

        if (id >= 0 && id < BOARD_MAX_TRANSFORMS && said->n_transforms < BOARD_MAX_TRANSFORMS)
            said->transforms[said->n_transforms++] = (uint8_t)id;
    }
    return 0;
}

/* Conventions: what the manifest says holds where the command line says nothing. */
static void take_conventions(struct verify_shard *shard, const struct settings *reading)
{
    static const char *const options[] = {"planes", "ambiguous", "castling",
                                          "tiles",  "value",     "to-move"};
    struct conventions *c = &shard->conventions;
    const struct conventions *said = &reading->conventions;

    *c = *said;
    for (size_t i = 0; shard->said.manifest != NULL && i < 6; i++) {
        const char *text = manifest_option(shard->said.manifest, options[i]);
        const bool told[] = {said->planes != PLANES_COLOUR,
                             said->ambiguous != AMBIGUOUS_MAP,
                             said->castling != CASTLING_SWAP,
                             said->tiles != TILES_KEEP,
                             said->value_said,
                             said->to_move_said};

        if (text != NULL && !told[i] && strcmp(text, "permutation") != 0)
            conventions_set(c, options[i], text, NULL);
    }
}

/* --- the board --- */

/* The name behind "symaug 1 " in the comment of an output. */
static const char *board_of_comment(const struct archive_in *archive)
{
    const size_t n = strlen(PLAN_ZIP_COMMENT);

    return strncmp(archive->comment, PLAN_ZIP_COMMENT, n) == 0 && archive->comment[n] != '\0'
               ? archive->comment + n
               : NULL;
}

/* A board that was not named on the command line; one that cannot be built is not known. */
static bool try_board(struct verify_shard *shard, const char *name)
{
    if (name == NULL || shard->board != NULL)
        return shard->board != NULL;
    shard->board = board_new(name, NULL);
    shard->board_is_sure = shard->board != NULL;
    return shard->board != NULL;
}

static int decide_board(struct verify_shard *shard, const char *said, struct verify_result *result,
                        struct error *err)
{
    struct finding_place place = {FINDING_SHAPE, false, NULL, FINDING_NO_ROW};
    const bool wants_katago = said != NULL && strcmp(said, "katago") == 0;
    struct role_guess guess;
    char name[64];
    const bool shard_says = role_guess_board(&shard->archive, name, sizeof name) == 0;

    if (said != NULL && !wants_katago) {
        shard->board = board_new(said, err);
        shard->board_is_sure = true;
        if (shard->board == NULL)
            return -1;
        struct board *other = shard_says ? board_new(name, NULL) : NULL;

        if (other != NULL && strcmp(other->name, shard->board->name) != 0)
            findings_add(&result->findings, &place, said, name,
                         "the shard is of another board than --board");
        board_free(other);
        return 0;
    }
    if (shard_says && try_board(shard, name))
        return 0;
    if (wants_katago) {
        findings_add(&result->findings, &place, "", "", "has not the members of a KataGo shard");
        return 0;
    }
    if ((shard->said.manifest != NULL && try_board(shard, manifest_board(shard->said.manifest))) ||
        try_board(shard, board_of_comment(&shard->archive)))
        return 0;
    if (role_guess_board_by_shape(&shard->archive, &guess) == 0)
        try_board(shard, guess.board);
    return 0;
}

/* --- opening --- */

static int load_objects(struct verify_shard *shard, struct verify_result *result, struct error *err)
{
    for (size_t i = 0; i < shard->archive.n_arrays; i++) {
        struct array *array = &shard->archive.arrays[i];
        struct error why = {0};

        if (array->header.dtype.kind == DTYPE_OBJECT && array->header.n_dims > 0 &&
            array_load_objects(array, NULL, &why) != 0 &&
            verify_read_failed(result, array->key, &why, err) != 0)
            return -1;
    }
    return 0;
}

static void add_warnings(const struct archive_in *archive, struct verify_result *result)
{
    const struct finding_place place = {FINDING_CONTAINER, true, NULL, FINDING_NO_ROW};

    for (size_t i = 0; i < archive->n_warnings; i++)
        findings_add(&result->findings, &place, "", "", "%s", archive->warnings[i]);
}

int verify_shard_open(struct verify_shard *shard, const struct verify_request *request,
                      const char *path, struct verify_result *result, struct error *err)
{
    struct error why = {0};

    *shard = (struct verify_shard){0};
    if (archive_in_open(&shard->archive, path, request->settings->use_map, &why) != 0)
        return verify_read_failed(result, NULL, &why, err);
    shard->is_open = true;
    add_warnings(&shard->archive, result);
    if (read_manifest(shard, request->manifest, err) != 0 || load_objects(shard, result, err) != 0)
        return -1;
    take_conventions(shard, request->settings);
    if (decide_board(shard, request->settings->board, result, err) != 0)
        return -1;
    return result->fatal == ERROR_NONE ? verify_decide_roles(shard, request->settings, result, err)
                                       : 0;
}

void verify_shard_close(struct verify_shard *shard)
{
    free(shard->bindings);
    orbit_spaces_release(&shard->spaces);
    board_free(shard->board);
    manifest_free(shard->said.own);
    if (shard->is_open)
        archive_in_close(&shard->archive);
    *shard = (struct verify_shard){0};
}
