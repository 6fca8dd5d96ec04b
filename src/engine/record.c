/*
 * record.c - what is written beside an output: its manifest, and for KataGo the number of its rows.
 *
 * A manifest must hold everything that shaped the rows: what one option changes is one line here,
 * in `fill`, and what of it a reader of the output needs is taken back in `recall_open`.
 */
#include "engine/record.h"

#include "engine/side_work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- from a plan --- */

/* A zeroed list for a manifest; NULL with err set. */
#define NEW(m, n, type, err) ((type *)manifest_alloc((m), ((n) + 1) * sizeof(type), (err)))

static int add_board(struct manifest *m, const struct plan *plan, struct error *err)
{
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
    if (m->transforms == NULL)
        return -1;
    for (uint32_t k = 0; k < plan->n_chosen; k++) {
        const struct board_transform *t = &b->transforms[plan->chosen[k]];

        m->transforms[m->n_transforms++] =
            (struct manifest_transform){plan->chosen[k], t->name, t->swaps_colours};
    }
    return 0;
}

static int add_options(struct manifest *m, const struct plan *plan, const struct settings *settings,
                       struct error *err)
{
    static const char *const forms[] = {
        [ARCHIVE_OUT_NPZ] = "npz", [ARCHIVE_OUT_NPY_FOLDER] = "npy-dir", [ARCHIVE_OUT_NPY] = "npy"};
    const bool random = plan->pick > 0 || plan->order.shuffled;
    char pick[24], seed[24], rows[24];
    const struct {
        const char *name, *value;
        bool is_said;
    } all[] = {
        {"order", settings->order_text, true},
        {"level", settings->level_text, true},
        {"format", forms[settings->form], true},
        {"provenance", plan->provenance ? "yes" : "no", true},
        {"pick", pick, plan->pick > 0},
        {"keep-identity", plan->keep_identity ? "yes" : "no", plan->pick > 0},
        {"seed", seed, random},
        {"seed-per-name", "yes", random && settings->seed_name != NULL},
        {"shuffle", "yes", plan->order.shuffled},
        {"rows-per-shard", rows, plan->rows_per_shard > 0},
        {"unique", "yes", plan->unique},
        {"expanded", "yes", plan->purpose != FOR_IMAGES && plan->was_expanded},
    };

    snprintf(pick, sizeof pick, "%u", (unsigned)plan->pick);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)settings->seed);
    snprintf(rows, sizeof rows, "%llu", (unsigned long long)plan->rows_per_shard);
    m->codec_level = settings->level_text;
    m->codec_libraries = codec_libraries();
    m->options = NEW(m, sizeof all / sizeof *all + plan->n_notes, struct manifest_setting, err);
    if (m->options == NULL)
        return -1;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const char *value = all[i].is_said ? manifest_keep(m, all[i].value, err) : NULL;

        if (all[i].is_said && value == NULL)
            return -1;
        if (all[i].is_said)
            m->options[m->n_options++] = (struct manifest_setting){all[i].name, value, NULL};
    }
    for (size_t i = 0; i < plan->n_notes; i++)
        if (plan->notes[i].value != NULL)
            m->options[m->n_options++] =
                (struct manifest_setting){plan->notes[i].name, plan->notes[i].value, NULL};
    return 0;
}

/* The conventions that bear on this board's output. */
static int add_conventions(struct manifest *m, const struct plan *plan,
                           const struct settings *settings, struct error *err)
{
    const struct conventions *c = &plan->conventions;
    const bool swaps = board_swaps_colours(plan->board);
    const bool is_chess = plan->board->family->castling != NULL;
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
    struct manifest_setting *next =
        NEW(m, sizeof all / sizeof *all + 1, struct manifest_setting, err);

    m->conventions = next;
    for (size_t i = 0; next != NULL && i < sizeof all / sizeof *all; i++) {
        const struct convention_text text = conventions_text(c, all[i].name);
        char source[24] = "default";

        if (strcmp(all[i].name, "to-move-plane") == 0) { /* it has no option of its own */
            if (c->plane_coding != TO_MOVE_01)
                snprintf(source, sizeof source, "--%s",
                         c->planes == PLANES_PERMUTATION ? "planes" : "to-move");
        } else if (conventions_is_said(c, all[i].name)) {
            snprintf(source, sizeof source, "--%s", all[i].name);
        }
        if (!all[i].bears)
            continue;
        *next = (struct manifest_setting){all[i].name, manifest_keep(m, text.text, err),
                                          manifest_keep(m, source, err)};
        if (next->value == NULL || next->source == NULL)
            return -1;
        next++;
    }
    for (size_t i = 0; next != NULL && i < plan->n_arrays; i++) {
        const struct role_binding *b = &plan->arrays[i].binding;

        if (role_is_on_cells(b->role)) {
            *next++ = (struct manifest_setting){"plane-order", b->plane_xy ? "xy" : "yx",
                                                settings->roles.plane_xy >= 0 ? "--plane-order"
                                                                              : "default"};
            break;
        }
    }
    m->n_conventions = next != NULL ? (size_t)(next - m->conventions) : 0;
    return next != NULL ? 0 : -1;
}

