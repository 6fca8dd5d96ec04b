/*
 * plan.c - what will be done, settled before anything is written: the inputs are opened and matched
 * (plan_inputs.c), board and transforms chosen, every array bound to what a transform does to it
 * (bind.c), the data looked at where labels depend on it (survey.c, survey_stones.c), images left
 * out (select.c), and the order of the output rows set.
 *
 * An output may be cut into shards of so many rows. Where whole blocks can be kept together, a
 * shard ends at the end of a block; where --unique makes blocks of different lengths, at the end of
 * the block that reaches the number; orders without blocks are cut at the very row. A shard is a
 * slice of the one order, found from its first row.
 */
#include "engine/plan.h"

#include "engine/survey.h"

int plan_warn(struct plan *plan, struct error *err, const char *format, ...)
{
    va_list args;
    char *line;

    va_start(args, format);
    int status = vasprintf(&line, format, args);
    va_end(args);
    if (status < 0)
        return error_no_memory(err, "warnings");
    status = text_list_add(&plan->warnings, line, err);
    free(line);
    return status;
}

struct text_quoted plan_array_name(const struct plan *plan, const struct plan_array *array)
{
    struct text_quoted name;
    struct text_quoted path = text_path(plan->archives[0].path), key = text_path(array->key);

    /* Two long names share the room: the array's end matters more than the path's. */
    snprintf(name.text, sizeof name.text, "%.*s: %.100s", 150, path.text, key.text);
    return name;
}

int plan_note(struct plan *plan, const char *name, const char *value, uint64_t count,
              struct error *err)
{
    json_t **notes = value != NULL ? &plan->notes : &plan->counts;
    json_t *noted = value != NULL ? json_string_nocheck(value) : json_integer((json_int_t)count);

    if (*notes == NULL)
        *notes = json_object();
    return json_object_set_new(*notes, name, noted) == 0 ? 0 : error_no_memory(err, "notes");
}

bool plan_is_key(const struct plan *plan, const struct plan_array *array, const char **planes)
{
    const size_t n = strlen(array->key);

    *planes = NULL;
    /* NAME[:PLANES],...: names may hold colons themselves. */
    for (const char *entry = plan->settings->key; entry != NULL; entry = strchr(entry, ',')) {
        entry += *entry == ',';
        if (strncmp(entry, array->key, n) != 0 ||
            (entry[n] != '\0' && strchr(",:", entry[n]) == NULL))
            continue;
        *planes = entry[n] == ':' ? entry + n + 1 : NULL;
        return true;
    }
    if (plan->settings->key != NULL)
        return false;
    switch (array->binding.role) {
    case ROLE_PACKED:
        return true;
    case ROLE_PLANES:
    case ROLE_GRID:
    case ROLE_TILE:
        return !plan->board->family->only_known_members; /* targets by the cell, there */
    case ROLE_TO_MOVE:
        return !array->binding.is_winner;
    default:
        return false;
    }
}

int plan_refuse(const struct plan *plan, const struct plan_array *array, struct error *err,
                const char *format, ...)
{
    const struct error_place place = {.file = plan->archives[0].path, .array = array->key};
    va_list args;

    va_start(args, format);
    error_fill_args(err, ERROR_DATA, &place, format, args);
    va_end(args);
    return error_failed();
}

struct plan_array *plan_find_array(const struct plan *plan, const char *key)
{
    for (size_t i = 0; i < plan->n_arrays; i++)
        if (strcmp(plan->arrays[i].key, key) == 0)
            return &plan->arrays[i];
    return NULL;
}

enum label_op plan_swap_label(const struct plan *plan, const struct plan_array *array)
{
    return plan->swaps ? spec_swap(&array->spec) : LABEL_KEEP;
}

void plan_release(struct plan *plan)
{
    for (size_t i = 0; i < plan->n_arrays; i++) {
        free(plan->arrays[i].sources);
        spec_release(&plan->arrays[i].spec);
    }
    for (size_t i = 0; plan->csrs != NULL && i < plan->archives[0].n_arrays; i++)
        csr_release(&plan->csrs[i]);
    free(plan->arrays);
    free(plan->csrs);
    spec_maker_release(&plan->maker);
    for (size_t i = 0; i < plan->n_archives; i++)
        archive_in_close(&plan->archives[i]);
    free(plan->archives);
    free(plan->archive_rows);
    text_list_release(&plan->warnings);
    json_decref(plan->notes);
    json_decref(plan->counts);
    for (size_t i = 0; i < plan->n_made; i++)
        made_free(plan->made[i]);
    free(plan->made);
    free(plan->input_ends);
    selection_release(&plan->selection);
    recall_release(&plan->recall);
    free(plan->chosen);
    board_free(plan->board);
    *plan = (struct plan){0};
}

