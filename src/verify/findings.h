/*
 * findings.h - what `verify` found: an entry per finding with a stable code, and counts of all.
 */
#pragma once

#include "base/json_load.h"

/* Every code and its printed word. */
/* clang-format off */
#define FINDING_CODES(code)                                                                       \
    code(CONTAINER, "container") code(CRC, "crc") code(ROWS, "rows") code(SHAPE, "shape")         \
    code(NAN, "nan") code(POLICY_SUM, "policy-sum") code(POLICY_NEGATIVE, "policy-negative")      \
    code(POLICY_UNENCODABLE, "policy-unencodable") code(POLICY_OCCUPIED, "policy-occupied")       \
    code(VALUE_RANGE, "value-range") code(PLANES_OVERLAP, "planes-overlap")                       \
    code(TO_MOVE, "to-move") code(SMEAR, "smear") code(INDEX_RANGE, "index-range")                \
    code(LENGTH_MISMATCH, "length-mismatch") code(PADDING, "padding") code(MANIFEST, "manifest")  \
    code(ORBIT_MISSING, "orbit-missing") code(ORBIT_DUPLICATE, "orbit-duplicate")                 \
    code(ORBIT_PLANES, "orbit-planes") code(POLICY_NOT_MOVED, "policy-not-moved")                 \
    code(POLICY_INVERSE, "policy-inverse") code(POLICY_WRONG, "policy-wrong")                     \
    code(COORD_NOT_MOVED, "coord-not-moved") code(COLOURS_NOT_SWAPPED, "colours-not-swapped")     \
    code(COLOURS_SWAPPED, "colours-swapped") code(CASTLING_NOT_SWAPPED, "castling-not-swapped")   \
    code(FOREIGN_SYMMETRY, "foreign-symmetry") code(VALUE_NOT_FLIPPED, "value-not-flipped")       \
    code(TO_MOVE_NOT_FLIPPED, "to-move-not-flipped")                                              \
    code(PLANES_POLICY_DIFFER, "planes-policy-differ") code(COPY_CHANGED, "copy-changed")         \
    code(LEAK, "leak")
/* clang-format on */

#define FINDING_ENUM(name, word) FINDING_##name,
enum finding_code { FINDING_CODES(FINDING_ENUM) FINDING_N_CODES };

#define FINDING_NO_ROW UINT64_MAX

struct finding {
    enum finding_code code;
    bool is_warning;
    char *array;            /* owned; NULL: the file as a whole */
    uint64_t row;           /* FINDING_NO_ROW: no single row */
    char *message;          /* owned: what is wrong, one line */
    char *expected, *found; /* owned; "" when the message says it all */
};

/* Findings in the order in which they were made. Zero-initialise and set max. */
struct findings {
    struct finding *items; /* owned */
    size_t n, capacity;
    size_t max;                       /* how many are kept; the rest are only counted */
    uint64_t counts[FINDING_N_CODES]; /* of all findings, errors and warnings */
    uint64_t n_errors, n_warnings;
    bool no_memory; /* some findings were lost */
};

/* What a finding is about; array (borrowed) and row as above. */
struct finding_place {
    enum finding_code code;
    bool is_warning;
    const char *array;
    uint64_t row;
};

#define ERROR_AT(code, array, row)   (&(const struct finding_place){(code), false, (array), (row)})
#define WARNING_AT(code, array, row) (&(const struct finding_place){(code), true, (array), (row)})

/* The printed word, such as "policy-sum". */
const char *finding_code_name(enum finding_code code);

/* Add a finding with a printf-style message; expected and found may be "". */
void findings_add(struct findings *f, const struct finding_place *place, const char *expected,
                  const char *found, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Append all findings of `from` to f; `from` is empty afterwards. */
void findings_merge(struct findings *f, struct findings *from);

/* The kept findings as a JSON list. */
json_t *findings_json(const struct findings *f);

/* The counts of all findings as a JSON object, by code; codes without findings are left out. */
json_t *findings_counts_json(const uint64_t counts[FINDING_N_CODES]);

void findings_release(struct findings *f);
