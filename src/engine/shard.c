/*
 * shard.c - opens a shard and decides what it means: what its manifest says, then its board, then
 * the roles of its arrays, each from the ones before.
 *
 * The board is the one that the user gave, else the one that the shard names, else the one that is
 * written beside it, else one that its shapes fit. A contradiction between the first two is noted:
 * `expand` refuses it, `verify` lists it. Roles are decided as `expand` decides them.
 *
 * Digests of shards are made in small steps, by threads with nothing else to do.
 */
#include "engine/shard.h"

#include "zip/check.h"

/* --- digests --- */

#define CHUNK_NBYTES (256u << 10)
#define STEP_NCHUNKS 4

int digests_init(struct digests *d, const struct shard *shards, size_t n_shards, struct error *err)
{
    *d = (struct digests){.shards = shards, .n_shards = n_shards};
    digest_begin(&d->digest);
    digest_begin(&d->lines);
    return new_items(&d->sha256, n_shards, "digests of the inputs", err) == 0
               ? new_items(&d->buffer, CHUNK_NBYTES, "digests of the inputs", err)
               : -1;
}

static bool is_over(const struct digests *d)
{
    return d->shard == d->n_shards || d->failure.kind != ERROR_NONE;
}

bool digests_is_due(void *digests)
{
    const struct digests *d = digests;

    return !is_over(d) && d->used < *d->n_fetched;
}

void digests_step(void *digests)
{
    struct digests *d = digests;

    for (int i = 0; i < STEP_NCHUNKS && !is_over(d); i++) {
        const struct archive_in *archive = &d->shards[d->shard].archive;
        const struct input *in = &archive->inputs[d->file];
        char *sha256 = d->sha256[d->shard];

        d->used += CHUNK_NBYTES;
        const size_t n = (size_t)smaller(in->n_bytes - d->offset, CHUNK_NBYTES);
        if (n > 0) {
            if (input_read(in, d->offset, d->buffer, n, &d->failure) != 0)
                return;
            digest_update(&d->digest, d->buffer, n);
            d->offset += n;
            input_release_before(in, d->offset, &d->released);
            continue;
        }
        /* At the end of the file: keep its digest and go on to the next. */
        digest_finish(&d->digest, sha256);
        digest_begin(&d->digest);
        d->offset = d->released = 0;
        if (archive->form == ARCHIVE_FOLDER)
            digest_add_line(&d->lines, text_base_name(in->path), sha256);
        if (++d->file < archive->n_inputs)
            continue;
        if (archive->form == ARCHIVE_FOLDER) {
            digest_finish(&d->lines, sha256);
            digest_begin(&d->lines);
        }
        d->file = 0;
        d->shard++;
    }
}

int digests_finish(struct digests *d, struct error *err)
{
    while (!is_over(d))
        digests_step(d);
    return d->failure.kind == ERROR_NONE ? 0 : error_pass(err, &d->failure);
}

int digest_shard(const struct shard *shard, char sha256[DIGEST_HEX_NBYTES], struct error *err)
{
    struct digests digests;
    const int status =
        digests_init(&digests, shard, 1, err) == 0 ? digests_finish(&digests, err) : -1;

    if (status == 0)
        memcpy(sha256, digests.sha256[0], DIGEST_HEX_NBYTES);
    digests_release(&digests);
    return status;
}

void digests_release(struct digests *d)
{
    free(d->sha256);
    free(d->buffer);
    *d = (struct digests){0};
}

/* --- what a manifest says --- */

/* A file that is an array gives it its own name. Where that was another one, which the manifest
 * tells, the array gets it back, unless the user tells its role by the file's. */
static int name_only_array(struct archive_in *archive, const struct role_request *said,
                           struct error *err)
{
    struct array *array = archive->arrays;
    const char *key = said->only_key;
    struct text member = {0};

    if (archive->form != ARCHIVE_NPY || key == NULL || member_name_fault(key, strlen(key)) != NULL)
        return 0;
    for (size_t i = 0; i < said->n_overrides; i++)
        if (strcmp(said->overrides[i].array, array->key) == 0)
            return 0;
    if (text_append(&member, err, "%s.npy", key) != 0)
        return -1;
    free(array->key);
    free(array->member);
    array->member = member.text;
    array->key = strdup(key);
    return array->key != NULL ? 0 : error_no_memory(err, "name of an array");
}

/* Take the roles of an output that the manifest lists: those of the user override them, and they
 * hold for arrays that still have the dtype and row shape that it lists. A role that this version
 * does not know is ignored. */
