/*
 * manifest.c - manifests asked and compared, and their memory: a list of blocks that are freed
 * together, so that parts of one manifest can be put into another without copying them.
 */
#include "manifest/manifest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SYMAUG_VERSION
#define SYMAUG_VERSION "unknown"
#endif

struct manifest_block {
    struct manifest_block *next;
    _Alignas(max_align_t) char bytes[];
};

/* --- memory --- */

void *manifest_alloc(struct manifest *m, size_t n_bytes, struct error *err)
{
    struct manifest_block *block = calloc(1, sizeof *block + n_bytes);

    if (block == NULL) {
        error_no_memory(err, "manifest");
        return NULL;
    }
    block->next = m->blocks;
    m->blocks = block;
    return block->bytes;
}

const char *manifest_keep(struct manifest *m, const char *text, struct error *err)
{
    const size_t n_bytes = strlen(text) + 1;
    char *kept = manifest_alloc(m, n_bytes, err);

    return kept != NULL ? memcpy(kept, text, n_bytes) : NULL;
}

struct manifest *manifest_new(struct error *err)
{
    struct manifest *m = calloc(1, sizeof *m);

    if (m == NULL) {
        error_no_memory(err, "manifest");
        return NULL;
    }
    m->format_version = MANIFEST_FORMAT_VERSION;
    m->tool_name = "symaug";
    m->tool_version = SYMAUG_VERSION;
    m->board.name = m->codec_level = m->codec_libraries = "";
    return m;
}

void manifest_free(struct manifest *m)
{
    while (m != NULL && m->blocks != NULL) {
        struct manifest_block *block = m->blocks;

        m->blocks = block->next;
        free(block);
    }
    free(m);
}

/* --- asking --- */

static const struct manifest_setting *find_setting(const struct manifest_setting *settings,
                                                   size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(settings[i].name, name) == 0)
            return &settings[i];
    return NULL;
}

const char *manifest_option(const struct manifest *m, const char *name)
{
    const struct manifest_setting *option = find_setting(m->options, m->n_options, name);

    return option != NULL ? option->value : NULL;
}

/* Version 1 had them among the options, without saying which were told, and permutations of planes
 * without their numbers. */
const char *manifest_convention(const struct manifest *m, const char *name)
{
    const struct manifest_setting *convention =
        find_setting(m->conventions, m->n_conventions, name);
    const char *old = m->format_version == 1 ? manifest_option(m, name) : NULL;

    if (convention != NULL)
        return strcmp(convention->source, "default") != 0 ? convention->value : NULL;
    return old != NULL && strcmp(old, "permutation") != 0 ? old : NULL;
}

struct manifest_count *manifest_count(const struct manifest *m, const char *name)
{
    for (size_t i = 0; i < m->n_counts; i++)
        if (strcmp(m->counts[i].name, name) == 0)
            return &m->counts[i];
    return NULL;
}

const struct manifest_array *manifest_find_array(const struct manifest_file *output,
                                                 const char *name)
{
    for (size_t i = 0; i < output->n_arrays; i++)
        if (strcmp(output->arrays[i].name, name) == 0)
            return &output->arrays[i];
    return NULL;
}

/* --- comparing --- */

struct comparison {
    struct text *list; /* borrowed */
    struct error *err;
    int status;
};

static struct text_quoted describe(const char *value)
{
    return value != NULL ? text_quote(value) : (struct text_quoted){"none"};
}

/* a expected, b found; NULL: not there. */
static void compare(struct comparison *c, const char *what, const char *key, const char *a,
                    const char *b)
{
    if ((a == NULL && b == NULL) || (a != NULL && b != NULL && strcmp(a, b) == 0))
        return;
    c->status |= text_append(c->list, c->err, "%s%s%s: %s expected, %s found",
                             c->list->n_bytes > 0 ? "; " : "", what, text_path(key).text,
                             describe(a).text, describe(b).text);
}

/* Options or conventions. */
static void compare_settings(struct comparison *c, bool options, const struct manifest *a,
                             const struct manifest *b)
{
    const struct manifest_setting *of_a = options ? a->options : a->conventions;
    const struct manifest_setting *of_b = options ? b->options : b->conventions;
    const size_t n_a = options ? a->n_options : a->n_conventions;
    const size_t n_b = options ? b->n_options : b->n_conventions;
    const char *what = options ? "option " : "convention ";

    for (size_t i = 0; i < n_a; i++) {
        const struct manifest_setting *found = find_setting(of_b, n_b, of_a[i].name);

        compare(c, what, of_a[i].name, of_a[i].value, found != NULL ? found->value : NULL);
    }
    for (size_t i = 0; i < n_b; i++)
        if (find_setting(of_a, n_a, of_b[i].name) == NULL)
            compare(c, what, of_b[i].name, NULL, of_b[i].value);
}

