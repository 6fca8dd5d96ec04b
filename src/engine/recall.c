/*
 * recall.c - see recall.h.
 *
 * Roles of the manifest go before those of the user, because of several for one array the last one
 * counts; they hold for arrays that still have the dtype and row shape that the manifest lists.
 */
#include "engine/recall.h"

#include "engine/plan.h"
#include "engine/side_work.h"
#include "shard/manifest_json.h"

#include <stdlib.h>
#include <string.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

/* --- which output --- */

static int read_beside(struct recall *r, const char *path, struct error *err)
{
    struct text name = {0};
    size_t n = strlen(path);

    while (n > 1 && path[n - 1] == '/')
        n--;
    if (text_append(&name, err, "%.*s" MANIFEST_SUFFIX, (int)n, path) != 0)
        return -1;
    r->manifest = r->own = manifest_read(name.text, NULL);
    text_release(&name);
    return 0;
}

/* By its bytes, or else by its name. */
static int find_output(struct recall *r, const struct archive_in *archive, bool exact,
                       struct error *err)
{
    char sha256[DIGEST_HEX_NBYTES];
    struct manifest_file file;

    if (exact && side_work_digest(archive, sha256, err) != 0)
        return -1;
    for (size_t i = 0; !r->is_listed && manifest_output(r->manifest, i, &file) == 0; i++) {
        char *name = manifest_decode_name(file.name, err);

        if (name == NULL)
            return -1;
        r->output = i;
        r->is_listed = exact ? strcmp(sha256, file.sha256) == 0
                             : strcmp(base_name(name), base_name(archive->path)) == 0;
        free(name);
    }
    return 0;
}

/* --- what it says --- */

static void take_conventions(struct recall *r)
{
    struct settings *s = &r->settings;
    const char *order = manifest_convention(r->manifest, "plane-order");

    for (size_t i = 0; convention_names[i] != NULL; i++) {
        const char *text = manifest_convention(r->manifest, convention_names[i]);

        if (text != NULL && !conventions_is_said(&s->conventions, convention_names[i]))
            (void)conventions_set(&s->conventions, convention_names[i], text, NULL);
    }
    if (s->roles.plane_xy < 0 && order != NULL)
        s->roles.plane_xy = strcmp(order, "xy") == 0;
}

/* Does an array look as the manifest says? */
static bool fits(const struct array *array, const json_t *entry)
{
    const json_t *shape = json_object_get(entry, "shape");
    char dtype[32];

    dtype_name(&array->header.dtype, dtype, sizeof dtype);
    if (strcmp(dtype, json_string_value(json_object_get(entry, "dtype"))) != 0 ||
        json_array_size(shape) != array->header.n_dims)
        return false;
    for (unsigned d = 1; d < array->header.n_dims; d++)
        if ((uint64_t)json_integer_value(json_array_get(shape, d)) != array->header.shape[d])
            return false;
    return true;
}

static int add_role(struct role_request *roles, const struct archive_in *archive,
                    const json_t *entry, struct error *err)
{
    const char *role = json_string_value(json_object_get(entry, "role"));
    char *key = manifest_decode_name(json_string_value(json_object_get(entry, "name")), err);
    const struct array *array = key != NULL ? archive_in_find(archive, key) : NULL;
    struct error why = {0};
    int status = key != NULL ? 0 : -1;

    /* A role that this version does not know is as though it were not said. */
    if (array != NULL && fits(array, entry) && strcmp(role, "provenance") != 0 &&
        role_request_add_spec(roles, key, role, &why) != 0 && why.kind != ERROR_USAGE)
        status = error_set(err, why.kind, "%s", why.message);
    free(key);
    return status;
}

static int take_roles(struct recall *r, const struct archive_in *archive, struct error *err)
{
    const struct role_request *said = &r->settings.roles;
    const json_t *output = json_array_get(json_object_get(r->manifest->root, "outputs"), r->output);
    const json_t *arrays = json_object_get(output, "arrays"), *entry;
    struct role_request all = {.policy_layout = said->policy_layout, .plane_xy = said->plane_xy};
    struct role_override *grown;
    int status = 0;
    size_t i;

    json_array_foreach(arrays, i, entry)
    {
        if (status == 0)
            status = add_role(&all, archive, entry, err);
    }
    r->owns_roles = true;
    r->n_own = all.n_overrides;
    grown = realloc(all.overrides, (all.n_overrides + said->n_overrides + 1) * sizeof *grown);
    if (grown != NULL) {
        all.overrides = grown;
        if (said->n_overrides > 0)
            memcpy(grown + all.n_overrides, said->overrides, said->n_overrides * sizeof *grown);
        all.n_overrides += said->n_overrides;
    } else if (status == 0) {
        status = error_no_memory(err, "roles");
    }
    r->settings.roles = all;
    return status;
}

int recall_open(struct recall *r, const struct settings *settings, const struct archive_in *archive,
                const struct manifest *given, size_t output, bool exact, struct error *err)
{
    *r = (struct recall){
        .settings = *settings, .manifest = given, .output = output, .is_listed = given != NULL};
    if (given == NULL && (read_beside(r, archive->path, err) != 0 ||
                          (r->manifest != NULL && find_output(r, archive, exact, err) != 0)))
        return -1;
    if (exact && !r->is_listed)
        r->manifest = NULL;
    if (r->manifest == NULL)
        return 0;
    take_conventions(r);
    return r->is_listed ? take_roles(r, archive, err) : 0;
}

struct board *recall_board(const struct recall *r, const struct archive_in *archive,
                           const char **from)
{
    static const char comment[] = PLAN_ZIP_COMMENT, file[] = "file:";
    const char *name = r->manifest != NULL ? manifest_board(r->manifest) : NULL;
    const char *text = name != NULL ? manifest_board_file(r->manifest) : NULL;

    *from = "said by its manifest";
    if (text != NULL)
        return board_new_from_text(name, text, NULL);
    if (name == NULL && strncmp(archive->comment, comment, sizeof comment - 1) == 0) {
        *from = "said by its zip comment";
        name = archive->comment + sizeof comment - 1;
    }
    /* What a file says must not make the program read another one. */
    return name != NULL && strncmp(name, file, sizeof file - 1) != 0 ? board_new(name, NULL) : NULL;
}

void recall_release(struct recall *r)
{
    if (r->owns_roles) {
        struct role_request own = {.overrides = r->settings.roles.overrides,
                                   .n_overrides = r->n_own};

        role_request_release(&own);
    }
    manifest_free(r->own);
    *r = (struct recall){0};
}
