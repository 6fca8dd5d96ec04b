/*
 * settings.h - everything a user can set: one struct from the option table to the workers.
 *
 * Every option of every command is an entry of options.h, from which its field here and its row of
 * option_table come.
 */
#pragma once

#include "shard/role.h"
#include "write/archive_out.h"

struct budget;
struct meter;
struct survey_seen;

/* What rows are read for: to write all their images, or to draw them; or to write them unchanged,
 * selected by their keys, for which labels matter only as far as values are compared, or all labels
 * averaged. From FOR_KEYS on, what the manifest of the first input says is recalled. */
enum purpose { FOR_IMAGES, FOR_PICTURES, FOR_KEYS, FOR_VALUES, FOR_MEANS };

enum when { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER };

struct settings {
    /* The values of options. Texts are borrowed from the command line. */
#define OPTION(type, field, ...) type field;
#define OTHER(...)
#define GROUP(title)
#include "engine/options.h"
#undef OPTION
#undef OTHER
#undef GROUP

    /* What options say in other forms, or together. */
    struct role_request roles; /* owned: --role, --copy, --policy, --plane-order, --schema */
    struct conventions conventions;
    uint64_t block_rows; /* --order: B, 1 for sample, 0 for transform */
    struct codec_level level;
    uint64_t part, n_parts; /* --part: the part-th of every n_parts inputs; n_parts 0: all */
    double conflict;        /* --conflict */
    uint64_t action;        /* --action, unless it is */
    bool action_stream;     /* indices on standard input */
    const char **leaks;     /* owned list of borrowed names: --leak */
    size_t n_leaks;
    bool row_said, order_said, form_said, n_rows_said, action_said;
    struct budget *budget; /* owned: max_memory and tmpdir, shared by all that the run reads */

    /* What no option says. All pointers are borrowed. */
    const char *board_text; /* the text of a board file as a manifest has it, or NULL: the file is
                               not read then */
    const struct symaug_array *memory; /* the one input, in memory; or NULL */
    size_t n_memory;
    bool allow_expanded; /* accept inputs that were expanded before */
    enum purpose purpose;
    const char *seed_name;          /* --out-dir mixes it into the seed; or NULL */
    const struct survey_seen *seen; /* codes of all inputs together; or NULL */
    int n_helpers;       /* of --out-dir, whose outputs have n_threads each: threads in all, which
                            help with an output when they are idle; else 0 */
    struct meter *meter; /* shows progress; or NULL */
    FILE *said;          /* written to instead of standard error; or NULL */
};

/* The defaults. Copy them, then set options. */
extern const struct settings settings_default;

/* What becomes of an option's argument. */
enum option_kind {
    OPTION_GROUP,  /* no option: `help` is the heading of those that follow */
    OPTION_FLAG,   /* no argument: the field becomes min */
    OPTION_TEXT,   /* kept as it is */
    OPTION_NUMBER, /* a whole number from min to max */
    OPTION_SIZE,   /* a size such as 500M */
    OPTION_WORD,   /* one of the words: its position */
    OPTION_CALL,   /* passed to `set`, then kept in the field if there is one */
    OPTION_END,    /* help, version: left to the caller */
};

struct option_row {
    char letter;          /* the short form, or 0 */
    const char *name;     /* without the dashes */
    const char *argument; /* "FILE", or NULL */
    const char *help;
    const char *commands; /* and groups of commands that have it, each between spaces; NULL: all */

    size_t offset, n_bytes; /* of the field in struct settings; n_bytes 0: none */
    enum option_kind kind;
    size_t said;       /* offset of a bool that is set with it; 0: none */
    uint64_t min, max; /* NUMBER; FLAG: min alone */
    const char *words; /* WORD: the words; others: completions, or NULL */
    int (*set)(struct settings *settings, const char *name, const char *argument,
               struct error *err);
    bool repeats;      /* may be given several times, which completions say */
    bool takes_stream; /* FILE may be "-", standard input or output */
    bool is_written;   /* the command writes FILE or DIR (noted once for each field) */
    bool is_replaced;  /* and replaces it without --force, too */
    bool is_recorded;  /* it shapes the rows: the manifest holds it */
};

extern const struct option_row option_table[];
extern const size_t option_n_table;

/* Whether a command has an option. `of` is the command's name, its groups, and options that it has
 * beside theirs, between spaces: "info READS --json". */
bool option_is_of(const struct option_row *row, const char *of);

/* The row of an option that such a command has, or NULL. */
const struct option_row *option_find(const char *of, const char *name);

/* Set an option. The argument (NULL for one that takes none) must outlive the settings. ERROR_USAGE
 * names the option and what it takes. */
int option_set(struct settings *settings, const struct option_row *row, const char *argument,
               struct error *err);

/* The argument of an option that keeps it, or NULL. */
const char *option_text(const struct settings *settings, const struct option_row *row);

/* The text that a manifest has for an option: "yes", a number, a word; NULL where the option says
 * nothing. `room` may hold it. */
const char *option_recorded(const struct settings *settings, const struct option_row *row,
                            struct text_quoted *room);

/* Call it after the last option: reads the schema, and sets what depends on the environment
 * (TMPDIR, usable processors) and the budget. */
int settings_finish(struct settings *settings, struct error *err);

void settings_release(struct settings *settings);
