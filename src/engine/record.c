/*
 * record.c - what is written beside an output: its manifest, and for KataGo its number of rows.
 *
 * A manifest must hold everything that shaped the rows: options that do are RECORDED in options.h,
 * what else does is a line of `fill` or a note in the plan. `shard_recall` reads back what readers
 * of the output need.
 */
#include "engine/expand.h"

/* --- from a plan --- */

/* When there is no memory for JSON the program ends (see main.c). */

static json_t *file_json(const char *path, uint64_t n_bytes, const char *sha256, uint64_t n_rows)
{
    return json_pack("{s:o,s:I,s:s,s:I}", "name", json_string_nocheck(text_base_name(path)),
                     "bytes", (json_int_t)n_bytes, "sha256", sha256, "rows", (json_int_t)n_rows);
}

/* Add the conventions that shape the output on this board. */
static void add_conventions(json_t *m, const struct plan *plan, const struct settings *settings)
{
    static const char meaning_and_source[] = "{s:s,s:s+}";
    const struct conventions *c = &plan->conventions;
    const bool has_colours = board_swaps_colours(plan->board);
    const bool swaps = has_colours && !plan->board->family->only_known_members;
    const bool is_chess = plan->board->family->castling != NULL;
    const struct {
        const char *name;
        bool bears;
    } all[] = {
        {"planes", swaps || (c->planes == PLANES_CANONICAL && has_colours)},
        {"value", swaps},
        {"to-move", swaps},
        {"to-move-plane", swaps},
        {"castling", is_chess},
        {"castling-planes", is_chess},
        {"tiles", plan->board->family->has_tiles},
        {"ambiguous", plan->n_ambiguous != UINT64_MAX},
    };
    json_t *conventions = json_object_get(m, "conventions");

    for (size_t i = 0; i < N_OF(all); i++) {
        const char *name = all[i].name, *option = name;
        bool is_said = conventions_is_said(c, name);

        if (strcmp(name, "to-move-plane") == 0) { /* it has no option of its own */
            is_said = c->plane_coding != TO_MOVE_01;
            option = c->planes == PLANES_PERMUTATION ? "planes" : "to-move";
        }
        if (all[i].bears)
            json_object_set_new(conventions, name,
                                json_pack(meaning_and_source, "meaning",
                                          conventions_text(c, name).text, "source",
                                          is_said ? "--" : "default", is_said ? option : ""));
    }
    for (size_t i = 0; i < plan->n_arrays; i++) {
        const struct role_binding *b = &plan->arrays[i].binding;
        const bool is_said = settings->roles.plane_xy >= 0;

        if (!role_is_on_cells(b->role))
            continue;
        json_object_set_new(conventions, "plane-order",
                            json_pack(meaning_and_source, "meaning", b->plane_xy ? "xy" : "yx",
                                      "source", is_said ? "--plane-order" : "default", ""));
        break;
    }
}

