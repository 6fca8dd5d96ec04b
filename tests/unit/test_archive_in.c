/* test_archive_in.c - opening shards: the corpus of bad input, forms, names, helpful messages. */
#include "npz_maker.h"

#include "shard/archive_in.h"
#include "shard/array.h"

#define BAD "tests/data/bad/"

/* Read every array of an open shard: what archive_in_open leaves to the readers. */
static int read_arrays(struct archive_in *archive, struct error *err)
{
    int result = 0;

    for (size_t i = 0; i < archive->n_arrays && result == 0; i++) {
        uint8_t *bytes = malloc((size_t)archive->arrays[i].unpacked_nbytes);

        assert_non_null(bytes);
        result = array_read_all(&archive->arrays[i], bytes, err);
        free(bytes);
        if (result == 0 && archive->arrays[i].header.dtype.kind == DTYPE_OBJECT &&
            archive->arrays[i].header.n_dims > 0)
            result = array_load_objects(&archive->arrays[i], err);
    }
    return result;
}

/* "accept", "accept-with-warning" or "reject", for a file read with or without a map. */
static const char *verdict(const char *path, bool use_map, struct error *err)
{
    struct archive_in archive;
    const char *result = "accept";

    if (archive_in_open(&archive, path, use_map, err) != 0)
        return "reject";
    if (archive.warnings.list.n > 0)
        result = "accept-with-warning";
    if (read_arrays(&archive, err) != 0)
        result = "reject";
    archive_in_close(&archive);
    return result;
}

/*
 * What this floor decides. The rest is about meaning and is judged elsewhere, but what is to be
 * accepted must be readable here, and hostile pickles end here.
 */
static bool is_decided_here(const char *category)
{
    static const char *const categories[] = {"01-valid",    "02-odd",           "03-npy-header",
                                             "05-npy-data", "06-zip-structure", "07-zip-hostile",
                                             "10-npy-file"};

    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
        if (strcmp(category, categories[i]) == 0)
            return true;
    return false;
}

static bool differs(const char *file, const char *expected, const char *category)
{
    char path[512];
    struct error err = {0};
    const char *found;
    bool wrong = false;

    snprintf(path, sizeof path, BAD "%s", file);
    for (int use_map = 0; use_map < 2; use_map++) {
        memset(&err, 0, sizeof err);
        found = verdict(path, use_map, &err);
        if (is_decided_here(category))
            wrong = wrong || strcmp(found, expected) != 0;
        else if (strcmp(expected, "reject") != 0)
            wrong = wrong || strcmp(found, "reject") == 0;
        else if (strncmp(file, "p_evil", 6) == 0)
            wrong = wrong || strcmp(found, "reject") != 0;
        if (strcmp(found, "reject") == 0)
            wrong = wrong || err.kind != ERROR_DATA || strstr(err.message, file) == NULL;
    }
    if (wrong)
        print_error("%s: expected %s, found %s %s\n", file, expected, found, err.message);
    return wrong;
}

static void test_corpus(void **state)
{
    FILE *file = fopen(BAD "manifest.tsv", "r");
    char line[1024];
    int n_files = 0, n_wrong = 0;

    (void)state;
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file) != NULL) {
        char *rest = line;
        const char *name = strsep(&rest, "\t\n");
        const char *expected;

        strsep(&rest, "\t\n");
        expected = strsep(&rest, "\t\n");
        n_files++;
        n_wrong += differs(name, expected, strsep(&rest, "\t\n"));
    }
    fclose(file);
    assert_true(n_files > 190);
    assert_int_equal(n_wrong, 0);
}

