/* manifest_text.c - text of any bytes as JSON strings, and names back again. */
#include "base/text.h"
#include "shard/manifest_json.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of the UTF-8 character at p, which is not at the end; 0 when it is none. */
static size_t character_nbytes(const char *p)
{
    size_t n_left = strnlen(p, 4);

    for (size_t n = 1; n <= n_left; n++)
        if (text_is_utf8(p, n))
            return n;
    return 0;
}

static int append_escaped(struct text *escaped, const char *p, bool is_name, struct error *err)
{
    while (*p != '\0') {
        size_t n = character_nbytes(p);
        int rc;

        if (n == 0)
            rc = text_append(escaped, err, "\\x%02x", (unsigned)(unsigned char)*p);
        else if (is_name && *p == '\\')
            rc = text_append(escaped, err, "\\\\");
        else
            rc = text_append(escaped, err, "%.*s", (int)n, p);
        if (rc != 0)
            return -1;
        p += n == 0 ? 1 : n;
    }
    return 0;
}

json_t *manifest_json_text(const char *text, bool is_name, struct error *err)
{
    struct text escaped = {0};
    json_t *value = NULL;

    if (text_is_utf8(text, strlen(text)) && !(is_name && strchr(text, '\\') != NULL)) {
        value = json_string(text);
    } else if (append_escaped(&escaped, text, is_name, err) == 0) {
        value = json_string(escaped.text);
    }
    text_release(&escaped);
    if (value == NULL)
        error_no_memory(err, "manifest");
    return value;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

char *manifest_decode_name(const char *name, struct error *err)
{
    char *decoded = malloc(strlen(name) + 1);
    char *to = decoded;

    if (decoded == NULL) {
        error_no_memory(err, "file name");
        return NULL;
    }
    while (*name != '\0') {
        if (name[0] == '\\' && name[1] == '\\') {
            *to++ = '\\';
            name += 2;
        } else if (name[0] == '\\' && name[1] == 'x' && hex_digit(name[2]) >= 0 &&
                   hex_digit(name[3]) >= 0) {
            *to++ = (char)(hex_digit(name[2]) << 4 | hex_digit(name[3]));
            name += 4;
        } else {
            *to++ = *name++;
        }
    }
    *to = '\0';
    return decoded;
}