static int recall_roles(struct recall *r, struct archive_in *archive, struct error *err)
{
    struct role_request *said = &r->settings.roles;
    const json_t *arrays = json_object_get(r->output, "arrays");

    if (json_array_size(arrays) == 1)
        said->only_key = manifest_text(json_array_get(arrays, 0), "name");
    if (name_only_array(archive, said, err) != 0)
        return -1;
    if (new_items(&r->roles, 1, "roles", err) != 0)
        return -1;
    r->roles->is_recalled = true;
    r->roles->under = said->under;
    said->under = r->roles;
    for (size_t i = 0; i < json_array_size(arrays); i++) {
        const json_t *listed = json_array_get(arrays, i), *shape = json_object_get(listed, "shape");
        const char *key = manifest_text(listed, "name"), *role = manifest_text(listed, "role");
        const struct array *array = archive_in_find(archive, key);
        struct error why = {0};
        bool fits =
            array != NULL && strcmp(role, "provenance") != 0 &&
            strcmp(dtype_name(&array->header.dtype).text, manifest_text(listed, "dtype")) == 0 &&
            json_array_size(shape) == array->header.n_dims;

        for (unsigned d = 1; fits && d < array->header.n_dims; d++)
            fits = (uint64_t)json_integer_value(json_array_get(shape, d)) == array->header.shape[d];
        if (fits && role_request_add_spec(r->roles, key, role, &why) != 0 &&
            why.kind != ERROR_USAGE)
            return error_pass(err, &why);
    }
    return 0;
}

int shard_recall(struct shard *shard, const struct settings *settings, bool exact,
                 struct error *err)
{
    struct archive_in *archive = &shard->archive;
    struct recall *r = &shard->recall;
    struct settings *s = &r->settings;
    char sha256[DIGEST_HEX_NBYTES] = "";
    struct text name = {0};

    r->settings = *settings;
    shard->conventions = settings->conventions;
    /* The one beside the file, if it lists the file by digest or by name. */
    if (r->manifest == NULL) {
        if (text_append(&name, err, "%.*s" MANIFEST_SUFFIX, (int)text_path_nbytes(archive->path),
                        archive->path) != 0)
            return -1;
        r->manifest = r->own = manifest_read(name.text, NULL);
        text_release(&name);
        if (r->manifest != NULL && exact && digest_shard(shard, sha256, err) != 0)
            return -1;
    }
    const json_t *outputs = json_object_get(r->own, "outputs");
    for (size_t i = 0; i < json_array_size(outputs) && r->output == NULL; i++) {
        const json_t *file = json_array_get(outputs, i);

        if (exact ? strcmp(sha256, manifest_text(file, "sha256")) == 0
                  : strcmp(text_base_name(manifest_text(file, "name")),
                           text_base_name(archive->path)) == 0)
            r->output = file;
    }
    if (exact && r->output == NULL)
        r->manifest = NULL;
    if (r->manifest == NULL)
        return 0;
    /* Commands that keep rows unchanged note whether an input was expanded. */
    if (exact && shard->expansion == NULL &&
        (manifest_option(r->manifest, "command") == NULL ||
         manifest_option(r->manifest, "expanded") != NULL))
        shard->expansion = "its manifest says so";
    for (size_t i = 0; convention_name(i) != NULL; i++) {
        const char *text = manifest_convention(r->manifest, convention_name(i));

        if (text != NULL && !conventions_is_said(&s->conventions, convention_name(i)))
            (void)conventions_set(&s->conventions, convention_name(i), text, NULL);
    }
    const char *order = manifest_convention(r->manifest, "plane-order");
    if (s->roles.plane_xy < 0 && order != NULL)
        s->roles.plane_xy = strcmp(order, "xy") == 0;
    shard->conventions = s->conventions;
    return r->output != NULL ? recall_roles(r, archive, err) : 0;
}

/* The board that the manifest names, or else the shard's zip comment; *from says which. NULL if
 * neither names one that can be built, with *why set if one was tried. */
static struct board *recall_board(const struct recall *r, const struct archive_in *archive,
                                  const char **from, struct error *why)
{
    static const char comment[] = PLAN_ZIP_COMMENT, file[] = "file:";
    const json_t *board = json_object_get(r->manifest, "board");
    const char *name = manifest_text(board, "name");
    const char *text = manifest_text(json_object_get(board, "file"), "text");

    *from = "said by its manifest";
    if (text != NULL)
        return board_new_from_text(name, text, why);
    if (name == NULL && strncmp(archive->comment, comment, sizeof comment - 1) == 0) {
        *from = "said by its zip comment";
        name = archive->comment + sizeof comment - 1;
    }
    /* A file must not make the program read another file. */
    return name != NULL && strncmp(name, file, sizeof file - 1) != 0 ? board_new(name, why) : NULL;
}

