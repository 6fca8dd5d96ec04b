/*
 * role.c - the table of roles, one row each, and roles given by the user: --role, --copy, and
 * schemas, which say the same as JSON and are read and written here.
 *
 * A new role is a row here and its value in the enum: its names, how an array must fit it, which
 * options stand after its colon, what a transform does to it.
 */
#include "shard/role.h"

#include "base/json_load.h"
#include "shard/role_parts.h"

#define LAYOUT_OPTIONS \
    "flipud fliplr rot90 rot180 rot270 transpose anti-transpose from1 layout=NAME"

/* What policies, values of actions and masks have in common. */
#define AS_POLICY                                                                             \
    .options = LAYOUT_OPTIONS, .flags = ROLE_MOVES | ROLE_HAS_LAYOUT, .fit = role_fit_policy, \
    .moves_as = SPEC_AXIS, .mistake = ROLE_MISTAKE_POLICY

#define POLICY_NAMES \
    "policy policies pi pis policy_targets policy_target pt probs mcts_probs policyTargetsNCMove"
#define VISITS_NAMES "visits visit_counts"

const struct role_kind role_kinds[ROLE_N_KINDS] = {
    [ROLE_PLANES] =
        {
            .name = "planes",
            .options = "nchw nhwc frames=N positions",
            .flags = ROLE_MOVES | ROLE_ON_CELLS,
            .fit = role_fit_planes,
            .by_name = (const enum role[]){ROLE_GRID, ROLE_PLANES, ROLE_PACKED, ROLE_N_KINDS},
            .moves_as = SPEC_AXIS,
            .mistake = ROLE_MISTAKE_PLANES,
            .names =
                {{.words =
                      "features feature states state boards board obs observations observation "
                      "planes board_planes bf x inputs input valueTargetsNCHW"}},
        },
    [ROLE_PACKED] =
        {
            .name = "packed",
            .options = "msb lsb frames=N",
            .flags = ROLE_MOVES | ROLE_ON_CELLS,
            .fit = role_fit_packed,
            .moves_as = SPEC_BITS,
            .check = ROLE_CHECK_PAD_BITS,
            .mistake = ROLE_MISTAKE_PLANES,
            .names = {{.words = "binaryInputNCHWPacked"}},
        },
    [ROLE_GRID] =
        {
            .name = "grid",
            .flags = ROLE_MOVES | ROLE_ON_CELLS,
            .fit = role_fit_grid,
            .moves_as = SPEC_AXIS,
            .swap = ROLE_SWAP_CODES,
            .check = ROLE_CHECK_TILES,
            .mistake = ROLE_MISTAKE_PLANES,
            .names = {{"plateau plateaus", .flags = NAME_TILES}},
        },
    [ROLE_POLICY] =
        {
            .name = "policy",
            AS_POLICY,
            .check = ROLE_CHECK_POLICY,
            .names = {{.words = POLICY_NAMES}, {VISITS_NAMES, .flags = NAME_COUNTS}},
        },
    [ROLE_ACTION_VALUES] =
        {
            .name = "action-values",
            AS_POLICY,
            .names = {{.words = "qValueTargetsNCMove action_values q_values"}},
        },
    [ROLE_MASK] =
        {
            .name = "mask",
            AS_POLICY,
            .names =
                {{.words =
                      "legal legal_mask legal_moves legals_mask action_mask action_masks mask"}},
        },
    [ROLE_POLICY_INDEX] =
        {
            .name = "policy-index",
            .options = LAYOUT_OPTIONS,
            .flags = ROLE_MOVES | ROLE_HAS_LAYOUT | ROLE_IS_INDICES,
            .moves_as = SPEC_INDICES,
            .check = ROLE_CHECK_INDICES,
            .mistake = ROLE_MISTAKE_POLICY,
        },
    [ROLE_POLICY_VALUE] =
        {
            .name = "policy-value",
            .flags = ROLE_IS_VALUES,
            .check = ROLE_CHECK_POLICY,
            .mistake = ROLE_MISTAKE_INDEX_VALUES,
            .prefixes = POLICY_NAMES " " VISITS_NAMES " pol",
        },
    [ROLE_POLICY_OFFSETS] = {.name = "policy-offsets", .flags = ROLE_IS_OFFSETS},
    [ROLE_ACTION] =
        {
            .name = "action",
            .options = LAYOUT_OPTIONS " pairs",
            .flags = ROLE_MOVES | ROLE_HAS_LAYOUT,
            .fit = role_fit_action,
            .moves_as = SPEC_INDICES,
            .check = ROLE_CHECK_ACTION,
            .mistake = ROLE_MISTAKE_MOVE,
            .names = {{.words = "move moves move_index move_indices actions action position"}},
        },
    [ROLE_COORD] =
        {
            .name = "coord",
            .options = "rowcol colrow",
            .flags = ROLE_MOVES,
            .fit = role_fit_coord,
            .by_name = (const enum role[]){ROLE_COORD, ROLE_ACTION, ROLE_N_KINDS},
            .moves_as = SPEC_COORD,
            .check = ROLE_CHECK_COORD,
            .mistake = ROLE_MISTAKE_MOVE,
            .names = {{.words = "last_move last_moves"}},
        },
    [ROLE_VALUE] =
        {
            .name = "value",
            .options = "players",
            .fit = role_fit_value,
            .by_name = (const enum role[]){ROLE_WDL, ROLE_VALUE, ROLE_N_KINDS},
            .swap = ROLE_SWAP_VALUES,
            .check = ROLE_CHECK_VALUE,
            .mistake = ROLE_MISTAKE_VALUE,
            .names = {{.words = "value values v z zs outcome outcomes result results value_targets "
                                "value_target vt Y_value"},
                      {"values_mp", .flags = NAME_PER_PLAYER}},
        },
    [ROLE_WDL] =
        {
            .name = "wdl",
            .flags = ROLE_ONLY_SWAPS,
            .fit = role_fit_wdl,
            .swap = ROLE_SWAP_VALUES,
            .check = ROLE_CHECK_VALUE,
            .mistake = ROLE_MISTAKE_VALUE,
            .names = {{.words = "wdl wls"}},
        },
    [ROLE_TO_MOVE] =
        {
            .name = "to-move",
            .options = "player winner",
            .flags = ROLE_ONLY_SWAPS,
            .fit = role_fit_to_move,
            .swap = ROLE_SWAP_PLAYER,
            .check = ROLE_CHECK_PLAYER,
            .mistake = ROLE_MISTAKE_PLAYER,
            .names = {{.words =
                           "player players player_to_move current_player current_players to_play "
                           "to_move turn turns side_to_move player_numbers winner winners"}},
        },
    [ROLE_GLOBALS] =
        {
            .name = "globals",
            .flags = ROLE_ONLY_SWAPS,
            .fit = role_fit_globals,
            .swap = ROLE_SWAP_FIRST,
            .check = ROLE_CHECK_PLAYER,
            .mistake = ROLE_MISTAKE_PLAYER,
        },
    [ROLE_TILE] =
        {
            .name = "tile",
            .fit = role_fit_tile,
            .moves_as = SPEC_TRIPLE,
            .check = ROLE_CHECK_TILES,
            .mistake = ROLE_MISTAKE_PLANES,
            .names = {{"tile tiles", .flags = NAME_TILES}},
        },
    [ROLE_COPY] =
        {
            .name = "copy",
            .names =
                {{.words =
                      "globals gf globalInputNC globalTargetsNC scoreDistrN metadataInputNC ply "
                      "move_number move_numbers moves_left total_game_moves move_types game_id "
                      "game_ids phases num_players victory_types engine_modes opponent_types "
                      "opponent_elo generator_elo quality_score iteration player_type human_won "
                      "metadata symaug_source symaug_transform symaug_count symaug_orbit"},
                 {"weight weights sample_weight sample_weights heuristics score scores "
                  "final_score final_scores",
                  .flags = NAME_MAY_SPREAD}},
        },
    [ROLE_META] = {.name = "meta"},
    [ROLE_DROP] = {.name = "drop", .names = {{"data_checksums", .flags = NAME_NEVER_ROWS}}},
};