/* Everything that shapes the rows, but for the arrays. */
static int fill(struct manifest *m, const struct expand_job *job, struct error *err)
{
    const struct plan *plan = job->plan;

    if (add_board(m, plan, err) != 0 || add_options(m, plan, job->settings, err) != 0 ||
        add_conventions(m, plan, job->settings, err) != 0 ||
        (m->inputs = NEW(m, plan->n_archives, struct manifest_file, err)) == NULL)
        return -1;
    for (size_t i = 0; i < plan->n_archives; i++) {
        const struct archive_in *archive = &plan->archives[i];
        struct manifest_file *file = &m->inputs[m->n_inputs++];

        file->name = text_base_name(archive->path);
        file->sha256 = job->digests.sha256[i];
        file->n_rows = plan->archive_rows[i];
        for (size_t k = 0; k < archive->n_inputs; k++)
            file->n_bytes += archive->inputs[k].n_bytes;
    }
    return 0;
}

/* What a swap of colours does to an array's numbers; NULL where it can do nothing. */
static const char *swap_of(const struct plan *plan, const struct plan_array *array)
{
    const enum role role = array->binding.role;
    const enum label_op op = plan_swap_label(plan, array);
    const bool has_labels = role_kinds[role].swap != ROLE_SWAP_NOTHING || op != LABEL_KEEP;

    return plan->swaps && has_labels ? label_op_name(op) : NULL;
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
    array->swap = source != NULL ? swap_of(plan, source) : NULL;
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
                                                    .dtype = out->dtype,
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

static int add_counts(struct manifest *m, const struct plan *plan,
                      const struct expand_result *result, struct error *err)
{
    const struct manifest_count all[] = {
        {"rows_in", plan->n_rows},
        {"rows_out", result->n_rows},
        {"images_left_out", plan->n_rows * plan->n_chosen - plan->order.n_whole},
        {"ambiguous_entries", plan->n_ambiguous},
        {"unencodable_entries", plan->n_unencodable},
        {"castling_rows", plan->n_castling_rows},
    };

    m->counts = NEW(m, sizeof all / sizeof *all + plan->n_notes, struct manifest_count, err);
    m->warnings = NEW(m, plan->n_warnings, const char *, err);
    if (m->counts == NULL || m->warnings == NULL)
        return -1;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].value != UINT64_MAX) /* it applies */
            m->counts[m->n_counts++] = all[i];
    for (size_t i = 0; i < plan->n_notes; i++)
        if (plan->notes[i].value == NULL)
            m->counts[m->n_counts++] =
                (struct manifest_count){plan->notes[i].name, plan->notes[i].count};
    for (size_t i = 0; i < plan->n_warnings; i++)
        m->warnings[m->n_warnings++] = plan->warnings[i];
    return 0;
}

int record_write(const struct expand_job *job, const char *path, const struct expand_result *result,
                 const struct members *members, struct error *err)
{
    const struct plan *plan = job->plan;
    const struct manifest_file output = {
        .name = text_base_name(path),
        .n_bytes = result->n_bytes,
        .sha256 = result->sha256,
        .n_rows = result->n_rows,
        .first_row = plan->rows_per_shard > 0 || plan->input_ends != NULL ? result->first_row
                                                                          : MANIFEST_NO_ROW};
    struct manifest *m = manifest_new(err);
    struct text manifest_path = {0};
    int status = -1;

    if (m != NULL && fill(m, job, err) == 0 && add_output(m, &output, plan, members, err) == 0 &&
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

int record_compare(const struct expand_job *job, const char *path, bool *is_known,
                   struct text *list, struct error *err)
{
    struct manifest *wanted = manifest_new(err), *found = NULL;
    struct text manifest_path = {0};
    int status = -1;

    if (wanted != NULL && fill(wanted, job, err) == 0 &&
        add_output(wanted, &(struct manifest_file){0}, job->plan, NULL, err) == 0)
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

/* --- the number of rows --- */

static int sidecar_path(const char *path, struct text *name, struct error *err)
{
    size_t length = strlen(path);

    if (length > 4 && strcmp(path + length - 4, ".npz") == 0)
        length -= 4;
    return text_append(name, err, "%.*s.json", (int)length, path);
}

int sidecar_check(const char *path, bool force, struct error *err)
{
    struct output out = {0};
    struct text name = {0};
    int status = sidecar_path(path, &name, err);

    if (status == 0) {
        status = output_open(&out, name.text, force, err);
        output_abort(&out);
    }
    text_release(&name);
    return status;
}

int sidecar_write(const char *path, uint64_t n_rows, bool force, struct error *err)
{
    struct output out = {0};
    struct text name = {0}, json = {0};
    int status = -1;

    if (sidecar_path(path, &name, err) == 0 &&
        text_append(&json, err, "{\"num_rows\": %llu}\n", (unsigned long long)n_rows) == 0 &&
        output_open(&out, name.text, force, err) == 0 &&
        output_write(&out, json.text, json.n_bytes, err) == 0)
        status = output_commit(&out, force, err);
    output_abort(&out);
    text_release(&name);
    text_release(&json);
    return status;
}

/* --- back to settings --- */

/* The manifest beside a file. */
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

/* Which of its outputs the file is: by its bytes, or else by its name. */
static int find_output(struct recall *r, const struct archive_in *archive, bool exact,
                       struct error *err)
{
    char sha256[DIGEST_HEX_NBYTES];

    if (exact && side_work_digest(archive, sha256, err) != 0)
        return -1;
    for (size_t i = 0; i < r->manifest->n_outputs && r->output == NULL; i++) {
        const struct manifest_file *file = &r->manifest->outputs[i];

        if (exact ? strcmp(sha256, file->sha256) == 0
                  : strcmp(text_base_name(file->name), text_base_name(archive->path)) == 0)
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
