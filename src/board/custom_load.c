/* custom_load.c - see custom.h: the text of a board file, read and parsed within limits. */
#include "board/custom.h"

#include "base/input.h"
#include "base/json_load.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limits of a board file. A parsed value takes up to 100 bytes, an array or a key twice that; the
 * 65536 cells of the largest board, with 8 transforms and all its edges, stay below. */
#define MAX_NBYTES (16u << 20)
#define MAX_VALUES 1500000u
#define MAX_LISTS  300000u
#define MAX_KEYS   4096u
#define MAX_DEPTH  16u

int custom_refuse(const struct custom *c, struct error *err, const char *format, ...)
{
    char reason[ERROR_MESSAGE_NBYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    return error_set(err, ERROR_DATA, "%s: %s", text_path(c->path).text, reason);
}

/* The whole file, n_bytes of it; NULL on failure. */
static char *read_file(const struct custom *c, size_t *n_bytes, struct error *err)
{
    struct input in = {0};
    char *text = NULL;

    if (input_open(&in, c->path, false, err) != 0)
        return NULL;
    if (in.n_bytes > MAX_NBYTES) {
        custom_refuse(c, err, "a board file has at most %s, not %s", text_size(MAX_NBYTES).text,
                      text_size(in.n_bytes).text);
        goto out;
    }
    *n_bytes = (size_t)in.n_bytes;
    text = malloc(*n_bytes + 1);
    if (text == NULL) {
        error_no_memory(err, "board file");
        goto out;
    }
    text[*n_bytes] = '\0';
    if (input_read(&in, 0, text, *n_bytes, err) != 0) {
        free(text);
        text = NULL;
    }
out:
    input_close(&in);
    return text;
}

/* What a JSON text is made of, counted without building it. */
struct tally {
    size_t n_values, n_lists, n_keys, depth, max_depth;
};

static void count_character(struct tally *tally, char character)
{
    switch (character) {
    case '[':
    case '{':
        tally->n_lists++;
        tally->n_values++;
        tally->depth++;
        if (tally->depth > tally->max_depth)
            tally->max_depth = tally->depth;
        break;
    case ']':
    case '}':
        if (tally->depth > 0)
            tally->depth--;
        break;
    case ',':
        tally->n_values++;
        break;
    case ':':
        tally->n_keys++;
        break;
    default:
        break;
    }
}

static struct tally count_text(const char *text, size_t n_bytes)
{
    struct tally tally = {0};
    bool in_string = false;

    for (size_t i = 0; i < n_bytes; i++) {
        if (text[i] == '"')
            in_string = !in_string;
        else if (in_string && text[i] == '\\')
            i++;
        else if (!in_string)
            count_character(&tally, text[i]);
    }
    return tally;
}

static int check_limits(const struct custom *c, const char *text, size_t n_bytes, struct error *err)
{
    const struct tally tally = count_text(text, n_bytes);
    const struct {
        const char *what;
        size_t n, max;
    } limits[] = {
        {"levels", tally.max_depth, MAX_DEPTH},
        {"keys", tally.n_keys, MAX_KEYS},
        {"lists and objects", tally.n_lists, MAX_LISTS},
        {"values", tally.n_values, MAX_VALUES},
    };

    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        if (limits[i].n > limits[i].max)
            return custom_refuse(c, err, "a board file has at most %zu %s, not %zu", limits[i].max,
                                 limits[i].what, limits[i].n);
    return 0;
}

json_t *custom_load(const struct custom *c, struct error *err)
{
    size_t n_bytes = c->text != NULL ? strlen(c->text) : 0;
    char *text = c->text != NULL ? strdup(c->text) : read_file(c, &n_bytes, err);
    json_error_t where;
    json_t *root = NULL;
    bool no_memory;

    if (text == NULL) {
        if (c->text != NULL)
            error_no_memory(err, "board file");
        return NULL;
    }
    c->board->file_text = text;
    if (check_limits(c, text, n_bytes, err) != 0)
        return NULL;
    root = json_load_bytes(text, n_bytes, &where, &no_memory);
    if (root == NULL && no_memory) {
        error_no_memory(err, "board file");
    } else if (root == NULL) {
        custom_refuse(c, err, "line %d, column %d: %s", where.line, where.column,
                      text_path(where.text).text);
    } else if (!json_is_object(root)) {
        custom_refuse(c, err, "a board file is a JSON object {...}, not a list");
        json_decref(root);
        root = NULL;
    }
    return root;
}
