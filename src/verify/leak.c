/*
 * leak.c - positions of this set that occur in others: `overlap` compares them (positions/sets.c),
 * and each row that it finds is a finding.
 */
#include "verify/leak.h"

#include "base/text.h"
#include "positions/positions.h"

#include <inttypes.h>
#include <stdlib.h>

struct leak {
    const struct lanes *lanes;
    const struct sets *sets;
    struct findings *findings;
};

static int add_finding(void *self, uint64_t row, size_t set, uint64_t other, struct error *err)
{
    const struct leak *leak = self;
    const struct lane *lane = &leak->lanes->items[leak->lanes->planes];
    const struct finding_place place = {FINDING_LEAK, false, lane->array->key, row};

    (void)err;
    findings_add(leak->findings, &place, "in one set only",
                 finding_format("row %" PRIu64 " of %.120s", other,
                                text_path(leak->sets->items[set].path).text)
                     .text,
                 "a position that occurs in the other set");
    return 0;
}

int leak_check(const struct lanes *lanes, struct error *err)
{
    const struct settings *settings = lanes->request->settings;
    const struct shard *shard = lanes->shard;
    struct settings mine = shard->recall.settings, others = *settings; /* owned elsewhere */
    struct sets sets = {.n = settings->n_leaks + 1, .found = add_finding};
    struct leak leak = {lanes, &sets, &lanes->result->findings};
    struct error why = {0};
    int status;

    if (shard->found.board == NULL || lanes->planes < 0)
        return error_set(err, ERROR_USAGE,
                         "--leak: %s: needs planes and the board they are of (--board)",
                         text_path(shard->archive.path).text);
    mine.board = others.board = shard->found.board->name;
    mine.board_text = others.board_text = shard->found.board->file_text;
    sets.self = &leak;
    sets.items = calloc(sets.n, sizeof *sets.items);
    if (sets.items == NULL)
        return error_no_memory(err, "sets to compare with");
    sets.items[0] = (struct set){.path = shard->archive.path, .settings = &mine};
    for (size_t i = 1; i < sets.n; i++)
        sets.items[i] = (struct set){.path = settings->leaks[i - 1], .settings = &others};
    status = sets_compare(&sets, settings, &why);
    free(sets.items);
    return status == 0 ? 0 : error_set(err, why.kind, "--leak: %s", why.message);
}
