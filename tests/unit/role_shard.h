/*
 * role_shard.h - shards in memory for the tests of roles, written as one line of text.
 *
 * "features:f4:6,4,9,9 policy:f4:6,81 board_type:U=hex8 policy_size:i8=4500 step:f8=" are two
 * arrays and three 0-d ones. Objects name their items: "policy_indices:Oi:4" holds 1-D arrays of
 * integers; i integers, f floats, e empty floats, m 2-D integers (arrays), n ints, d floats, s
 * strings, l lists (scalars), x strings with a list in row 2. "V16s" is a structured type.
 */
#pragma once

#include "base/bytes.h"
#include "shard/archive_in.h"
#include "shard/role.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHARD_MAX_ARRAYS 40
#define SHARD_NBYTES     65536

struct shard {
    struct archive_in archive;
    struct array arrays[SHARD_MAX_ARRAYS];
    struct pickle_document documents[SHARD_MAX_ARRAYS];
    struct input input;
    uint8_t bytes[SHARD_NBYTES];
};

static char shard_path[] = "shard.npz";

static const struct pickle_ndarray *shard_item_array(char items)
{
    static const uint64_t shapes[2][2] = {{2, 2}, {0, 0}};
    static const struct pickle_ndarray arrays[] = {
        {.dtype = {.kind = 'i', .itemsize = 4}, .n_dims = 1, .shape = shapes[0], .n_elements = 2},
        {.dtype = {.kind = 'f', .itemsize = 4}, .n_dims = 1, .shape = shapes[0], .n_elements = 2},
        {.dtype = {.kind = 'f', .itemsize = 8}, .n_dims = 1, .shape = shapes[1]},
        {.dtype = {.kind = 'i', .itemsize = 4}, .n_dims = 2, .shape = shapes[0], .n_elements = 4},
    };
    static const char letters[] = "ifem";
    const char *letter = strchr(letters, items);

    if (items == '\0' || letter == NULL)
        abort();
    return &arrays[letter - letters];
}

static struct pickle_item shard_item(char items, uint64_t row)
{
    struct pickle_item item = {.kind = PICKLE_NONE};

    switch (items) {
    case ':': /* not said: None */
        break;
    case 'q':
        item.kind = row == 4 ? PICKLE_STRING : PICKLE_INT;
        break;
    case 'n':
        item.kind = PICKLE_INT;
        break;
    case 'd':
        item.kind = PICKLE_FLOAT;
        break;
    case 's':
        item.kind = PICKLE_STRING;
        break;
    case 'x':
        item.kind = row == 2 ? PICKLE_LIST : PICKLE_STRING;
        break;
    case 'l':
        item.kind = PICKLE_LIST;
        break;
    default:
        item.kind = PICKLE_ARRAY;
        item.as.array = shard_item_array(items);
    }
    return item;
}

static void shard_objects(struct shard *s, size_t i, char items)
{
    struct array *array = &s->arrays[i];
    struct pickle_document *document = &s->documents[i];
    const uint64_t n = array->header.n_elements;
    struct pickle_item *list = calloc(n + 1, sizeof *list);

    if (list == NULL)
        abort();
    for (uint64_t k = 0; k < n; k++)
        list[k] = shard_item(items, k);
    document->n_items = n;
    document->items = list;
    array->objects = document;
}

/* The data of a 0-d array, behind a header that nobody reads. */
static void shard_scalar(struct shard *s, size_t i, const char *value)
{
    struct array *array = &s->arrays[i];
    struct dtype *dtype = &array->header.dtype;
    uint8_t *p = s->bytes + s->input.n_bytes;

    if (dtype->kind == 'U') {
        dtype->itemsize = 4 * (uint32_t)strlen(value);
        for (size_t k = 0; k < strlen(value); k++)
            p[4 * k] = (uint8_t)value[k];
    } else if (dtype->kind == 'S') {
        dtype->itemsize = (uint32_t)strlen(value);
        memcpy(p, value, strlen(value));
    } else if (dtype->kind != 'O') {
        bytes_put_le(p, (uint64_t)strtoll(value, NULL, 10), dtype->itemsize);
    }
    if (dtype->kind != 'O')
        array->scalar = p; /* borrowed: nothing releases these arrays */
    array->offset = s->input.n_bytes;
    array->header.data_nbytes = dtype->itemsize;
    array->packed_nbytes = array->unpacked_nbytes = dtype->itemsize;
    s->input.n_bytes += dtype->itemsize;
}