void recall_release(struct recall *r)
{
    if (r->roles != NULL)
        role_overrides_release(r->roles);
    free(r->roles);
    json_decref(r->own);
    *r = (struct recall){0};
}

/* --- its board --- */

int shard_check_board(const struct archive_in *archive, const struct board *board,
                      struct error *err)
{
    struct error why = {0};
    char name[64];

    if (role_guess_board(archive, name, sizeof name) != 0)
        return 0;
    struct board *said = board_new(name, &why);
    if (said == NULL && why.kind == ERROR_INTERNAL)
        return error_pass(err, &why);
    if (said == NULL) /* a board_type that this program does not know proves nothing */
        return 0;
    const bool same =
        strcmp(said->name, board->name) == 0 ||
        (said->family->only_known_members && board->family->only_known_members &&
         said->n_cells == board->n_cells); /* which of the games, nothing in a shard says */
    board_free(said);
    if (same)
        return 0;
    return error_set_at(err, ERROR_DATA, ERROR_IN(archive->path),
                        "is of board %s, not of %s (--board)", text_quote(name).text,
                        board->preset);
}

int shard_find_board(struct shard *shard, const struct settings *said, bool may_guess,
                     struct error *err)
{
    const struct archive_in *archive = &shard->archive;
    struct shard_board *found = &shard->found;
    const struct error_place place = {.file = archive->path};
    const bool wants_katago = said->board != NULL && board_has_size_of_shard(said->board);
    struct error why = {0};
    const struct array *type = archive_in_find(archive, "board_type");
    char says[64];
    const bool shard_says = role_guess_board(archive, says, sizeof says) == 0;
    const bool is_other = wants_katago && (!shard_says || strncmp(says, "katago:", 7) != 0);

    *found = (struct shard_board){.from = "--board", .is_sure = true};
    if (said->board != NULL && !wants_katago) {
        found->board = said->board_text != NULL
                           ? board_new_from_text(said->board, said->board_text, err)
                           : board_new(said->board, err);
        if (found->board == NULL)
            return -1;
        if (shard_check_board(archive, found->board, &why) == 0)
            return 0;
        (void)error_pass(err, &why);
        return why.kind == ERROR_INTERNAL ? -1 : 1;
    }
    /* --board katago: the shard says of which size. */
    if (is_other && !shard_says)
        error_fill_at(err, ERROR_DATA, &place, "does not have the members of a KataGo shard");
    else if (is_other)
        error_fill_at(err, ERROR_DATA, &place, "is of board %s, not of %s (--board)",
                      text_quote(says).text, text_path(said->board).text);
    else if (wants_katago) { /* "katago:9": append its size to what the user gave */
        const struct text_quoted size = text_path(strchr(says, ':'));

        snprintf(says, sizeof says, "%.40s%.20s", text_path(said->board).text, size.text);
    }
    /* Which of KataGomo's games it is, only the manifest or the comment can say. */
    if (may_guess && !wants_katago && (!shard_says || strncmp(says, "katago:", 7) == 0))
        found->board = recall_board(&shard->recall, archive, &found->from, &why);
    if (shard_says && (found->board == NULL || !found->board->family->only_known_members)) {
        board_free(found->board);
        found->from = "said by the shard";
        found->board = board_new(says, &why);
    }
    if (why.kind == ERROR_INTERNAL)
        return error_pass(err, &why);
    if (found->board != NULL || is_other)
        return is_other;
    found->is_sure = false;
    found->from = "guessed from shapes";
    const bool is_guessed = role_guess_board_by_shape(archive, &found->guess) == 0;
    const bool has_type =
        type != NULL && type->header.n_dims == 0 &&
        array_read_string(type, says, sizeof says) == 0; /* of no board that is known */
    if (may_guess && is_guessed)
        found->board = board_new(found->guess.board, &why);
    if (why.kind == ERROR_INTERNAL)
        return error_pass(err, &why);
    if (found->board != NULL)
        return 0;
    error_fill_at(err, ERROR_USAGE, &place,
                  "does not say of which board it is%s%s%s; use --board%s%s (%s)",
                  has_type ? " (board_type=" : "", has_type ? text_quote(says).text : "",
                  has_type ? " is none)" : "", is_guessed ? " " : "", found->guess.board,
                  found->guess.n_boards > 0 || is_guessed ? found->guess.reason
                                                          : "`symaug boards` lists them");
    return 1;
}

