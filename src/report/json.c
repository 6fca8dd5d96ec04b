/*
 * json.c - a set as JSON, with the same facts as on the page. Numbers that are undefined are null.
 */
#include "report/set.h"

#include "base/text.h"

#include <math.h>

/* Whole numbers without a point. */
static json_t *number(double value)
{
    if (!isfinite(value))
        return json_null();
    return value == floor(value) && fabs(value) < 1e15 ? json_integer((json_int_t)value)
                                                       : json_real(value);
}

static json_t *count(uint64_t n)
{
    return json_integer((json_int_t)n);
}

/* Those of all files; where there are several, each finding names its own. */
static json_t *findings_of_all(const struct report_set *set)
{
    json_t *all = json_array();

    for (size_t i = 0; i < set->results.n; i++) {
        json_t *some = findings_json(&set->results.items[i].findings);

        for (size_t k = 0; k < json_array_size(some) && set->results.n > 1; k++)
            json_object_set_new(json_array_get(some, k), "path",
                                json_name(set->results.items[i].path));
        json_array_extend(all, some);
        json_decref(some);
    }
    return all;
}

static json_t *histogram_json(const struct tally_histogram *h)
{
    json_t *json = json_array();

    for (uint32_t i = 0; i < (h->is_binned ? TALLY_N_BINS : h->n); i++)
        json_array_append_new(
            json, h->is_binned ? json_pack("[o, o, o]", number(tally_bin(h, i)),
                                           number(tally_bin(h, i + 1)), count(h->counts[i]))
                               : json_pack("[o, o]", number(h->values[i]), count(h->counts[i])));
    return json;
}

static json_t *labels_json(const struct tally *tally)
{
    json_t *json = json_array();

    for (size_t i = 0; i < tally->n_labels; i++) {
        const struct tally_label *label = &tally->labels[i];
        json_t *transforms = json_object();

        for (uint32_t t = 0; label->by_transform != NULL && t < tally->board->n_transforms; t++) {
            char id[16];

            if (label->by_transform[t].n == 0 && !label->by_transform[t].is_binned)
                continue;
            snprintf(id, sizeof id, "%u", t);
            json_object_set_new(transforms, id, histogram_json(&label->by_transform[t]));
        }
        json_array_append_new(json,
                              json_pack("{s:o, s:s, s:o, s:o}", "array", json_name(label->key),
                                        "role", role_name(label->role), "histogram",
                                        histogram_json(&label->all), "transforms", transforms));
    }
    return json;
}

static json_t *heat_json(const struct tally *tally)
{
    json_t *json = json_array();

    for (size_t m = 0; m < tally->n_maps; m++) {
        const struct tally_map *map = &tally->maps[m];
        json_t *cells = json_array(), *mean = json_array(), *group = json_array(),
               *z = json_array();

        for (uint32_t cell = 0; cell < tally->board->n_cells; cell++) {
            if (!tally->board->on_board[cell])
                continue;
            json_array_append_new(cells, count(cell));
            json_array_append_new(mean, number(map->mean[cell]));
            json_array_append_new(group, number(map->group[cell]));
            json_array_append_new(z, number(map->z[cell]));
        }
        json_array_append_new(
            json, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "array", json_name(map->key), "plane",
                            map->plane == TALLY_NO_PLANE ? json_null() : count(map->plane), "cells",
                            cells, "mean", mean, "group", group, "z", z));
    }
    return json;
}

/* A row and a column per set; null where sets were not compared. */
json_t *report_overlap_json(const struct report_overlap *overlap, const struct report_set *sets)
{
    const struct report_set *const end = sets + sets->request->n;
    const uint64_t *at = overlap->matrices;
    json_t *both[2];

    for (int k = 0; k < 2; k++) {
        both[k] = json_array();
        for (const struct report_set *a = sets; a < end; a++) {
            json_t *row = json_array();

            for (const struct report_set *b = sets; b < end; b++)
                json_array_append_new(row, overlap->why.kind == ERROR_NONE &&
                                                   a->verdict != REPORT_UNCHECKED &&
                                                   b->verdict != REPORT_UNCHECKED
                                               ? count(*at++)
                                               : json_null());
            json_array_append_new(both[k], row);
        }
    }
    return json_pack("{s:o, s:o}", "exact", both[0], "symmetric", both[1]);
}

json_t *report_set_json(const struct report_set *set)
{
    const struct shard *shard = &set->shard;
    const struct board *board = set->is_open ? shard->found.board : NULL;
    const struct set_positions *p = &set->positions;
    const struct tally *tally = &set->tally;
    json_t *arrays = json_array(), *policies = json_array(), *evidence = json_array(),
           *positions = json_null();

    for (size_t i = 0; set->is_open && i < shard->archive.n_arrays; i++) {
        const struct array *array = &shard->archive.arrays[i];
        const bool has_role = shard->bindings != NULL && !shard_is_undecided(shard, i);
        json_t *shape = json_array();
        struct text flag = {0};

        for (unsigned d = 0; d < array->header.n_dims; d++)
            json_array_append_new(shape, count(report_dimension(set, array, d)));
        (void)shard_flag(shard, i, &flag, NULL);
        json_array_append_new(
            arrays,
            json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "name", json_name(array->key), "dtype",
                      dtype_name(&array->header.dtype).text, "shape", shape, "role",
                      has_role ? json_string(role_name(shard->bindings[i].role)) : json_null(),
                      "flag", flag.n_bytes > 0 ? json_name(flag.text) : json_null(), "bytes",
                      count(set->nbytes[2 * i]), "packed_bytes", count(set->nbytes[2 * i + 1])));
        text_release(&flag);
    }
    for (size_t i = 0; i < tally->n_policies; i++)
        json_array_append_new(policies, json_pack("{s:o, s:o, s:o}", "array",
                                                  json_name(tally->policies[i].key), "entropy",
                                                  number(tally->policies[i].entropy), "top_share",
                                                  number(tally->policies[i].top_share)));
    for (uint32_t t = 1; tally->evidence != NULL && t < tally->board->n_transforms; t++)
        json_array_append_new(
            evidence, json_pack("{s:i, s:o, s:o, s:o, s:b}", "transform", (int)t, "name",
                                json_name(tally->board->transforms[t].name), "distance",
                                number(tally->evidence[t].distance), "limit",
                                number(tally->evidence[t].limit), "fits", tally->evidence[t].fits));
    if (p->is_known)
        positions = json_pack("{s:o, s:o, s:o, s:o, s:o}", "rows", count(p->n_rows), "distinct",
                              count(p->n_classes), "duplicates", count(p->n_rows - p->n_classes),
                              "largest", count(p->largest), "conflicts", count(p->n_conflicts));
    return json_pack(
        "{s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "path",
        json_name(set->path), "board", board != NULL ? json_name(board->name) : json_null(), "rows",
        count(set->n_rows), "verdict", report_verdict_name(set->verdict), "sentence",
        json_name(set->sentence.text), "command", json_name(set->command.text), "arrays", arrays,
        "findings", findings_of_all(set), "counts", findings_counts_json(set->counts), "labels",
        labels_json(tally), "policy", policies, "heat", heat_json(tally), "evidence", evidence,
        "positions", positions);
}
