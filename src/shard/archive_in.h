/*
 * archive_in.h - a shard as a list of arrays: an .npz file, a .npy file, or a folder of .npy files.
 */
#pragma once

#include "shard/array.h"

enum archive_form { ARCHIVE_NPZ, ARCHIVE_NPY, ARCHIVE_FOLDER, ARCHIVE_MEMORY };

/* True if the array of that key is to be left out: not even its header is read. */
typedef bool (*archive_leaves_out)(const void *self, const char *key);

struct archive_in {
    char *path; /* owned */
    enum archive_form form;
    struct input *inputs; /* owned: one, or one per .npy of a folder */
    size_t n_inputs;
    struct array *arrays; /* owned, in container order (a folder: sorted by name) */
    size_t n_arrays;
    char *comment;            /* owned: the zip comment, NUL-terminated, "" when there is none */
    struct warnings warnings; /* "member 'x.txt': not an array, left out" */
};

/*
 * Open a shard: check the container's structure strictly (zip_check), compare names, sizes and CRCs
 * with libzip's, and parse every array's header. Nothing is allocated from a declared size. Errors
 * name file and member, expected and found. On success the caller closes it.
 */
int archive_in_open(struct archive_in *archive, const char *path, bool use_map, struct error *err);

/* The same, but arrays for which leaves_out(self, key) is true are not parsed: is_left_out is set.
 */
int archive_in_open_part(struct archive_in *archive, const char *path, bool use_map,
                         archive_leaves_out leaves_out, const void *self, struct error *err);

struct symaug_array; /* of symaug.h */

/* Open arrays in the caller's memory as a shard; they are only read, and must outlive it. Messages
 * call it `name`. ERROR_DATA names an array whose type or length is wrong. */
int archive_in_of_memory(struct archive_in *archive, const char *name,
                         const struct symaug_array *arrays, size_t n_arrays, struct error *err);

void archive_in_close(struct archive_in *archive);

/* Close files and free objects, but keep what is known of the arrays: nothing can be read after. */
void archive_in_let_go(struct archive_in *archive);

/* array_load_objects for every object array of one or more dimensions. */
int archive_in_load_objects(struct archive_in *archive, struct error *err);

/* The bytes of its files. */
static inline uint64_t archive_in_nbytes(const struct archive_in *archive)
{
    uint64_t n_bytes = 0;

    for (size_t i = 0; i < archive->n_inputs; i++)
        n_bytes += archive->inputs[i].n_bytes;
    return n_bytes;
}

/* The array of that key, or NULL. */
struct array *archive_in_find(const struct archive_in *archive, const char *key);

/* The array that an error is about, or NULL. */
struct array *archive_in_refused(const struct archive_in *archive, const struct error *why);

/* ERROR_USAGE: no array has the key that `who` needs ("a role is given for it"); names the arrays
 * there are. Returns -1. */
int archive_in_refuse_key(const struct archive_in *archive, const char *key, const char *who,
                          struct error *err);