static const struct manifest_array dropped_array = {.role = "drop"};

/* The array of any output, also one that was left out. One that a does not have has no other role.
 */
static void compare_array(struct comparison *c, const struct manifest *a, const char *name,
                          const struct manifest_array *found)
{
    const struct manifest_array *expected = NULL;

    for (size_t i = 0; i < a->n_outputs && expected == NULL; i++) {
        expected = manifest_find_array(&a->outputs[i], name);
        for (size_t k = 0; k < a->outputs[i].n_dropped && expected == NULL; k++)
            if (strcmp(a->outputs[i].dropped[k], name) == 0)
                expected = &dropped_array;
    }
    if (expected != NULL)
        compare(c, "role of ", name, expected->role, found->role);
    if (expected != NULL && expected->swap != NULL && found->swap != NULL)
        compare(c, "swap of colours in ", name, expected->swap, found->swap);
}

int manifest_compare(const struct manifest *a, const struct manifest *b, struct text *list,
                     struct error *err)
{
    struct comparison c = {list, err, 0};
    const size_t n_before = list->n_bytes;
    size_t n_before_arrays;
    bool same_transforms =
        a->n_transforms == b->n_transforms && a->board.group_order == b->board.group_order;

    if (a->format_version != b->format_version)
        return text_append(list, err, "format_version: %" PRIu64 " expected, %" PRIu64 " found",
                           a->format_version, b->format_version);
    compare(&c, "program's ", "name", a->tool_name, b->tool_name);
    compare(&c, "program's ", "version", a->tool_version, b->tool_version);
    compare(&c, "board's ", "name", a->board.name, b->board.name);
    compare(&c, "board's ", "preset", a->board.preset, b->board.preset);
    compare(&c, "board's ", "file", a->board.file_sha256, b->board.file_sha256);
    compare_settings(&c, true, a, b);
    compare_settings(&c, false, a, b);
    compare(&c, "codec's ", "level", a->codec_level, b->codec_level);
    compare(&c, "codec's ", "libraries", a->codec_libraries, b->codec_libraries);
    /* One output that differs says enough: others of the same call differ as it does. */
    n_before_arrays = list->n_bytes;
    for (size_t k = 0; k < b->n_outputs && list->n_bytes == n_before_arrays; k++) {
        const struct manifest_file *output = &b->outputs[k];

        for (size_t i = 0; i < output->n_arrays; i++)
            compare_array(&c, a, output->arrays[i].name, &output->arrays[i]);
        for (size_t i = 0; i < output->n_dropped; i++)
            compare_array(&c, a, output->dropped[i], &dropped_array);
    }
    for (size_t i = 0; i < a->n_transforms && same_transforms; i++)
        same_transforms = a->transforms[i].id == b->transforms[i].id &&
                          strcmp(a->transforms[i].name, b->transforms[i].name) == 0 &&
                          a->transforms[i].swaps_colours == b->transforms[i].swaps_colours;
    if (c.status == 0 && list->n_bytes == n_before && !same_transforms)
        return text_append(list, err, "transforms: %zu expected, %zu others found", a->n_transforms,
                           b->n_transforms);
    return c.status;
}

int manifest_compare_inputs(const struct manifest *a, const struct manifest *b, struct text *list,
                            struct error *err)
{
    struct comparison c = {list, err, 0};
    const size_t n_before = list->n_bytes;

    if (a->n_inputs != b->n_inputs)
        return text_append(list, err, "%s%zu inputs expected, %zu found",
                           list->n_bytes > 0 ? "; " : "", a->n_inputs, b->n_inputs);
    for (size_t i = 0; i < a->n_inputs && list->n_bytes == n_before && c.status == 0; i++) {
        char number[24];

        snprintf(number, sizeof number, "%zu", i + 1);
        compare(&c, "input ", number, a->inputs[i].name, b->inputs[i].name);
        if (list->n_bytes == n_before)
            compare(&c, "SHA-256 of input ", a->inputs[i].name, a->inputs[i].sha256,
                    b->inputs[i].sha256);
    }
    return c.status;
}
