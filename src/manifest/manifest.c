/*
 * manifest.c - creating, querying and comparing manifests. A comparison reports the roles of the
 * first output that differs: others of the same run differ in the same way.
 *
 * SHA-256 is made by libcrypto's direct functions: EVP would first load its tables of all
 * algorithms, which takes most of a millisecond.
 */
#include "manifest/manifest.h"

#include "manifest/digest.h"

#ifndef SYMAUG_VERSION
#define SYMAUG_VERSION "unknown"
#endif

json_t *manifest_new(struct error *err)
{
    json_t *m = json_pack("{s:i,s:{s:s,s:s},s:{s:s,s:i},s:{s:s,s:s},s:[],s:[],s:[],s:[],s:{},s:{},"
                          "s:{}}",
                          "format_version", MANIFEST_FORMAT_VERSION, "tool", "name", "symaug",
                          "version", SYMAUG_VERSION, "board", "name", "", "group_order", 0, "codec",
                          "level", "", "libraries", "", "transforms", "inputs", "outputs",
                          "warnings", "options", "conventions", "counts");

    if (m == NULL)
        error_no_memory(err, "manifest");
    return m;
}

/* --- queries --- */

const char *manifest_option(const json_t *m, const char *name)
{
    return manifest_text(json_object_get(m, "options"), name);
}

/* Version 1 listed conventions among the options, defaults too, and permutations of planes without
 * their numbers. */
const char *manifest_convention(const json_t *m, const char *name)
{
    const json_t *convention = json_object_get(json_object_get(m, "conventions"), name);
    const char *old = manifest_number(m, "format_version") == 1 ? manifest_option(m, name) : NULL;

    if (convention != NULL)
        return strcmp(manifest_text(convention, "source"), "default") != 0
                   ? manifest_text(convention, "meaning")
                   : NULL;
    return old != NULL && strcmp(old, "permutation") != 0 ? old : NULL;
}

json_t *manifest_find(const json_t *list, const char *name)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(manifest_text(json_array_get(list, i), "name"), name) == 0)
            return json_array_get(list, i);
    return NULL;
}

/* --- comparisons --- */

struct comparison {
    const json_t *a, *b; /* expected, found */
    struct text *list;   /* borrowed */
    struct error *err;
    int status;
};

/* Append the difference of two values, if there is one; NULL: absent. */
static void compare(struct comparison *c, const char *what, const char *key, const char *a,
                    const char *b)
{
    if ((a == NULL && b == NULL) || (a != NULL && b != NULL && strcmp(a, b) == 0))
        return;
    c->status |= text_append(c->list, c->err, "%s%s%s: %s expected, %s found",
                             c->list->n_bytes > 0 ? "; " : "", what, text_path(key).text,
                             a != NULL ? text_quote(a).text : "none",
                             b != NULL ? text_quote(b).text : "none");
}

/* Compare the strings of one key in a part of both manifests, or (compare_keys) of all keys. With
 * `inner`, the key's value is an object, and the string is under that key in it. */
static void compare_key(struct comparison *c, const char *what, const char *part, const char *key,
                        const char *inner)
{
    const json_t *a = json_object_get(json_object_get(c->a, part), key);
    const json_t *b = json_object_get(json_object_get(c->b, part), key);

    if (inner != NULL) {
        a = json_object_get(a, inner);
        b = json_object_get(b, inner);
    }
    compare(c, what, key, json_string_value(a), json_string_value(b));
}

static void compare_keys(struct comparison *c, const char *what, const char *part,
                         const char *inner)
{
    const json_t *of_a = json_object_get(c->a, part);
    const char *key;
    json_t *value;

    for (int i = 0; i < 2; i++)
        json_object_foreach(json_object_get(i == 0 ? c->a : c->b, part), key, value)
        {
            if (i == 0 || json_object_get(of_a, key) == NULL)
                compare_key(c, what, part, key, inner);
        }
}

/* Compare an array's role with the one it has in any output of a; an array that was dropped has the
 * role "drop", and one that a does not list is not compared. */
static void compare_array(struct comparison *c, const char *name, const char *role,
                          const char *swap)
{
    const json_t *outputs = json_object_get(c->a, "outputs");
    const char *a_role = NULL, *a_swap = NULL;

    for (size_t i = 0; i < json_array_size(outputs) && a_role == NULL; i++) {
        const json_t *output = json_array_get(outputs, i);
        const json_t *array = manifest_find(json_object_get(output, "arrays"), name);
        const json_t *dropped = json_object_get(output, "dropped");

        a_role = manifest_text(array, "role");
        a_swap = manifest_text(array, "swap");
        for (size_t k = 0; k < json_array_size(dropped) && a_role == NULL; k++)
            if (strcmp(json_string_value(json_array_get(dropped, k)), name) == 0)
                a_role = "drop";
    }
    if (a_role != NULL)
        compare(c, "role of ", name, a_role, role);
    if (a_swap != NULL && swap != NULL)
        compare(c, "swap of colours in ", name, a_swap, swap);
}

