/*
 * settings.c - the option table, made of options.h, and one function for each thing that is done
 * with any of its rows: to find it, to set it, to tell what it was set to.
 */
#include "engine/settings.h"

#include "base/budget.h"
#include "base/crew.h"
#include "engine/order.h"

const struct settings settings_default = {
    .roles = ROLE_REQUEST_INIT,
    .conventions.to_move_plane = -1,
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

static int set_order(struct settings *s, const char *name, const char *text, struct error *err)
{
    uint64_t block = 0;

    if (strcmp(text, "sample") == 0)
        block = 1;
    else if (strcmp(text, "transform") != 0 &&
             (strncmp(text, "block:", 6) != 0 || text_parse_u64(text + 6, &block) != 0 ||
              block == 0))
        return error_set(err, ERROR_USAGE, "--%s: %s is none of block:B, sample, transform", name,
                         text_quote(text).text);
    s->block_rows = block;
    return 0;
}

/* I/N: the I-th of every N inputs. */
static int set_part(struct settings *s, const char *name, const char *text, struct error *err)
{
    char *end;
    unsigned long long part = strtoull(text, &end, 10), n = 0;

    if (*text >= '0' && *text <= '9' && *end == '/' && end[1] >= '0' && end[1] <= '9')
        n = strtoull(end + 1, &end, 10);
    if (n == 0 || *end != '\0' || part < 1 || part > n)
        return error_set(err, ERROR_USAGE, "--%s: %s is not I/N with I from 1 to N", name,
                         text_quote(text).text);
    s->part = part;
    s->n_parts = n;
    return 0;
}

/* An index, or - for indices on standard input. */
static int set_action(struct settings *s, const char *name, const char *text, struct error *err)
{
    s->action_stream = strcmp(text, "-") == 0;
    if (!s->action_stream && text_parse_u64(text, &s->action) != 0)
        return error_set(err, ERROR_USAGE, "--%s: %s is not a whole number", name,
                         text_quote(text).text);
    return 0;
}

static int set_level(struct settings *s, const char *name, const char *text, struct error *err)
{
    (void)name;
    return codec_level_parse(text, &s->level, err);
}

/* --role or --copy. */
static int add_role(struct settings *s, const char *name, const char *text, struct error *err)
{
    return strcmp(name, "role") == 0 ? role_request_add(&s->roles, text, err)
                                     : role_request_add_spec(&s->roles, text, "copy", err);
}

static int set_policy(struct settings *s, const char *name, const char *text, struct error *err)
{
    (void)name;
    free(s->roles.policy_layout);
    s->roles.policy_layout = strdup(text);
    return s->roles.policy_layout != NULL ? 0 : error_no_memory(err, "options");
}

static int set_convention(struct settings *s, const char *name, const char *text, struct error *err)
{
    return conventions_set(&s->conventions, name, text, err);
}

static int add_leak(struct settings *s, const char *name, const char *text, struct error *err)
{
    (void)name;
    if (list_room(&s->leaks, s->n_leaks + 1, sizeof(char *), "options", err) != 0)
        return -1;
    s->leaks[s->n_leaks++] = text;
    return 0;
}

static int set_conflict(struct settings *s, const char *name, const char *text, struct error *err)
{
    char *end;

    s->conflict = strtod(text, &end);
    if (end == text || *end != '\0' || !(s->conflict >= 0))
        return error_set(err, ERROR_USAGE, "--%s: %s is not a number from 0 on", name,
                         text_quote(text).text);
    return 0;
}

/* What an option does, as options.h says it. */
#define SETS(field) \
    .offset = offsetof(struct settings, field), .n_bytes = sizeof((struct settings *)0)->field
#define SAID(field)         .said = offsetof(struct settings, field)
#define BECOMES(value)      .kind = OPTION_FLAG, .min = (uint64_t)(value)
#define FLAG                BECOMES(true)
#define TEXT                .kind = OPTION_TEXT
#define SIZE                .kind = OPTION_SIZE
#define WORD(all)           .kind = OPTION_WORD, .words = (all)
#define CALL(function)      .kind = OPTION_CALL, .set = (function)
#define NUMBER(least, most) .kind = OPTION_NUMBER, .min = (least), .max = (most)
#define ANY_NUMBER(least)   NUMBER(least, UINT64_MAX)
#define CONVENTION(some)    CALL(set_convention), .words = (some)
#define WRITTEN             .is_written = true
#define RECORDED            .is_recorded = true

#define OPTION(type, field, letter, name, argument, help, commands, ...) \
    {letter, name, argument, help, commands, SETS(field), __VA_ARGS__},
#define OTHER(letter, name, argument, help, commands, ...) \
    {letter, name, argument, help, commands, __VA_ARGS__},
#define GROUP(title) {.name = "", .help = (title), .commands = ""},

const struct option_row option_table[] = {
#include "engine/options.h"
};

const size_t option_n_table = N_OF(option_table);

bool option_is_of(const struct option_row *row, const char *of)
{
    for (size_t n; *of != '\0'; of += n + strspn(of + n, " ")) {
        n = strcspn(of, " ");
        if (strncmp(of, "--", 2) == 0 ? role_lists(row->name, of + 2, n - 2)
                                      : row->commands == NULL || role_lists(row->commands, of, n))
            return true;
    }
    return false;
}

const struct option_row *option_find(const char *of, const char *name)
{
    for (size_t i = 0; i < option_n_table; i++)
        if (strcmp(option_table[i].name, name) == 0 && option_is_of(&option_table[i], of))
            return &option_table[i];
    return NULL;
}

int option_set(struct settings *settings, const struct option_row *row, const char *argument,
               struct error *err)
{
    uint8_t *field = (uint8_t *)settings + row->offset;
    uint64_t value = row->min;     /* of a flag */
    const char *word = row->words; /* separated by spaces; the message lists them with commas */
    char list[120] = "";

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
        break;
    case OPTION_TEXT:
        value = (uintptr_t)argument;
        break;
    case OPTION_WORD:
        for (value = 0; *word != '\0'; value++) {
            const size_t length = strcspn(word, " ");

            if (strlen(argument) == length && strncmp(word, argument, length) == 0)
                break;
            text_add(list, sizeof list, "%s%.*s", value > 0 ? ", " : "", (int)length, word);
            word += length + (word[length] == ' ');
        }
        if (*word == '\0')
            return error_set(err, ERROR_USAGE, "--%s: %s is none of %s", row->name,
                             text_quote(argument).text, list);
        break;
    case OPTION_CALL:
        if (row->set(settings, row->name, argument, err) != 0)
            return -1;
        value = (uintptr_t)argument;
        break;
    case OPTION_GROUP:
    case OPTION_END:
        return error_set(err, ERROR_INTERNAL, "option --%s sets nothing", row->name);
    }
    const uint32_t small = (uint32_t)value;
    const uint8_t least = (uint8_t)value;
    const void *const from[] = {&least, &small, &value};
    memcpy(field, from[(row->n_bytes > 1) + (row->n_bytes > 4)], row->n_bytes);
    if (row->said != 0)
        *((bool *)((uint8_t *)settings + row->said)) = true;
    return 0;
}

