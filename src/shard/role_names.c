/* role_names.c - the names met in the wild, as tables. */
#include "shard/role_names.h"

#include <string.h>
#include <strings.h>

#define N_OF(table) (sizeof(table) / sizeof(table)[0])

static bool has_tiles(const struct board *board)
{
    return board->family->has_tiles;
}

static const struct role_name_rule rules[] = {
    {"features", ROLE_PLANES, 0, NULL},
    {"feature", ROLE_PLANES, 0, NULL},
    {"states", ROLE_PLANES, 0, NULL},
    {"state", ROLE_PLANES, 0, NULL},
    {"boards", ROLE_PLANES, 0, NULL},
    {"board", ROLE_PLANES, 0, NULL},
    {"obs", ROLE_PLANES, 0, NULL},
    {"observations", ROLE_PLANES, 0, NULL},
    {"observation", ROLE_PLANES, 0, NULL},
    {"planes", ROLE_PLANES, 0, NULL},
    {"board_planes", ROLE_PLANES, 0, NULL},
    {"bf", ROLE_PLANES, 0, NULL},
    {"x", ROLE_PLANES, 0, NULL},
    {"inputs", ROLE_PLANES, 0, NULL},
    {"input", ROLE_PLANES, 0, NULL},
    {"valueTargetsNCHW", ROLE_PLANES, 0, NULL},
    {"binaryInputNCHWPacked", ROLE_PACKED, 0, NULL},
    {"plateau", ROLE_GRID, 0, has_tiles},
    {"plateaus", ROLE_GRID, 0, has_tiles},

    {"policy", ROLE_POLICY, 0, NULL},
    {"policies", ROLE_POLICY, 0, NULL},
    {"pi", ROLE_POLICY, 0, NULL},
    {"pis", ROLE_POLICY, 0, NULL},
    {"policy_targets", ROLE_POLICY, 0, NULL},
    {"policy_target", ROLE_POLICY, 0, NULL},
    {"pt", ROLE_POLICY, 0, NULL},
    {"visits", ROLE_POLICY, NAME_COUNTS, NULL},
    {"visit_counts", ROLE_POLICY, NAME_COUNTS, NULL},
    {"probs", ROLE_POLICY, 0, NULL},
    {"mcts_probs", ROLE_POLICY, 0, NULL},
    {"policyTargetsNCMove", ROLE_POLICY, 0, NULL},

    {"qValueTargetsNCMove", ROLE_ACTION_VALUES, 0, NULL},
    {"action_values", ROLE_ACTION_VALUES, 0, NULL},
    {"q_values", ROLE_ACTION_VALUES, 0, NULL},

    {"legal", ROLE_MASK, 0, NULL},
    {"legal_mask", ROLE_MASK, 0, NULL},
    {"legal_moves", ROLE_MASK, 0, NULL},
    {"legals_mask", ROLE_MASK, 0, NULL},
    {"action_mask", ROLE_MASK, 0, NULL},
    {"action_masks", ROLE_MASK, 0, NULL},
    {"mask", ROLE_MASK, 0, NULL},

    {"move", ROLE_ACTION, 0, NULL},
    {"moves", ROLE_ACTION, 0, NULL},
    {"move_index", ROLE_ACTION, 0, NULL},
    {"move_indices", ROLE_ACTION, 0, NULL},
    {"actions", ROLE_ACTION, 0, NULL},
    {"action", ROLE_ACTION, 0, NULL},
    {"position", ROLE_ACTION, 0, NULL},
    {"last_move", ROLE_COORD, 0, NULL},
    {"last_moves", ROLE_COORD, 0, NULL},

    {"value", ROLE_VALUE, 0, NULL},
    {"values", ROLE_VALUE, 0, NULL},
    {"v", ROLE_VALUE, 0, NULL},
    {"z", ROLE_VALUE, 0, NULL},
    {"zs", ROLE_VALUE, 0, NULL},
    {"outcome", ROLE_VALUE, 0, NULL},
    {"outcomes", ROLE_VALUE, 0, NULL},
    {"result", ROLE_VALUE, 0, NULL},
    {"results", ROLE_VALUE, 0, NULL},
    {"value_targets", ROLE_VALUE, 0, NULL},
    {"value_target", ROLE_VALUE, 0, NULL},
    {"vt", ROLE_VALUE, 0, NULL},
    {"Y_value", ROLE_VALUE, 0, NULL},
    {"values_mp", ROLE_VALUE, NAME_PER_PLAYER, NULL},
    {"wdl", ROLE_WDL, 0, NULL},
    {"wls", ROLE_WDL, 0, NULL},

    {"winner", ROLE_TO_MOVE, 0, NULL},
    {"winners", ROLE_TO_MOVE, 0, NULL},
    {"player", ROLE_TO_MOVE, 0, NULL},
    {"players", ROLE_TO_MOVE, 0, NULL},
    {"player_to_move", ROLE_TO_MOVE, 0, NULL},
    {"current_player", ROLE_TO_MOVE, 0, NULL},
    {"current_players", ROLE_TO_MOVE, 0, NULL},
    {"to_play", ROLE_TO_MOVE, 0, NULL},
    {"to_move", ROLE_TO_MOVE, 0, NULL},
    {"turn", ROLE_TO_MOVE, 0, NULL},
    {"turns", ROLE_TO_MOVE, 0, NULL},
    {"side_to_move", ROLE_TO_MOVE, 0, NULL},
    {"player_numbers", ROLE_TO_MOVE, 0, NULL},

    {"tile", ROLE_TILE, 0, has_tiles},
    {"tiles", ROLE_TILE, 0, has_tiles},

    {"globals", ROLE_COPY, 0, NULL},
    {"gf", ROLE_COPY, 0, NULL},
    {"globalInputNC", ROLE_COPY, 0, NULL},
    {"globalTargetsNC", ROLE_COPY, 0, NULL},
    {"scoreDistrN", ROLE_COPY, 0, NULL},
    {"metadataInputNC", ROLE_COPY, 0, NULL},
    {"weights", ROLE_COPY, NAME_MAY_SPREAD, NULL},
    {"sample_weights", ROLE_COPY, NAME_MAY_SPREAD, NULL},
    {"heuristics", ROLE_COPY, NAME_MAY_SPREAD, NULL},
    {"score", ROLE_COPY, NAME_MAY_SPREAD, NULL},
    {"scores", ROLE_COPY, NAME_MAY_SPREAD, NULL},
    {"final_score", ROLE_COPY, NAME_MAY_SPREAD, NULL},
    {"final_scores", ROLE_COPY, NAME_MAY_SPREAD, NULL},
    {"ply", ROLE_COPY, 0, NULL},
    {"move_number", ROLE_COPY, 0, NULL},
    {"move_numbers", ROLE_COPY, 0, NULL},
    {"moves_left", ROLE_COPY, 0, NULL},
    {"total_game_moves", ROLE_COPY, 0, NULL},
    {"move_types", ROLE_COPY, 0, NULL},
    {"game_id", ROLE_COPY, 0, NULL},
    {"game_ids", ROLE_COPY, 0, NULL},
    {"phases", ROLE_COPY, 0, NULL},
    {"num_players", ROLE_COPY, 0, NULL},
    {"victory_types", ROLE_COPY, 0, NULL},
    {"engine_modes", ROLE_COPY, 0, NULL},
    {"opponent_types", ROLE_COPY, 0, NULL},
    {"opponent_elo", ROLE_COPY, 0, NULL},
    {"generator_elo", ROLE_COPY, 0, NULL},
    {"quality_score", ROLE_COPY, 0, NULL},
    {"iteration", ROLE_COPY, 0, NULL},
    {"metadata", ROLE_COPY, 0, NULL},
    {"symaug_source", ROLE_COPY, 0, NULL},
    {"symaug_transform", ROLE_COPY, 0, NULL},

    {"data_checksums", ROLE_DROP, NAME_NEVER_ROWS, NULL},
};