/* Add everything that shapes the rows, except the arrays. */
static void fill(json_t *m, const struct expand_job *job)
{
    const struct plan *plan = job->plan;
    const struct settings *settings = job->settings;
    const struct board *b = plan->board;
    const bool random = settings->pick > 0 || plan->order.shuffled;
    const struct text_quoted seed = text_format("%llu", (unsigned long long)settings->seed);
    struct text_quoted room;
    const struct {
        const char *name, *value;
        bool is_told;
    } all[] = {
        {"provenance", plan->provenance ? "yes" : "no", true},
        {"seed", seed.text, random},
        {"seed-per-name", "yes", random && settings->seed_name != NULL},
        {"expanded", "yes", settings->purpose != FOR_IMAGES && plan->was_expanded},
    };
    json_t *options = json_object_get(m, "options"), *file = NULL;
    char sha256[DIGEST_HEX_NBYTES];

    if (b->file_text != NULL) {
        digest_bytes(b->file_text, strlen(b->file_text), sha256);
        file = json_pack("{s:s,s:s}", "text", b->file_text, "sha256", sha256);
    }
    json_object_set_new(m, "board",
                        json_pack("{s:o,s:I,s:o*,s:o*}", "name", json_string_nocheck(b->name),
                                  "group_order", (json_int_t)b->n_transforms, "preset",
                                  b->preset != NULL ? json_string_nocheck(b->preset) : NULL, "file",
                                  file));
    json_object_set_new(
        m, "codec",
        json_pack("{s:s,s:s}", "level", settings->level_text, "libraries", codec_libraries()));
    for (uint32_t k = 0; k < plan->n_chosen; k++) {
        const struct board_transform *t = &b->transforms[plan->chosen[k]];

        json_array_append_new(json_object_get(m, "transforms"),
                              json_pack("{s:i,s:s,s:b}", "id", (int)plan->chosen[k], "name",
                                        t->name, "swaps_colours", (int)t->swaps_colours));
    }
    for (size_t i = 0; i < plan->n_inputs; i++) {
        const struct archive_in *archive = &plan->inputs[i].archive;

        json_array_append_new(json_object_get(m, "inputs"),
                              file_json(archive->path, archive_in_nbytes(archive),
                                        job->digests.sha256[i], plan->inputs[i].n_rows));
    }
    for (size_t i = 0; i < option_n_table; i++) {
        const struct option_row *row = &option_table[i];
        const char *value = row->is_recorded ? option_recorded(settings, row, &room) : NULL;

        if (value != NULL)
            json_object_set_new(options, row->name, json_string_nocheck(value));
    }
    for (size_t i = 0; i < N_OF(all); i++)
        if (all[i].is_told)
            json_object_set_new(options, all[i].name, json_string_nocheck(all[i].value));
    json_object_update(options, plan->notes);
    add_conventions(m, plan, settings);
}

/* Append an array as it was written, or, before it is, with the role that it has. */
static void add_array(json_t *list, const struct plan *plan, const struct out_member *out)
{
    const struct plan_array *source = out->array;
    const enum label_op op = source != NULL ? plan_swap_label(plan, source) : LABEL_KEEP;
    struct text_quoted role = {"provenance"};
    const char *swap = NULL;
    json_t *shape = json_array();

    if (source != NULL)
        role = role_binding_spec(&source->binding);
    if (source != NULL && plan->swaps &&
        (role_kinds[source->binding.role].swap != ROLE_SWAP_NOTHING || op != LABEL_KEEP))
        swap = label_op_name(op);
    for (unsigned d = 0; d < out->form->header.n_dims; d++)
        json_array_append_new(shape, json_integer((json_int_t)out->shape[d]));
    json_array_append_new(list, json_pack("{s:o,s:s,s:s*,s:o,s:s,s:s,s:s}", "name",
                                          json_string_nocheck(out->form->key), "role", role.text,
                                          "swap", swap, "shape", shape, "dtype",
                                          dtype_name(&out->form->header.dtype).text, "codec",
                                          out->head.codec, "crc32",
                                          text_format("%08x", (unsigned)out->head.crc).text));
}

static void add_output(json_t *m, json_t *output, const struct expand_job *job)
{
    const struct plan *plan = job->plan;
    json_t *arrays = json_array(), *dropped = json_array();

    for (size_t i = 0; i < job->n_members; i++)
        add_array(arrays, plan, &job->members[i]);
    for (size_t i = 0; i < plan->n_arrays; i++)
        if (plan->arrays[i].binding.role == ROLE_DROP)
            json_array_append_new(dropped, json_string_nocheck(plan->arrays[i].key));
    json_object_set_new(output, "arrays", arrays);
    if (json_array_size(dropped) > 0)
        json_object_set(output, "dropped", dropped);
    json_decref(dropped);
    json_array_append_new(json_object_get(m, "outputs"), output);
}

