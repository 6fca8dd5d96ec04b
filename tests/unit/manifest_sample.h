/*
 * manifest_sample.h - one manifest with everything in it, and its file. Include cmocka.h before.
 */
#ifndef SYMAUG_TEST_MANIFEST_SAMPLE_H
#define SYMAUG_TEST_MANIFEST_SAMPLE_H

#include "manifest/manifest.h"

#include <string.h>

#define SHA_A "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define SHA_B "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"

/* A copy of a list, in a manifest's memory. */
static inline void *kept_list(struct manifest *m, const void *items, size_t n_bytes)
{
    void *copy = manifest_alloc(m, n_bytes, NULL);

    assert_non_null(copy);
    return memcpy(copy, items, n_bytes);
}
#define SET_LIST(m, of, list, type, ...)                          \
    do {                                                          \
        const type all_items[] = {__VA_ARGS__};                   \
        (of)->list = kept_list((m), all_items, sizeof all_items); \
        (of)->n_##list = sizeof all_items / sizeof *all_items;    \
    } while (0)

/* Everything once, in no special order. */
static inline struct manifest *make(struct error *err)
{
    static const uint64_t shape[] = {24, 17, 9, 9};
    struct manifest *m = manifest_new(err);

    assert_non_null(m);
    SET_LIST(m, m, inputs, struct manifest_file,
             {.name = "in\xff\\1.npz", .n_bytes = 1000, .sha256 = SHA_A, .n_rows = 2});
    m->codec_level = "default";
    m->codec_libraries = "zlib 1.2.13";
    m->board = (struct manifest_board){
        "hexagon:4", "hex8", "{}",
        "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a", 12};
    SET_LIST(m, m, transforms, struct manifest_transform, {0, "identity", false},
             {1, "rot60", true});
    SET_LIST(m, m, options, struct manifest_setting, {"transforms", "0,1", NULL},
             {"order", "block:16", NULL});
    SET_LIST(
        m, m, outputs, struct manifest_file,
        {.name = "out.npz", .n_bytes = 12345678901, .sha256 = SHA_B, .n_rows = 24, .first_row = 0});
    SET_LIST(m, m->outputs, arrays, struct manifest_array,
             {"features", "<f4", shape, 4, "planes", "1 - v", "grid", 0xbeef},
             {"board_type", "<U4", NULL, 0, "meta", NULL, "zlib:6", 1});
    SET_LIST(m, m->outputs, dropped, char *, "old\\");
    SET_LIST(m, m, counts, struct manifest_count, {"rows_out", 24}, {"rows_in", 2});
    SET_LIST(m, m, warnings, char *, "caf\xc3\xa9 \x80 \\ \"quoted\"\n");
    SET_LIST(m, m, conventions, struct manifest_setting, {"value", "colour11", "--value"});
    return m;
}

static const char expected_json[] = //
    "{\n"
    "  \"board\": {\n"
    "    \"file\": {\n"
    "      \"sha256\": \"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a\",\n"
    "      \"text\": \"{}\"\n"
    "    },\n"
    "    \"group_order\": 12,\n"
    "    \"name\": \"hexagon:4\",\n"
    "    \"preset\": \"hex8\"\n"
    "  },\n"
    "  \"codec\": {\n"
    "    \"level\": \"default\",\n"
    "    \"libraries\": \"zlib 1.2.13\"\n"
    "  },\n"
    "  \"conventions\": {\n"
    "    \"value\": {\n"
    "      \"meaning\": \"colour11\",\n"
    "      \"source\": \"--value\"\n"
    "    }\n"
    "  },\n"
    "  \"counts\": {\n"
    "    \"rows_in\": 2,\n"
    "    \"rows_out\": 24\n"
    "  },\n"
    "  \"format_version\": 2,\n"
    "  \"inputs\": [\n"
    "    {\n"
    "      \"bytes\": 1000,\n"
    "      \"name\": \"in\\\\xff\\\\\\\\1.npz\",\n"
    "      \"rows\": 2,\n"
    "      \"sha256\": \"" SHA_A "\"\n"
    "    }\n"
    "  ],\n"
    "  \"options\": {\n"
    "    \"order\": \"block:16\",\n"
    "    \"transforms\": \"0,1\"\n"
    "  },\n"
    "  \"outputs\": [\n"
    "    {\n"
    "      \"arrays\": [\n"
    "        {\n"
    "          \"codec\": \"grid\",\n"
    "          \"crc32\": \"0000beef\",\n"
    "          \"dtype\": \"<f4\",\n"
    "          \"name\": \"features\",\n"
    "          \"role\": \"planes\",\n"
    "          \"shape\": [\n"
    "            24,\n"
    "            17,\n"
    "            9,\n"
    "            9\n"
    "          ],\n"
    "          \"swap\": \"1 - v\"\n"
    "        },\n"
    "        {\n"
    "          \"codec\": \"zlib:6\",\n"
    "          \"crc32\": \"00000001\",\n"
    "          \"dtype\": \"<U4\",\n"
    "          \"name\": \"board_type\",\n"
    "          \"role\": \"meta\",\n"
    "          \"shape\": []\n"
    "        }\n"
    "      ],\n"
    "      \"bytes\": 12345678901,\n"
    "      \"dropped\": [\n"
    "        \"old\\\\\\\\\"\n"
    "      ],\n"
    "      \"first_row\": 0,\n"
    "      \"name\": \"out.npz\",\n"
    "      \"rows\": 24,\n"
    "      \"sha256\": \"" SHA_B "\"\n"
    "    }\n"
    "  ],\n"
    "  \"tool\": {\n"
    "    \"name\": \"symaug\",\n"
    "    \"version\": \"" SYMAUG_VERSION "\"\n"
    "  },\n"
    "  \"transforms\": [\n"
    "    {\n"
    "      \"id\": 0,\n"
    "      \"name\": \"identity\",\n"
    "      \"swaps_colours\": false\n"
    "    },\n"
    "    {\n"
    "      \"id\": 1,\n"
    "      \"name\": \"rot60\",\n"
    "      \"swaps_colours\": true\n"
    "    }\n"
    "  ],\n"
    "  \"warnings\": [\n"
    "    \"caf\xc3\xa9 \\\\x80 \\\\ \\\"quoted\\\"\\n\"\n"
    "  ]\n"
    "}\n";

#endif
