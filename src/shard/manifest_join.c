/* manifest_join.c - see manifest_join.h. */
#include "shard/manifest_join.h"

#include "base/text.h"
#include "shard/manifest_json.h"
#include "shard/manifest_runs.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(struct error *err)
{
    return error_no_memory(err, "joined manifest");
}

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static json_t *value_of(const struct manifest_part *part, const char *key)
{
    return json_object_get(part->manifest->root, key);
}

int join_init(struct join *join, struct error *err)
{
    json_t **const objects[] = {&join->outputs,      &join->output_owners, &join->inputs,
                                &join->input_owners, &join->runs,          &join->warnings,
                                &join->counts};

    *join = (struct join){0};
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        *objects[i] = json_object();
        if (*objects[i] == NULL)
            return no_memory(err);
    }
    return 0;
}

void join_release(struct join *join)
{
    json_decref(join->outputs);
    json_decref(join->output_owners);
    json_decref(join->inputs);
    json_decref(join->input_owners);
    json_decref(join->runs);
    json_decref(join->warnings);
    json_decref(join->counts);
}

/* object[key] = value, which stays the caller's. */
static int put(json_t *object, const char *key, json_t *value, struct error *err)
{
    return json_object_set(object, key, value) == 0 ? 0 : no_memory(err);
}

static int put_owner(json_t *owners, const char *key, const struct manifest_part *part,
                     struct error *err)
{
    json_t *path = manifest_json_text(part->path, false, err);

    if (path == NULL)
        return -1;
    return json_object_set_new(owners, key, path) == 0 ? 0 : no_memory(err);
}

/* --- outputs --- */

/* How many of its outputs are there already; -1 with err set when one is another file. */
static int count_known(const struct join *join, const struct manifest_part *part, size_t *n_known,
                       struct error *err)
{
    const json_t *outputs = value_of(part, "outputs");

    *n_known = 0;
    for (size_t i = 0; i < json_array_size(outputs); i++) {
        json_t *output = json_array_get(outputs, i);
        const char *name = text_of(output, "name");
        json_t *known = json_object_get(join->outputs, name);

        if (known != NULL && !json_equal(known, output))
            return error_set(err, ERROR_DATA, "%s: output %s is in %s too, with other contents",
                             text_path(part->path).text, text_quote(name).text,
                             text_path(text_of(join->output_owners, name)).text);
        *n_known += known != NULL;
    }
    return 0;
}

static int add_outputs(struct join *join, const struct manifest_part *part, struct error *err)
{
    const json_t *outputs = value_of(part, "outputs");

    for (size_t i = 0; i < json_array_size(outputs); i++) {
        json_t *output = json_array_get(outputs, i);
        const char *name = text_of(output, "name");

        if (json_object_get(join->outputs, name) != NULL)
            return error_set(err, ERROR_DATA, "%s: output %s is in %s too",
                             text_path(part->path).text, text_quote(name).text,
                             text_path(text_of(join->output_owners, name)).text);
        if (put(join->outputs, name, output, err) != 0 ||
            put_owner(join->output_owners, name, part, err) != 0)
            return -1;
    }
    return 0;
}

/* --- runs that were cut into several outputs --- */

/* The name of the run that an output belongs to; an empty text for none. */
static int run_name(struct text *run, const json_t *output, struct error *err)
{
    run->n_bytes = 0;
    return text_append(run, err, "%.*s", (int)manifest_run_length(output), text_of(output, "name"));
}

static int refuse_inputs(const struct manifest_part *part, const char *run, struct error *err)
{
    return error_set(err, ERROR_DATA, "%s: not the inputs of the other outputs %s...",
                     text_path(part->path).text, text_quote(run).text);
}

/* Note the runs of a part; *is_known: one of them was met before. Then the inputs are the same, as
 * far as both manifests tell of nothing else. */
static int add_runs(struct join *join, const struct manifest_part *part, bool *is_known,
                    struct error *err)
{
    const json_t *outputs = value_of(part, "outputs");
    json_t *inputs = value_of(part, "inputs");
    const bool is_alone = json_array_size(outputs) == 1;
    struct text run = {0};
    int rc = 0;

