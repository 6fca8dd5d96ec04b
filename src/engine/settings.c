/*
 * settings.c - the option table: each row holds an option's names, its help, the commands that have
 * it, what its argument may be and which field of the settings it sets, so that one function serves
 * all options.
 */
#include "engine/settings.h"

#include "base/budget.h"
#include "base/bytes.h"
#include "base/crew.h"
#include "base/text.h"
#include "engine/order.h"

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

#define MOVES " expand verify show report mover " /* commands that transform rows */
#define READS MOVES "info "                       /* commands that read shards */
#define FOLDS "split dedupe "                     /* commands that write rows unchanged */
#define KEYS  FOLDS "overlap "                    /* commands that compare positions */
#define ALL   NULL

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
    s->order_text = text;
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
    s->level_text = text;
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

/* The end of a row, after its commands, by kind. */
#define FIELD(member) \
    .offset = offsetof(struct settings, member), .n_bytes = sizeof((struct settings *)0)->member
#define SAID(member)           .said = offsetof(struct settings, member)
#define BECOMES(member, value) .kind = OPTION_FLAG, FIELD(member), .min = (uint64_t)(value)
#define FLAG(member)           BECOMES(member, true)
#define NO(member)             BECOMES(member, false)
#define TEXT(member)           .kind = OPTION_TEXT, FIELD(member)
#define SIZE(member)           .kind = OPTION_SIZE, FIELD(member)
#define WORD(member, all)      .kind = OPTION_WORD, FIELD(member), .words = (all)
#define CALL(function)         .kind = OPTION_CALL, .set = (function)
#define ANY_NUMBER(member, least) \
    .kind = OPTION_NUMBER, FIELD(member), .min = (least), .max = UINT64_MAX
#define NUMBER(member, least, most) \
    .kind = OPTION_NUMBER, FIELD(member), .min = (least), .max = (most)
#define CONVENTION(some) CALL(set_convention), .words = (some)