/* --- which transforms --- */

int choose_transforms(struct plan *plan, const char *text, struct error *err)
{
    const struct board *board = plan->board;
    const bool has_tiles = board->family->has_tiles;
    const bool is_canonical = plan->conventions.planes == PLANES_CANONICAL;
    char *copy = strdup(text != NULL ? text : "all"), *rest = copy, *word;
    bool is_allowed[BOARD_MAX_TRANSFORMS], is_taken[BOARD_MAX_TRANSFORMS] = {false};
    int status = 0;

    plan->chosen = calloc(BOARD_MAX_TRANSFORMS + 1, 1);
    if (copy == NULL || plan->chosen == NULL) {
        free(copy);
        return error_no_memory(err, "transforms");
    }
    /* Those that give a new and exact image under the conventions. */
    for (uint32_t t = 0; t < board->n_transforms; t++)
        is_allowed[t] = !(is_canonical && board->transforms[t].swaps_colours) &&
                        ((has_tiles && plan->conventions.tiles == TILES_PERMUTE) ||
                         memchr(board->default_ids, (int)t, board->n_default_ids) != NULL);
    while (status == 0 && (word = strsep(&rest, ",")) != NULL) {
        const bool all = strcmp(word, "all") == 0, rotations = strcmp(word, "rotations") == 0;
        const bool is_kind = all || rotations || strcmp(word, "reflections") == 0;
        const int t = is_kind ? 0 : board_find_transform(board, word);

        for (uint32_t k = 0; k < board->n_transforms && is_kind; k++) {
            const bool is_rotation = k == 0 || strncmp(board->transforms[k].name, "rotate", 6) == 0;

            is_taken[k] |= is_allowed[k] && (all || rotations == is_rotation);
        }
        if (is_kind)
            continue;
        if (t < 0)
            status = error_set(
                err, ERROR_USAGE,
                "--transforms: board %s has no transform %s; `symaug boards %s` lists them",
                board->preset, text_quote(word).text, board->preset);
        else if (!is_allowed[t])
            status =
                error_set(err, ERROR_USAGE, "--transforms: %d (%s) cannot be used: %s", t,
                          board->transforms[t].name,
                          is_canonical ? "with canonical planes it repeats another image"
                          : has_tiles  ? "tiles would have to be renumbered: use --tiles permute"
                                       : "it is not exact on this board");
        else if (is_taken[t])
            status = error_set(err, ERROR_USAGE, "--transforms: %d (%s) is listed twice", t,
                               board->transforms[t].name);
        else
            is_taken[t] = true;
    }
    free(copy);
    for (uint32_t t = 0; t < board->n_transforms && status == 0; t++)
        if (is_taken[t]) {
            plan->chosen[plan->n_chosen++] = (uint8_t)t;
            plan->swaps |= board->transforms[t].swaps_colours;
        }
    if (status == 0 && plan->n_chosen == 0)
        status = error_set(err, ERROR_USAGE, "--transforms: %s leaves no image on board %s",
                           text_quote(text).text, board->preset);
    return status;
}

/* --- from inputs and settings to a plan --- */

/* What the user should know: where the symmetry is not the game's own, which options were given and
 * change nothing here (perhaps the board is another one), and what becomes of single arrays. */
