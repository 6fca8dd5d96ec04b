/*
 * record.c - what is written beside an output: its manifest, and for KataGo the number of its rows.
 *
 * A manifest must hold everything that shaped the rows: what one option changes is one line here,
 * in `fill`, and what of it a reader of the output needs is taken back in `recall_open`.
 */
#include "engine/expand.h"

#include <stdio.h>
#include <string.h>

/* --- from a plan --- */

/* A zeroed list for a manifest; NULL with err set. */
#define NEW(m, n, type, err) ((type *)manifest_alloc((m), ((n) + 1) * sizeof(type), (err)))

/* Append to a list; source: of conventions. */
static int add_setting(struct manifest *m, struct manifest_setting *list, size_t *n,
                       const struct manifest_setting *setting, struct error *err)
{
    struct manifest_setting *s = &list[(*n)++];

    s->name = setting->name;
    s->value = manifest_keep(m, setting->value, err);
    s->source = setting->source != NULL ? manifest_keep(m, setting->source, err) : NULL;
    return s->value != NULL && (s->source != NULL || setting->source == NULL) ? 0 : -1;
}

static int add_options(struct manifest *m, const struct plan *plan, const struct settings *settings,
                       struct error *err)
{
    static const char *const forms[] = {
        [ARCHIVE_OUT_NPZ] = "npz", [ARCHIVE_OUT_NPY_FOLDER] = "npy-dir", [ARCHIVE_OUT_NPY] = "npy"};
    const bool random = settings->pick > 0 || plan->order.shuffled;
    char pick[24], seed[24], rows[24];
    const struct manifest_setting all[] = {
        {"order", settings->order_text, NULL},
        {"level", settings->level_text, NULL},
        {"format", forms[settings->form], NULL},
        {"provenance", plan->provenance ? "yes" : "no", NULL},
        {"pick", settings->pick > 0 ? pick : NULL, NULL},
        {"keep-identity",
         settings->pick == 0       ? NULL
         : settings->keep_identity ? "yes"
                                   : "no",
         NULL},
        {"seed", random ? seed : NULL, NULL},
        {"seed-per-name", random && settings->seed_name != NULL ? "yes" : NULL, NULL},
        {"shuffle", plan->order.shuffled ? "yes" : NULL, NULL},
        {"rows-per-shard", settings->rows_per_shard > 0 ? rows : NULL, NULL},
        {"unique", settings->unique ? "yes" : NULL, NULL},
        {"expanded", settings->purpose != FOR_IMAGES && plan->was_expanded ? "yes" : NULL, NULL},
    };

    snprintf(pick, sizeof pick, "%u", (unsigned)settings->pick);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)settings->seed);
    snprintf(rows, sizeof rows, "%llu", (unsigned long long)settings->rows_per_shard);
    m->codec_level = settings->level_text;
    m->codec_libraries = codec_libraries();
    m->options = NEW(m, sizeof all / sizeof *all + plan->n_notes, struct manifest_setting, err);
    for (size_t i = 0; m->options != NULL && i < sizeof all / sizeof *all; i++)
        if (all[i].value != NULL && add_setting(m, m->options, &m->n_options, &all[i], err) != 0)
            return -1;
    for (size_t i = 0; m->options != NULL && i < plan->n_notes; i++)
        if (plan->notes[i].value != NULL)
            m->options[m->n_options++] =
                (struct manifest_setting){plan->notes[i].name, plan->notes[i].value, NULL};
    return m->options != NULL ? 0 : -1;
}

/* The conventions that bear on this board's output. */
static int add_conventions(struct manifest *m, const struct plan *plan,
                           const struct settings *settings, struct error *err)
{
    const struct conventions *c = &plan->conventions;
    const bool swaps = board_swaps_colours(plan->board) && !plan->board->family->only_known_members;
    const bool is_chess = plan->board->family->castling != NULL;
    const struct {
        const char *name;
        bool bears;
    } all[] = {
        {"planes", swaps || (c->planes == PLANES_CANONICAL && board_swaps_colours(plan->board))},
        {"value", swaps},
        {"to-move", swaps},
        {"to-move-plane", swaps},
        {"castling", is_chess},
        {"castling-planes", is_chess},
        {"tiles", plan->board->family->has_tiles},
        {"ambiguous", plan->n_ambiguous != UINT64_MAX},
    };

    m->conventions = NEW(m, sizeof all / sizeof *all + 1, struct manifest_setting, err);
    for (size_t i = 0; m->conventions != NULL && i < sizeof all / sizeof *all; i++) {
        const char *name = all[i].name, *option = name;
        const struct text_quoted text = conventions_text(c, name);
        bool is_said = conventions_is_said(c, name);
        char source[24] = "default";

        if (strcmp(name, "to-move-plane") == 0) { /* it has no option of its own */
            is_said = c->plane_coding != TO_MOVE_01;
            option = c->planes == PLANES_PERMUTATION ? "planes" : "to-move";
        }
        if (is_said)
            snprintf(source, sizeof source, "--%s", option);
        if (all[i].bears &&
            add_setting(m, m->conventions, &m->n_conventions,
                        &(struct manifest_setting){name, text.text, source}, err) != 0)
            return -1;
    }
    for (size_t i = 0; m->conventions != NULL && i < plan->n_arrays; i++) {
        const struct role_binding *b = &plan->arrays[i].binding;

        if (role_is_on_cells(b->role)) {
            m->conventions[m->n_conventions++] = (struct manifest_setting){
                "plane-order", b->plane_xy ? "xy" : "yx",
                settings->roles.plane_xy >= 0 ? "--plane-order" : "default"};
            break;
        }
    }
    return m->conventions != NULL ? 0 : -1;
}

