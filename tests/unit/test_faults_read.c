/* test_faults_read.c - reading shards, schemas and manifests while allocations and calls fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "npz_maker.h"

#include "engine/shard.h"
#include "faults.h"
#include "shard/archive_in.h"
#include "shard/batch.h"

#include <sys/socket.h>
#include <sys/un.h>

/* clang-format off */
static const struct made_array arrays[] = {
    {.name = "a.npy", .descr = "'<f4'", .n_dims = 3, .shape = {90, 9, 9}, .item_nbytes = 4, .deflated = true},
    {.name = "b.npy", .descr = "'<i8'", .n_dims = 2, .shape = {90, 100}, .item_nbytes = 8, .salt = 1},
    {.name = "c.npy", .descr = "'<u2'", .n_dims = 2, .shape = {90, 7}, .item_nbytes = 2, .fortran = true,
     .deflated = true},
    {.name = "d.npy", .descr = "'<u2'", .n_dims = 2, .shape = {90, 7}, .item_nbytes = 2, .fortran = true},
    {.name = "e.npy", .descr = "'<i4'", .n_dims = 0, .item_nbytes = 4},
};
/* clang-format on */
enum { N_ARRAYS = sizeof arrays / sizeof *arrays };

/* What to read, and how. */
struct reading {
    const char *name;
    bool use_map;
    uint64_t memory; /* for random access; what does not fit goes to a file */
};

static int check_row(const struct made_array *made, uint64_t row, const uint8_t *bytes, size_t n,
                     struct error *err)
{
    if (first_difference(made, row * (n / made->item_nbytes), bytes, n) == n)
        return 0;
    return error_set(err, ERROR_USAGE, "row %d is wrong", (int)row); /* never a kind that may be */
}

static int read_in_order(const struct array *array, const struct made_array *made,
                         struct error *err)
{
    uint8_t row[1024];
    struct reader reader = {.arrays = &array, .n_arrays = 1};
    int result = reader_open(&reader, NULL, err);

    for (uint64_t i = 0; result == 0 && i < array->n_rows; i++)
        if (reader_read(&reader, i, 1, row, err) != 0 ||
            check_row(made, i, row, (size_t)array->row_nbytes, err) != 0)
            result = -1;
    reader_close(&reader);
    return result;
}

static int read_at_random(const struct array *array, const struct made_array *made, uint64_t memory,
                          struct error *err)
{
    uint8_t row[1024];
    struct budget budget = {memory, scratch_folder};
    struct reader reader = {.arrays = &array, .n_arrays = 1, .at_random = true};
    int result = reader_open(&reader, &budget, err);

    for (uint64_t i = array->n_rows; result == 0 && i > 0; i -= 9)
        if (reader_read(&reader, i - 1, 1, row, err) != 0 ||
            check_row(made, i - 1, row, (size_t)array->row_nbytes, err) != 0)
            result = -1;
    reader_close(&reader);
    return result;
}

static int read_arrays(const struct archive_in *archive, uint64_t memory, struct error *err)
{
    for (size_t i = 0; i < archive->n_arrays; i++) {
        const struct array *array = &archive->arrays[i];
        const struct made_array *made = NULL;

        for (size_t k = 0; k < N_ARRAYS; k++)
            if (strcmp(arrays[k].name, array->member) == 0)
                made = &arrays[k];
        if (array->header.n_dims == 0)
            continue;
        if ((!array_is_fortran(array) && read_in_order(array, made, err) != 0) ||
            read_at_random(array, made, memory, err) != 0)
            return -1;
    }
    return 0;
}

static int read_shard(const void *what, struct error *err)
{
    const struct reading *reading = what;
    struct shard shard = {0};
    struct archive_in *archive = &shard.archive;
    char hex[DIGEST_HEX_NBYTES];
    int result = archive_in_open(archive, scratch(reading->name), reading->use_map, err);

    if (result == 0)
        result = read_arrays(archive, reading->memory, err);
    if (result == 0)
        result = digest_shard(&shard, hex, err);
    for (size_t i = 0; result == 0 && i < archive->n_inputs; i++)
        result = input_unchanged(&archive->inputs[i], err);
    archive_in_close(archive);
    return result;
}

