/* codec.c - the table of codecs, the levels a user may ask for, the libraries in use. */
#include "codec/codec.h"

#include "base/text.h"
#include "codec/codecs.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#ifdef HAVE_ISAL
#include <isa-l.h>
#endif

const struct codec *const codec_table[] = {
    &codec_store,       &codec_zlib,        &codec_grid,
    &codec_grid_sparse, &codec_grid_values, &codec_grid_best,
#ifdef HAVE_ISAL
    &codec_isal,
#endif
};
const size_t codec_n_table = sizeof codec_table / sizeof codec_table[0];

static const struct {
    const char *name;
    struct codec_level level;
} levels[] = {
    {"fast", {CODEC_FAST, 0}},   {"default", {CODEC_DEFAULT, 0}}, {"best", {CODEC_BEST, 0}},
    {"store", {CODEC_STORE, 0}}, {"zlib:1", {CODEC_ZLIB, 1}},     {"zlib:2", {CODEC_ZLIB, 2}},
    {"zlib:3", {CODEC_ZLIB, 3}}, {"zlib:4", {CODEC_ZLIB, 4}},     {"zlib:5", {CODEC_ZLIB, 5}},
    {"zlib:6", {CODEC_ZLIB, 6}}, {"zlib:7", {CODEC_ZLIB, 7}},     {"zlib:8", {CODEC_ZLIB, 8}},
    {"zlib:9", {CODEC_ZLIB, 9}},
};

int codec_level_parse(const char *text, struct codec_level *level, struct error *err)
{
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        if (strcmp(text, levels[i].name) == 0) {
            *level = levels[i].level;
            return 0;
        }
    }
    return error_set(err, ERROR_USAGE,
                     "unknown level %s: expected fast, default, best, store or zlib:1 to zlib:9",
                     text_quote(text).text);
}

int codec_check_piece(size_t n_bytes, struct error *err)
{
    if (n_bytes <= CODEC_PIECE_MAX_NBYTES)
        return 0;
    return error_set(err, ERROR_INTERNAL, "a piece of %zu bytes is over the limit of %zu", n_bytes,
                     CODEC_PIECE_MAX_NBYTES);
}

void codec_choice_release(struct codec_choice *choice)
{
    if (choice->trained != NULL && choice->codec->trained_free != NULL)
        choice->codec->trained_free(choice->trained);
    memset(choice, 0, sizeof *choice);
}

#define TEXT_OF(x)  TEXT_OF_(x)
#define TEXT_OF_(x) #x

const char *codec_libraries(void)
{
#ifdef HAVE_ISAL
    return "zlib " ZLIB_VERSION ", ISA-L " TEXT_OF(ISAL_MAJOR_VERSION) "." TEXT_OF(
        ISAL_MINOR_VERSION) "." TEXT_OF(ISAL_PATCH_VERSION);
#else
    return "zlib " ZLIB_VERSION;
#endif
}