const struct option_row option_table[] = {
    {'b', "board", "BOARD", "the board: a preset or FAMILY:SIZE, see `symaug boards`",
     READS KEYS "sample ", TEXT(board)},
    {'o', "output", "FILE", "write FILE; all operands are inputs, which are joined",
     " expand manifest dedupe ", TEXT(output)},
    {0, "row", "K", "the row to show; the first is 0", " show ", ANY_NUMBER(row, 0),
     SAID(row_said)},
    {'o', "output", "FILE", "write a picture (SVG) to FILE; - is standard output", " show ",
     TEXT(output), .takes_stream = true},
    {'o', "output", "FILE", "write the page to FILE (default report.html); - is standard output",
     " report ", TEXT(output), .takes_stream = true},
    {0, "out-dir", "DIR", "write one output per input into DIR, under the same name",
     " expand " FOLDS, TEXT(out_dir)},
    {0, "files-from", "FILE",
     "the names of inputs, one a line; - reads them from standard input: with `expand`, more "
     "inputs; with `manifest merge`, all that must be there",
     " expand manifest " FOLDS, TEXT(files_from), .takes_stream = true},
    {'0', "null", NULL, "the names in --files-from end with NUL", " expand manifest " FOLDS,
     FLAG(zero)},
    {0, "part", "I/N", "with --out-dir: only the I-th of every N inputs (many machines)",
     " expand split ", CALL(set_part)},
    {0, "skip-existing", NULL, "do nothing for outputs whose manifest matches inputs and options",
     " expand ", FLAG(skip_existing)},
    {0, "skip-bad", NULL, "with --out-dir: report inputs that cannot be read, go on", " expand ",
     FLAG(skip_bad)},
    {'f', "force", NULL, "replace existing outputs", " expand sample manifest show report " FOLDS,
     FLAG(force)},
    {'n', "dry-run", NULL, "print the plan, write nothing", " expand " FOLDS, FLAG(dry_run)},
    {0, "transforms", "LIST", "all, rotations, reflections, or ids and names: 0,3,6 (default all)",
     " expand verify show mover boards ", TEXT(transforms), .words = "all rotations reflections"},
    {0, "pick", "K", "K distinct images of each row, chosen at random", " expand ",
     NUMBER(pick, 1, BOARD_MAX_TRANSFORMS)},
    {0, "keep-identity", NULL, "with --pick: the row itself is one of them", " expand ",
     FLAG(keep_identity)},
    {0, "unique", NULL, "leave out images that equal another one of their row", " expand ",
     FLAG(unique)},
    {0, "canonical", NULL, "one image of each row: the canonical one, see symaug-npz(5)",
     " expand ", FLAG(canonical)},
    {0, "orbit-key", NULL, "add the array symaug_orbit: a key that all images of a position share",
     " expand ", FLAG(orbit_key)},
    {0, "key", "NAMES",
     "the arrays that are the position, or NAME:0-13 for some of its planes (default: planes, "
     "packed, grid, tile and to-move)",
     " expand verify report mover " KEYS, TEXT(key)},
    {0, "shuffle", NULL, "write the rows in a fixed pseudo-random order", " expand ",
     FLAG(shuffle)},
    {0, "order", "ORDER",
     "block:B, sample (a row's images together) or transform (default block:16)",
     " expand verify show ", CALL(set_order), SAID(order_said),
     .words = "block:16 sample transform"},
    {0, "rows-per-shard", "R",
     "cut the output into shards of R rows: OUT-00000.npz, ..., or as OUT says: x%03d.npz",
     " expand ", ANY_NUMBER(rows_per_shard, 1)},
    {'l', "level", "LEVEL",
     "fast, default, best, store, or zlib:1 to zlib:9 (default: default); with fast, dense "
     "policies of mostly zeros may take a tenth more room, and numpy reads them twice as fast",
     " expand " FOLDS, CALL(set_level),
     .words =
         "fast default best store zlib:1 zlib:2 zlib:3 zlib:4 zlib:5 zlib:6 zlib:7 zlib:8 zlib:9"},
    {0, "format", "FORM",
     "npz, npy-dir (a folder of plain .npy files), or npy (one array); default: npz, or npy if the "
     "output is called so",
     " expand " FOLDS, WORD(form, "npz npy-dir npy"), SAID(form_said)},
    {0, "role", "NAME=ROLE", "what array NAME means, a role of symaug-npz(5); may be repeated",
     READS KEYS, CALL(add_role), .repeats = true},
    {0, "copy", "NAME", "array NAME is repeated for each image; same as --role NAME=copy",
     READS KEYS, CALL(add_role), .repeats = true},
    {0, "schema", "FILE", "roles from a JSON file, as `symaug info --write-schema` makes it",
     READS KEYS, TEXT(schema)},
    {0, "policy", "LAYOUT", "the policy's layout: see `symaug boards BOARD`", READS KEYS "boards ",
     CALL(set_policy)},
    {0, "planes", "CONV",
     "whose stones: colour, mover, canonical, openspiel, or a permutation such as 1,0,~2",
     MOVES KEYS, CONVENTION("colour mover canonical openspiel")},
    {0, "value", "CONV", "what a value counts: colour01, colour11, colour-wdl or mover",
     MOVES "dedupe ", CONVENTION("colour01 colour11 colour-wdl mover")},
    {0, "to-move", "CODING", "the player to move: 01, 12 or pm1", MOVES KEYS,
     CONVENTION("01 12 pm1")},
    {0, "plane-order", "ORDER", "planes stored as yx (row, column) or xy", READS KEYS,
     WORD(roles.plane_xy, "yx xy")},
    {0, "ambiguous", "WHAT",
     "policy entries that name a region by one cell: map, keep or drop (default map)",
     MOVES "dedupe ", CONVENTION("map keep drop")},
    {0, "castling", "WHAT",
     "chess rows with castling rights: swap, or skip their mirror image (default swap)", MOVES,
     CONVENTION("swap skip")},
    {0, "castling-planes", "LIST",
     "the planes of own K, own Q, their K, their Q castling rights, or none", MOVES KEYS,
     CONVENTION("none")},
    {0, "tiles", "WHAT", "Take It Easy: keep tiles (2 images) or permute (12)", MOVES KEYS,
     CONVENTION("keep permute")},
    {0, "no-provenance", NULL, "do not add the arrays symaug_source and symaug_transform",
     " expand ", NO(provenance)},
    {0, "sidecar", NULL, "also write NAME.json with the number of rows (KataGo)", " expand ",
     FLAG(sidecar)},
    {0, "merge", "WHAT",
     "what becomes of a position's labels: first (the first row's; the default) or mean",
     " dedupe ", WORD(means, "first mean")},
    {0, "conflict", "X", "count positions whose values differ by more than X (default 0)",
     " dedupe ", CALL(set_conflict)},
    {0, "conflicts", "FILE", "list such positions in FILE (CSV)", " dedupe ", TEXT(conflicts)},
    {0, "parts", "LIST", "the parts and their shares: train=0.9,val=0.1", " split ", TEXT(parts)},
    {0, "by", "WHAT",
     "what decides: position (the default), or an array whose equal rows stay together", " split ",
     TEXT(by)},
    {0, "overlap", "WHAT",
     "with --by ARRAY, of positions in several parts: warn (the default), keep (say nothing) or "
     "drop (all but those in the first-named part)",
     " split ", WORD(overlap, "warn keep drop")},
    {0, "rows", "N", "how many rows to make", " sample ", NUMBER(n_rows, 0, 1000000000),
     SAID(n_rows_said)},
    {0, "seed", "S", "seed of everything random (default 1)", " sample expand split ",
     ANY_NUMBER(seed, 0)},
    {0, "check", NULL, "prove that the transforms are a group and print the report", " boards ",
     FLAG(check)},
    {0, "action", "I",
     "what policy index I means, and its images; -: the images of those on standard input",
     " boards ", CALL(set_action), SAID(action_said), .words = "-"},
    {0, "not-expanded", NULL, "the rows are a source, whatever they look like", " verify ",
     FLAG(not_expanded)},
    {0, "leak", "FILE",
     "another set, whose positions must not occur here in any image; may be repeated", " verify ",
     CALL(add_leak), .repeats = true},
    {0, "max-findings", "N", "list at most N findings per file (default 100)", " verify report ",
     NUMBER(max_findings, 0, 1000000000)},
    {0, "json", NULL, "print JSON", " info boards verify manifest report overlap ", FLAG(json)},
    {0, "write-schema", NULL, "print the roles as a schema for --schema", " info ",
     FLAG(write_schema)},
    {'j', "threads", "N", "worker threads (default: the usable processors)",
     " expand verify report " KEYS, NUMBER(n_threads, 1, 1024)},
    {0, "max-memory", "SIZE",
     "memory for what cannot stream, the rest goes to a temp file (default 1G)", MOVES KEYS,
     SIZE(max_memory)},
    {0, "tmpdir", "DIR", "where such temp files are (default: TMPDIR or /tmp)", MOVES KEYS,
     TEXT(tmpdir)},
    {0, "no-mmap", NULL, "read inputs instead of mapping them", READS KEYS, NO(use_map)},
    {0, "progress", "WHEN", "a progress line: auto (on a terminal), always, never",
     " expand verify report " KEYS, WORD(progress, "auto always never")},
    {0, "color", "WHEN", "colours: auto (on a terminal), always, never (plain ASCII)", " show ",
     WORD(colour, "auto always never")},
    {0, "stats", "FILE", "write times and speeds as JSON", " expand dedupe ", TEXT(stats),
     .takes_stream = true},
    {'q', "quiet", NULL, "errors only", ALL, BECOMES(verbosity, -1)},
    {'v', "verbose", NULL, "say more", ALL, BECOMES(verbosity, 1)},
    {'h', "help", NULL, "print this help", ALL, .kind = OPTION_END},
    {0, "version", NULL, "print the version and those of the libraries", ALL, .kind = OPTION_END},
};