/* --- all of it --- */

int shard_read(struct shard *shard, const char *path, const struct settings *settings,
               struct error *err)
{
    struct archive_in *archive = &shard->archive;
    const struct role_request *said = &settings->roles;

    /* Roles on trial are as many as the arrays, which were read well before. */
    said = said->try_roles != NULL && said->under != NULL ? said->under : said;
    if (settings->memory != NULL
            ? archive_in_of_memory(archive, path, settings->memory, settings->n_memory, err)
            : archive_in_open_part(archive, path, settings->use_map, role_is_dropped, said, err))
        return -1;
    if (strncmp(archive->comment, "symaug ", 7) == 0)
        shard->expansion = "its zip comment says so";
    else if (archive_in_find(archive, PLAN_SOURCE_KEY) != NULL ||
             archive_in_find(archive, PLAN_TRANSFORM_KEY) != NULL)
        shard->expansion = "it holds " PLAN_SOURCE_KEY " or " PLAN_TRANSFORM_KEY;
    return name_only_array(archive, &settings->roles, err);
}

int shard_find_roles(struct shard *shard, const struct board *board,
                     const struct role_request *request, struct error *err)
{
    if (new_items(&shard->bindings, shard->archive.n_arrays + 1, "roles", err) != 0 ||
        role_infer(&shard->archive, board, request, shard->bindings, &shard->n_rows,
                   &shard->problems, err) != 0)
        return -1;
    return shard->problems.n > 0 && request->command != NULL
               ? role_settle(&shard->problems, &shard->archive, board, request, err)
               : 0;
}

int shard_open(struct shard *shard, const char *path, const struct settings *settings,
               struct error *err)
{
    struct text head = {0}, file = {0};
    struct error why = {0};

    *shard = (struct shard){0};
    if (shard_read(shard, path, settings, err) != 0 ||
        shard_recall(shard, settings, true, err) != 0)
        return -1;
    int status = shard_find_board(shard, &shard->recall.settings, true, &why);
    if (status < 0)
        return error_pass(err, &why);
    if (status > 0 && new_items(&shard->board_problem, 1, "board", err) != 0)
        return -1;
    if (status > 0)
        *shard->board_problem = why;
    if (archive_in_load_objects(&shard->archive, err) != 0)
        return -1;
    const struct board *board = shard->found.board;
    if (board == NULL) {
        const struct array *first = role_rows_array(&shard->archive);

        shard->rows_are_known = first != NULL;
        shard->n_rows = first != NULL ? first->n_rows : 0;
        return 0;
    }
    struct role_request request = shard->recall.settings.roles; /* borrowed */
    status = -1;
    if (text_append(&head, err, "symaug expand --board ") == 0 &&
        text_append_shell(&head, board->preset, err) == 0 && text_append(&file, err, " -- ") == 0 &&
        text_append_shell(&file, shard->archive.path, err) == 0 &&
        text_append(&file, err, " OUT.npz") == 0) {
        /* Ask whatever expand would ask, so that a schema holds no guess; but not about an
         * expansion, whose roles are in its manifest, or were decided before. */
        request.is_strict = shard->recall.manifest == NULL && shard->expansion == NULL;
        request.swaps_colours = request.is_strict && board_swaps_colours(board);
        request.conventions = &conventions_default;
        request.command = head.text;
        request.operands = file.text;
        status = shard_find_roles(shard, board, &request, err);
    }
    shard->rows_are_known = status == 0 && shard->n_rows > 0;
    if (status == 0 && shard->problems.n > 0)
        status = role_problems_command(&shard->problems, &shard->archive, &request, &shard->command,
                                       err);
    text_release(&head);
    text_release(&file);
    return status;
}

void shard_close(struct shard *shard)
{
    free(shard->bindings);
    role_problems_release(&shard->problems);
    text_release(&shard->command);
    board_free(shard->found.board);
    free(shard->board_problem);
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

    return role_problem_of(&shard->problems, (int)i) != NULL ||
           (index >= 0 && role_problem_of(&shard->problems, index) != NULL);
}

int shard_flag(const struct shard *shard, size_t i, struct text *flag, struct error *err)
{
    const struct role_problem *problem = role_problem_of(&shard->problems, (int)i);

    return problem != NULL && problem->role[0] != '\0'
               ? role_problem_flags(problem, &shard->archive, flag, err)
               : 0;
}