static int note(struct plan *plan, struct error *err)
{
    const struct conventions *c = &plan->conventions;
    const struct board_family *family = plan->board->family;
    const bool swaps = board_swaps_colours(plan->board), castles = family->castling != NULL;
    const bool by_colour = swaps && !family->only_known_members;
    bool has_ambiguous = false, has_box = false; /* planes of the board's rows and columns */
    int status = 0;

    for (size_t i = 0; i < plan->maker.n_spaces; i++)
        for (uint64_t a = 0; a < plan->maker.spaces[i]->length && !has_ambiguous; a++)
            has_ambiguous = plan->maker.spaces[i]->flags[a] & ACTION_AMBIGUOUS;
    for (size_t i = 0; i < plan->n_arrays; i++)
        has_box |= role_is_on_cells(plan->arrays[i].binding.role) &&
                   plan->arrays[i].binding.layout == NULL && plan->board->rows > 0;
    const struct {
        const char *option;
        bool is_said, bears;
        const char *why;
    } all[] = {
        {"planes", conventions_is_said(c, "planes"), swaps, "no transform swaps colours"},
        {"value", c->value_said, by_colour, "no transform changes them"},
        {"to-move", c->to_move_said, by_colour, "no transform changes it, or its code is known"},
        {"castling", conventions_is_said(c, "castling"), castles, "nobody castles"},
        {"castling-planes", conventions_is_said(c, "castling-planes"), castles, "nobody castles"},
        {"tiles", conventions_is_said(c, "tiles"), family->has_tiles, "there are no tiles"},
        {"ambiguous", conventions_is_said(c, "ambiguous"), has_ambiguous,
         "no action names a region by one of its cells"},
        {"plane-order", plan->settings->roles.plane_xy >= 0, has_box,
         "no array has planes of rows and columns"},
    };

    if (castles && plan->n_chosen > 1)
        status |= plan_warn(plan, err,
                            "chess has no exact mirror: a mirrored position castles on the other "
                            "side (--castling %s)",
                            conventions_text(c, "castling").text);
    if (family->has_tiles && c->tiles == TILES_PERMUTE)
        status |= plan_warn(plan, err,
                            "--tiles permute: all transforms but 0 and 3 make tiles that are not "
                            "in the deck of 27");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].is_said && !all[i].bears)
            status |= plan_warn(plan, err, "--%s means nothing on board %s with these arrays: %s",
                                all[i].option, plan->board->preset, all[i].why);
    for (size_t i = 0; i < plan->n_arrays && plan->settings->purpose == FOR_IMAGES; i++) {
        const struct plan_array *array = &plan->arrays[i];
        const struct npy_header *header = &array->sources[0]->header;
        const struct text_quoted key = text_path(array->key);

        if (array->binding.role == ROLE_DROP)
            status |= plan_warn(plan, err,
                                array->binding.inferred
                                    ? "%s: left out: checksums are stale after expansion"
                                    : "%s: left out, as told",
                                key.text);
        if (array->binding.may_hold_positions)
            status |= plan_warn(plan, err,
                                "%s: copied as it is, though its rows may hold positions, which no "
                                "transform moves; if they do, use --role %s=drop",
                                key.text, key.text);
        if (header->dtype.kind == DTYPE_OBJECT && header->n_dims == 0 &&
            strcmp(array->key, "metadata") == 0)
            status |= plan_warn(plan, err,
                                "metadata: copied as it is: its sample_count is that of the input");
    }
    return status;
}

int plan_survey(struct plan *plan, struct error *err)
{
    const enum purpose purpose = plan->settings->purpose;

    if (plan->is_surveyed)
        return 0;
    plan->is_surveyed = true;
    if (plan->swaps && survey_turns(plan, err) != 0)
        return -1;
    if (purpose == FOR_KEYS || purpose == FOR_VALUES)
        return 0;
    if (survey_flips(plan, err) != 0 || survey_odd_rows(plan, err) != 0)
        return -1;
    return plan->conventions.ambiguous == AMBIGUOUS_DROP ? 0 : survey_ambiguous(plan, err);
}

int plan_select_all(struct plan *plan, struct error *err)
{
    return plan->selection.masks != NULL
               ? 0
               : selection_init(&plan->selection, plan->n_rows, plan->n_chosen, err);
}

uint64_t plan_seed(const struct plan *plan)
{
    const struct settings *s = plan->settings;

    return s->seed_name != NULL ? shuffle_hash_text(s->seed, s->seed_name) : s->seed;
}

int plan_set_order(struct plan *plan, struct error *err)
{
    plan->order = (struct order){
        .n_rows = plan->n_rows,
        .block_rows = plan->settings->block_rows,
        .chosen = plan->chosen,
        .n_chosen = plan->n_chosen,
        .selection = plan->selection.masks != NULL ? &plan->selection : NULL,
        .shuffled = plan->settings->shuffle,
        .seed = plan_seed(plan),
    };
    return order_init(&plan->order, err);
}

int plan_copy_array(struct plan *plan, struct plan_array *array, struct error *err)
{
    const struct role_binding copy = {.role = ROLE_COPY};
    struct error why = {0};

    spec_release(&array->spec);
    return spec_init(&array->spec, &plan->maker, array->sources[0], &copy, &why) == 0
               ? 0
               : error_pass(err, &why);
}

