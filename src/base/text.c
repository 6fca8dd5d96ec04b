/*
 * text.c - paths and names, strict parsing of numbers and sizes, quoting for a shell, growable
 * strings, lists of strings and of warnings.
 */
#include "base/text.h"

#include "base/bytes.h"

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

static int small_letter(char c)
{
    return c >= 'A' && c <= 'Z' ? c | 0x20 : (unsigned char)c;
}

int text_compare_caseless(const char *a, const char *b, size_t n_bytes)
{
    int order = 0;

    for (size_t i = 0; i < n_bytes && order == 0 && (i == 0 || a[i - 1] != '\0'); i++)
        order = small_letter(a[i]) - small_letter(b[i]);
    return order;
}

bool text_contains_caseless(const char *text, const char *word)
{
    while (*text != '\0' && text_compare_caseless(text, word, strlen(word)) != 0)
        text++;
    return *text != '\0';
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

const char *text_list_make_set(struct text_list *list)
{
    const char *twice = NULL;
    size_t n = 0;

    if (list->n > 0)
        qsort(list->items, list->n, sizeof *list->items, text_compare);
    for (size_t i = 0; i < list->n; i++)
        if (n == 0 || strcmp(list->items[n - 1], list->items[i]) != 0) {
            list->items[n++] = list->items[i];
        } else {
            free(list->items[i]);
            twice = twice != NULL ? twice : list->items[n - 1];
        }
    list->n = n;
    return twice;
}

void text_list_release(struct text_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->items[i]);
    free(list->items);
    *list = (struct text_list){0};
}

/* A shard with a million oddities must fill neither memory nor terminal. */
#define WARNINGS_MAX   100
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
