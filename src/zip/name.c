/*
 * name.c - names of members: which are refused (empty, absolute, with "..", backslashes or control
 * characters), and the array keys that numpy makes of them. numpy takes one ".npy" off, so two
 * members that differ in nothing but such endings can be reached by one key; their stem tells.
 */
#include "zip/name.h"

#include <stdint.h>
#include <string.h>

static const char suffix[] = ".npy";
#define SUFFIX_NBYTES (sizeof suffix - 1)

/* C0 and DEL, and C1 as UTF-8 has them (c2 80 to c2 9f). */
static bool has_control(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] < 0x20 || p[i] == 0x7f || (p[i] == 0xc2 && i + 1 < n && p[i + 1] < 0xa0))
            return true;
    return false;
}

static bool has_parent_component(const char *name, size_t n)
{
    for (size_t begin = 0; begin <= n;) {
        const char *slash = memchr(name + begin, '/', n - begin);
        size_t end = slash == NULL ? n : (size_t)(slash - name);

        if (end - begin == 2 && name[begin] == '.' && name[begin + 1] == '.')
            return true;
        begin = end + 1;
    }
    return false;
}

static bool is_absolute(const char *name, size_t n)
{
    bool has_drive = n >= 3 &&
                     ((name[0] >= 'a' && name[0] <= 'z') || (name[0] >= 'A' && name[0] <= 'Z')) &&
                     name[1] == ':' && name[2] == '/';

    return name[0] == '/' || has_drive;
}

const char *member_name_fault(const char *name, size_t n_bytes)
{
    if (n_bytes == 0)
        return "name is empty";
    if (n_bytes > MEMBER_NAME_MAX_NBYTES)
        return "name is longer than 4096 bytes";
    if (has_control((const uint8_t *)name, n_bytes))
        return "name has a control character";
    if (memchr(name, '\\', n_bytes) != NULL)
        return "name has a backslash";
    if (is_absolute(name, n_bytes))
        return "name is an absolute path";
    if (has_parent_component(name, n_bytes))
        return "name has a '..' component";
    if (member_name_stem_nbytes(name, n_bytes) == 0)
        return "name is nothing but '.npy'";
    return NULL;
}

bool member_name_is_npy(const char *name, size_t n_bytes)
{
    return n_bytes > SUFFIX_NBYTES &&
           memcmp(name + n_bytes - SUFFIX_NBYTES, suffix, SUFFIX_NBYTES) == 0;
}

size_t member_name_key_nbytes(const char *name, size_t n_bytes)
{
    return member_name_is_npy(name, n_bytes) ? n_bytes - SUFFIX_NBYTES : n_bytes;
}

size_t member_name_stem_nbytes(const char *name, size_t n_bytes)
{
    while (n_bytes >= SUFFIX_NBYTES &&
           memcmp(name + n_bytes - SUFFIX_NBYTES, suffix, SUFFIX_NBYTES) == 0)
        n_bytes -= SUFFIX_NBYTES;
    return n_bytes;
}
