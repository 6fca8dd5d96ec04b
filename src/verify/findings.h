/*
 * findings.h - what `verify` found: stable codes, one entry per finding, counts of all of them.
 */
#ifndef SYMAUG_VERIFY_FINDINGS_H
#define SYMAUG_VERIFY_FINDINGS_H

#include "base/error.h"
#include "base/json_load.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum finding_code {
    FINDING_CONTAINER,
    FINDING_CRC,
    FINDING_ROWS,
    FINDING_SHAPE,
    FINDING_NAN,
    FINDING_POLICY_SUM,
    FINDING_POLICY_NEGATIVE,
    FINDING_POLICY_UNENCODABLE,
    FINDING_POLICY_OCCUPIED,
    FINDING_VALUE_RANGE,
    FINDING_PLANES_OVERLAP,
    FINDING_TO_MOVE,
    FINDING_SMEAR,
    FINDING_INDEX_RANGE,
    FINDING_LENGTH_MISMATCH,
    FINDING_PADDING,
    FINDING_MANIFEST,
    FINDING_ORBIT_MISSING,
    FINDING_ORBIT_DUPLICATE,
    FINDING_ORBIT_PLANES,
    FINDING_POLICY_NOT_MOVED,
    FINDING_POLICY_INVERSE,
    FINDING_POLICY_WRONG,
    FINDING_COORD_NOT_MOVED,
    FINDING_COLOURS_NOT_SWAPPED,
    FINDING_COLOURS_SWAPPED,
    FINDING_CASTLING_NOT_SWAPPED,
    FINDING_FOREIGN_SYMMETRY,
    FINDING_VALUE_NOT_FLIPPED,
    FINDING_TO_MOVE_NOT_FLIPPED,
    FINDING_PLANES_POLICY_DIFFER,
    FINDING_COPY_CHANGED,
    FINDING_LEAK,
    FINDING_N_CODES
};

#define FINDING_NO_ROW UINT64_MAX

struct finding {
    enum finding_code code;
    bool is_warning;
    char *array;            /* owned, or NULL: of the file as a whole */
    uint64_t row;           /* FINDING_NO_ROW: of no single row */
    char *message;          /* owned: what is wrong, one line */
    char *expected, *found; /* owned, "" when the message says it all */
};

/* Findings in the order in which they were made. Zero-initialise it and set max. */
struct findings {
    struct finding *items; /* owned */
    size_t n, capacity;
    size_t max;                       /* kept; further ones are counted only */
    uint64_t counts[FINDING_N_CODES]; /* of all, errors and warnings */
    uint64_t n_errors, n_warnings;
    bool no_memory; /* some could not be kept */
};

/* Where a finding is made; array and row as above. */
struct finding_place {
    enum finding_code code;
    bool is_warning;
    const char *array;
    uint64_t row;
};

#define ERROR_AT(code, array, row)   (&(const struct finding_place){(code), false, (array), (row)})
#define WARNING_AT(code, array, row) (&(const struct finding_place){(code), true, (array), (row)})

/* The word that is printed: "policy-sum". */
const char *finding_code_name(enum finding_code code);

/* Text of one of the fields, printf-style, by value. */
struct finding_text {
    char text[192];
};
struct finding_text finding_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Add one; expected and found may be "". The message is printf-style. */
void findings_add(struct findings *f, const struct finding_place *place, const char *expected,
                  const char *found, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Move all of `from` behind those of f; `from` is empty afterwards. */
void findings_merge(struct findings *f, struct findings *from);

/* As JSON: a list of those that were kept, and the counts of all by code. */
json_t *findings_json(const struct findings *f);
json_t *findings_counts_json(const struct findings *f);

void findings_release(struct findings *f);

#endif
