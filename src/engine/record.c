/*
 * record.c - see record.h.
 *
 * A manifest must hold everything that shaped the rows: what one option changes is one line here,
 * in `fill`, and what of it a reader of the output needs is taken back in `recall_open`.
 */
#include "engine/record.h"

#include "engine/side_work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

/* --- from a plan --- */

static int add_board(struct manifest *m, const struct plan *plan, struct error *err)
{
    const struct board *b = plan->board;
    const struct manifest_board board = {.name = b->name,
                                         .preset = b->preset,
                                         .file_text = b->file_text,
                                         .group_order = b->n_transforms};
    int bad = manifest_set_board(m, &board, err);

    for (uint32_t k = 0; k < plan->n_chosen && bad == 0; k++) {
        const struct board_transform *t = &b->transforms[plan->chosen[k]];

        bad = manifest_add_transform(
            m, &(struct manifest_transform){plan->chosen[k], t->name, t->swaps_colours}, err);
    }
    return bad;
}

static int set_number(struct manifest *m, const char *name, uint64_t value, struct error *err)
{
    char text[24];

    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return manifest_set_option(m, name, text, err);
}

static int add_options(struct manifest *m, const struct plan *plan, const struct settings *settings,
                       struct error *err)
{
    static const char *const forms[] = {
        [ARCHIVE_OUT_NPZ] = "npz", [ARCHIVE_OUT_NPY_FOLDER] = "npy-dir", [ARCHIVE_OUT_NPY] = "npy"};
    const bool random = plan->pick > 0 || plan->order.shuffled;
    int bad = manifest_set_option(m, "order", settings->order_text, err) |
              manifest_set_option(m, "level", settings->level_text, err) |
              manifest_set_option(m, "format", forms[settings->form], err) |
              manifest_set_option(m, "provenance", plan->provenance ? "yes" : "no", err) |
              manifest_set_codec(m, settings->level_text, codec_libraries(), err);

    if (plan->pick > 0)
        bad |= set_number(m, "pick", plan->pick, err) |
               manifest_set_option(m, "keep-identity", plan->keep_identity ? "yes" : "no", err);
    if (random)
        bad |= set_number(m, "seed", settings->seed, err);
    if (random && settings->seed_name != NULL)
        bad |= manifest_set_option(m, "seed-per-name", "yes", err);
    if (plan->order.shuffled)
        bad |= manifest_set_option(m, "shuffle", "yes", err);
    if (plan->rows_per_shard > 0)
        bad |= set_number(m, "rows-per-shard", plan->rows_per_shard, err);
    if (plan->unique)
        bad |= manifest_set_option(m, "unique", "yes", err);
    if (plan->purpose != FOR_IMAGES && plan->was_expanded)
        bad |= manifest_set_option(m, "expanded", "yes", err);
    for (size_t i = 0; i < plan->n_notes && bad == 0; i++)
        if (plan->notes[i].value != NULL)
            bad = manifest_set_option(m, plan->notes[i].name, plan->notes[i].value, err);
    return bad;
}

/* Whether planes are stored column by column; -1 without planes. */
static int plane_order(const struct plan *plan)
{
    for (size_t i = 0; i < plan->n_arrays; i++) {
        const struct role_binding *b = &plan->arrays[i].binding;

        if (b->role == ROLE_PLANES || b->role == ROLE_PACKED || b->role == ROLE_GRID)
            return b->plane_xy;
    }
    return -1;
}

/* The conventions that bear on this board's output. */
static int add_conventions(struct manifest *m, const struct plan *plan,
                           const struct settings *settings, struct error *err)
{
    const struct conventions *c = &plan->conventions;
    const bool swaps = board_swaps_colours(plan->board);
    const bool is_chess = plan->board->family->castling != NULL;
    const int xy = plane_order(plan);
    const struct {
        const char *name;
        bool bears;
    } all[] = {
        {"planes", swaps},
        {"value", swaps},
        {"to-move", swaps},
        {"to-move-plane", swaps},
        {"castling", is_chess},
        {"castling-planes", is_chess},
        {"tiles", plan->board->family->has_tiles},
        {"ambiguous", plan->n_ambiguous != UINT64_MAX},
    };
    int bad = 0;

    for (size_t i = 0; i < sizeof all / sizeof *all && bad == 0; i++) {
        const struct convention_text text = conventions_text(c, all[i].name);
        char source[24] = "default";

        if (strcmp(all[i].name, "to-move-plane") == 0) { /* an option of its own it has not */
            if (c->plane_coding != TO_MOVE_01)
                snprintf(source, sizeof source, "--%s",
                         c->planes == PLANES_PERMUTATION ? "planes" : "to-move");
        } else if (conventions_is_said(c, all[i].name)) {
            snprintf(source, sizeof source, "--%s", all[i].name);
        }
        if (all[i].bears)
            bad = manifest_set_convention(
                m, &(struct manifest_convention){all[i].name, text.text, source}, err);
    }
    if (xy >= 0)
        bad |= manifest_set_convention(
            m,
            &(struct manifest_convention){"plane-order", xy ? "xy" : "yx",
                                          settings->roles.plane_xy >= 0 ? "--plane-order"
                                                                        : "default"},
            err);
    return bad;
}