static void shard_dtype(struct shard *s, size_t i, const char *text)
{
    struct dtype *dtype = &s->arrays[i].header.dtype;
    char *end;

    dtype->kind = text[0];
    if (text[0] == 'O')
        return;
    dtype->itemsize = (uint32_t)strtoul(text + 1, &end, 10);
    dtype->structured = *end == 's';
    if (text[0] == 'U')
        dtype->itemsize *= 4;
}

static void shard_shape(struct shard *s, size_t i, const char *text)
{
    struct npy_header *h = &s->arrays[i].header;
    char *end;

    h->n_elements = 1;
    for (;; text = end + 1) {
        h->shape[h->n_dims] = strtoull(text, &end, 10);
        h->n_elements *= h->shape[h->n_dims++];
        if (*end != ',')
            break;
    }
    s->arrays[i].n_rows = h->shape[0];
}

static struct shard *shard_new(const char *text)
{
    struct shard *s = calloc(1, sizeof *s);
    char *copy = strdup(text), *rest = copy, *word;
    size_t n = 0;

    if (s == NULL || copy == NULL)
        abort();
    s->input = (struct input){.path = shard_path, .fd = -1, .map = s->bytes};
    while ((word = strsep(&rest, " ")) != NULL) {
        struct array *array = &s->arrays[n];
        char *dtype = strchr(word, ':'), *shape, *value;

        if (*word == '\0')
            continue;
        if (dtype == NULL || n == SHARD_MAX_ARRAYS)
            abort();
        *dtype++ = '\0';
        shape = strchr(dtype, ':');
        value = strchr(dtype, '=');
        if (value != NULL && shape > value)
            shape = NULL;
        array->key = strdup(word);
        array->member = array->key;
        array->input = &s->input;
        shard_dtype(s, n, dtype);
        if (shape != NULL)
            shard_shape(s, n, shape + 1);
        else
            shard_scalar(s, n, value + 1);
        if (array->header.dtype.kind == 'O' && shape != NULL)
            shard_objects(s, n, dtype[1]);
        n++;
    }
    s->archive = (struct archive_in){.path = shard_path, .arrays = s->arrays, .n_arrays = n};
    free(copy);
    return s;
}

static void shard_free(struct shard *s)
{
    for (size_t i = 0; i < s->archive.n_arrays; i++) {
        free(s->arrays[i].key);
        free((void *)(uintptr_t)s->documents[i].items);
    }
    free(s);
}

/* "role:NAME=ROLE copy:NAME policy:LAYOUT xy yx" as a request. Returns what role.c returned. */
static int shard_request(const char *text, struct role_request *request, struct error *err)
{
    char *copy = strdup(text), *rest = copy, *word;
    int status = copy == NULL ? error_no_memory(err, "request") : 0;

    while (status == 0 && (word = strsep(&rest, " ")) != NULL) {
        if (strncmp(word, "role:", 5) == 0)
            status = role_request_add(request, word + 5, err);
        else if (strncmp(word, "copy:", 5) == 0)
            status = role_request_add_spec(request, word + 5, "copy", err);
        else if (strncmp(word, "policy:", 7) == 0)
            request->policy_layout = strdup(word + 7);
        else if (strcmp(word, "xy") == 0 || strcmp(word, "yx") == 0)
            request->plane_xy = word[0] == 'x';
    }
    free(copy);
    return status;
}