int manifest_compare(const json_t *a, const json_t *b, struct text *list, struct error *err)
{
    struct comparison c = {a, b, list, err, 0};
    const size_t n_before = list->n_bytes;
    const json_t *transforms[2] = {json_object_get(a, "transforms"),
                                   json_object_get(b, "transforms")};
    const uint64_t versions[2] = {manifest_number(a, "format_version"),
                                  manifest_number(b, "format_version")};
    const json_t *outputs = json_object_get(b, "outputs");

    if (versions[0] != versions[1])
        return text_append(list, err, "format_version: %" PRIu64 " expected, %" PRIu64 " found",
                           versions[0], versions[1]);
    compare_key(&c, "program's ", "tool", "name", NULL);
    compare_key(&c, "program's ", "tool", "version", NULL);
    compare_key(&c, "board's ", "board", "name", NULL);
    compare_key(&c, "board's ", "board", "preset", NULL);
    compare_key(&c, "board's ", "board", "file", "sha256");
    compare_keys(&c, "option ", "options", NULL);
    compare_keys(&c, "convention ", "conventions", "meaning");
    compare_key(&c, "codec's ", "codec", "level", NULL);
    compare_key(&c, "codec's ", "codec", "libraries", NULL);
    const size_t n_before_arrays = list->n_bytes;
    for (size_t i = 0; i < json_array_size(outputs) && list->n_bytes == n_before_arrays; i++) {
        const json_t *arrays = json_object_get(json_array_get(outputs, i), "arrays");
        const json_t *dropped = json_object_get(json_array_get(outputs, i), "dropped");

        for (size_t k = 0; k < json_array_size(arrays); k++) {
            const json_t *array = json_array_get(arrays, k);

            compare_array(&c, manifest_text(array, "name"), manifest_text(array, "role"),
                          manifest_text(array, "swap"));
        }
        for (size_t k = 0; k < json_array_size(dropped); k++)
            compare_array(&c, json_string_value(json_array_get(dropped, k)), "drop", NULL);
    }
    if (c.status == 0 && list->n_bytes == n_before &&
        (!json_equal(transforms[0], transforms[1]) ||
         manifest_number(json_object_get(a, "board"), "group_order") !=
             manifest_number(json_object_get(b, "board"), "group_order")))
        return text_append(list, err, "transforms: %zu expected, %zu different ones found",
                           json_array_size(transforms[0]), json_array_size(transforms[1]));
    return c.status;
}

int manifest_compare_inputs(const json_t *a, const json_t *b, struct text *list, struct error *err)
{
    struct comparison c = {a, b, list, err, 0};
    const json_t *of_a = json_object_get(a, "inputs"), *of_b = json_object_get(b, "inputs");
    const size_t n_before = list->n_bytes, n = json_array_size(of_a);

    if (n != json_array_size(of_b))
        return text_append(list, err, "%s%zu inputs expected, %zu found",
                           list->n_bytes > 0 ? "; " : "", n, json_array_size(of_b));
    for (size_t i = 0; i < n && list->n_bytes == n_before && c.status == 0; i++) {
        const json_t *x = json_array_get(of_a, i), *y = json_array_get(of_b, i);

        compare(&c, "input ", text_format("%zu", i + 1).text, manifest_text(x, "name"),
                manifest_text(y, "name"));
        if (list->n_bytes == n_before)
            compare(&c, "SHA-256 of input ", manifest_text(x, "name"), manifest_text(x, "sha256"),
                    manifest_text(y, "sha256"));
    }
    return c.status;
}

/* --- digests --- */

void digest_begin(struct digest *digest)
{
    SHA256_Init(&digest->state);
}

void digest_update(struct digest *digest, const void *bytes, size_t n_bytes)
{
    SHA256_Update(&digest->state, bytes, n_bytes);
}

void digest_add_line(struct digest *digest, const char *name, const char *hex)
{
    const char *const parts[] = {name, " ", hex, "\n"};

    for (size_t i = 0; i < N_OF(parts); i++)
        digest_update(digest, parts[i], strlen(parts[i]));
}

void digest_finish(struct digest *digest, char hex[DIGEST_HEX_NBYTES])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char sha256[SHA256_DIGEST_LENGTH];

    SHA256_Final(sha256, &digest->state);
    for (unsigned i = 0; i < SHA256_DIGEST_LENGTH; i++) {
        *hex++ = digits[sha256[i] >> 4];
        *hex++ = digits[sha256[i] & 15];
    }
    *hex = '\0';
}

void digest_bytes(const void *bytes, size_t n_bytes, char hex[DIGEST_HEX_NBYTES])
{
    struct digest digest;

    digest_begin(&digest);
    digest_update(&digest, bytes, n_bytes);
    digest_finish(&digest, hex);
}
