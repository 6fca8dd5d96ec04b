/* record.c - see record.h. */
#include "engine/record.h"

#include "base/text.h"
#include "shard/manifest.h"

#include <stdio.h>
#include <string.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

static int add_transforms(struct manifest *m, const struct plan *plan, struct error *err)
{
    const struct board *board = plan->board;

    if (manifest_set_board(m, board->name, board->preset, board->n_transforms, err) != 0 ||
        (board->file_text != NULL && manifest_set_board_file(m, board->file_text, err) != 0))
        return -1;
    for (uint32_t k = 0; k < plan->n_chosen; k++) {
        const struct board_transform *t = &board->transforms[plan->chosen[k]];

        if (manifest_add_transform(m, plan->chosen[k], t->name, t->swaps_colours, err) != 0)
            return -1;
    }
    return 0;
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

static int add_convention(struct manifest *m, const struct conventions *c, const char *name,
                          struct error *err)
{
    char source[24] = "default";

    if (strcmp(name, "to-move-plane") == 0) {
        if (c->plane_coding != TO_MOVE_01)
            snprintf(source, sizeof source, "--%s",
                     c->planes == PLANES_PERMUTATION ? "planes" : "to-move");
    } else if (conventions_is_said(c, name))
        snprintf(source, sizeof source, "--%s", name);
    return manifest_set_convention(m, name, conventions_text(c, name).text, source, err);
}

/* The conventions that bear on this board's output. */
static int add_conventions(struct manifest *m, const struct plan *plan,
                           const struct settings *settings, struct error *err)
{
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

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].bears && add_convention(m, &plan->conventions, all[i].name, err) != 0)
            return -1;
    return xy < 0 ? 0
                  : manifest_set_convention(
                        m, "plane-order", xy ? "xy" : "yx",
                        settings->roles.plane_xy >= 0 ? "--plane-order" : "default", err);
}

/* What was left out, and the order that is no order. */
static int add_selection(struct manifest *m, const struct plan *plan,
                         const struct settings *settings, struct error *err)
{
    char text[24];

    if (plan->pick > 0) {
        snprintf(text, sizeof text, "%u", plan->pick);
        if (manifest_set_option(m, "pick", text, err) != 0 ||
            manifest_set_option(m, "keep-identity", plan->keep_identity ? "yes" : "no", err) != 0)
            return -1;
    }
    if (plan->pick > 0 || plan->order.shuffled) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)settings->seed);
        if (manifest_set_option(m, "seed", text, err) != 0 ||
            (settings->seed_name != NULL &&
             manifest_set_option(m, "seed-per-name", "yes", err) != 0))
            return -1;
    }
    if (plan->order.shuffled && manifest_set_option(m, "shuffle", "yes", err) != 0)
        return -1;
    if (plan->rows_per_shard > 0) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)plan->rows_per_shard);
        if (manifest_set_option(m, "rows-per-shard", text, err) != 0)
            return -1;
    }
    return plan->unique ? manifest_set_option(m, "unique", "yes", err) : 0;
}

static int add_options(struct manifest *m, const struct plan *plan, const struct settings *settings,
                       struct error *err)
{
    static const char *const forms[] = {
        [ARCHIVE_OUT_NPZ] = "npz", [ARCHIVE_OUT_NPY_FOLDER] = "npy-dir", [ARCHIVE_OUT_NPY] = "npy"};

    if (manifest_set_option(m, "order", settings->order_text, err) != 0 ||
        manifest_set_option(m, "level", settings->level_text, err) != 0 ||
        manifest_set_option(m, "format", forms[settings->form], err) != 0 ||
        manifest_set_option(m, "provenance", plan->provenance ? "yes" : "no", err) != 0)
        return -1;
    return add_selection(m, plan, settings, err) != 0 ||
                   add_conventions(m, plan, settings, err) != 0
               ? -1
               : manifest_set_codec(m, settings->level_text, codec_libraries(), err);
}

static int add_inputs(struct manifest *m, const struct plan *plan,
                      char (*sha256)[DIGEST_HEX_NBYTES], struct error *err)
{
    for (size_t i = 0; i < plan->n_archives; i++) {
        const struct archive_in *archive = &plan->archives[i];
        uint64_t n_bytes = 0;

        for (size_t k = 0; k < archive->n_inputs; k++)
            n_bytes += archive->inputs[k].n_bytes;
        if (manifest_add_input(m, base_name(archive->path), n_bytes, sha256[i],
                               plan->archive_rows[i], err) != 0)
            return -1;
    }
    return 0;
}

/* Whether a swap of colours may bear on an array's numbers. */
static bool has_swap(const struct plan *plan, const struct plan_array *array)
{
    const enum role role = array->binding.role;

    return plan->swaps && (role == ROLE_VALUE || role == ROLE_WDL || role == ROLE_TO_MOVE ||
                           role == ROLE_GRID || plan_swap_label(plan, array) != LABEL_KEEP);
}

static int add_array(struct manifest *m, const struct plan *plan,
                     const struct plan_array *plan_array, struct manifest_array *array,
                     struct error *err)
{
    char role[160] = "provenance";

    if (plan_array != NULL && has_swap(plan, plan_array))
        array->swap = label_op_name(plan_swap_label(plan, plan_array));
    if (plan_array != NULL && role_binding_spec(&plan_array->binding, role, sizeof role) != 0)
        return error_set(err, ERROR_INTERNAL, "%s: role too long", text_path(array->name).text);
    array->role = role;
    return manifest_add_array(m, array, err);
}