/* Everything that shapes the rows, but for the arrays. */
static int fill(struct manifest *m, const struct expand_job *job, struct error *err)
{
    const struct plan *plan = job->plan;
    const struct board *b = plan->board;
    char sha256[DIGEST_HEX_NBYTES];

    m->board = (struct manifest_board){.name = b->name,
                                       .preset = b->preset,
                                       .file_text = b->file_text,
                                       .group_order = b->n_transforms};
    if (b->file_text != NULL &&
        (digest_bytes(b->file_text, strlen(b->file_text), sha256, err) != 0 ||
         (m->board.file_sha256 = manifest_keep(m, sha256, err)) == NULL))
        return -1;
    m->transforms = NEW(m, plan->n_chosen, struct manifest_transform, err);
    m->inputs = NEW(m, plan->n_archives, struct manifest_file, err);
    if (m->transforms == NULL || m->inputs == NULL)
        return -1;
    for (uint32_t k = 0; k < plan->n_chosen; k++) {
        const struct board_transform *t = &b->transforms[plan->chosen[k]];

        m->transforms[m->n_transforms++] =
            (struct manifest_transform){plan->chosen[k], t->name, t->swaps_colours};
    }
    for (size_t i = 0; i < plan->n_archives; i++) {
        const struct archive_in *archive = &plan->archives[i];
        struct manifest_file *file = &m->inputs[m->n_inputs++];

        file->name = text_base_name(archive->path);
        file->sha256 = job->digests.sha256[i];
        file->n_rows = plan->archive_rows[i];
        for (size_t k = 0; k < archive->n_inputs; k++)
            file->n_bytes += archive->inputs[k].n_bytes;
    }
    return add_options(m, plan, job->settings, err) == 0
               ? add_conventions(m, plan, job->settings, err)
               : -1;
}

/* Append to an output an array whose name is set; source: NULL for provenance. */
static int add_array(struct manifest *m, struct manifest_file *output, const struct plan *plan,
                     const struct plan_array *source, struct error *err)
{
    struct manifest_array *array = &output->arrays[output->n_arrays++];
    char role[160] = "provenance";

    if (source != NULL && role_binding_spec(&source->binding, role, sizeof role) != 0)
        return error_set(err, ERROR_INTERNAL, "%s: role too long", text_path(array->name).text);
    array->role = manifest_keep(m, role, err);
    if (source != NULL && plan->swaps) {
        const enum label_op op = plan_swap_label(plan, source);

        if (role_kinds[source->binding.role].swap != ROLE_SWAP_NOTHING || op != LABEL_KEEP)
            array->swap = label_op_name(op);
    }
    return array->role != NULL ? 0 : -1;
}

/* The output, with its arrays as they were written; or, members being NULL, as far as they can be
 * told before. */
static int add_output(struct manifest *m, const struct manifest_file *file, const struct plan *plan,
                      const struct members *members, struct error *err)
{
    struct manifest_file *output = NEW(m, 1, struct manifest_file, err);
    const size_t n_members = members != NULL ? members->n : 0;
    int bad = 0;

    if (output == NULL)
        return -1;
    *output = *file;
    m->outputs = output;
    m->n_outputs = 1;
    output->arrays = NEW(m, n_members + plan->n_arrays, struct manifest_array, err);
    output->dropped = NEW(m, plan->n_arrays, const char *, err);
    if (output->arrays == NULL || output->dropped == NULL)
        return -1;
    for (size_t i = 0; i < n_members && bad == 0; i++) {
        const struct out_member *out = (const void *)members->list[i]; /* its head */

        output->arrays[i] = (struct manifest_array){.name = out->key,
                                                    .dtype = out->dtype.text,
                                                    .shape = out->shape,
                                                    .n_dims = out->n_dims,
                                                    .codec = out->head.codec,
                                                    .crc = out->head.crc};
        bad = add_array(m, output, plan, out->array, err);
    }
    for (size_t i = 0; i < plan->n_arrays && bad == 0; i++) {
        const struct plan_array *array = &plan->arrays[i];

        if (array->binding.role == ROLE_DROP) {
            output->dropped[output->n_dropped++] = array->key;
        } else if (members == NULL) {
            output->arrays[output->n_arrays].name = array->key;
            bad = add_array(m, output, plan, array, err);
        }
    }
    return bad;
}

