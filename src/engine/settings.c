/*
 * settings.c - options become settings: each row of the option table says what its argument may be
 * and which field it fills, so that one function serves them all.
 */
#include "engine/settings.h"

#include "base/budget.h"
#include "base/bytes.h"
#include "base/crew.h"
#include "base/text.h"
#include "engine/order.h"
#include "shard/role.h"

const struct settings settings_default = {
    .roles = ROLE_REQUEST_INIT,
    .conventions = {.planes = PLANES_COLOUR,
                    .value = VALUE_COLOUR01,
                    .to_move = TO_MOVE_01,
                    .to_move_plane = -1},
    .use_map = true,
    .block_rows = ORDER_DEFAULT_BLOCK,
    .order_text = "block:16",
    .seed = 1,
    .provenance = true,
    .level = {.kind = CODEC_DEFAULT},
    .level_text = "default",
    .max_memory = UINT64_C(1) << 30,
    .max_findings = 100,
};

bool option_is_of(const struct option_row *row, const char *command)
{
    const size_t n = strlen(command);
    const char *at = row->commands;

    while (at != NULL && (at = strstr(at, command)) != NULL && (at[-1] != ' ' || at[n] != ' '))
        at += n;
    return row->commands == NULL || at != NULL;
}

const struct option_row *option_find(const char *command, const char *name)
{
    for (size_t i = 0; i < option_n_table; i++)
        if (strcmp(option_table[i].name, name) == 0 && option_is_of(&option_table[i], command))
            return &option_table[i];
    return NULL;
}

int option_set(struct settings *settings, const struct option_row *row, const char *argument,
               struct error *err)
{
    uint8_t *field = (uint8_t *)settings + row->offset;
    uint64_t value = row->kind == OPTION_FLAG;
    const char *word = row->words; /* separated by spaces; the message lists them with commas */
    struct text list = {0};
    int status = 0;

    switch (row->kind) {
    case OPTION_NUMBER:
        if (text_parse_u64(argument, &value) == 0 && value >= row->min && value <= row->max)
            break;
        if (row->max == UINT64_MAX)
            return error_set(err, ERROR_USAGE, "--%s: %s is not a whole number%s", row->name,
                             text_quote(argument).text, row->min > 0 ? " from 1 on" : "");
        return error_set(err, ERROR_USAGE, "--%s: %s is not a number from %llu to %llu", row->name,
                         text_quote(argument).text, (unsigned long long)row->min,
                         (unsigned long long)row->max);
    case OPTION_SIZE:
        if (text_parse_size(argument, &value) != 0)
            return error_set(err, ERROR_USAGE, "--%s: %s is not a size such as 500M or 2G",
                             row->name, text_quote(argument).text);
        break;
    case OPTION_FLAG:
    case OPTION_NO:
        break;
    case OPTION_TEXT:
        value = (uintptr_t)argument;
        break;
    case OPTION_WORD:
        for (value = 0; status == 0 && *word != '\0'; value++) {
            const size_t length = strcspn(word, " ");

            if (strlen(argument) == length && strncmp(word, argument, length) == 0)
                break;
            status = text_append(&list, err, "%s%.*s", value > 0 ? ", " : "", (int)length, word);
            word += length;
            word += strspn(word, " ");
        }
        if (status == 0 && *word == '\0')
            status = error_set(err, ERROR_USAGE, "--%s: %s is none of %s", row->name,
                               text_quote(argument).text, list.text);
        text_release(&list);
        break;
    case OPTION_CALL:
        status = row->set(settings, row->name, argument, err);
        break;
    case OPTION_END:
        return error_set(err, ERROR_INTERNAL, "option --%s sets nothing", row->name);
    }
    if (status != 0)
        return -1;
    uint32_t small = (uint32_t)value;
    if (row->kind != OPTION_CALL && row->n_bytes == sizeof value)
        memcpy(field, &value, sizeof value);
    else if (row->kind != OPTION_CALL && row->n_bytes == sizeof small)
        memcpy(field, &small, sizeof small);
    else if (row->kind != OPTION_CALL)
        *field = (uint8_t)value;
    if (row->said != 0)
        *((bool *)((uint8_t *)settings + row->said)) = true;
    return 0;
}

int settings_finish(struct settings *settings, struct error *err)
{
    const char *tmpdir = getenv("TMPDIR");
    struct role_request all = ROLE_REQUEST_INIT, *said = &settings->roles;

    if (settings->n_threads == 0)
        settings->n_threads = threads_usable();
    if (settings->tmpdir == NULL)
        settings->tmpdir = tmpdir != NULL && *tmpdir != '\0' ? tmpdir : "/tmp";
    settings->budget = malloc(sizeof *settings->budget);
    if (settings->budget == NULL)
        return error_no_memory(err, "settings");
    *settings->budget = (struct budget){settings->max_memory, settings->tmpdir};
    if (settings->schema == NULL)
        return 0;
    /* Its overrides first, then those of the options: the last one of an array counts. */
    if (schema_read(settings->schema, &all, err) != 0 ||
        list_room(&said->overrides, all.n_overrides + said->n_overrides + 1,
                  sizeof *said->overrides, "options", err) != 0) {
        role_request_release(&all);
        return -1;
    }
    memmove(said->overrides + all.n_overrides, said->overrides,
            said->n_overrides * sizeof *said->overrides);
    if (all.n_overrides > 0)
        memcpy(said->overrides, all.overrides, all.n_overrides * sizeof *said->overrides);
    said->n_overrides += all.n_overrides;
    free(all.overrides);
    if (said->policy_layout == NULL)
        said->policy_layout = all.policy_layout;
    else
        free(all.policy_layout);
    if (said->plane_xy < 0)
        said->plane_xy = all.plane_xy;
    return 0;
}

void settings_release(struct settings *settings)
{
    role_request_release(&settings->roles);
    free(settings->leaks);
    settings->leaks = NULL;
    free(settings->budget);
    settings->budget = NULL;
}