int plan_keep_rows(struct plan *plan, struct error *err)
{
    for (size_t i = 0; i < plan->n_arrays; i++)
        if (plan_array_has_rows(&plan->arrays[i]) &&
            plan_copy_array(plan, &plan->arrays[i], err) != 0)
            return -1;
    plan->n_chosen = 1; /* ids ascend: the first is the identity */
    plan->swaps = plan->provenance = false;
    plan->is_surveyed = true;
    selection_release(&plan->selection);
    return selection_init(&plan->selection, plan->n_rows, 1, err);
}

/* From the opened inputs to a plan. */
static int settle(struct plan *plan, struct error *err)
{
    const bool is_for_images = plan->settings->purpose == FOR_IMAGES;
    bool has_moving = !is_for_images, is_fortran = false;

    plan->conventions = plan->settings->conventions;
    if (plan_decide_board(plan, err) != 0 ||
        choose_transforms(plan, plan->settings->transforms, err) != 0)
        return -1;
    for (uint32_t k = 0; k < plan->n_chosen; k++)
        if (plan->board->transforms[plan->chosen[k]].planes != NULL &&
            conventions_is_said(&plan->conventions, "planes"))
            return error_set(err, ERROR_USAGE,
                             "--planes %s: the file of board %s says itself where planes go "
                             "(\"planes\" of its transforms); use one of the two",
                             conventions_text(&plan->conventions, "planes").text,
                             text_path(plan->board->preset).text);
    if (plan_match_arrays(plan, err) != 0)
        return -1;
    plan->provenance = plan->settings->provenance && !plan->board->family->only_known_members;
    for (size_t i = 0; i < plan->n_arrays; i++)
        has_moving |= role_moves(plan->arrays[i].binding.role);
    if (!has_moving)
        return error_set(err, ERROR_DATA,
                         "%s: no array that a transform moves was found: its images would be "
                         "copies; use --role NAME=planes, packed, grid, policy, action or coord",
                         text_path(plan->archives[0].path).text);
    for (size_t i = 0; i < plan->n_arrays; i++)
        if (plan_array_has_rows(&plan->arrays[i]) && bind_array(plan, &plan->arrays[i], err) != 0)
            return -1;
    /* What decides which images there are is surveyed, and then they are selected. Arrays in
     * Fortran order may take all of --max-memory, which the writing may take, too. */
    plan->n_ambiguous = plan->n_castling_rows = plan->n_unencodable = UINT64_MAX;
    for (size_t i = 0; i < plan->n_arrays * plan->n_archives; i++)
        is_fortran |=
            array_is_fortran(plan->arrays[i / plan->n_archives].sources[i % plan->n_archives]);
    if ((is_for_images && plan->board->family->castling != NULL &&
         survey_castling(plan, err) != 0) ||
        (is_for_images && plan->conventions.ambiguous == AMBIGUOUS_DROP &&
         survey_ambiguous(plan, err) != 0) ||
        (is_fortran && plan_survey(plan, err) != 0) || note(plan, err) != 0 ||
        plan_select(plan, err) != 0 || plan_set_order(plan, err) != 0)
        return -1;
    return shards_warn(plan, err);
}

int plan_build(struct plan *plan, const char *const *paths, size_t n_paths,
               const struct settings *request, struct error *err)
{
    *plan = (struct plan){.settings = request};
    int status = plan_open_inputs(plan, paths, n_paths, err);
    /* Sets that this program wrote say how they are to be read. */
    if (status == 0 && request->purpose != FOR_IMAGES) {
        status = recall_open(&plan->recall, request, &plan->archives[0], NULL, 0, false, err);
        plan->settings = &plan->recall.settings;
    }
    if (status == 0)
        status = settle(plan, err);
    if (status != 0)
        plan_release(plan);
    return status;
}

void plan_see(const char *path, const struct settings *request, struct survey_seen *seen)
{
    struct plan plan = {.settings = request, .conventions = request->conventions};

    if (plan_open_inputs(&plan, &path, 1, NULL) == 0 && plan_decide_board(&plan, NULL) == 0 &&
        board_swaps_colours(plan.board) &&
        choose_transforms(&plan, request->transforms, NULL) == 0 && plan.swaps &&
        plan_match_arrays(&plan, NULL) == 0) {
        for (size_t i = 0; i < plan.n_arrays; i++)
            if (plan.arrays[i].binding.role == ROLE_PLANES)
                (void)bind_array(&plan, &plan.arrays[i], NULL); /* finds the to-move plane */
        survey_see(seen, &plan);
    }
    plan_release(&plan);
}