static int add_inputs(struct manifest *m, const struct plan *plan,
                      char (*sha256)[DIGEST_HEX_NBYTES], struct error *err)
{
    int bad = 0;

    for (size_t i = 0; i < plan->n_archives && bad == 0; i++) {
        const struct archive_in *archive = &plan->archives[i];
        struct manifest_file file = {
            .name = base_name(archive->path), .sha256 = sha256[i], .n_rows = plan->archive_rows[i]};

        for (size_t k = 0; k < archive->n_inputs; k++)
            file.n_bytes += archive->inputs[k].n_bytes;
        bad = manifest_add_input(m, &file, err);
    }
    return bad;
}

/* Everything that shapes the rows, but for the arrays. */
static int fill(struct manifest *m, const struct plan *plan, const struct settings *settings,
                char (*sha256)[DIGEST_HEX_NBYTES], struct error *err)
{
    return add_board(m, plan, err) != 0 || add_options(m, plan, settings, err) != 0 ||
                   add_conventions(m, plan, settings, err) != 0 ||
                   add_inputs(m, plan, sha256, err) != 0
               ? -1
               : 0;
}

/* What a swap of colours does to an array's numbers; NULL where it can do nothing. */
static const char *swap_of(const struct plan *plan, const struct plan_array *array)
{
    const enum role role = array->binding.role;
    const enum label_op op = plan_swap_label(plan, array);
    const bool has_labels = role == ROLE_VALUE || role == ROLE_WDL || role == ROLE_TO_MOVE ||
                            role == ROLE_GRID || op != LABEL_KEEP;

    return plan->swaps && has_labels ? label_op_name(op) : NULL;
}

/* source: NULL for provenance. */
static int add_array(struct manifest *m, const struct plan *plan, const struct plan_array *source,
                     struct manifest_array array, struct error *err)
{
    char role[160] = "provenance";

    if (source != NULL && role_binding_spec(&source->binding, role, sizeof role) != 0)
        return error_set(err, ERROR_INTERNAL, "%s: role too long", text_path(array.name).text);
    array.role = role;
    array.swap = source != NULL ? swap_of(plan, source) : NULL;
    return manifest_add_array(m, &array, err);
}

/* The arrays of the output added last, as they were written; or, members being NULL, as far as they
 * can be told before. */
static int add_arrays(struct manifest *m, const struct plan *plan, const struct out_member *members,
                      size_t n_members, struct error *err)
{
    int bad = 0;

    for (size_t i = 0; i < n_members && bad == 0; i++) {
        const struct out_member *out = &members[i];
        const struct manifest_array array = {.name = out->key,
                                             .dtype = out->dtype,
                                             .shape = out->shape,
                                             .n_dims = out->n_dims,
                                             .codec = out->head.codec,
                                             .crc = out->head.crc};

        bad = add_array(m, plan, out->array, array, err);
    }
    for (size_t i = 0; i < plan->n_arrays && bad == 0; i++) {
        const struct plan_array *array = &plan->arrays[i];

        if (array->binding.role == ROLE_DROP)
            bad = manifest_add_dropped(m, array->key, err);
        else if (members == NULL)
            bad = add_array(m, plan, array, (struct manifest_array){.name = array->key}, err);
    }
    return bad;
}

static int add_count(struct manifest *m, const char *name, uint64_t value, struct error *err)
{
    return value == UINT64_MAX ? 0 : manifest_set_count(m, name, value, err);
}

static int add_counts(struct manifest *m, const struct plan *plan,
                      const struct expand_result *result, struct error *err)
{
    const uint64_t left_out = plan->n_rows * plan->n_chosen - plan->order.n_whole;
    int bad = add_count(m, "rows_in", plan->n_rows, err) |
              add_count(m, "rows_out", result->n_rows, err) |
              add_count(m, "images_left_out", left_out, err) |
              add_count(m, "ambiguous_entries", plan->n_ambiguous, err) |
              add_count(m, "unencodable_entries", plan->n_unencodable, err) |
              add_count(m, "castling_rows", plan->n_castling_rows, err);

    for (size_t i = 0; i < plan->n_notes && bad == 0; i++)
        if (plan->notes[i].value == NULL)
            bad = manifest_set_count(m, plan->notes[i].name, plan->notes[i].count, err);
    for (size_t i = 0; i < plan->n_warnings && bad == 0; i++)
        bad = manifest_add_warning(m, plan->warnings[i], err);
    return bad;
}