const char *option_text(const struct settings *settings, const struct option_row *row)
{
    const void *field = (const uint8_t *)settings + row->offset;

    return row->kind == OPTION_TEXT || (row->kind == OPTION_CALL && row->n_bytes > 0)
               ? *(const char *const *)field
               : NULL;
}

const char *option_recorded(const struct settings *settings, const struct option_row *row,
                            struct text_quoted *room)
{
    const void *field = (const uint8_t *)settings + row->offset;
    const char *word = row->words;
    uint64_t value = row->n_bytes == 1   ? *(const uint8_t *)field
                     : row->n_bytes == 4 ? *(const uint32_t *)field
                                         : *(const uint64_t *)field;

    switch (row->kind) {
    case OPTION_FLAG:
        return value == row->min ? "yes" : NULL;
    case OPTION_NUMBER:
    case OPTION_SIZE:
        *room = text_format("%llu", (unsigned long long)value);
        return value > 0 ? room->text : NULL;
    case OPTION_WORD:
        for (; value > 0; value--)
            word += strcspn(word, " ") + 1;
        *room = text_format("%.*s", (int)strcspn(word, " "), word);
        return room->text;
    default:
        return option_text(settings, row);
    }
}

int settings_finish(struct settings *settings, struct error *err)
{
    const char *tmpdir = getenv("TMPDIR");

    if (settings->n_threads == 0)
        settings->n_threads = threads_usable();
    if (settings->tmpdir == NULL)
        settings->tmpdir = tmpdir != NULL && *tmpdir != '\0' ? tmpdir : "/tmp";
    if (new_items(&settings->budget, 1, "settings", err) != 0)
        return -1;
    *settings->budget = (struct budget){settings->max_memory, settings->tmpdir};
    return settings->schema != NULL ? schema_read(settings->schema, &settings->roles, err) : 0;
}

void settings_release(struct settings *settings)
{
    role_request_release(&settings->roles);
    free(settings->leaks);
    settings->leaks = NULL;
    free(settings->budget);
    settings->budget = NULL;
}
