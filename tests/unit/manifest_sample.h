/*
 * manifest_sample.h - one manifest with everything in it, and its file. Include cmocka.h before.
 */
#pragma once

#include "manifest/manifest.h"

#include <stdlib.h>
#include <string.h>

#define SHA_A "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define SHA_B "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"

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

/* A value in lists and objects, by their positions and keys: at(m, "outputs", 0, "name"). */
static inline json_t *at(const json_t *m, const char *list, size_t i, const char *key)
{
    return json_object_get(json_array_get(json_object_get(m, list), i), key);
}

/* Set what is there, to any bytes. */
static inline void set_text(json_t *value, const char *text)
{
    assert_int_equal(json_string_set_nocheck(value, text), 0);
}

/* What a text says, with single quotes for double ones. */
static inline json_t *json_of(const char *text)
{
    char *quoted = strdup(text);
    json_t *value;

    assert_non_null(quoted);
    for (char *p = quoted; *p != '\0'; p++)
        *p = *p == '\'' ? '"' : *p;
    value = json_loads(quoted, JSON_DECODE_ANY, NULL);
    assert_non_null(value);
    free(quoted);
    return value;
}

/* Everything once. */
static inline json_t *make(void)
{
    json_t *m = json_loads(expected_json, 0, NULL);

    assert_non_null(m);
    set_text(at(m, "inputs", 0, "name"), "in\xff\\1.npz");
    set_text(json_array_get(at(m, "outputs", 0, "dropped"), 0), "old\\");
    set_text(json_array_get(json_object_get(m, "warnings"), 0), "caf\xc3\xa9 \x80 \\ \"quoted\"\n");
    return m;
}
