/*
 * digest.c - SHA-256 by libcrypto's direct functions: EVP would first load its tables of all
 * algorithms, which takes most of a millisecond.
 */
#include "manifest/digest.h"

void digest_begin(struct digest *digest)
{
    SHA256_Init(&digest->state);
}

void digest_update(struct digest *digest, const void *bytes, size_t n_bytes)
{
    SHA256_Update(&digest->state, bytes, n_bytes);
}

void digest_add_line(struct digest *digest, const char *name, const char *hex)
{
    const char *const parts[] = {name, " ", hex, "\n"};

    for (size_t i = 0; i < N_OF(parts); i++)
        digest_update(digest, parts[i], strlen(parts[i]));
}

void digest_finish(struct digest *digest, char hex[DIGEST_HEX_NBYTES])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char sha256[SHA256_DIGEST_LENGTH];

    SHA256_Final(sha256, &digest->state);
    for (unsigned i = 0; i < SHA256_DIGEST_LENGTH; i++) {
        *hex++ = digits[sha256[i] >> 4];
        *hex++ = digits[sha256[i] & 15];
    }
    *hex = '\0';
}

void digest_bytes(const void *bytes, size_t n_bytes, char hex[DIGEST_HEX_NBYTES])
{
    struct digest digest;

    digest_begin(&digest);
    digest_update(&digest, bytes, n_bytes);
    digest_finish(&digest, hex);
}