int record_write(const struct expand_job *job, struct error *err)
{
    const struct plan *plan = job->plan;
    const struct {
        const char *name;
        uint64_t value;
    } all[] = {
        {"rows_in", plan->n_rows},
        {"rows_out", job->order->n_images},
        {"images_left_out", plan->n_rows * plan->n_chosen - plan->order.n_whole},
        {"ambiguous_entries", plan->n_ambiguous},
        {"unencodable_entries", plan->n_unencodable},
        {"castling_rows", plan->n_castling_rows},
    };
    json_t *m = manifest_new(err), *counts = json_object_get(m, "counts");
    json_t *output =
        file_json(job->path, job->result.n_bytes, job->result.sha256, job->order->n_images);
    struct text path = {0};
    int status = text_append(&path, err, "%s" MANIFEST_SUFFIX, job->path);

    fill(m, job);
    if (shards_cut(plan) != SHARDS_ONE)
        json_object_set_new(output, "first_row", json_integer((json_int_t)job->order->first_image));
    add_output(m, output, job);
    for (size_t i = 0; i < N_OF(all); i++)
        if (all[i].value != UINT64_MAX)
            json_object_set_new(counts, all[i].name, json_integer((json_int_t)all[i].value));
    json_object_update(counts, plan->counts);
    for (size_t i = 0; i < plan->warnings.n; i++)
        json_array_append_new(json_object_get(m, "warnings"),
                              json_string_nocheck(plan->warnings.items[i]));
    if (status == 0)
        status = manifest_write(m, path.text, true, err);
    text_release(&path);
    json_decref(m);
    return status;
}

int expand_compare(struct expand_job *job, const char *path, struct text *list, struct error *err)
{
    json_t *wanted = manifest_new(err), *found = NULL;
    struct input in = {0};
    const struct shard file = {.archive = {.inputs = &in, .n_inputs = 1}};
    char sha256[DIGEST_HEX_NBYTES];
    struct text name = {0};
    int status = -1;

    if (plan_survey(job->plan, err) == 0 && digests_finish(&job->digests, err) == 0)
        status = text_append(&name, err, "%s" MANIFEST_SUFFIX, path);
    if (status == 0) {
        fill(wanted, job);
        add_output(wanted, json_object(), job);
        found = manifest_read(name.text, NULL);
        status = found == NULL;
    }
    if (status == 0 && (manifest_compare(wanted, found, list, err) != 0 ||
                        manifest_compare_inputs(wanted, found, list, err) != 0))
        status = -1;
    if (status == 0 && list->n_bytes == 0) {
        const json_t *outputs = json_object_get(found, "outputs");
        const char *known = manifest_text(json_array_get(outputs, 0), "sha256");
        if (json_array_size(outputs) != 1)
            status = text_append(list, err, "its manifest is not that of one output");
        else if (input_open(&in, path, true, err) != 0 || digest_shard(&file, sha256, err) != 0)
            status = -1;
        else if (strcmp(sha256, known) != 0)
            status =
                text_append(list, err, "SHA-256 of the file: %s expected, %s found", known, sha256);
        input_close(&in);
    }
    text_release(&name);
    json_decref(found);
    json_decref(wanted);
    return status;
}

/* --- the number of rows --- */

int sidecar_write(const char *path, const uint64_t *n_rows, bool force, struct error *err)
{
    const int n = (int)strlen(path) - (text_ends_with(path, ".npz") ? 4 : 0);
    struct text name = {0}, json = {0};
    int status = text_append(&name, err, "%.*s.json", n, path);

    if (status == 0 && n_rows == NULL)
        status = output_target_check(name.text, false, force, err);
    if (status == 0 && n_rows != NULL)
        status = text_append(&json, err, "{\"num_rows\": %llu}\n", (unsigned long long)*n_rows) == 0
                     ? output_put(name.text, force, json.text, json.n_bytes, err)
                     : -1;
    text_release(&name);
    text_release(&json);
    return status;
}
