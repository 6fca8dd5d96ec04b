/*
 * findings.c - the list of findings, in the order in which they were made, each with its stable
 * code. Findings beyond `max` are only counted. Running out of memory sets a flag, so that a check
 * can go on; whoever ends the check turns it into an error.
 */
#include "verify/findings.h"

#include "base/bytes.h"

#define WORD(name, word) word,
static const char *const names[] = {FINDING_CODES(WORD)};

const char *finding_code_name(enum finding_code code)
{
    return names[code];
}

static void finding_release(struct finding *finding)
{
    free(finding->array);
    free(finding->message);
    free(finding->expected);
    free(finding->found);
}

/* Take over a finding whose strings are all there: append it, or free it beyond max. */
static void keep(struct findings *f, struct finding *item, bool is_whole)
{
    if (is_whole && f->n < f->max && f->n == f->capacity &&
        list_room(&f->items, 2 * f->n + 16, sizeof *f->items, "findings", NULL) == 0)
        f->capacity = 2 * f->n + 16;
    if (is_whole && f->n < f->max && f->n < f->capacity) {
        f->items[f->n++] = *item;
    } else {
        f->no_memory |= f->n < f->max;
        finding_release(item);
    }
}

void findings_add(struct findings *f, const struct finding_place *place, const char *expected,
                  const char *found, const char *format, ...)
{
    struct finding item = {.code = place->code, .is_warning = place->is_warning, .row = place->row};
    va_list args;

    f->counts[place->code]++;
    f->n_warnings += place->is_warning;
    f->n_errors += !place->is_warning;
    if (f->n >= f->max)
        return;
    item.array = place->array != NULL ? strdup(place->array) : NULL;
    item.expected = strdup(expected);
    item.found = strdup(found);
    va_start(args, format);
    if (vasprintf(&item.message, format, args) < 0)
        item.message = NULL;
    va_end(args);
    keep(f, &item,
         item.message != NULL && item.expected != NULL && item.found != NULL &&
             (item.array != NULL || place->array == NULL));
}

void findings_merge(struct findings *f, struct findings *from)
{
    for (size_t i = 0; i < from->n; i++)
        keep(f, &from->items[i], true);
    for (int i = 0; i < FINDING_N_CODES; i++)
        f->counts[i] += from->counts[i];
    f->n_errors += from->n_errors;
    f->n_warnings += from->n_warnings;
    f->no_memory |= from->no_memory;
    free(from->items);
    *from = (struct findings){.max = from->max};
}

json_t *findings_json(const struct findings *f)
{
    json_t *list = json_array();

    for (const struct finding *item = f->items; item < f->items + f->n; item++) {
        json_t *row =
            item->row != FINDING_NO_ROW ? json_integer((json_int_t)item->row) : json_null();

        json_array_append_new(
            list, json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "severity",
                            item->is_warning ? "warning" : "error", "code", names[item->code],
                            "array", item->array != NULL ? json_name(item->array) : json_null(),
                            "row", row, "expected", json_name(item->expected), "found",
                            json_name(item->found), "message", json_name(item->message)));
    }
    return list;
}

json_t *findings_counts_json(const uint64_t counts[FINDING_N_CODES])
{
    json_t *json = json_object();

    for (int code = 0; code < FINDING_N_CODES; code++)
        if (counts[code] > 0)
            json_object_set_new(json, names[code], json_integer((json_int_t)counts[code]));
    return json;
}

void findings_release(struct findings *f)
{
    for (size_t i = 0; i < f->n; i++)
        finding_release(&f->items[i]);
    free(f->items);
    *f = (struct findings){0};
}