const size_t option_n_table = sizeof option_table / sizeof *option_table;

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
        break;
    case OPTION_END:
        return error_set(err, ERROR_INTERNAL, "option --%s sets nothing", row->name);
    }
    const uint32_t small = (uint32_t)value;
    const uint8_t least = (uint8_t)value;
    const void *const from[] = {&least, &small, &value};
    memcpy(field, from[(row->n_bytes > 1) + (row->n_bytes > 4)], row->n_bytes); /* none of a CALL */
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
    if (new_items(&settings->budget, 1, "settings", err) != 0)
        return -1;
    *settings->budget = (struct budget){settings->max_memory, settings->tmpdir};
    if (settings->schema == NULL)
        return 0;
    /* Its overrides first, then those of the options: the last one of an array counts. */
    if (schema_read(settings->schema, &all, err) != 0 ||
        list_room(&all.overrides, all.n_overrides + said->n_overrides + 1, sizeof *said->overrides,
                  "options", err) != 0) {
        role_request_release(&all);
        return -1;
    }
    for (size_t i = 0; i < said->n_overrides; i++)
        all.overrides[all.n_overrides++] = said->overrides[i];
    said->n_overrides = 0; /* they were moved */
    if (said->policy_layout != NULL) {
        free(all.policy_layout);
        all.policy_layout = said->policy_layout;
        said->policy_layout = NULL;
    }
    if (said->plane_xy >= 0)
        all.plane_xy = said->plane_xy;
    role_request_release(said);
    *said = all;
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