bool role_value_contradicts(const struct role_binding *binding, const char *key,
                            const struct board *board, const struct conventions *conventions)
{
    return binding->role == ROLE_WDL && binding->inferred && conventions->value_said &&
           conventions->value != VALUE_COLOUR_WDL && conventions->value != VALUE_MOVER &&
           role_by_name(key, strlen(key), board).role == ROLE_VALUE;
}

/* --- names --- */

bool role_lists(const char *words, const char *text, size_t n_bytes)
{
    while (words != NULL && *words != '\0') {
        const size_t n = strcspn(words, " ");

        if (n == n_bytes && text_compare_caseless(words, text, n) == 0)
            return true;
        words += n + (words[n] != '\0');
    }
    return false;
}

struct role_named role_by_name(const char *key, size_t n_bytes, const struct board *board)
{
    for (unsigned i = 0; i < ROLE_N_KINDS * ROLE_N_NAMES; i++) {
        const enum role role = (enum role)(i / ROLE_N_NAMES);
        const struct role_names *names = &role_kinds[role].names[i % ROLE_N_NAMES];

        if (role_lists(names->words, key, n_bytes) &&
            (board == NULL || !(names->flags & NAME_TILES) || board->family->has_tiles))
            return (struct role_named){true, role, names->flags};
    }
    return (struct role_named){.role = ROLE_META};
}

