/*
 * settings.h - everything a user can set: one struct from the option table to the workers.
 *
 * Every option of every command is a row of option_table, which says what its argument may be and
 * which field it sets. getopt_long, help, completions and the library all use the same rows.
 */
#pragma once

#include "base/error.h"
#include "codec/codec.h"
#include "shard/conventions.h"
#include "shard/role.h"
#include "write/archive_out.h"

struct budget;
struct meter;
struct survey_seen;

/* What rows are read for: to write all their images; or to write them unchanged, selected by their
 * keys, for which labels matter only as far as values are compared, or all labels averaged. */
enum purpose { FOR_IMAGES, FOR_KEYS, FOR_VALUES, FOR_MEANS };

enum when { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER };

struct settings {
    /* How shards are read. */
    const char *board;      /* borrowed; NULL: what the shard says */
    const char *board_text; /* borrowed, or NULL: the text of a board file as a manifest has it; the
                               file is not read then */
    const char *schema;     /* borrowed: --schema, whose roles count less than `roles` */
    struct role_request roles; /* owned */
    struct conventions conventions;
    bool use_map;                      /* read inputs through memory maps */
    const struct symaug_array *memory; /* borrowed: the one input, in memory; or NULL */
    size_t n_memory;
    bool allow_expanded;  /* accept inputs that were expanded before; not set by an option */
    enum purpose purpose; /* not set by an option either */
    const char *key;      /* borrowed: --key, the arrays that are the position; or NULL */

    /* Which rows are written, in which order. */
    const char *transforms; /* borrowed: "all", "0,3", "rotations", names; NULL: all */
    uint64_t block_rows;    /* of the order: B, 1 for sample, 0 for transform */
    const char *order_text; /* borrowed: the argument of --order */
    bool order_said;
    uint32_t pick;                  /* K images of each row; 0: all */
    bool keep_identity;             /* the identity is one of them */
    bool canonical;                 /* only the canonical image of each row */
    bool orbit_key;                 /* add symaug_orbit, the keys of positions */
    bool unique;                    /* leave out images that equal an earlier one of their row */
    bool shuffle;                   /* the output rows in a fixed pseudo-random order */
    uint64_t seed;                  /* of pick and shuffle */
    const char *seed_name;          /* borrowed: --out-dir mixes it into the seed; or NULL */
    uint64_t rows_per_shard;        /* cut the output into shards of about so many rows; 0: one */
    bool provenance;                /* add symaug_source and symaug_transform */
    const struct survey_seen *seen; /* borrowed: codes of all inputs together; or NULL */

    /* How outputs are written. All texts are borrowed. */
    const char *output;  /* one output of all inputs, or */
    const char *out_dir; /* one output each */
    bool force;          /* replace an existing output */
    enum archive_out_form form;
    bool form_said;
    struct codec_level level;
    const char *level_text; /* the argument of --level, for the manifest */
    bool sidecar;           /* also write BASENAME.json with the number of rows (KataGo) */
    const char *stats;      /* --stats, or NULL */

    /* Which inputs. */
    const char *files_from; /* borrowed, or NULL */
    bool zero;              /* names in files_from end with NUL */
    uint64_t part, n_parts; /* the part-th of every n_parts inputs; n_parts 0: all */
    bool dry_run, skip_existing, skip_bad;

    /* What a run may use. */
    int n_threads;
    int n_helpers;         /* of --out-dir, whose outputs have n_threads each: threads in all, which
                              help with an output when they are idle; else 0 */
    uint64_t max_memory;   /* bytes for what cannot stream */
    const char *tmpdir;    /* borrowed */
    struct budget *budget; /* owned: max_memory and tmpdir, shared by all that the run reads */

    /* dedupe and split. All texts are borrowed. */
    bool means;            /* average the labels of a position */
    double conflict;       /* count positions whose values differ by more than this */
    const char *conflicts; /* the file that lists them, or NULL */
    const char *parts;     /* "train=0.9,val=0.1" */
    const char *by;        /* NULL or "position"; or the array whose equal rows stay together */
    uint8_t overlap;       /* positions in several parts, with an array: 0 warn, 1 keep, 2 drop */

    /* Single commands. */
    const char **leaks; /* owned list of borrowed names: sets whose positions must not occur */
    size_t n_leaks;
    bool not_expanded;     /* the rows to verify are a source */
    uint64_t max_findings; /* kept per file */
    uint64_t row;          /* to show */
    bool row_said;
    uint64_t n_rows; /* to make */
    bool n_rows_said;
    uint64_t action;
    bool action_said;
    bool action_stream; /* indices on standard input */
    bool check, write_schema;

    /* Messages. */
    bool json;
    int verbosity; /* -1 quiet, 0, 1 verbose */
    enum when progress, colour;
    struct meter *meter; /* borrowed: shows progress; or NULL */
    FILE *said;          /* borrowed: written to instead of standard error; or NULL */
};

/* The defaults. Copy them, then set options. */
extern const struct settings settings_default;

/* What becomes of an option's argument. */
enum option_kind {
    OPTION_FLAG,   /* no argument: the field becomes min */
    OPTION_TEXT,   /* kept as it is */
    OPTION_NUMBER, /* a whole number from min to max */
    OPTION_SIZE,   /* a size such as 500M */
    OPTION_WORD,   /* one of the words: its position */
    OPTION_CALL,   /* passed to `set` */
    OPTION_END,    /* help, version: left to the caller */
};

struct option_row {
    char letter;          /* the short form, or 0 */
    const char *name;     /* without the dashes */
    const char *argument; /* "FILE", or NULL */
    const char *help;
    const char *commands; /* that have it, each between spaces: " expand show "; NULL: all */

    enum option_kind kind;
    size_t offset, n_bytes; /* of the field in struct settings */
    size_t said;            /* offset of a bool that is set with it; 0: none */
    uint64_t min, max;      /* NUMBER; FLAG: min alone */
    const char *words;      /* WORD: the words; others: completions, or NULL */
    int (*set)(struct settings *settings, const char *name, const char *argument,
               struct error *err);
    bool repeats;      /* may be given several times */
    bool takes_stream; /* FILE may be "-", standard input or output */
};

extern const struct option_row option_table[];
extern const size_t option_n_table;

/* Whether a command has an option. */
bool option_is_of(const struct option_row *row, const char *command);

/* The row of an option that a command has, or NULL. */
const struct option_row *option_find(const char *command, const char *name);

/* Set an option. The argument (NULL for one that takes none) must outlive the settings. ERROR_USAGE
 * names the option and what it takes. */
int option_set(struct settings *settings, const struct option_row *row, const char *argument,
               struct error *err);

/* Call it after the last option: reads the schema, and sets what depends on the environment
 * (TMPDIR, usable processors) and the budget. */
int settings_finish(struct settings *settings, struct error *err);

/* Accepts a zeroed one. */
void settings_release(struct settings *settings);