static const struct {
    enum fault_call call;
    int errnum;
    bool harmless; /* something else serves as well */
} calls[] = {
    {FAULT_MALLOC, ENOMEM, false}, {FAULT_OPEN, EMFILE, false}, {FAULT_OPEN, EACCES, false},
    {FAULT_OPEN, EINTR, false},    {FAULT_PREAD, EINTR, false}, {FAULT_PREAD, EIO, false},
    {FAULT_FSTAT, EIO, false},     {FAULT_MMAP, ENOMEM, true},
};

static void test_shards(void **state)
{
    static const struct reading readings[] = {
        {"all.npz", true, 1 << 20}, {"all.npz", false, 0},     {"folder", true, 0},
        {"folder", false, 1 << 20}, {"folder/a.npy", true, 0},
    };

    (void)state;
    make_npz(scratch("all.npz"), arrays, N_ARRAYS);
    mkdir(scratch("folder"), 0777);
    for (size_t i = 0; i < N_ARRAYS; i++) {
        char name[32];

        snprintf(name, sizeof name, "folder/%s", arrays[i].name);
        make_npy_file(scratch(name), &arrays[i]);
    }
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++)
        for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
            int n = fault_sweep(read_shard, &readings[i], calls[k].call, calls[k].errnum);

            assert_int_equal(scratch_count(), 2); /* temp files have no name */
            if (calls[k].call == FAULT_PREAD || calls[k].call == FAULT_MMAP)
                continue; /* not every reading makes them */
            if (calls[k].harmless ? n != 0 : n == 0)
                fail_msg("%s, call %d: %d failed", readings[i].name, (int)calls[k].call, n);
        }
}

/* Where it cannot be told that a file lies on a local disk it is read instead of mapped. */
static int open_and_look(const void *what, struct error *err)
{
    const bool *mapped = what;
    struct input in;
    int result = input_open(&in, scratch("large"), true, err);

    if (result == 0 && (in.map != NULL) != *mapped)
        result = error_set(err, ERROR_USAGE, "mapped: %d", in.map != NULL);
    input_close(&in);
    return result;
}

static void test_network(void **state)
{
    static const struct {
        uint32_t file_system;
        bool mapped;
    } cases[] = {
        {0, false}, {0xef53, true}, {0x6969, false}, {0xfe534d42, false}, {0x786f4256, false}};
    struct error err = {0};
    FILE *file = fopen(scratch("large"), "wb");

    (void)state;
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), 1 << 20), 0);
    assert_int_equal(fclose(file), 0);
    fault_told_file_system = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fault_file_system = cases[i].file_system;
        err = (struct error){0};
        if (open_and_look(&cases[i].mapped, &err) != 0)
            fail_msg("%#x: %s", cases[i].file_system, err.message);
    }
    fault_told_file_system = false;
}

/* What is no regular file is named, and never waited for. */
static void test_kinds(void **state)
{
    static const struct {
        const char *path;
        const char *words;
    } cases[] = {
        {"fifo", "found a pipe"}, {"folder", "found a folder"}, {"socket", "found a socket"}};
    struct sockaddr_un named = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    (void)state;
    snprintf(named.sun_path, sizeof named.sun_path, "%s", scratch("socket"));
    assert_int_equal(bind(fd, (const struct sockaddr *)&named, sizeof named), 0);
    assert_int_equal(mkfifo(scratch("fifo"), 0666), 0);
    assert_int_equal(mkdir(scratch("folder"), 0777), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {0};
        struct input in;
        int result = input_open(&in, scratch(cases[i].path), true, &err);

        /* A socket cannot even be opened. */
        assert_int_equal(result, -1);
        if (strstr(err.message, cases[i].words) == NULL && strcmp(cases[i].path, "socket") != 0)
            fail_msg("%s: %s", cases[i].path, err.message);
    }
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {IN_SCRATCH(test_shards), IN_SCRATCH(test_network),
                                       IN_SCRATCH(test_kinds)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