int record_write(const struct plan *plan, const char *path, const struct settings *settings,
                 const struct expand_result *result, const struct out_member *members,
                 size_t n_members, char (*input_sha256)[DIGEST_HEX_NBYTES], struct error *err)
{
    const struct manifest_file output = {
        .name = base_name(path),
        .n_bytes = result->n_bytes,
        .sha256 = result->sha256,
        .n_rows = result->n_rows,
        .first_row = plan->rows_per_shard > 0 || plan->input_ends != NULL ? result->first_row
                                                                          : MANIFEST_NO_ROW};
    struct manifest *m = manifest_new(err);
    struct text manifest_path = {0};
    int status = -1;

    if (m != NULL && fill(m, plan, settings, input_sha256, err) == 0 &&
        manifest_add_output(m, &output, err) == 0 &&
        add_arrays(m, plan, members, n_members, err) == 0 &&
        add_counts(m, plan, result, err) == 0 &&
        text_append(&manifest_path, err, "%s" MANIFEST_SUFFIX, path) == 0)
        status = manifest_write(m, manifest_path.text, true, err);
    text_release(&manifest_path);
    manifest_free(m);
    return status;
}

/* Whether path holds the bytes that the manifest lists. */
static int compare_bytes(const struct manifest *m, const char *path, struct text *list,
                         struct error *err)
{
    struct input in = {0};
    char sha256[DIGEST_HEX_NBYTES];
    int status = -1;

    if (m->n_outputs != 1)
        return text_append(list, err, "its manifest is not that of one output");
    if (input_open(&in, path, true, err) == 0)
        status = digest_input(&in, sha256, err);
    input_close(&in);
    if (status == 0 && strcmp(sha256, m->outputs[0].sha256) != 0)
        status = text_append(list, err, "SHA-256 of the file: %s expected, %s found",
                             m->outputs[0].sha256, sha256);
    return status;
}

int record_compare(const struct plan *plan, const char *path, const struct settings *settings,
                   char (*input_sha256)[DIGEST_HEX_NBYTES], bool *is_known, struct text *list,
                   struct error *err)
{
    struct manifest *wanted = manifest_new(err), *found = NULL;
    struct text manifest_path = {0};
    int status = -1;

    if (wanted != NULL && fill(wanted, plan, settings, input_sha256, err) == 0 &&
        manifest_add_output(wanted, &(struct manifest_file){0}, err) == 0 &&
        add_arrays(wanted, plan, NULL, 0, err) == 0)
        status = text_append(&manifest_path, err, "%s" MANIFEST_SUFFIX, path);
    if (status == 0)
        found = manifest_read(manifest_path.text, NULL);
    *is_known = found != NULL;
    if (found != NULL && (manifest_compare(wanted, found, list, err) != 0 ||
                          manifest_compare_inputs(wanted, found, list, err) != 0 ||
                          (list->n_bytes == 0 && compare_bytes(found, path, list, err) != 0)))
        status = -1;
    text_release(&manifest_path);
    manifest_free(found);
    manifest_free(wanted);
    return status;
}

/* --- back to settings --- */

static int read_beside(struct recall *r, const char *path, struct error *err)
{
    struct text name = {0};
    size_t n = strlen(path);

    while (n > 1 && path[n - 1] == '/')
        n--;
    if (text_append(&name, err, "%.*s" MANIFEST_SUFFIX, (int)n, path) != 0)
        return -1;
    r->manifest = r->own = manifest_read(name.text, NULL);
    text_release(&name);
    return 0;
}

/* By its bytes, or else by its name. */
static int find_output(struct recall *r, const struct archive_in *archive, bool exact,
                       struct error *err)
{
    char sha256[DIGEST_HEX_NBYTES];

    if (exact && side_work_digest(archive, sha256, err) != 0)
        return -1;
    for (size_t i = 0; i < r->manifest->n_outputs && r->output == NULL; i++) {
        const struct manifest_file *file = &r->manifest->outputs[i];

        if (exact ? strcmp(sha256, file->sha256) == 0
                  : strcmp(base_name(file->name), base_name(archive->path)) == 0)
            r->output = file;
    }
    return 0;
}