int record_write(const struct expand_job *job, struct error *err)
{
    const struct plan *plan = job->plan;
    const struct expand_result *result = job->result;
    const bool is_cut = shards_cut(plan) != SHARDS_ONE;
    const struct manifest_file output = {.name = text_base_name(job->path),
                                         .n_bytes = result->n_bytes,
                                         .sha256 = result->sha256,
                                         .n_rows = result->n_rows,
                                         .first_row = is_cut ? result->first_row : MANIFEST_NO_ROW};
    const struct manifest_count all[] = {
        {"rows_in", plan->n_rows},
        {"rows_out", result->n_rows},
        {"images_left_out", plan->n_rows * plan->n_chosen - plan->order.n_whole},
        {"ambiguous_entries", plan->n_ambiguous},
        {"unencodable_entries", plan->n_unencodable},
        {"castling_rows", plan->n_castling_rows},
    };
    const size_t n_all = sizeof all / sizeof *all;
    struct manifest *m = manifest_new(err);
    struct text path = {0};
    int status = -1;

    if (m != NULL && fill(m, job, err) == 0 &&
        add_output(m, &output, plan, &job->archive->members, err) == 0 &&
        (m->counts = NEW(m, n_all + plan->n_notes, struct manifest_count, err)) != NULL &&
        (m->warnings = NEW(m, plan->warnings.n, const char *, err)) != NULL)
        status = text_append(&path, err, "%s" MANIFEST_SUFFIX, job->path);
    for (size_t i = 0; i < n_all && status == 0; i++)
        if (all[i].value != UINT64_MAX) /* it applies */
            m->counts[m->n_counts++] = all[i];
    for (size_t i = 0; i < plan->n_notes && status == 0; i++)
        if (plan->notes[i].value == NULL)
            m->counts[m->n_counts++] =
                (struct manifest_count){plan->notes[i].name, plan->notes[i].count};
    for (size_t i = 0; i < plan->warnings.n && status == 0; i++)
        m->warnings[m->n_warnings++] = plan->warnings.items[i];
    if (status == 0)
        status = manifest_write(m, path.text, true, err);
    text_release(&path);
    manifest_free(m);
    return status;
}

int expand_compare(struct expand_job *job, const char *path, bool *is_known, struct text *list,
                   struct error *err)
{
    struct manifest *wanted = manifest_new(err), *found = NULL;
    struct input in = {0};
    char sha256[DIGEST_HEX_NBYTES];
    struct text name = {0};
    int status = -1;

    *is_known = false;
    if (wanted != NULL && plan_survey(job->plan, err) == 0 &&
        side_work_finish(&job->digests, err) == 0 && fill(wanted, job, err) == 0 &&
        add_output(wanted, &(struct manifest_file){0}, job->plan, NULL, err) == 0)
        status = text_append(&name, err, "%s" MANIFEST_SUFFIX, path);
    if (status == 0)
        found = manifest_read(name.text, NULL);
    *is_known = found != NULL;
    if (found != NULL && (manifest_compare(wanted, found, list, err) != 0 ||
                          manifest_compare_inputs(wanted, found, list, err) != 0))
        status = -1;
    if (found != NULL && status == 0 && list->n_bytes == 0) {
        if (found->n_outputs != 1)
            status = text_append(list, err, "its manifest is not that of one output");
        else if (input_open(&in, path, true, err) != 0 || digest_input(&in, sha256, err) != 0)
            status = -1;
        else if (strcmp(sha256, found->outputs[0].sha256) != 0)
            status = text_append(list, err, "SHA-256 of the file: %s expected, %s found",
                                 found->outputs[0].sha256, sha256);
        input_close(&in);
    }
    text_release(&name);
    manifest_free(found);
    manifest_free(wanted);
    return status;
}

/* --- the number of rows --- */

int sidecar_write(const char *path, const uint64_t *n_rows, bool force, struct error *err)
{
    const int n = (int)strlen(path) - (text_ends_with(path, ".npz") ? 4 : 0);
    struct output out = {0};
    struct text name = {0}, json = {0};
    int status = text_append(&name, err, "%.*s.json", n, path);

    if (status == 0 && n_rows == NULL)
        status = output_open(&out, name.text, force, err);
    if (status == 0 && n_rows != NULL)
        status = text_append(&json, err, "{\"num_rows\": %llu}\n", (unsigned long long)*n_rows) == 0
                     ? output_put(name.text, force, json.text, json.n_bytes, err)
                     : -1;
    output_abort(&out);
    text_release(&name);
    text_release(&json);
    return status;
}