enum role role_values_by_prefix(const char *key, size_t n_bytes)
{
    for (unsigned k = 0; k < ROLE_N_KINDS; k++)
        if (role_lists(role_kinds[k].prefixes, key, n_bytes))
            return (enum role)k;
    return ROLE_META;
}

/* --- roles given by the user --- */

#define FRAMES_END 100000 /* a frame count must be below this */
#define N_PAIRED   8      /* leading options that exclude each other in pairs: see role_option */

/* By bit of enum role_option. */
static const char *const option_names[] = {"rowcol",  "colrow", "msb",      "lsb",
                                           "nchw",    "nhwc",   "player",   "winner",
                                           "players", "pairs",  "positions"};

static bool equals(const char *text, size_t n_bytes, const char *name)
{
    return strlen(name) == n_bytes && memcmp(text, name, n_bytes) == 0;
}

/* The role of ROLE[:option,...]; ROLE_N_KINDS: there is none of that name. */
static enum role role_of_spec(const char *spec)
{
    unsigned i = 0;

    while (i < ROLE_N_KINDS && !equals(spec, strcspn(spec, ":"), role_kinds[i].name))
        i++;
    return (enum role)i;
}

int role_request_add_spec(struct role_request *request, const char *array, const char *spec,
                          struct error *err)
{
    const size_t n_role = strcspn(spec, ":");
    struct role_override o = {.role = role_of_spec(spec)};
    const char *text = spec + n_role;
    char names[400] = "";
    int status = 0;

    if (*array == '\0')
        return error_set(err, ERROR_USAGE, "a role needs the name of an array: NAME=%s", spec);
    o.array = strdup(array);
    if (o.array == NULL)
        return error_no_memory(err, "a role");
    for (unsigned i = 0; i < ROLE_N_KINDS; i++)
        text_add(names, sizeof names, "%s%s", i > 0 ? ", " : "", role_kinds[i].name);
    if (o.role == ROLE_N_KINDS)
        status = error_set(err, ERROR_USAGE, "%s: no role is called %s; roles: %s",
                           text_quote(o.array).text, text_quote_bytes(spec, n_role).text, names);
    while (status == 0 && *text != '\0') { /* at the colon, or a comma */
        const char *options = role_kinds[o.role].options;
        const bool has_layout = (role_kinds[o.role].flags & ROLE_HAS_LAYOUT) != 0;
        const size_t n_bytes = strcspn(++text, ","), n_equal = strlen("layout=");
        const bool is_listed = role_lists(options, text, n_bytes);
        enum action_flip flip = ACTION_AS_IS + 1;
        unsigned option = 0;

        while (option < N_OF(option_names) && !equals(text, n_bytes, option_names[option]))
            option++;
        while (flip <= ACTION_FROM_1 && !equals(text, n_bytes, action_flip_name(flip)))
            flip++;
        if (has_layout && n_bytes > n_equal && memcmp(text, "layout=", n_equal) == 0 &&
            o.layout == NULL) {
            o.layout = strndup(text + n_equal, n_bytes - n_equal);
            status = o.layout == NULL ? error_no_memory(err, "a role's layout") : 0;
        } else if (is_listed && option < N_OF(option_names)) {
            o.options &= option < N_PAIRED ? ~(1u << (option ^ 1)) : ~0u;
            o.options |= 1u << option;
        } else if (is_listed && flip == ACTION_FROM_1) {
            o.flip |= ACTION_FROM_1;
        } else if (is_listed && flip < ACTION_N_FLIPS) {
            o.flip = (o.flip & ACTION_FROM_1) | flip;
        } else if (options == NULL || strstr(options, "frames=") == NULL || n_bytes <= n_equal ||
                   memcmp(text, "frames=", n_equal) != 0 ||
                   text_parse_digits(text + n_equal, n_bytes - n_equal, &o.n_frames) != 0 ||
                   o.n_frames == 0 || o.n_frames >= FRAMES_END) {
            names[0] = '\0';
            for (const char *p = options != NULL ? options : "none"; *p != '\0'; p++)
                text_add(names, sizeof names, *p == ' ' ? ", " : "%c", *p);
            status = error_set(err, ERROR_USAGE, "%s: role %s has no option %s; its options: %s",
                               text_quote(o.array).text, role_name(o.role),
                               text_quote_bytes(text, n_bytes).text, names);
        }
        text += n_bytes;
    }
    if (status == 0 &&
        list_room(&request->overrides, request->n_overrides + 1, sizeof o, "roles", err) == 0) {
        request->overrides[request->n_overrides++] = o;
        return 0;
    }
    free(o.array);
    free(o.layout);
    return -1;
}

