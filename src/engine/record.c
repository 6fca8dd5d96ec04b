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

    if (manifest_set_board(m, board->name, board->preset, board->n_transforms, err) != 0)
        return -1;
    for (uint32_t k = 0; k < plan->n_chosen; k++) {
        const struct board_transform *t = &board->transforms[plan->chosen[k]];

        if (manifest_add_transform(m, plan->chosen[k], t->name, t->swaps_colours, err) != 0)
            return -1;
    }
    return 0;
}

/* The conventions that bear on this board's output. */
static int add_conventions(struct manifest *m, const struct plan *plan, struct error *err)
{
    const struct conventions *c = &plan->conventions;

    if (board_swaps_colours(plan->board) &&
        (manifest_set_option(m, "planes", planes_convention_name(c->planes), err) != 0 ||
         manifest_set_option(m, "value", value_convention_name(c->value), err) != 0 ||
         manifest_set_option(m, "to-move", to_move_coding_name(c->to_move), err) != 0))
        return -1;
    if (plan->board->family->castling != NULL &&
        manifest_set_option(m, "castling", castling_policy_name(c->castling), err) != 0)
        return -1;
    if (plan->board->family->has_tiles &&
        manifest_set_option(m, "tiles", tiles_policy_name(c->tiles), err) != 0)
        return -1;
    if (plan->n_ambiguous != UINT64_MAX &&
        manifest_set_option(m, "ambiguous", ambiguous_policy_name(c->ambiguous), err) != 0)
        return -1;
    return 0;
}

/* What was left out, and the order that is no order. */
static int add_selection(struct manifest *m, const struct plan *plan, struct error *err)
{
    char text[24];

    if (plan->pick > 0) {
        snprintf(text, sizeof text, "%u", plan->pick);
        if (manifest_set_option(m, "pick", text, err) != 0 ||
            manifest_set_option(m, "keep-identity", plan->keep_identity ? "yes" : "no", err) != 0)
            return -1;
    }
    if (plan->pick > 0 || plan->order.shuffled) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)plan->seed);
        if (manifest_set_option(m, "seed", text, err) != 0)
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

static int add_options(struct manifest *m, const struct plan *plan,
                       const struct settings *settings, struct error *err)
{
    static const char *const forms[] = {
        [ARCHIVE_OUT_NPZ] = "npz", [ARCHIVE_OUT_NPY_FOLDER] = "npy-dir", [ARCHIVE_OUT_NPY] = "npy"};

    if (manifest_set_option(m, "order", settings->order_text, err) != 0 ||
        manifest_set_option(m, "level", settings->level_text, err) != 0 ||
        manifest_set_option(m, "format", forms[settings->form], err) != 0 ||
        manifest_set_option(m, "provenance", plan->provenance ? "yes" : "no", err) != 0)
        return -1;
    return add_selection(m, plan, err) != 0 || add_conventions(m, plan, err) != 0
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
        const struct manifest_array array = {
            .name = out->key,
            .dtype = out->dtype,
            .shape = out->shape,
            .n_dims = out->n_dims,
            .role = out->role,
            .codec = out->codec,
            .crc = out->crc,
        };

        if (manifest_add_array(m, &array, err) != 0)
            return -1;
    }
    return 0;
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

static bool holds_listed_bytes(const struct manifest *m, const char *path)
{
    struct manifest_file listed;
    struct input in = {0};
    char sha256[DIGEST_HEX_NBYTES];
    bool same = false;

    if (manifest_n_outputs(m) != 1 || manifest_output(m, 0, &listed) != 0)
        return false;
    if (input_open(&in, path, true, NULL) == 0)
        same = in.n_bytes == listed.n_bytes && digest_input(&in, sha256, NULL) == 0 &&
               strcmp(sha256, listed.sha256) == 0;
    input_close(&in);
    return same;
}

int record_matches(const struct plan *plan, const char *path,
                   const struct settings *settings, char (*input_sha256)[DIGEST_HEX_NBYTES],
                   bool *matches, struct error *err)
{
    struct manifest *wanted = manifest_new(err), *found = NULL;
    struct text manifest_path = {0};
    int status = -1;

    *matches = false;
    if (wanted != NULL && add_transforms(wanted, plan, err) == 0 &&
        add_options(wanted, plan, settings, err) == 0 &&
        add_inputs(wanted, plan, input_sha256, err) == 0 &&
        text_append(&manifest_path, err, "%s" MANIFEST_SUFFIX, path) == 0) {
        found = manifest_read(manifest_path.text, NULL);
        *matches = found != NULL && manifest_same_settings(wanted, found) &&
                   manifest_same_inputs(wanted, found) && holds_listed_bytes(found, path);
        status = 0;
    }
    text_release(&manifest_path);
    manifest_free(found);
    manifest_free(wanted);
    return status;
}