    *is_known = false;
    for (size_t i = 0; i < json_array_size(outputs) && rc == 0; i++) {
        json_t *known;

        rc = run_name(&run, json_array_get(outputs, i), err);
        if (rc != 0 || run.n_bytes == 0)
            continue;
        known = json_object_get(join->runs, run.text);
        if (known == NULL)
            rc = put(join->runs, run.text, is_alone ? inputs : json_null(), err);
        else if (is_alone && json_is_array(known) && !json_equal(known, inputs))
            rc = refuse_inputs(part, run.text, err);
        else
            *is_known = true;
    }
    text_release(&run);
    return rc;
}

/* --- inputs --- */

static int add_input(struct join *join, const struct manifest_part *part, json_t *input,
                     bool run_is_known, struct error *err)
{
    const char *name = text_of(input, "name");
    struct text key = {0};
    int rc = text_append(&key, err, "%s %s", name, text_of(input, "sha256"));

    if (rc == 0 && json_object_get(join->inputs, key.text) == NULL) {
        rc = put(join->inputs, key.text, input, err);
        if (rc == 0)
            rc = put_owner(join->input_owners, key.text, part, err);
    } else if (rc == 0 && !run_is_known) {
        rc = error_set(err, ERROR_DATA, "%s: input %s is in %s too: its rows would be there twice",
                       text_path(part->path).text, text_quote(name).text,
                       text_path(text_of(join->input_owners, key.text)).text);
    }
    text_release(&key);
    return rc;
}

static int add_inputs(struct join *join, const struct manifest_part *part, bool run_is_known,
                      struct error *err)
{
    const json_t *inputs = value_of(part, "inputs");
    const size_t n_before = json_object_size(join->inputs);

    for (size_t i = 0; i < json_array_size(inputs); i++)
        if (add_input(join, part, json_array_get(inputs, i), run_is_known, err) != 0)
            return -1;
    return run_is_known && json_object_size(join->inputs) != n_before
               ? refuse_inputs(part, text_of(json_array_get(value_of(part, "outputs"), 0), "name"),
                               err)
               : 0;
}

/* --- counts and warnings --- */

static int put_count(struct join *join, const char *name, json_int_t value, struct error *err)
{
    return json_object_set_new(join->counts, name, json_integer(value)) == 0 ? 0 : no_memory(err);
}

static int add_counts(struct join *join, const struct manifest_part *part, struct error *err)
{
    json_t *counts = value_of(part, "counts");

    for (void *at = json_object_iter(counts); at != NULL; at = json_object_iter_next(counts, at)) {
        const char *name = json_object_iter_key(at);
        const json_int_t so_far = json_integer_value(json_object_get(join->counts, name));
        json_int_t sum;

        if (__builtin_add_overflow(so_far, json_integer_value(json_object_iter_value(at)), &sum))
            return error_set(err, ERROR_DATA, "%s: counts.%s: the sum is too large",
                             text_path(part->path).text, text_path(name).text);
        if (put_count(join, name, sum, err) != 0)
            return -1;
    }
    return 0;
}

static int add_warnings(struct join *join, const struct manifest_part *part, struct error *err)
{
    const json_t *warnings = value_of(part, "warnings");

    for (size_t i = 0; i < json_array_size(warnings); i++) {
        json_t *warning = json_array_get(warnings, i);

        if (put(join->warnings, json_string_value(warning), warning, err) != 0)
            return -1;
    }
    return 0;
}

/* --- a manifest --- */

int join_add(struct join *join, const struct manifest_part *part, struct error *err)
{
    const size_t n = json_array_size(value_of(part, "outputs"));
    bool run_is_known;
    size_t n_known;

    if (count_known(join, part, &n_known, err) != 0)
        return -1;
    if (n_known == n && n > 0)
        return 0;
    if (add_outputs(join, part, err) != 0 || add_runs(join, part, &run_is_known, err) != 0 ||
        add_inputs(join, part, run_is_known, err) != 0)
        return -1;
    /* What was counted is of the whole run, and each of its outputs tells it. */
    if (!run_is_known && add_counts(join, part, err) != 0)
        return -1;
    return add_warnings(join, part, err);
}