int role_request_add(struct role_request *request, const char *text, struct error *err)
{
    const char *equal = strchr(text, '=');

    if (equal == NULL)
        return error_set(err, ERROR_USAGE, "expected a role as NAME=ROLE, not %s",
                         text_quote(text).text);
    /* A name may contain '=': the first one that a role follows ends it. */
    for (const char *at = equal; at != NULL; at = strchr(at + 1, '='))
        if (role_of_spec(at + 1) < ROLE_N_KINDS) {
            equal = at;
            break;
        }
    char *array = strndup(text, (size_t)(equal - text));
    const int status = array != NULL ? role_request_add_spec(request, array, equal + 1, err)
                                     : error_no_memory(err, "a role");
    free(array);
    return status;
}

bool role_is_dropped(const void *self, const char *key)
{
    const struct role_request *request = self;
    bool drops = request->under != NULL && role_is_dropped(request->under, key);

    for (size_t i = 0; i < request->n_overrides; i++)
        if (strcmp(request->overrides[i].array, key) == 0)
            drops = request->overrides[i].role == ROLE_DROP;
    return drops;
}

void role_overrides_release(struct role_request *request)
{
    for (size_t i = 0; i < request->n_overrides; i++) {
        free(request->overrides[i].array);
        free(request->overrides[i].layout);
    }
    free(request->overrides);
}

void role_request_release(struct role_request *request)
{
    role_overrides_release(request);
    free(request->policy_layout);
    memset(request, 0, sizeof *request);
    request->plane_xy = -1;
}

struct text_quoted role_binding_spec(const struct role_binding *b)
{
    struct text_quoted text = text_format("%s", role_name(b->role));
    const size_t room = sizeof text.text, n_role = strlen(text.text);

    if (b->layout != NULL && (role_kinds[b->role].flags & ROLE_HAS_LAYOUT))
        text_add(text.text, room, ",layout=%s%s%s", b->layout->name,
                 b->flip != ACTION_AS_IS ? "," : "", action_flip_name(b->flip));
    for (unsigned i = 0; i < N_OF(option_names); i++) {
        if (1u << i == ROLE_POSITIONS && b->frame_planes > 0)
            text_add(text.text, room, ",frames=%" PRIu64,
                     b->axes.outer * b->axes.inner / b->frame_planes);
        if (b->options >> i & 1)
            text_add(text.text, room, ",%s", option_names[i]);
    }
    if (text.text[n_role] == ',')
        text.text[n_role] = ':';
    return text;
}

/* --- schemas --- */

/* ERROR_DATA: what the file says is not a schema. -1. */
#define bad_schema(path, err, ...) \
    error_set_at(err, ERROR_DATA, ERROR_IN(path), "not a schema: " __VA_ARGS__)

static int read_root(json_t *root, const char *path, struct role_request *request,
                     struct error *err)
{
    const json_t *version = json_object_get(root, "symaug_schema");
    const char *name, *array;
    json_t *value, *spec;