/* --- an output cut into shards --- */

/* Output rows of a block in which no image is left out but by --pick. */
static uint64_t rows_of_block(const struct plan *plan)
{
    const uint64_t pick = plan->settings->canonical ? 1 : plan->settings->pick;

    return (pick > 0 && pick < plan->n_chosen ? pick : plan->n_chosen) * plan->order.block_rows;
}

enum shards_cut shards_cut(const struct plan *plan)
{
    if (plan->input_ends != NULL)
        return SHARDS_INPUTS;
    if (plan->settings->rows_per_shard == 0)
        return SHARDS_ONE;
    if (plan->order.shuffled || plan->settings->block_rows == 0) /* transform order: one block */
        return SHARDS_ROWS;
    return plan->settings->unique ? SHARDS_REACH : SHARDS_BLOCKS;
}

static uint64_t blocks_per_shard(const struct plan *plan)
{
    const uint64_t n = plan->settings->rows_per_shard / rows_of_block(plan);

    return n > 0 ? n : 1;
}

struct order shards_slice(const struct plan *plan, uint64_t i, uint64_t first)
{
    const struct order *whole = &plan->order;
    const uint64_t n_rows = plan->settings->rows_per_shard;
    const enum shards_cut cut = shards_cut(plan);
    uint64_t end = whole->n_whole;

    if (cut == SHARDS_INPUTS)
        end = plan->input_ends[i];
    else if (cut == SHARDS_BLOCKS)
        end = order_end_of_blocks(whole, first, blocks_per_shard(plan));
    else if (cut == SHARDS_ROWS && end - first > n_rows)
        end = first + n_rows;
    else if (cut == SHARDS_REACH && end - first > n_rows)
        end = order_end_of_blocks(whole, first + n_rows - 1, 1);
    return order_slice(whole, first, end - first);
}

uint64_t shards_count(const struct plan *plan)
{
    uint64_t n = 0, first = 0;

    if (plan->input_ends != NULL)
        return plan->n_archives;
    do
        first += shards_slice(plan, n++, first).n_images;
    while (first < plan->order.n_whole);
    return n;
}

int shards_name(const struct plan *plan, const char *output, uint64_t i, struct text *name,
                struct error *err)
{
    static const char *const endings[] = {".npz", ".npy"};
    const char *slash = strrchr(output, '/'), *ending = "";
    const char *at = strchr(slash != NULL ? slash : output, '%');
    const size_t n = text_path_nbytes(output);

    if (shards_cut(plan) == SHARDS_ONE)
        return text_append(name, err, "%s", output);
    if (plan->input_ends != NULL) {
        int n_base;
        const char *base = text_last_name(plan->archives[i].path, &n_base);

        return text_append(name, err, "%.*s/%.*s", (int)n, output, n_base, base);
    }
    /* "%05d", or another width, in the last part of a name that has only one '%'. */
    if (at != NULL && strchr(at + 1, '%') == NULL && at[1] == '0' && at[2] >= '1' && at[2] <= '9' &&
        at[3] == 'd')
        return text_append(name, err, "%.*s%0*llu%.*s", (int)(at - output), output, at[2] - '0',
                           (unsigned long long)i, (int)(n - 4 - (size_t)(at - output)), at + 4);
    for (size_t k = 0; k < sizeof endings / sizeof *endings; k++)
        if (n > 4 && strncmp(output + n - 4, endings[k], 4) == 0 && output[n - 5] != '/')
            ending = endings[k];
    return text_append(name, err, "%.*s-%05llu%s", (int)(n - strlen(ending)), output,
                       (unsigned long long)i, ending);
}

int shards_warn(struct plan *plan, struct error *err)
{
    const uint64_t asked = plan->settings->rows_per_shard, n_rows = rows_of_block(plan);
    const uint64_t rounded = blocks_per_shard(plan) * n_rows;

    if (shards_cut(plan) != SHARDS_BLOCKS || rounded == asked)
        return 0;
    return plan_warn(
        plan, err,
        "--rows-per-shard %llu: shards of %llu rows, so that blocks of %llu rows stay whole",
        (unsigned long long)asked, (unsigned long long)rounded, (unsigned long long)n_rows);
}
