/* manifest_write.c - a manifest to its file: see manifest.h. */
#include "base/output.h"
#include "shard/manifest_json.h"

#include <stdlib.h>

#define DUMP_FLAGS (JSON_INDENT(2) | JSON_SORT_KEYS)

/*
 * The text, of *n_bytes, with a newline at its end; owned by the caller, NULL with err set. Into a
 * buffer measured before: where jansson 2.14 makes its own and it cannot grow, keys go missing.
 */
static char *dump(const json_t *root, size_t *n_bytes, struct error *err)
{
    size_t n_json = json_dumpb(root, NULL, 0, DUMP_FLAGS);
    char *json = n_json == 0 ? NULL : malloc(n_json + 1);

    if (json != NULL && json_dumpb(root, json, n_json, DUMP_FLAGS) == n_json) {
        json[n_json] = '\n';
        *n_bytes = n_json + 1;
        return json;
    }
    free(json);
    error_no_memory(err, "manifest");
    return NULL;
}

int manifest_write(const struct manifest *m, const char *path, bool force, struct error *err)
{
    size_t n_bytes;
    char *json = dump(m->root, &n_bytes, err);
    struct output output;
    int rc = -1;

    if (json == NULL)
        return -1;
    if (output_open(&output, path, force, err) != 0)
        goto out;
    if (output_write(&output, json, n_bytes, err) == 0)
        rc = output_commit(&output, force, err);
    else
        output_abort(&output);
out:
    free(json);
    return rc;
}