static void take_conventions(struct recall *r)
{
    struct settings *s = &r->settings;
    const char *order = manifest_convention(r->manifest, "plane-order");

    for (size_t i = 0; convention_names[i] != NULL; i++) {
        const char *text = manifest_convention(r->manifest, convention_names[i]);

        if (text != NULL && !conventions_is_said(&s->conventions, convention_names[i]))
            (void)conventions_set(&s->conventions, convention_names[i], text, NULL);
    }
    if (s->roles.plane_xy < 0 && order != NULL)
        s->roles.plane_xy = strcmp(order, "xy") == 0;
}

/* Has an array still the dtype and row shape that the manifest lists? */
static bool fits(const struct array *array, const struct manifest_array *listed)
{
    const struct npy_header *header = &array->header;
    char dtype[32];

    dtype_name(&header->dtype, dtype, sizeof dtype);
    if (strcmp(dtype, listed->dtype) != 0 || listed->n_dims != header->n_dims)
        return false;
    for (unsigned d = 1; d < header->n_dims; d++)
        if (listed->shape[d] != header->shape[d])
            return false;
    return true;
}

/* Roles of the manifest go before those of the user: of several for one array the last one counts.
 * A role that this version does not know is as though it were not said. */
static int take_roles(struct recall *r, const struct archive_in *archive, struct error *err)
{
    const struct role_request *said = &r->settings.roles;
    struct role_request all = {.policy_layout = said->policy_layout, .plane_xy = said->plane_xy};
    struct role_override *grown;
    int status = 0;

    for (size_t i = 0; i < r->output->n_arrays && status == 0; i++) {
        const struct manifest_array *listed = &r->output->arrays[i];
        const struct array *array = archive_in_find(archive, listed->name);
        struct error why = {0};

        if (array != NULL && strcmp(listed->role, "provenance") != 0 && fits(array, listed) &&
            role_request_add_spec(&all, listed->name, listed->role, &why) != 0 &&
            why.kind != ERROR_USAGE)
            status = error_set(err, why.kind, "%s", why.message);
    }
    r->owns_roles = true;
    r->n_own = all.n_overrides;
    grown = realloc(all.overrides, (all.n_overrides + said->n_overrides + 1) * sizeof *grown);
    if (grown != NULL) {
        all.overrides = grown;
        if (said->n_overrides > 0)
            memcpy(grown + all.n_overrides, said->overrides, said->n_overrides * sizeof *grown);
        all.n_overrides += said->n_overrides;
    } else if (status == 0) {
        status = error_no_memory(err, "roles");
    }
    r->settings.roles = all;
    return status;
}

int recall_open(struct recall *r, const struct settings *settings, const struct archive_in *archive,
                const struct manifest *given, size_t output, bool exact, struct error *err)
{
    *r = (struct recall){.settings = *settings, .manifest = given};
    if (given != NULL)
        r->output = &given->outputs[output];
    else if (read_beside(r, archive->path, err) != 0 ||
             (r->manifest != NULL && find_output(r, archive, exact, err) != 0))
        return -1;
    if (exact && r->output == NULL)
        r->manifest = NULL;
    if (r->manifest == NULL)
        return 0;
    take_conventions(r);
    return r->output != NULL ? take_roles(r, archive, err) : 0;
}

bool recall_is_expanded(const struct recall *r)
{
    return manifest_option(r->manifest, "command") == NULL ||
           manifest_option(r->manifest, "expanded") != NULL;
}

struct board *recall_board(const struct recall *r, const struct archive_in *archive,
                           const char **from, struct error *why)
{
    static const char comment[] = PLAN_ZIP_COMMENT, file[] = "file:";
    const char *name = r->manifest != NULL ? r->manifest->board.name : NULL;

    *from = "said by its manifest";
    if (name != NULL && r->manifest->board.file_text != NULL)
        return board_new_from_text(name, r->manifest->board.file_text, why);
    if (name == NULL && strncmp(archive->comment, comment, sizeof comment - 1) == 0) {
        *from = "said by its zip comment";
        name = archive->comment + sizeof comment - 1;
    }
    /* What a file says must not make the program read another one. */
    return name != NULL && strncmp(name, file, sizeof file - 1) != 0 ? board_new(name, why) : NULL;
}

void recall_release(struct recall *r)
{
    if (r->owns_roles) {
        struct role_request own = {.overrides = r->settings.roles.overrides,
                                   .n_overrides = r->n_own};

        role_request_release(&own);
    }
    manifest_free(r->own);
    *r = (struct recall){0};
}
