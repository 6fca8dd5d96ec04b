/*
 * scratch.h - a folder of their own for tests that write files. Include cmocka.h before.
 */
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch_folder[64];

/* The path of a name in the scratch folder; up to four are valid at a time. */
static inline const char *scratch(const char *name)
{
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", scratch_folder, name);
    return path;
}

static inline void scratch_remove(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;

    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        char *inner;
        struct stat st;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (asprintf(&inner, "%s/%s", path, entry->d_name) < 0)
            break;
        if (lstat(inner, &st) == 0 && S_ISDIR(st.st_mode))
            scratch_remove(inner);
        else
            unlink(inner);
        free(inner);
    }
    if (folder != NULL)
        closedir(folder);
    rmdir(path);
}

/* cmocka setup and teardown of one test. */
static inline int scratch_setup(void **state)
{
    (void)state;
    strcpy(scratch_folder, "/tmp/symaug-out-test-XXXXXX");
    return mkdtemp(scratch_folder) == NULL ? -1 : 0;
}

static inline int scratch_teardown(void **state)
{
    (void)state;
    scratch_remove(scratch_folder);
    return 0;
}

/* How many entries the scratch folder has, hidden ones included. */
static inline int scratch_count(void)
{
    DIR *folder = opendir(scratch_folder);
    int n = -2;

    while (folder != NULL && readdir(folder) != NULL)
        n++;
    if (folder != NULL)
        closedir(folder);
    return n;
}

/* Write and read a small file of the scratch folder. */
static inline void scratch_put(const char *name, const char *text)
{
    FILE *file = fopen(scratch(name), "wb");

    if (file != NULL) {
        fputs(text, file);
        fclose(file);
    }
}

/* Its bytes, NUL-terminated, to be freed; NULL when there is no such file. */
static inline char *scratch_get(const char *name, size_t *n_bytes)
{
    FILE *file = fopen(scratch(name), "rb");
    size_t capacity = 1 << 24;
    char *bytes = file == NULL ? NULL : malloc(capacity);

    if (bytes != NULL) {
        size_t n = fread(bytes, 1, capacity - 1, file);

        bytes[n] = '\0';
        if (n_bytes != NULL)
            *n_bytes = n;
    }
    if (file != NULL)
        fclose(file);
    return bytes;
}

static inline void assert_content(const char *name, const char *expected)
{
    char *content = scratch_get(name, NULL);

    assert_non_null(content);
    assert_string_equal(content, expected);
    free(content);
}
