/*
 * manifest.c - see manifest.h: manifests filled, asked and compared.
 *
 * All memory of a manifest is a list of blocks that are freed together; a list that grows moves
 * into a block of twice its size. So parts of one manifest can be put into another without copying
 * them.
 */
#include "manifest/manifest.h"

#include "manifest/digest.h"

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
    const size_t n_bytes = text != NULL ? strlen(text) + 1 : 0;
    char *kept = text != NULL ? manifest_alloc(m, n_bytes, err) : NULL;

    return kept != NULL ? memcpy(kept, text, n_bytes) : NULL;
}

/* Room for one more item: the list, or a larger copy. NULL with err set. */
static void *grown(struct manifest *m, void *list, size_t n, size_t item_nbytes, struct error *err)
{
    void *larger;

    if (n > 0 && (n & (n - 1)) != 0)
        return list;
    larger = manifest_alloc(m, (n > 0 ? 2 * n : 1) * item_nbytes, err);
    if (larger != NULL && n > 0)
        memcpy(larger, list, n * item_nbytes);
    return larger;
}

/* Append a zeroed item to m->list and point `item` at it, or return -1. */
#define APPEND(m, owner, list, item, err)                                               \
    do {                                                                                \
        void *grown_list =                                                              \
            grown((m), (owner)->list, (owner)->n_##list, sizeof *(owner)->list, (err)); \
        if (grown_list == NULL)                                                         \
            return -1;                                                                  \
        (owner)->list = grown_list;                                                     \
        (item) = &(owner)->list[(owner)->n_##list++];                                   \
    } while (0)

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

/* --- filling --- */

/* Copy texts in place: a list of pointers to them, up to a NULL. */
static int keep_all(struct manifest *m, const char **const *texts, struct error *err)
{
    for (; *texts != NULL; texts++) {
        const char *kept = manifest_keep(m, **texts, err);

        if (**texts != NULL && kept == NULL)
            return -1;
        **texts = kept;
    }
    return 0;
}
#define KEEP(m, err, ...) keep_all((m), (const char **const[]){__VA_ARGS__, NULL}, (err))

int manifest_set_board(struct manifest *m, const struct manifest_board *board, struct error *err)
{
    char sha256[DIGEST_HEX_NBYTES];

    m->board = *board;
    if (board->file_text != NULL) {
        if (digest_bytes(board->file_text, strlen(board->file_text), sha256, err) != 0)
            return -1;
        m->board.file_sha256 = sha256;
    }
    return KEEP(m, err, &m->board.name, &m->board.preset, &m->board.file_text,
                &m->board.file_sha256);
}

int manifest_set_codec(struct manifest *m, const char *level, const char *libraries,
                       struct error *err)
{
    m->codec_level = level;
    m->codec_libraries = libraries;
    return KEEP(m, err, &m->codec_level, &m->codec_libraries);
}

int manifest_add_transform(struct manifest *m, const struct manifest_transform *transform,
                           struct error *err)
{
    struct manifest_transform *item;

    APPEND(m, m, transforms, item, err);
    *item = *transform;
    return KEEP(m, err, &item->name);
}

int manifest_set_option(struct manifest *m, const char *name, const char *value, struct error *err)
{
    struct manifest_option *item = NULL;

    for (size_t i = 0; i < m->n_options; i++)
        if (strcmp(m->options[i].name, name) == 0)
            item = &m->options[i];
    if (item == NULL)
        APPEND(m, m, options, item, err);
    *item = (struct manifest_option){name, value};
    return KEEP(m, err, &item->name, &item->value);
}

int manifest_set_convention(struct manifest *m, const struct manifest_convention *convention,
                            struct error *err)
{
    struct manifest_convention *item = NULL;

    for (size_t i = 0; i < m->n_conventions; i++)
        if (strcmp(m->conventions[i].name, convention->name) == 0)
            item = &m->conventions[i];
    if (item == NULL)
        APPEND(m, m, conventions, item, err);
    *item = *convention;
    return KEEP(m, err, &item->name, &item->meaning, &item->source);
}

int manifest_add_input(struct manifest *m, const struct manifest_file *file, struct error *err)
{
    struct manifest_file *item;

    APPEND(m, m, inputs, item, err);
    *item = *file;
    item->first_row = MANIFEST_NO_ROW;
    return KEEP(m, err, &item->name, &item->sha256);
}

int manifest_add_output(struct manifest *m, const struct manifest_file *file, struct error *err)
{
    struct manifest_file *item;

    APPEND(m, m, outputs, item, err);
    *item = *file;
    item->arrays = NULL;
    item->dropped = NULL;
    item->n_arrays = item->n_dropped = 0;
    return KEEP(m, err, &item->name, &item->sha256);
}

static struct manifest_file *last_output(struct manifest *m, struct error *err)
{
    if (m->n_outputs > 0)
        return &m->outputs[m->n_outputs - 1];
    error_set(err, ERROR_INTERNAL, "manifest: an array before its output");
    return NULL;
}

int manifest_add_array(struct manifest *m, const struct manifest_array *array, struct error *err)
{
    struct manifest_file *output = last_output(m, err);
    struct manifest_array *item;
    uint64_t *shape = manifest_alloc(m, (array->n_dims + 1) * sizeof *shape, err);

    if (output == NULL || shape == NULL)
        return -1;
    if (array->n_dims > 0)
        memcpy(shape, array->shape, array->n_dims * sizeof *shape);
    APPEND(m, output, arrays, item, err);
    *item = *array;
    item->shape = shape;
    return KEEP(m, err, &item->name, &item->dtype, &item->role, &item->swap, &item->codec);
}

int manifest_add_dropped(struct manifest *m, const char *name, struct error *err)
{
    struct manifest_file *output = last_output(m, err);
    const char **item;

    if (output == NULL)
        return -1;
    APPEND(m, output, dropped, item, err);
    *item = name;
    return KEEP(m, err, item);
}

int manifest_set_count(struct manifest *m, const char *name, uint64_t value, struct error *err)
{
    struct manifest_count *item = NULL;

    if (value > INT64_MAX)
        return error_set(err, ERROR_INTERNAL, "manifest: %s is too large: %" PRIu64, name, value);
    for (size_t i = 0; i < m->n_counts; i++)
        if (strcmp(m->counts[i].name, name) == 0)
            item = &m->counts[i];
    if (item == NULL)
        APPEND(m, m, counts, item, err);
    *item = (struct manifest_count){name, value};
    return KEEP(m, err, &item->name);
}

int manifest_add_warning(struct manifest *m, const char *text, struct error *err)
{
    const char **item;

    APPEND(m, m, warnings, item, err);
    *item = text;
    return KEEP(m, err, item);
}

/* --- asking --- */

const char *manifest_option(const struct manifest *m, const char *name)
{
    for (size_t i = 0; i < m->n_options; i++)
        if (strcmp(m->options[i].name, name) == 0)
            return m->options[i].value;
    return NULL;
}

int manifest_count(const struct manifest *m, const char *name, uint64_t *value)
{
    for (size_t i = 0; i < m->n_counts; i++)
        if (strcmp(m->counts[i].name, name) == 0) {
            *value = m->counts[i].value;
            return 0;
        }
    return -1;
}

static const char *meaning_of(const struct manifest *m, const char *name, const char **source)
{
    for (size_t i = 0; i < m->n_conventions; i++)
        if (strcmp(m->conventions[i].name, name) == 0) {
            *source = m->conventions[i].source;
            return m->conventions[i].meaning;
        }
    return NULL;
}

/* Version 1 had them among the options, without saying which were told, and permutations of planes
 * without their numbers. */
const char *manifest_convention(const struct manifest *m, const char *name)
{
    const char *source, *meaning = meaning_of(m, name, &source);
    const char *old = m->format_version == 1 ? manifest_option(m, name) : NULL;

    if (meaning != NULL)
        return strcmp(source, "default") != 0 ? meaning : NULL;
    return old != NULL && strcmp(old, "permutation") != 0 ? old : NULL;
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

static void compare_settings(struct comparison *c, const struct manifest *a,
                             const struct manifest *b)
{
    const char *source;

    for (size_t i = 0; i < a->n_options; i++)
        compare(c, "option ", a->options[i].name, a->options[i].value,
                manifest_option(b, a->options[i].name));
    for (size_t i = 0; i < b->n_options; i++)
        if (manifest_option(a, b->options[i].name) == NULL)
            compare(c, "option ", b->options[i].name, NULL, b->options[i].value);
    for (size_t i = 0; i < a->n_conventions; i++)
        compare(c, "convention ", a->conventions[i].name, a->conventions[i].meaning,
                meaning_of(b, a->conventions[i].name, &source));
    for (size_t i = 0; i < b->n_conventions; i++)
        if (meaning_of(a, b->conventions[i].name, &source) == NULL)
            compare(c, "convention ", b->conventions[i].name, NULL, b->conventions[i].meaning);
}

static const struct manifest_array dropped_array = {.role = "drop"};

/* The array of any output, also one that was left out; NULL: it is not known. */
static const struct manifest_array *find_anywhere(const struct manifest *m, const char *name)
{
    for (size_t i = 0; i < m->n_outputs; i++) {
        const struct manifest_array *array = manifest_find_array(&m->outputs[i], name);

        if (array != NULL)
            return array;
        for (size_t k = 0; k < m->outputs[i].n_dropped; k++)
            if (strcmp(m->outputs[i].dropped[k], name) == 0)
                return &dropped_array;
    }
    return NULL;
}

/* An array that one of them does not have has no other role. */
static void compare_array(struct comparison *c, const char *name,
                          const struct manifest_array *expected, const struct manifest_array *found)
{
    if (expected == NULL)
        return;
    compare(c, "role of ", name, expected->role, found->role);
    if (expected->swap != NULL && found->swap != NULL)
        compare(c, "swap of colours in ", name, expected->swap, found->swap);
}

/* One output that differs says enough: others of the same call differ as it does. */
static void compare_arrays(struct comparison *c, const struct manifest *a, const struct manifest *b)
{
    const size_t n_before = c->list->n_bytes;

    for (size_t k = 0; k < b->n_outputs && c->list->n_bytes == n_before; k++) {
        const struct manifest_file *output = &b->outputs[k];

        for (size_t i = 0; i < output->n_arrays; i++)
            compare_array(c, output->arrays[i].name, find_anywhere(a, output->arrays[i].name),
                          &output->arrays[i]);
        for (size_t i = 0; i < output->n_dropped; i++)
            compare_array(c, output->dropped[i], find_anywhere(a, output->dropped[i]),
                          &dropped_array);
    }
}

static bool same_transforms(const struct manifest *a, const struct manifest *b)
{
    if (a->n_transforms != b->n_transforms)
        return false;
    for (size_t i = 0; i < a->n_transforms; i++)
        if (a->transforms[i].id != b->transforms[i].id ||
            strcmp(a->transforms[i].name, b->transforms[i].name) != 0 ||
            a->transforms[i].swaps_colours != b->transforms[i].swaps_colours)
            return false;
    return true;
}

int manifest_compare(const struct manifest *a, const struct manifest *b, struct text *list,
                     struct error *err)
{
    struct comparison c = {list, err, 0};
    const size_t n_before = list->n_bytes;

    if (a->format_version != b->format_version)
        return text_append(list, err, "format_version: %u expected, %u found", a->format_version,
                           b->format_version);
    compare(&c, "program's ", "name", a->tool_name, b->tool_name);
    compare(&c, "program's ", "version", a->tool_version, b->tool_version);
    compare(&c, "board's ", "name", a->board.name, b->board.name);
    compare(&c, "board's ", "preset", a->board.preset, b->board.preset);
    compare(&c, "board's ", "file", a->board.file_sha256, b->board.file_sha256);
    compare_settings(&c, a, b);
    compare(&c, "codec's ", "level", a->codec_level, b->codec_level);
    compare(&c, "codec's ", "libraries", a->codec_libraries, b->codec_libraries);
    compare_arrays(&c, a, b);
    if (c.status == 0 && list->n_bytes == n_before &&
        (!same_transforms(a, b) || a->board.group_order != b->board.group_order))
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
