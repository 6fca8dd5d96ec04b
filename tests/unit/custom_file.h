/* custom_file.h - for tests of boards from a file: descriptions written, loaded and refused. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "board/actions.h"
#include "board/board.h"
#include "board/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Shorthand: three cells in a ring, turned by r, and back by rr. */
#define R       "{\"name\": \"r\", \"dst\": [1, 2, 0]}"
#define RR      "{\"name\": \"rr\", \"dst\": [2, 0, 1]}"
#define RING(x) "{\"cells\": 3, \"transforms\": [" x "]}"
/* One transform r with these further keys, or the board's further keys. */
#define R_WITH(keys)    RING("{\"name\": \"r\", \"dst\": [1, 2, 0], " keys "}, " RR)
#define R_DST(dst)      RING("{\"name\": \"r\", \"dst\": " dst "}, " RR)
#define R_NAME(name)    RING("{\"name\": " name ", \"dst\": [1, 2, 0]}, " RR)
#define BOARD_WITH(key) "{\"cells\": 3, \"transforms\": [" R ", " RR "], " key "}"
#define BOX(keys)       "{" keys ", \"transforms\": []}"

static char folder[] = "/tmp/symaug-test-custom-XXXXXX";
static char path[256];
static char board_name[300];

static inline int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static inline int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static inline void write_file(const char *name, const void *bytes, size_t n_bytes)
{
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(board_name, sizeof board_name, "file:%s", path);
    f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n_bytes, f), n_bytes);
    assert_int_equal(fclose(f), 0);
}

static inline struct board *load_named(const char *name, const char *json, struct error *err)
{
    struct board *b;

    write_file(name, json, strlen(json));
    b = board_new(board_name, err);
    assert_int_equal(unlink(path), 0);
    return b;
}

static inline struct board *load(const char *json)
{
    struct error err = {0};
    struct board *b = load_named("board.json", json, &err);

    assert_string_equal(err.message, "");
    assert_non_null(b);
    return b;
}

/* The refusal of a file names it, and says each of the `reasons`, which are separated by '|'. */
static inline void check_refusal(const char *json, size_t n_bytes, const char *reasons)
{
    struct error err = {0};
    char copy[256];

    write_file("board.json", json, n_bytes);
    assert_null(board_new(board_name, &err));
    assert_int_equal(unlink(path), 0);
    if (err.kind != ERROR_DATA || strncmp(err.message, path, strlen(path)) != 0)
        fail_msg("kind %d: %s", err.kind, err.message);
    snprintf(copy, sizeof copy, "%s", reasons);
    for (char *reason = strtok(copy, "|"); reason != NULL; reason = strtok(NULL, "|"))
        if (strstr(err.message, reason) == NULL)
            fail_msg("no \"%s\" in: %s", reason, err.message);
}

static inline void append(struct text *json, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static inline void append(struct text *json, const char *format, ...)
{
    struct error err = {0};
    char part[256];
    va_list args;

    va_start(args, format);
    vsnprintf(part, sizeof part, format, args);
    va_end(args);
    assert_int_equal(text_append(json, &err, "%s", part), 0);
}

static inline void append_map(struct text *json, const char *key, const uint32_t *map, uint32_t n)
{
    append(json, ", \"%s\": [", key);
    for (uint32_t i = 0; i < n; i++)
        append(json, "%s%u", i > 0 ? ", " : "", map[i]);
    append(json, "]");
}
