/*
 * sidecar.c - BASENAME.json beside an output, from which KataGo's shuffler reads the number of
 * rows. Whether it can be written is found out before the long work, by opening it and giving it up
 * again.
 */
#include "engine/sidecar.h"

#include "base/output.h"
#include "base/text.h"

#include <string.h>

static int sidecar_path(const char *path, struct text *name, struct error *err)
{
    size_t length = strlen(path);

    if (length > 4 && strcmp(path + length - 4, ".npz") == 0)
        length -= 4;
    return text_append(name, err, "%.*s.json", (int)length, path);
}

int sidecar_check(const char *path, bool force, struct error *err)
{
    struct output out = {0};
    struct text name = {0};
    int status = sidecar_path(path, &name, err);

    if (status == 0) {
        status = output_open(&out, name.text, force, err);
        output_abort(&out);
    }
    text_release(&name);
    return status;
}

int sidecar_write(const char *path, uint64_t n_rows, bool force, struct error *err)
{
    struct output out = {0};
    struct text name = {0}, json = {0};
    int status = -1;

    if (sidecar_path(path, &name, err) == 0 &&
        text_append(&json, err, "{\"num_rows\": %llu}\n", (unsigned long long)n_rows) == 0 &&
        output_open(&out, name.text, force, err) == 0 &&
        output_write(&out, json.text, json.n_bytes, err) == 0)
        status = output_commit(&out, force, err);
    output_abort(&out);
    text_release(&name);
    text_release(&json);
    return status;
}
