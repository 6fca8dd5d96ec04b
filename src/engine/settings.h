/*
 * settings.h - everything a user can say: one struct from the option table to the workers.
 *
 * Every option of every command is a row of option_table, which says where in the struct its
 * argument goes and what it may be; the parser, help, completions and callers that name options
 * themselves all use the same rows.
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

/* What rows are read for: all their images, or to be kept as they are, chosen by their keys; then
 * labels need be understood as far as they are compared, or averaged. */
enum purpose { FOR_IMAGES, FOR_KEYS, FOR_VALUES, FOR_MEANS };

enum when { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER };

struct settings {
    /* How shards are read. */
    const char *board;         /* borrowed; NULL: what the shard says */
    const char *board_text;    /* borrowed: of a board from a file, what a manifest says that it
                                  said: it is not read; or NULL */
    const char *schema;        /* borrowed: --schema, its roles come before those of `roles` */
    struct role_request roles; /* owned */
    struct conventions conventions;
    bool use_map;                      /* read inputs through memory maps */
    const struct memory_array *memory; /* borrowed: the one input, in memory; or NULL */
    size_t n_memory;
    bool allow_expanded;  /* do not refuse inputs that were expanded before; no option sets it */
    enum purpose purpose; /* no option sets it, either */
    const char *key;      /* borrowed: --key, the arrays that are the position; or NULL */

    /* Which rows come out, in which order. */
    const char *transforms; /* borrowed: "all", "0,3", "rotations", names; NULL: all */
    uint64_t block_rows;    /* of the order: B, 1 for sample, 0 for transform */
    const char *order_text; /* borrowed: the same in words */
    bool order_said;
    uint32_t pick;                  /* K images of each row; 0: all */
    bool keep_identity;             /* of which the identity is one */
    bool canonical;                 /* the canonical image of each row alone */
    bool orbit_key;                 /* add symaug_orbit, the keys of positions */
    bool unique;                    /* without images that equal another one of their row */
    bool shuffle;                   /* the output rows in a fixed pseudo-random order */
    uint64_t seed;                  /* of pick and shuffle, as told */
    const char *seed_name;          /* borrowed: --out-dir mixes it into the seed; or NULL */
    uint64_t rows_per_shard;        /* cut the output into shards of about so many rows; 0: one */
    bool provenance;                /* add symaug_source and symaug_transform */
    const struct survey_seen *seen; /* borrowed: what all inputs hold together; or NULL */

    /* How outputs are written. All texts are borrowed. */
    const char *output;  /* one output of all inputs, or */
    const char *out_dir; /* one output each */
    bool force;          /* replace an existing output */
    enum archive_out_form form;
    bool form_said;
    struct codec_level level;
    const char *level_text; /* as the user gave it, for the manifest */
    bool sidecar;           /* KataGo: also write BASENAME.json with the number of rows */
    const char *stats;      /* --stats, or NULL */

    /* Which inputs. */
    const char *files_from; /* borrowed, or NULL */
    bool zero;              /* names in files_from end with NUL */
    uint64_t part, n_parts; /* the part-th of every n_parts inputs; n_parts 0: all */
    bool dry_run, skip_existing, skip_bad;

    /* What a run may use. */
    int n_threads;
    int n_helpers;         /* threads that help with an output when they have nothing else to do: of
                              --out-dir, where n_threads is what an input can count on; or 0 */
    uint64_t max_memory;   /* bytes for what cannot stream */
    const char *tmpdir;    /* borrowed */
    struct budget *budget; /* owned: both of them, for all that the run reads */

    /* What becomes of rows with one key, and which part a row goes to. All texts are borrowed. */
    bool means;            /* average the labels of a position */
    double conflict;       /* values of a position that differ by more are counted */
    const char *conflicts; /* a list of them, or NULL */
    const char *parts;     /* "train=0.9,val=0.1" */
    const char *by;        /* NULL or "position"; or the array whose rows stay together */
    uint8_t overlap;       /* of parts by an array: 0 warn, 1 keep, 2 drop */

    /* What single commands want. */
    const char **leaks; /* owned list of borrowed names: sets whose positions must not occur */
    size_t n_leaks;
    bool not_expanded;     /* what is verified is a source */
    uint64_t max_findings; /* kept per file */
    uint64_t row;          /* to show */
    bool row_said;
    uint64_t n_rows; /* to make */
    bool n_rows_said;
    uint64_t action;
    bool action_said;
    bool action_stream; /* indices on standard input */
    bool check, write_schema;

    /* How the program talks. */
    bool json;
    int verbosity; /* -1 quiet, 0, 1 verbose */
    enum when progress, colour;
    struct meter *meter; /* borrowed: told how far the run is; or NULL */
    FILE *said;          /* borrowed: takes what is for standard error; or NULL */
};

/* What holds when nothing is said. Copy it, then set options. */
extern const struct settings settings_default;

/* What becomes of an option's argument. */
enum option_kind {
    OPTION_FLAG,   /* no argument: the field becomes min */
    OPTION_TEXT,   /* kept as it is */
    OPTION_NUMBER, /* a whole number from min to max */
    OPTION_SIZE,   /* a size such as 500M */
    OPTION_WORD,   /* one of the words: its position */
    OPTION_CALL,   /* whatever `set` makes of it */
    OPTION_END,    /* help, version: the caller's */
};

struct option_row {
    char letter;          /* the short form, or 0 */
    const char *name;     /* without the dashes */
    const char *argument; /* "FILE", or NULL */
    const char *help;
    const char *commands; /* those that have it, between spaces: " expand show "; NULL: all */

    enum option_kind kind;
    size_t offset, n_bytes; /* of the field in struct settings */
    size_t said;            /* offset of a bool that tells that it was said; 0: none */
    uint64_t min, max;      /* NUMBER; FLAG: min alone */
    const char *words;      /* WORD: all of them; CALL: those that complete it; or NULL */
    int (*set)(struct settings *settings, const char *name, const char *argument,
               struct error *err);
    bool repeats;      /* may be given several times */
    bool takes_stream; /* FILE may be "-", a standard stream */
};

extern const struct option_row option_table[];
extern const size_t option_n_table;

/* Whether a command has an option. */
bool option_is_of(const struct option_row *row, const char *command);

/* The row of an option that a command has, or NULL. */
const struct option_row *option_find(const char *command, const char *name);

/* Set what an option says. The argument (NULL where none is taken) must outlive the settings.
 * ERROR_USAGE naming the option and what it takes. */
int option_set(struct settings *settings, const struct option_row *row, const char *argument,
               struct error *err);

/* After the last option: read the schema, whose roles count less than those of the options, and
 * fill in what depends on the environment (TMPDIR, usable processors) and the budget. */
int settings_finish(struct settings *settings, struct error *err);

/* Free what the options allocated; accepts a zeroed one. */
void settings_release(struct settings *settings);