    if (!json_is_object(root) || !json_is_integer(version))
        return bad_schema(path, err, "expected an object with \"symaug_schema\": 1");
    if (json_integer_value(version) != SCHEMA_VERSION)
        return bad_schema(path, err, "version %lld, expected %d",
                          (long long)json_integer_value(version), SCHEMA_VERSION);
    json_object_foreach(root, name, value)
    {
        const char *text = json_string_value(value);

        if (strcmp(name, "arrays") == 0) {
            if (!json_is_object(value))
                return bad_schema(path, err,
                                  "expected an object of roles by name under \"arrays\"");
            json_object_foreach(value, array, spec)
            {
                struct error reason = {0};

                if (!json_is_string(spec))
                    return bad_schema(path, err, "expected a role for %s", text_quote(array).text);
                if (role_request_add_spec(request, array, json_string_value(spec), &reason) != 0)
                    return error_set(err, reason.kind == ERROR_USAGE ? ERROR_DATA : reason.kind,
                                     "%s: %s", text_path(path).text, reason.message);
            }
        } else if (strcmp(name, "plane_order") == 0) {
            if (text == NULL || (strcmp(text, "xy") != 0 && strcmp(text, "yx") != 0))
                return bad_schema(path, err, "expected \"xy\" or \"yx\" under \"plane_order\"");
            if (request->plane_xy < 0)
                request->plane_xy = strcmp(text, "xy") == 0;
        } else if (strcmp(name, "policy") == 0) {
            if (text == NULL)
                return bad_schema(path, err, "expected the name of a layout under \"policy\"");
            if (request->policy_layout == NULL && (request->policy_layout = strdup(text)) == NULL)
                return error_no_memory(err, "a schema");
        } else if (strcmp(name, "symaug_schema") != 0) { /* checked above */
            return bad_schema(path, err, "unknown key %s", text_quote(name).text);
        }
    }
    return 0;
}

int schema_read(const char *path, struct role_request *request, struct error *err)
{
    const size_t n_said = request->n_overrides;
    size_t n_bytes;
    char *json = input_load(path, SCHEMA_MAX_NBYTES, "a schema", &n_bytes, err);
    json_error_t fault;

    if (json == NULL)
        return bad_schema(path, err, "it is larger than 16 MiB");
    json_t *root = json_load_bytes(json, n_bytes, &fault, "a schema", err);
    free(json);
    if (root == NULL)
        return error_set(err, ERROR_DATA, "%s: not JSON: line %d, column %d: %s",
                         text_path(path).text, fault.line, fault.column,
                         text_path(fault.text).text);
    int status = read_root(root, path, request, err);
    json_decref(root);
    const size_t n_read = request->n_overrides - n_said;
    if (status != 0 || n_said == 0 || n_read == 0)
        return status;
    /* The last override of an array counts: what was said before goes after the file's. */
    struct role_override *all;
    if (new_items(&all, n_said + n_read, "a schema", err) != 0)
        return -1;
    memcpy(all, request->overrides + n_said, n_read * sizeof *all);
    memcpy(all + n_read, request->overrides, n_said * sizeof *all);
    free(request->overrides);
    request->overrides = all;
    return 0;
}

int schema_write(const struct archive_in *archive, const struct role_binding *bindings,
                 struct text *out, struct error *err)
{
    json_t *arrays = json_object();
    const char *order = NULL;
    char *json = NULL;
    int bad = 0, status = 0;

    for (size_t i = 0; i < archive->n_arrays && bad == 0 && status == 0; i++) {
        const char *key = archive->arrays[i].key;

        if (order == NULL && role_is_on_cells(bindings[i].role))
            order = bindings[i].plane_xy ? "xy" : "yx";
        if (!text_is_utf8(key, strlen(key)))
            status = error_set(err, ERROR_DATA, "%s: %s: a name that is not UTF-8 fits no schema",
                               text_path(archive->path).text, text_path(key).text);
        else
            bad =
                json_object_set_new(arrays, key, json_string(role_binding_spec(&bindings[i]).text));
    }
    json_t *root = json_pack("{s:i, s:s*, s:o}", "symaug_schema", SCHEMA_VERSION, "plane_order",
                             order, "arrays", arrays);
    json = bad == 0 && root != NULL ? json_dumps(root, JSON_INDENT(2)) : NULL;
    if (status == 0)
        status =
            json != NULL ? text_append(out, err, "%s\n", json) : error_no_memory(err, "a schema");
    free(json);
    json_decref(root);
    return status;
}
