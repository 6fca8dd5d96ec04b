/*
 * text.c - text for messages: names from files quoted so that nothing in them can move a cursor or
 * end a line, numbers and sizes read strictly and written for people, shapes as Python writes them,
 * words as a shell reads them, a string that grows, and a list of warnings. Quoted names are
 * returned by value, so that a message needs neither memory nor a release.
 */
#include "base/text.h"

#include "base/bytes.h"

size_t text_utf8_nbytes(const void *bytes, size_t n_left)
{
    static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    const uint8_t *p = bytes;
    size_t length;

    if (p[0] < 0x80)
        return 1;
    if (p[0] >= 0xc2 && p[0] < 0xe0)
        length = 2;
    else if (p[0] >= 0xe0 && p[0] < 0xf0)
        length = 3;
    else if (p[0] >= 0xf0 && p[0] < 0xf5)
        length = 4;
    else
        return 0;
    if (length > n_left)
        return 0;
    uint32_t code = p[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (p[i] & 0x3f);
    }
    if (code < smallest[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return 0;
    return length;
}

bool text_is_utf8(const void *bytes, size_t n_bytes)
{
    const uint8_t *p = bytes;

    for (size_t i = 0; i < n_bytes;) {
        size_t length = text_utf8_nbytes(p + i, n_bytes - i);

        if (length == 0)
            return false;
        i += length;
    }
    return true;
}

size_t text_put_code(uint32_t code, char *text)
{
    static const uint8_t lead[5] = {0, 0, 0xc0, 0xe0, 0xf0};
    const size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

    for (size_t i = n; i-- > 1; code >>= 6)
        text[i] = (char)(0x80 | (code & 0x3f));
    text[0] = (char)(lead[n] | code);
    return n;
}

size_t text_control_nbytes(const char *text)
{
    const uint8_t *byte = (const uint8_t *)text;

    if (byte[0] == 0xc2 && byte[1] >= 0x80 && byte[1] < 0xa0)
        return 2;
    return byte[0] < 0x20 || byte[0] == 0x7f;
}

static struct text_quoted escaped(const uint8_t *p, size_t n_bytes, const char *quote)
{
    struct text_quoted q;
    const size_t room = sizeof q.text - 8; /* "..." + quote + NUL always fit */
    size_t used = (size_t)snprintf(q.text, sizeof q.text, "%s", quote);

    for (size_t i = 0; i < n_bytes;) {
        size_t length = text_utf8_nbytes(p + i, n_bytes - i);
        bool plain = length > 0 && text_control_nbytes((const char *)p + i) == 0 && p[i] != '\\' &&
                     p[i] != quote[0];

        if (length == 0)
            length = 1;
        if (used + 4 * length > room) {
            memcpy(q.text + used, "...", 3);
            used += 3;
            break;
        }
        if (plain) {
            memcpy(q.text + used, p + i, length);
            used += length;
        } else {
            for (size_t k = 0; k < length; k++)
                used += (size_t)snprintf(q.text + used, sizeof q.text - used, "\\x%02x", p[i + k]);
        }
        i += length;
    }
    snprintf(q.text + used, sizeof q.text - used, "%s", quote);
    return q;
}

struct text_quoted text_quote_bytes(const void *bytes, size_t n_bytes)
{
    return escaped(bytes, n_bytes, "'");
}

struct text_quoted text_quote(const char *name)
{
    return escaped((const uint8_t *)name, strlen(name), "'");
}

struct text_quoted text_path(const char *path)
{
    if (*path == '\0')
        return text_quote(path);
    return escaped((const uint8_t *)path, strlen(path), "");
}

const char *text_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

size_t text_path_nbytes(const char *path)
{
    size_t n = strlen(path);

    while (n > 1 && path[n - 1] == '/')
        n--;
    return n;
}

const char *text_last_name(const char *path, int *n_bytes)
{
    const size_t end = text_path_nbytes(path);
    const char *slash = memrchr(path, '/', end), *name = slash != NULL ? slash + 1 : path;

    *n_bytes = (int)(path + end - name);
    return name;
}

int text_compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool text_ends_with(const char *text, const char *suffix)
{
    const size_t n = strlen(text), n_suffix = strlen(suffix);

    return n > n_suffix && strcmp(text + n - n_suffix, suffix) == 0;
}

size_t text_distance(const char *a, const char *b)
{
    const size_t n_b = strnlen(b, TEXT_MAX_WORD);
    size_t row[TEXT_MAX_WORD + 1];

    for (size_t j = 0; j <= n_b; j++)
        row[j] = j;
    for (size_t i = 0; i < TEXT_MAX_WORD && a[i] != '\0'; i++) {
        size_t diagonal = row[0];

        row[0] = i + 1;
        for (size_t j = 0; j < n_b; j++) {
            const size_t replaced = diagonal + (a[i] != b[j]);
            const size_t added = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;

            diagonal = row[j + 1];
            row[j + 1] = replaced < added ? replaced : added;
        }
    }
    return row[n_b];
}

int text_parse_digits(const char *digits, size_t n, uint64_t *value)
{
    uint64_t v = 0;

    if (n == 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (digits[i] < '0' || digits[i] > '9' || __builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(digits[i] - '0'), &v))
            return -1;
    *value = v;
    return 0;
}

int text_parse_u64(const char *text, uint64_t *value)
{
    return text_parse_digits(text, strlen(text), value);
}

int text_parse_size(const char *text, uint64_t *n_bytes)
{
    static const char units[] = "KMGT";
    const size_t n = strspn(text, "0123456789");

    if (text_parse_digits(text, n, n_bytes) != 0)
        return -1;
    text += n;
    if (*text == '\0')
        return 0;
    const char *unit = strchr(units, *text >= 'a' ? *text - ('a' - 'A') : *text);
    if (unit == NULL)
        return -1;
    text++;
    if (*text != '\0' && strcmp(text, "B") != 0 && strcmp(text, "iB") != 0)
        return -1;
    for (ptrdiff_t i = 0; i <= unit - units; i++)
        if (__builtin_mul_overflow(*n_bytes, 1024, n_bytes))
            return -1;
    return 0;
}

struct text_quoted text_size(uint64_t n_bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double size = (double)n_bytes;
    size_t unit = 0;

    while (size >= 1024 && unit < 6) {
        size /= 1024;
        unit++;
    }
    return text_format(unit == 0 ? "%.0f %s" : "%.1f %s", size, units[unit]);
}

struct text_quoted text_format(const char *format, ...)
{
    struct text_quoted q;
    va_list args;

    va_start(args, format);
    vsnprintf(q.text, sizeof q.text, format, args);
    va_end(args);
    return q;
}

void text_add(char *text, size_t n_bytes, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + used, n_bytes - used, format, args);
    va_end(args);
}

struct text_quoted text_shape(const uint64_t *shape, size_t n_dims)
{
    struct text_quoted q = {"("};

    for (size_t i = 0; i < n_dims && strlen(q.text) < sizeof q.text - 32; i++)
        text_add(q.text, sizeof q.text, i == 0 ? "%llu" : ", %llu", (unsigned long long)shape[i]);
    text_add(q.text, sizeof q.text, n_dims == 1 ? ",)" : ")");
    return q;
}

int text_append(struct text *t, struct error *err, const char *format, ...)
{
    char *end = t->text != NULL ? t->text + t->n_bytes : NULL;
    va_list args, again;

    va_start(args, format);
    va_copy(again, args);
    const int n = vsnprintf(end, t->capacity - t->n_bytes, format, args);
    if (n >= 0 && (size_t)n >= t->capacity - t->n_bytes &&
        list_room(&t->text, 2 * t->capacity + (size_t)n + 64, 1, "text", err) == 0) {
        t->capacity = 2 * t->capacity + (size_t)n + 64;
        vsnprintf(t->text + t->n_bytes, t->capacity - t->n_bytes, format, again);
    }
    va_end(again);
    va_end(args);
    if (n < 0)
        return error_set(err, ERROR_INTERNAL, "cannot format text");
    if ((size_t)n >= t->capacity - t->n_bytes) /* no memory */
        return -1;
    t->n_bytes += (size_t)n;
    return 0;
}

void text_release(struct text *t)
{
    free(t->text);
    *t = (struct text){0};
}

int text_append_shell(struct text *t, const char *word, struct error *err)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=:,./@%";

    if (*word != '\0' && word[strspn(word, plain)] == '\0')
        return text_append(t, err, "%s", word);
    if (text_append(t, err, "'") != 0)
        return -1;
    for (; *word != '\0'; word++)
        if (text_append(t, err, *word == '\'' ? "'\\''" : "%c", *word) != 0)
            return -1;
    return text_append(t, err, "'");
}

/* --- lists --- */

int text_list_add(struct text_list *list, const char *text, struct error *err)
{
    if (list_room(&list->items, list->n + 2, sizeof *list->items, "list of texts", err) != 0)
        return -1;
    list->items[list->n] = strdup(text);
    if (list->items[list->n] == NULL)
        return error_no_memory(err, "list of texts");
    list->items[++list->n] = NULL;
    return 0;
}

void text_list_release(struct text_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->items[i]);
    free(list->items);
    *list = (struct text_list){0};
}

/* The first WARNINGS_MAX lines are kept, the others are counted in one more, so that a shard with a
 * million oddities neither fills the memory nor the terminal. */
#define WARNING_NBYTES 768

int warnings_add(struct warnings *warnings, struct error *err, const char *format, ...)
{
    struct text_list *list = &warnings->list;
    char line[WARNING_NBYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (list->n > WARNINGS_MAX)
        free(list->items[--list->n]);
    if (list->n == WARNINGS_MAX)
        snprintf(line, sizeof line, "%zu more warnings", ++warnings->n_left_out);
    return text_list_add(list, line, err);
}