static int add_dropped(struct manifest *m, const struct plan *plan, struct error *err)
{
    for (size_t i = 0; i < plan->n_arrays; i++)
        if (plan->arrays[i].binding.role == ROLE_DROP &&
            manifest_add_dropped(m, plan->arrays[i].key, err) != 0)
            return -1;
    return 0;
}

static int add_output(struct manifest *m, const struct plan *plan, const char *path,
                      const struct expand_result *result, const struct out_member *members,
                      size_t n_members, struct error *err)
{
    if (manifest_add_output(m, base_name(path), result->n_bytes, result->sha256, result->n_rows,
                            err) != 0 ||
        (plan->rows_per_shard > 0 && manifest_set_first_row(m, result->first_row, err) != 0))
        return -1;
    for (size_t i = 0; i < n_members; i++) {
        const struct out_member *out = &members[i];
        struct manifest_array array = {
            .name = out->key,
            .dtype = out->dtype,
            .shape = out->shape,
            .n_dims = out->n_dims,
            .codec = out->codec,
            .crc = out->crc,
        };

        if (add_array(m, plan, out->array, &array, err) != 0)
            return -1;
    }
    return add_dropped(m, plan, err);
}

/* An output as far as it can be told before it is made: the roles of its arrays. */
static int add_wanted(struct manifest *m, const struct plan *plan, const char *path,
                      struct error *err)
{
    if (manifest_add_output(m, base_name(path), 0, "", 0, err) != 0)
        return -1;
    for (size_t i = 0; i < plan->n_arrays; i++) {
        struct manifest_array array = {.name = plan->arrays[i].key, .dtype = "", .codec = ""};

        if (plan->arrays[i].binding.role != ROLE_DROP &&
            add_array(m, plan, &plan->arrays[i], &array, err) != 0)
            return -1;
    }
    return add_dropped(m, plan, err);
}

static int add_count(struct manifest *m, const char *name, uint64_t value, struct error *err)
{
    return value == UINT64_MAX ? 0 : manifest_set_count(m, name, value, err);
}

static int add_counts(struct manifest *m, const struct plan *plan,
                      const struct expand_result *result, struct error *err)
{
    const uint64_t left_out = plan->n_rows * plan->n_chosen - plan->order.n_whole;

    if (add_count(m, "rows_in", plan->n_rows, err) != 0 ||
        add_count(m, "rows_out", result->n_rows, err) != 0 ||
        add_count(m, "images_left_out", left_out, err) != 0 ||
        add_count(m, "ambiguous_entries", plan->n_ambiguous, err) != 0 ||
        add_count(m, "unencodable_entries", plan->n_unencodable, err) != 0 ||
        add_count(m, "castling_rows", plan->n_castling_rows, err) != 0)
        return -1;
    for (size_t i = 0; i < plan->n_warnings; i++)
        if (manifest_add_warning(m, plan->warnings[i], err) != 0)
            return -1;
    return 0;
}

int record_write(const struct plan *plan, const char *path, const struct settings *settings,
                 const struct expand_result *result, const struct out_member *members,
                 size_t n_members, char (*input_sha256)[DIGEST_HEX_NBYTES], struct error *err)
{
    struct manifest *m = manifest_new(err);
    struct text manifest_path = {0};
    int status = -1;

    if (m != NULL && add_transforms(m, plan, err) == 0 &&
        add_options(m, plan, settings, err) == 0 && add_inputs(m, plan, input_sha256, err) == 0 &&
        add_output(m, plan, path, result, members, n_members, err) == 0 &&
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
    struct manifest_file listed = {0};
    struct input in = {0};
    char sha256[DIGEST_HEX_NBYTES] = "none";

    if (manifest_output(m, 0, &listed) != 0 || manifest_n_outputs(m) != 1)
        return text_append(list, err, "its manifest is not that of one output");
    if (input_open(&in, path, true, err) != 0 || digest_input(&in, sha256, err) != 0) {
        input_close(&in);
        return -1;
    }
    input_close(&in);
    return strcmp(sha256, listed.sha256) == 0
               ? 0
               : text_append(list, err, "SHA-256 of the file: %s expected, %s found", listed.sha256,
                             sha256);
}

int record_compare(const struct plan *plan, const char *path, const struct settings *settings,
                   char (*input_sha256)[DIGEST_HEX_NBYTES], bool *is_known, struct text *list,
                   struct error *err)
{
    struct manifest *wanted = manifest_new(err), *found = NULL;
    struct text manifest_path = {0};
    int status = -1;

    *is_known = false;
    if (wanted != NULL && add_transforms(wanted, plan, err) == 0 &&
        add_options(wanted, plan, settings, err) == 0 &&
        add_inputs(wanted, plan, input_sha256, err) == 0 &&
        add_wanted(wanted, plan, path, err) == 0)
        status = text_append(&manifest_path, err, "%s" MANIFEST_SUFFIX, path);
    if (status == 0)
        found = manifest_read(manifest_path.text, NULL);
    if (found != NULL) {
        *is_known = true;
        status = manifest_compare(wanted, found, list, err);
        if (status == 0)
            status = manifest_compare_inputs(wanted, found, list, err);
        if (status == 0 && list->n_bytes == 0)
            status = compare_bytes(found, path, list, err);
    }
    text_release(&manifest_path);
    manifest_free(found);
    manifest_free(wanted);
    return status;
}
