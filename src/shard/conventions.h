/*
 * conventions.h - what a shard does not say itself: whose stones a plane holds, whose win a value
 * counts, how the player to move is coded, and what to do where a symmetry is not exact.
 */
#pragma once

#include "base/error.h"

enum planes_convention {
    PLANES_COLOUR,      /* plane 0 blue, plane 1 red, plane 2 the player to move (0 or 1) */
    PLANES_MOVER,       /* mine, theirs, to move */
    PLANES_CANONICAL,   /* mine always joins top and bottom: a swap gives no new image */
    PLANES_OPENSPIEL,   /* the nine planes of OpenSpiel's Hex observation */
    PLANES_PERMUTATION, /* given plane by plane */
};

enum value_convention {
    VALUE_COLOUR01,   /* 0 blue wins, 1 red wins: a swap makes it 1 - v */
    VALUE_COLOUR11,   /* +1 blue wins, -1 red wins: -v */
    VALUE_COLOUR_WDL, /* (blue wins, draw, red wins): reversed */
    VALUE_MOVER,      /* of the player to move: unchanged, unless there is one per player */
};

enum to_move_coding {
    TO_MOVE_01, /* 0 blue, 1 red */
    TO_MOVE_12, /* 1 blue, 2 red */
    TO_MOVE_PM1 /* +1 blue, -1 red */
};

enum ambiguous_policy { AMBIGUOUS_MAP, AMBIGUOUS_KEEP, AMBIGUOUS_DROP };
enum castling_policy { CASTLING_SWAP, CASTLING_SKIP };
enum tiles_policy { TILES_KEEP, TILES_PERMUTE };

#define CONVENTIONS_MAX_PLANES 64

struct conventions {
    enum planes_convention planes;
    enum value_convention value;
    enum to_move_coding to_move;
    bool value_said, to_move_said; /* given, not the default */
    unsigned said;                 /* bit i: convention i was given */
    enum ambiguous_policy ambiguous;
    enum castling_policy castling;
    enum tiles_policy tiles;

    /* PLANES_PERMUTATION: plane i goes to plane_dst[i] when the colours swap; what becomes plane
     * to_move_plane then names the other player. */
    uint32_t n_planes;
    uint8_t plane_dst[CONVENTIONS_MAX_PLANES];
    int to_move_plane; /* -1: none */

    /* How a to-move plane is coded: 0/1, unless a mark in --planes, or --to-move together with the
     * data, says otherwise. It has no option of its own; manifests call it "to-move-plane". */
    enum to_move_coding plane_coding;

    /* Chess: the planes of the castling rights own K, own Q, their K, their Q; n is 0 (not given),
     * 4, or -1 (there are none). */
    int n_castling_planes;
    uint32_t castling_planes[4];
};

/* The defaults: of nearly all the first value there is. */
extern const struct conventions conventions_default;

/* Parse the argument of --planes, --value, --to-move, --ambiguous, --castling, --tiles,
 * --castling-planes, or the "to-move-plane" of a manifest, into c. ERROR_USAGE lists the values
 * there are. */
int conventions_set(struct conventions *c, const char *option, const char *text, struct error *err);

/* The name of convention i, that of its option without dashes; NULL after the last. */
const char *convention_name(size_t i);

/* The value of an option in full, which conventions_set parses to the same again: "colour01",
 * "1,0,~2". */
struct text_quoted conventions_text(const struct conventions *c, const char *option);

/* True if the option was given; else the default holds. */
bool conventions_is_said(const struct conventions *c, const char *option);