/* Files that are something else, by their front: what the message must say. */
static void test_foreign_files(void **state)
{
    static const struct {
        const char *name;
        const char *bytes;
        size_t n_bytes;
        const char *message;
    } cases[] = {
        {"a.npz", FILE_OF(""), "an empty file"},
        {"a.npy", FILE_OF(""), "expected a .npy array, found an empty file"},
        {"a.npz", FILE_OF("\xef\xbb\xbf \n<!DOCTYPE HTML><p>404"), "an HTML page"},
        {"a.npz", FILE_OF("<html>"), "an HTML page"},
        {"a.npz", FILE_OF("<?xml version='1.0'?><Error>"), "an XML document"},
        {"a.npz", FILE_OF("{\"error\": 1}"), "a JSON document"},
        {"a.npz", FILE_OF("\x1f\x8b\x08..."), "gzip"},
        {"a.npz", FILE_OF("\3757zXZ\0"), "xz data"},
        {"a.npz", FILE_OF("\x89HDF\r\n\x1a\n..."), "an HDF5 file"},
        {"a.npz", FILE_OF("\x80\x04\x95"), "a bare pickle"},
        {"a.npz", FILE_OF("version https://git-lfs.github.com/spec/v1"), "git lfs pull"},
        {"a.npz", FILE_OF("\0\0\0\0\0\0"), "zero bytes at its beginning"},
        {"a.npz", FILE_OF("\x93NUMPY\1\0"), "rename the file to .npy"},
        {"a.npz", FILE_OF("PK\3\4"), "expected a zip end record"},
        {"a.npy", FILE_OF("PK\3\4"), "rename the file to .npz"},
        {"a.npy", FILE_OF("anything"), "starts with 'anythi'"},
        {"a.npz", FILE_OF("anything"), "expected a zip end record"},
        {"a.dat", FILE_OF("anything"), "expected a zip end record"},
        {"a.dat", FILE_OF("\x93NUMPY"), "ends inside the .npy header"},
        {"a.npz", FILE_OF("PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), "found none"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct archive_in archive;
        struct error err = {0};

        put_bytes(scratch(cases[i].name), cases[i].bytes, cases[i].n_bytes);
        assert_int_equal(archive_in_open(&archive, scratch(cases[i].name), true, &err), -1);
        assert_int_equal(err.kind, ERROR_DATA);
        if (strstr(err.message, cases[i].message) == NULL ||
            strstr(err.message, cases[i].name) == NULL)
            fail_msg("case %zu: %s", i, err.message);
        archive_in_close(&archive);
    }
}

static void test_tar(void **state)
{
    char bytes[512] = "features.npy";
    struct archive_in archive;
    struct error err = {0};

    (void)state;
    memcpy(bytes + 257, "ustar", 5);
    put_bytes(scratch("a.npz"), bytes, sizeof bytes);
    assert_int_equal(archive_in_open(&archive, scratch("a.npz"), true, &err), -1);
    assert_non_null(strstr(err.message, "a tar archive"));
}

static const struct made_array small = {
    .name = "x.npy", .descr = "'<f4'", .n_dims = 2, .shape = {5, 3}, .item_nbytes = 4};

/* Keys, members, order, comment, lookup; what is left out is said. */
static void test_npz(void **state)
{
    struct made_array made[] = {small, small, small};
    struct archive_in archive;
    struct error err = {0};
    zip_t *zip;

    (void)state;
    made[1].name = "bare";
    made[2].name = "sub/y.npy";
    made[2].deflated = true;
    make_npz(scratch("a.npz"), made, 3);
    zip = zip_open(scratch("a.npz"), 0, NULL);
    assert_non_null(zip);
    assert_true(zip_dir_add(zip, "folder", 0) >= 0);
    assert_true(zip_file_add(zip, "README", zip_source_buffer(zip, "hello", 5, 0), 0) >= 0);
    assert_true(zip_file_add(zip, "m/._x.npy", zip_source_buffer(zip, "hello", 5, 0), 0) >= 0);
    assert_int_equal(zip_set_archive_comment(zip, "symaug 1 hex8", 13), 0);
    assert_int_equal(zip_close(zip), 0);
    if (archive_in_open(&archive, scratch("a.npz"), true, &err) != 0)
        fail_msg("%s", err.message);
    assert_int_equal(archive.form, ARCHIVE_NPZ);
    assert_int_equal(archive.n_arrays, 3);
    assert_string_equal(archive.comment, "symaug 1 hex8");
    assert_string_equal(archive.arrays[0].key, "x");
    assert_string_equal(archive.arrays[0].member, "x.npy");
    assert_string_equal(archive.arrays[1].key, "bare");
    assert_string_equal(archive.arrays[1].member, "bare");
    assert_string_equal(archive.arrays[2].key, "sub/y");
    assert_ptr_equal(archive_in_find(&archive, "sub/y"), &archive.arrays[2]);
    assert_null(archive_in_find(&archive, "y"));
    assert_int_equal(archive.arrays[2].n_rows, 5);
    assert_int_equal(archive.arrays[2].row_nbytes, 12);
    assert_ptr_equal(archive.arrays[2].decoder, &decoder_deflate);
    assert_null(archive.arrays[0].decoder);
    assert_int_equal(archive.warnings.list.n, 5);
    assert_string_equal(archive.warnings.list.items[0], "member 'sub/y.npy': lies in a sub-folder");
    assert_string_equal(archive.warnings.list.items[1], "member 'm/._x.npy': lies in a sub-folder");
    assert_string_equal(archive.warnings.list.items[2],
                        "member 'folder/': an entry for a folder, left out");
    assert_string_equal(archive.warnings.list.items[3], "member 'README': not an array, left out");
    assert_string_equal(archive.warnings.list.items[4],
                        "member 'm/._x.npy': not an array, left out");
    archive_in_close(&archive);
    archive_in_close(&archive);
}

/* Names of old archives are in code page 437: they become UTF-8, as numpy reads them. */
static void test_old_names(void **state)
{
    struct made_array made = small;
    struct archive_in archive;
    struct error err = {0};
    size_t n_bytes = 0;
    char *bytes, *at;

    (void)state;
    made.name = "caf_.npy";
    make_npz(scratch("a.npz"), &made, 1);
    bytes = scratch_get("a.npz", &n_bytes);
    assert_non_null(bytes);
    while ((at = memmem(bytes, n_bytes, "caf_", 4)) != NULL)
        at[3] = (char)0x82;
    put_bytes(scratch("a.npz"), bytes, n_bytes);
    free(bytes);
    if (archive_in_open(&archive, scratch("a.npz"), true, &err) != 0)
        fail_msg("%s", err.message);
    assert_string_equal(archive.arrays[0].key, "caf\xc3\xa9");
    assert_int_equal(archive.warnings.list.n, 1);
    archive_in_close(&archive);
}

/* Hundreds of remarks do not become hundreds of lines. */
static void test_many_warnings(void **state)
{
    zip_t *zip;
    struct archive_in archive;
    struct error err = {0};
    char name[32];

    (void)state;
    make_npz(scratch("a.npz"), &small, 1);
    zip = zip_open(scratch("a.npz"), 0, NULL);
    assert_non_null(zip);
    for (int i = 0; i < 150; i++) {
        snprintf(name, sizeof name, "note-%d", i);
        assert_true(zip_file_add(zip, name, zip_source_buffer(zip, "x", 1, 0), 0) >= 0);
    }
    assert_int_equal(zip_close(zip), 0);
    assert_int_equal(archive_in_open(&archive, scratch("a.npz"), true, &err), 0);
    assert_int_equal(archive.warnings.list.n, 101);
    assert_string_equal(archive.warnings.list.items[100], "50 more warnings");
    archive_in_close(&archive);
}

/* The data's length against the header's, in members and in files of their own. */
static void test_lengths(void **state)
{
    static const struct {
        size_t n_trailing, n_missing;
        unsigned n_dims;
        uint64_t n_rows;
        const char *refusal;
        int n_warnings;
    } cases[] = {
        {0, 0, 2, 5, NULL, 0},
        {11, 0, 2, 5, NULL, 1},
        {12, 0, 2, 5, "expected 60 bytes of data for shape (5, 3) of <f4, found 72", 0},
        {0, 1, 2, 5, "expected 60 bytes of data for shape (5, 3) of <f4, found 59", 0},
        {0, 60, 2, 5, "found 0", 0},
        {0, 61, 2, 5, "header", 0},
        {0, 0, 2, 0, NULL, 0},
        {11, 0, 2, 0, NULL, 1},
        {12, 0, 2, 0, "expected 0 bytes of data", 0},
        {0, 0, 0, 0, NULL, 0},
        {3, 0, 0, 0, NULL, 1},
        {4, 0, 0, 0, "expected 4 bytes of data for shape () of <f4, found 8", 0},
    };

    (void)state;
    for (size_t i = 0; i < 3 * sizeof cases / sizeof *cases; i++) {
        struct made_array made = small;
        struct archive_in archive;
        struct error err = {0};
        const char *path = scratch(i % 3 == 2 ? "x.npy" : "a.npz");

        made.n_trailing = cases[i / 3].n_trailing;
        made.n_missing = cases[i / 3].n_missing;
        made.n_dims = cases[i / 3].n_dims;
        made.shape[0] = cases[i / 3].n_rows;
        made.deflated = i % 3 == 1;
        if (i % 3 == 2)
            make_npy_file(path, &made);
        else
            make_npz(path, &made, 1);
        if (cases[i / 3].refusal == NULL) {
            if (archive_in_open(&archive, path, true, &err) != 0)
                fail_msg("case %zu: %s", i, err.message);
            assert_int_equal(archive.warnings.list.n, cases[i / 3].n_warnings);
            assert_int_equal(read_arrays(&archive, &err), 0);
            archive_in_close(&archive);
            continue;
        }
        assert_int_equal(archive_in_open(&archive, path, true, &err), -1);
        if (strstr(err.message, cases[i / 3].refusal) == NULL ||
            strstr(err.message, i % 3 == 2 ? "x.npy: " : "a.npz: x.npy: ") == NULL)
            fail_msg("case %zu: %s", i, err.message);
    }
}

static void test_folder(void **state)
{
    struct archive_in archive;
    struct error err = {0};

    (void)state;
    assert_int_equal(mkdir(scratch("d"), 0700), 0);
    assert_int_equal(archive_in_open(&archive, scratch("d"), true, &err), -1);
    assert_int_equal(err.kind, ERROR_DATA);
    assert_non_null(strstr(err.message, "found none"));
    make_npy_file(scratch("d/b.npy"), &small);
    make_npy_file(scratch("d/a.npy"), &small);
    put_bytes(scratch("d/note.txt"), "x", 1);
    put_bytes(scratch("d/.hidden.npy"), "x", 1);
    memset(&err, 0, sizeof err);
    if (archive_in_open(&archive, scratch("d"), true, &err) != 0)
        fail_msg("%s", err.message);
    assert_int_equal(archive.form, ARCHIVE_FOLDER);
    assert_int_equal(archive.n_arrays, 2);
    assert_int_equal(archive.n_inputs, 2);
    assert_string_equal(archive.arrays[0].key, "a");
    assert_string_equal(archive.arrays[1].member, "b.npy");
    assert_string_equal(archive.comment, "");
    assert_int_equal(archive.warnings.list.n, 1);
    assert_int_equal(read_arrays(&archive, &err), 0);
    archive_in_close(&archive);
    assert_int_equal(mkfifo(scratch("d/c.npy"), 0600), 0);
    assert_int_equal(archive_in_open(&archive, scratch("d"), true, &err), -1);
    assert_non_null(strstr(err.message, "d/c.npy: expected a regular file, found a pipe"));
}

static void test_folder_names(void **state)
{
    static const char *const names[] = {"d/a\nb.npy", "d/a\\b.npy", "d/a\xff.npy"};

    (void)state;
    assert_int_equal(mkdir(scratch("d"), 0700), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct archive_in archive;
        struct error err = {0};

        make_npy_file(scratch(names[i]), &small);
        assert_int_equal(archive_in_open(&archive, scratch("d"), true, &err), -1);
        assert_int_equal(err.kind, ERROR_DATA);
        assert_non_null(strstr(err.message, "expected a file name that can name an array"));
        assert_null(strchr(err.message, '\n'));
        unlink(scratch(names[i]));
    }
}

static void test_missing(void **state)
{
    struct archive_in archive;
    struct error err = {0};

    (void)state;
    assert_int_equal(archive_in_open(&archive, scratch("none.npz"), true, &err), -1);
    assert_int_equal(err.kind, ERROR_NO_INPUT);
    archive_in_close(&archive);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_corpus), IN_SCRATCH(test_foreign_files),
        IN_SCRATCH(test_tar),          IN_SCRATCH(test_npz),
        IN_SCRATCH(test_old_names),    IN_SCRATCH(test_many_warnings),
        IN_SCRATCH(test_lengths),      IN_SCRATCH(test_folder),
        IN_SCRATCH(test_folder_names), IN_SCRATCH(test_missing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