/* NAME_present says in which rows NAME is there: the same for all images of a row. */
static const struct role_name_rule present = {"_present", ROLE_COPY, 0, NULL};

const struct role_name_rule *role_name_find(const char *key, const struct board *board)
{
    const size_t n = strlen(key), n_present = strlen(present.name);

    if (n > n_present && strcmp(key + n - n_present, present.name) == 0)
        return &present;
    for (size_t i = 0; i < N_OF(rules); i++)
        if (strcasecmp(rules[i].name, key) == 0 &&
            (board == NULL || rules[i].is_for == NULL || rules[i].is_for(board)))
            return &rules[i];
    return NULL;
}

bool role_name_suggests_cells(const char *key)
{
    static const char *const hints[] = {"move", "action", "pos",    "cell", "coord",
                                        "best", "played", "chosen", "mv"};

    for (size_t i = 0; i < N_OF(hints); i++)
        if (strcasestr(key, hints[i]) != NULL)
            return true;
    return false;
}

const char *const role_sparse_endings[N_SPARSE_PARTS] = {
    [SPARSE_INDICES] = "_indices", [SPARSE_VALUES] = "_values", [SPARSE_DATA] = "_data",
    [SPARSE_OFFSETS] = "_offsets", [SPARSE_INDPTR] = "_indptr",
};

size_t role_sparse_prefix(const char *key, enum sparse_part part)
{
    size_t n_key = strlen(key), n_ending = strlen(role_sparse_endings[part]);

    if (n_key <= n_ending || strcmp(key + n_key - n_ending, role_sparse_endings[part]) != 0)
        return 0;
    return n_key - n_ending;
}

static const struct role_name_rule *find_policy(const char *key, size_t n_bytes)
{
    for (size_t i = 0; i < N_OF(rules); i++)
        if (rules[i].role == ROLE_POLICY && strlen(rules[i].name) == n_bytes &&
            strncasecmp(rules[i].name, key, n_bytes) == 0)
            return &rules[i];
    return NULL;
}

bool role_prefix_is_policy(const char *key, size_t n_bytes)
{
    return (n_bytes == 3 && strncasecmp(key, "pol", 3) == 0) || find_policy(key, n_bytes) != NULL;
}

bool role_prefix_is_counts(const char *key, size_t n_bytes)
{
    const struct role_name_rule *rule = find_policy(key, n_bytes);

    return rule != NULL && (rule->flags & NAME_COUNTS) != 0;
}
