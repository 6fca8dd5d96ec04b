/* test_batch.c - rows in sequence and at random: every method, order and size; damage found. */
#include "npz_maker.h"

#include "codec/codec.h"
#include "engine/expand.h"
#include "shard/archive_in.h"
#include "shard/batch.h"

/* Shards of one array each, opened. */
struct shards {
    struct archive_in archives[4];
    const struct array *arrays[4];
    struct made_array made[4];
    size_t n;
};

static void open_shards(struct shards *shards, bool use_map)
{
    for (size_t i = 0; i < shards->n; i++) {
        struct error err = {0};
        char name[32];

        snprintf(name, sizeof name, "shard-%zu.npz", i);
        make_npz(scratch(name), &shards->made[i], 1);
        if (archive_in_open(&shards->archives[i], scratch(name), use_map, &err) != 0)
            fail_msg("%s", err.message);
        shards->arrays[i] = &shards->archives[i].arrays[0];
    }
}

static void close_shards(struct shards *shards)
{
    for (size_t i = 0; i < shards->n; i++)
        archive_in_close(&shards->archives[i]);
}

/* In sequence, without a budget. */
static int open_reader(struct reader *reader, const struct array *const *arrays, size_t n,
                       struct error *err)
{
    *reader = (struct reader){.arrays = arrays, .n_arrays = n};
    return reader_open(reader, NULL, err);
}

/* At random, with so much memory, and temp files in the scratch folder. */
static int open_table(struct reader *reader, const struct array *const *arrays, size_t n,
                      uint64_t memory, struct error *err)
{
    static struct budget budget;

    budget = (struct budget){memory, scratch_folder};
    *reader = (struct reader){.arrays = arrays, .n_arrays = n, .at_random = true};
    return reader_open(reader, &budget, err);
}

/* What is wrong with an array that must not be opened. */
static void refuse_table(const struct array *const *arrays, struct error *err)
{
    struct reader reader;

    assert_int_equal(open_table(&reader, arrays, 1, 1 << 24, err), -1);
    reader_close(&reader);
}

static uint64_t row_items(const struct made_array *a)
{
    uint64_t n = 1;

    for (unsigned i = 1; i < a->n_dims; i++)
        n *= a->shape[i];
    return n;
}

/* Row i of all shards against what it was made of. */
static void check_row(const struct shards *shards, uint64_t i, const uint8_t *row)
{
    const struct made_array *made = shards->made;
    size_t n_bytes = 0;

    while (i >= made->shape[0])
        i -= made++->shape[0];
    n_bytes = row_items(made) * made->item_nbytes;
    if (first_difference(made, i * row_items(made), row, n_bytes) != n_bytes)
        fail_msg("row %llu of shard %td", (unsigned long long)i, made - shards->made);
}

static const struct made_array wide = {.name = "x.npy",
                                       .descr = "'<f4'",
                                       .n_dims = 3,
                                       .shape = {431, 5, 77},
                                       .item_nbytes = 4,
                                       .salt = 1};

/* Three arrays and an empty one between them, stored and deflated, in odd steps. */
static void test_sequence(void **state)
{
    static const uint64_t steps[] = {1, 3, 7, 430, 5000};

    (void)state;
    for (unsigned variant = 0; variant < 16; variant++) {
        struct shards shards = {.made = {wide, wide, wide, wide}, .n = 4};
        uint64_t n_rows = 0;
        size_t row_nbytes = 5 * 77 * 4;

        for (unsigned i = 0; i < 4; i++) {
            shards.made[i].shape[0] = (const uint64_t[]){431, 0, 1, 200}[i];
            shards.made[i].salt = i;
            shards.made[i].deflated = variant >> i & 1;
            n_rows += shards.made[i].shape[0];
        }
        open_shards(&shards, variant % 3 != 0);
        for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
            uint8_t *out = malloc(n_rows * row_nbytes);
            struct error err = {0};
            struct reader reader;

            assert_non_null(out);
            assert_int_equal(open_reader(&reader, shards.arrays, 4, &err), 0);
            for (uint64_t i = 0; i < n_rows; i += steps[s]) {
                const uint64_t n = steps[s] < n_rows - i ? steps[s] : n_rows - i;

                if (reader_read(&reader, i, n, out, &err) != 0)
                    fail_msg("%s", err.message);
                for (uint64_t k = 0; k < n; k++)
                    check_row(&shards, i + k, out + k * row_nbytes);
            }
            assert_int_equal(reader_read(&reader, n_rows, 1, out, &err), -1);
            assert_int_equal(err.kind, ERROR_INTERNAL);
            reader_close(&reader);
            free(out);
        }
        close_shards(&shards);
    }
}

static void test_npy_file(void **state)
{
    struct made_array made = wide;
    struct archive_in archive;
    struct error err = {0};
    uint8_t row[5 * 77 * 4];
    const struct array *array;
    struct reader reader;

    (void)state;
    made.shape[0] = 100;
    made.n_trailing = 3;
    make_npy_file(scratch("x.npy"), &made);
    assert_int_equal(archive_in_open(&archive, scratch("x.npy"), true, &err), 0);
    assert_int_equal(archive.form, ARCHIVE_NPY);
    assert_int_equal(archive.warnings.list.n, 1);
    array = &archive.arrays[0];
    assert_string_equal(array->key, "x");
    assert_int_equal(open_reader(&reader, &array, 1, &err), 0);
    for (uint64_t i = 0; i < 100; i++) {
        assert_int_equal(reader_read(&reader, i, 1, row, &err), 0);
        assert_int_equal(first_difference(&made, i * 5 * 77, row, sizeof row), sizeof row);
    }
    reader_close(&reader);
    archive_in_close(&archive);
}

/* What has no rows, and objects that were not read, are refused. */
static void test_refuses(void **state)
{
    static const struct made_array refused[] = {
        {.name = "x", .descr = "'<f4'", .n_dims = 0, .item_nbytes = 4},
        {.name = "x", .descr = "'|O'", .n_dims = 1, .shape = {3}, .item_nbytes = 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct shards shards = {.made = {refused[i]}, .n = 1};
        struct error err = {0};
        struct reader reader;

        open_shards(&shards, true);
        assert_int_equal(open_reader(&reader, shards.arrays, 1, &err), -1);
        assert_int_equal(err.kind, ERROR_DATA);
        assert_non_null(strstr(err.message, "shard-0.npz: x: "));
        reader_close(&reader);
        close_shards(&shards);
    }
}

/* Fortran order in name only needs no table. */
static void test_fortran_in_name(void **state)
{
    const struct made_array one = {.name = "x",
                                   .descr = "'<f4'",
                                   .n_dims = 2,
                                   .shape = {3, 1},
                                   .item_nbytes = 4,
                                   .fortran = true};
    struct shards shards = {.made = {one}, .n = 1};
    struct error err = {0};
    struct reader reader;

    (void)state;
    open_shards(&shards, true);
    assert_int_equal(open_reader(&reader, shards.arrays, 1, &err), 0);
    assert_false(reader.has_table);
    reader_close(&reader);
    close_shards(&shards);
}

/* One byte of the file changed behind the open archive's back. */
static void flip_byte(const char *path, uint64_t offset)
{
    FILE *file = fopen(path, "r+b");
    int byte;

    assert_non_null(file);
    fseek(file, (long)offset, SEEK_SET);
    byte = getc(file);
    fseek(file, (long)offset, SEEK_SET);
    putc(byte ^ 1, file);
    assert_int_equal(fclose(file), 0);
}

/* A damaged byte in header, first row or last row; found by the sequence and by the table. */
static void test_damage(void **state)
{
    (void)state;
    for (unsigned variant = 0; variant < 12; variant++) {
        struct shards shards = {.made = {wide}, .n = 1};
        struct error err = {0};
        const struct array *array;
        uint8_t *out = malloc(431 * 5 * 77 * 4);
        struct reader reader;
        uint64_t at[3];

        shards.made[0].deflated = variant & 1;
        shards.made[0].fortran = variant >= 6;
        open_shards(&shards, variant & 2);
        array = shards.arrays[0];
        at[0] = 70; /* in the header's padding, where stored */
        at[1] = array->packed_nbytes / 2;
        at[2] = array->packed_nbytes - 1;
        flip_byte(scratch("shard-0.npz"), array->offset + at[variant % 3]);
        assert_non_null(out);
        if (variant < 6) {
            assert_int_equal(open_reader(&reader, shards.arrays, 1, &err), 0);
            assert_int_equal(reader_read(&reader, 0, 431, out, &err), -1);
            assert_int_equal(err.kind, ERROR_DATA);
            assert_non_null(strstr(err.message, "shard-0.npz: x.npy: expected"));
            reader_close(&reader);
        }
        memset(&err, 0, sizeof err);
        refuse_table(shards.arrays, &err);
        assert_int_equal(err.kind, ERROR_DATA);
        assert_non_null(strstr(err.message, "shard-0.npz: x.npy: expected"));
        free(out);
        close_shards(&shards);
    }
}

/* Put numbers into both headers of the one member of a shard. */
static void declare(const char *name, uint32_t crc, uint64_t unpacked_nbytes)
{
    size_t n_bytes = 0;
    char *bytes = scratch_get(name, &n_bytes);
    uint8_t *central;

    assert_non_null(bytes);
    central = memmem(bytes, n_bytes, "PK\1\2", 4);
    assert_non_null(central);
    bytes_put_le((uint8_t *)bytes + 14, crc, 4);
    bytes_put_le((uint8_t *)bytes + 22, unpacked_nbytes, 4);
    bytes_put_le(central + 16, crc, 4);
    bytes_put_le(central + 24, unpacked_nbytes, 4);
    put_bytes(scratch(name), bytes, n_bytes);
    free(bytes);
}

/* A deflate stream that holds more, or less, than the headers and the array's shape say. */
static void test_stream_length(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct made_array made = wide;
        struct archive_in archive;
        struct error err = {0};
        struct bytes npy = {0};
        const struct array *array;

        make_npy(&made, &npy); /* what is declared */
        made.deflated = true;
        made.n_trailing = i == 0 ? 1 : 0;
        made.n_missing = i == 0 ? 0 : 1;
        make_npz(scratch("x.npz"), &made, 1);
        declare("x.npz", crc_update(0, npy.data, npy.n_bytes), npy.n_bytes);
        if (archive_in_open(&archive, scratch("x.npz"), true, &err) != 0)
            fail_msg("%s", err.message);
        array = &archive.arrays[0];
        refuse_table(&array, &err);
        if (strstr(err.message, i == 0 ? "bytes, found more" : "expected to inflate to") == NULL)
            fail_msg("%s", err.message);
        archive_in_close(&archive);
        bytes_release(&npy);
    }
}

/* The bytes of a member that is copied as it is. */
static int copy_all(const struct array *array, struct error *err)
{
    struct out_member out = {.kind = PIECES_COPY, .form = array};
    const struct member_ops *ops = &pieces_ops[out.kind];
    struct piece_rows rows = {0};
    int status;

    assert_int_equal(ops->open(&out.head, err), 0);
    rows.end = out.head.n_rows;
    status = ops->load(&out.head, &rows, err);
    ops->close(&out.head);
    return status;
}

/* Sound members of another CRC, stored and deflated, in C and in Fortran order: whoever reads all
 * of one says so, and a small value is not believed. */
static void test_wrong_crc(void **state)
{
    (void)state;
    for (unsigned variant = 0; variant < 6; variant++) {
        struct made_array made = wide;
        struct archive_in archive;
        struct error err = {0}, table_err = {0}, rows_err = {0}, copy_err = {0};
        const struct array *array;
        struct bytes npy = {0};
        struct reader reader;
        char wanted[80];
        uint32_t crc;
        uint8_t *out;
        int64_t value;

        if (variant >= 4)
            made = (struct made_array){.name = "x.npy", .descr = "'<i4'", .item_nbytes = 4};
        made.deflated = variant & 1;
        made.fortran = variant & 2;
        make_npy(&made, &npy);
        make_npz(scratch("x.npz"), &made, 1);
        crc = crc_update(0, npy.data, npy.n_bytes);
        declare("x.npz", crc ^ 0x80, npy.n_bytes);
        snprintf(wanted, sizeof wanted, "x.npz: x.npy: expected CRC %08x, found %08x", crc ^ 0x80,
                 crc);
        assert_int_equal(archive_in_open(&archive, scratch("x.npz"), variant & 1, &err), 0);
        array = &archive.arrays[0];
        out = malloc(npy.n_bytes);
        assert_non_null(out);
        assert_int_equal(array_read_all(array, out, &err), -1);
        assert_non_null(strstr(err.message, wanted));
        if (variant < 4) {
            refuse_table(&array, &table_err);
            assert_non_null(strstr(table_err.message, wanted));
        }
        if (variant < 2) {
            assert_int_equal(open_reader(&reader, &array, 1, &rows_err), 0);
            assert_int_equal(reader_read(&reader, 0, made.shape[0], out, &rows_err), -1);
            assert_non_null(strstr(rows_err.message, wanted));
            reader_close(&reader);
        }
        assert_int_equal(copy_all(array, &copy_err), -1);
        assert_non_null(strstr(copy_err.message, wanted));
        assert_int_equal(array_read_int(array, &value), -1);
        free(out);
        archive_in_close(&archive);
        bytes_release(&npy);
    }
}

/* Packed arrays that are held in memory are read as before, those that are damaged or have no room
 * are not held. */
static void test_held(void **state)
{
    static const struct {
        bool is_packed, is_sound;
        uint64_t budget;
        bool is_held;
    } cases[] = {{true, true, 1 << 20, true},
                 {true, false, 1 << 20, false},
                 {false, true, 1 << 20, false},
                 {true, true, 100, false}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct budget budget = {.left = cases[i].budget};
        struct made_array made = wide;
        struct archive_in archive;
        struct error err = {0};
        struct bytes npy = {0};
        uint8_t *out;

        made.deflated = cases[i].is_packed;
        make_npy(&made, &npy);
        make_npz(scratch("x.npz"), &made, 1);
        if (!cases[i].is_sound)
            declare("x.npz", 1, npy.n_bytes);
        assert_int_equal(archive_in_open(&archive, scratch("x.npz"), true, &err), 0);
        array_hold(&archive.arrays[0], &budget);
        assert_int_equal(archive.arrays[0].held.memory != NULL, cases[i].is_held);
        assert_int_equal(budget.left, cases[i].budget - (cases[i].is_held ? npy.n_bytes : 0));
        out = malloc(npy.n_bytes);
        assert_non_null(out);
        assert_int_equal(array_read_all(&archive.arrays[0], out, &err), cases[i].is_sound ? 0 : -1);
        assert_memory_equal(out, npy.data, npy.n_bytes);
        free(out);
        archive_in_close(&archive);
        assert_int_equal(budget.left, cases[i].budget);
        bytes_release(&npy);
    }
}

/* An empty array's header counts for its CRC as well. */
static void test_damaged_empty(void **state)
{
    struct shards shards = {.made = {wide}, .n = 1};
    struct error err = {0};
    struct reader reader;

    (void)state;
    shards.made[0].shape[0] = 0;
    open_shards(&shards, true);
    flip_byte(scratch("shard-0.npz"), shards.arrays[0]->offset + 100);
    assert_int_equal(open_reader(&reader, shards.arrays, 1, &err), -1);
    assert_non_null(strstr(err.message, "expected CRC"));
    reader_close(&reader);
    close_shards(&shards);
}

static void test_truncated_while_read(void **state)
{
    (void)state;
    for (unsigned variant = 0; variant < 4; variant++) {
        struct shards shards = {.made = {wide}, .n = 1};
        struct error err = {0};
        uint8_t *out = malloc(431 * 5 * 77 * 4);
        struct reader reader;

        shards.made[0].deflated = variant & 1;
        open_shards(&shards, variant & 2);
        assert_int_equal(open_reader(&reader, shards.arrays, 1, &err), 0);
        assert_int_equal(reader_read(&reader, 0, 1, out, &err), 0);
        assert_int_equal(truncate(scratch("shard-0.npz"), 4096), 0);
        assert_int_equal(reader_read(&reader, 1, 430, out, &err), -1);
        assert_int_equal(err.kind, ERROR_DATA);
        assert_non_null(strstr(err.message, "truncated"));
        reader_close(&reader);
        free(out);
        close_shards(&shards);
    }
}

/* Every method and order, item sizes 1 to 12, in memory and in a temp file. */
static void test_table(void **state)
{
    static const struct {
        const char *descr;
        size_t item_nbytes;
        unsigned n_dims;
        uint64_t shape[4];
    } kinds[] = {
        {"'|u1'", 1, 4, {37, 3, 7, 11}},   {"'<i2'", 2, 3, {101, 9, 13}},
        {"'<f4'", 4, 4, {5000, 3, 7, 11}}, {"'<f8'", 8, 2, {129, 70}},
        {"'|S3'", 3, 3, {33, 5, 6}},       {"'<U3'", 12, 2, {65, 4}},
        {"'<f4'", 4, 2, {3, 100000}},      {"'|S64'", 64, 2, {40, 3}},
        {"'|u1'", 1, 1, {1000}},           {"'|u1'", 1, 2, {300000, 2}},
    };

    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct shards shards = {.n = 4};
        const uint64_t unpacked = kinds[k].item_nbytes;
        uint64_t n_rows = 0, row_nbytes;
        uint8_t *row;

        for (unsigned i = 0; i < 4; i++) {
            struct made_array *made = &shards.made[i];

            *made = (struct made_array){.name = "x.npy",
                                        .descr = kinds[k].descr,
                                        .item_nbytes = unpacked,
                                        .n_dims = kinds[k].n_dims,
                                        .fortran = i & 1,
                                        .deflated = i & 2,
                                        .salt = i};
            memcpy(made->shape, kinds[k].shape, sizeof made->shape);
            made->shape[0] += i;
            n_rows += made->shape[0];
        }
        row_nbytes = row_items(&shards.made[0]) * kinds[k].item_nbytes;
        row = malloc(row_nbytes);
        assert_non_null(row);
        open_shards(&shards, k & 1);
        for (int in_memory = 0; in_memory < 2; in_memory++) {
            const uint64_t memory = in_memory ? 1u << 28 : 0;
            struct budget budget = {memory, scratch_folder};
            struct error err = {0};
            struct reader reader = {.arrays = shards.arrays, .n_arrays = 4, .at_random = true};

            if (reader_open(&reader, &budget, &err) != 0)
                fail_msg("%s", err.message);
            assert_int_equal(budget.left < memory, in_memory);
            assert_true(memory - budget.left <= n_rows * row_nbytes);
            for (uint64_t i = 0; i < n_rows; i++) {
                const uint64_t at = n_rows < 5000 ? i : (i * 7919) % n_rows;

                if (reader_read(&reader, at, 1, row, &err) != 0)
                    fail_msg("%s", err.message);
                check_row(&shards, at, row);
            }
            assert_int_equal(reader_read(&reader, n_rows, 1, row, &err), -1);
            assert_int_equal(err.kind, ERROR_INTERNAL);
            reader_close(&reader);
            assert_int_equal(budget.left, memory);
        }
        free(row);
        close_shards(&shards);
    }
}

static void test_table_without_folder(void **state)
{
    struct shards shards = {.made = {wide}, .n = 1};
    struct budget budget = {0, "/nonexistent/folder"};
    struct reader reader = {.arrays = shards.arrays, .n_arrays = 1, .at_random = true};
    struct error err = {0};

    (void)state;
    shards.made[0].deflated = true;
    open_shards(&shards, true);
    assert_int_equal(reader_open(&reader, &budget, &err), -1);
    assert_int_equal(err.kind, ERROR_CANT_CREATE);
    reader_close(&reader);
    close_shards(&shards);
}

/* Rows of no bytes have nothing to read, but can be counted. */
static void test_rows_of_nothing(void **state)
{
    struct shards shards = {.made = {wide}, .n = 1};
    struct error err = {0};
    struct reader reader;
    uint8_t nothing[1] = {7};

    (void)state;
    shards.made[0].shape[1] = 0;
    shards.made[0].deflated = true;
    open_shards(&shards, true);
    assert_int_equal(open_reader(&reader, shards.arrays, 1, &err), 0);
    assert_int_equal(reader_read(&reader, 0, 431, nothing, &err), 0);
    reader_close(&reader);
    assert_int_equal(open_table(&reader, shards.arrays, 1, 100, &err), 0);
    assert_int_equal(reader_read(&reader, 430, 1, nothing, &err), 0);
    assert_int_equal(nothing[0], 7);
    reader_close(&reader);
    close_shards(&shards);
}

/* Rows between those that are wanted are read over, and batches keep what they share. */
static void test_batches(void **state)
{
    struct shards shards = {.made = {wide, wide}, .n = 2};
    struct error err = {0};
    struct reader reader;
    struct batch a = {.reader = &reader}, b = {.reader = &reader};

    (void)state;
    shards.made[0].deflated = true;
    shards.made[1].salt = 5;
    open_shards(&shards, true);
    assert_int_equal(open_reader(&reader, shards.arrays, 2, &err), 0);
    assert_int_equal(batch_read(&a, 7, 100, &err), 0);
    assert_int_equal(batch_follow(&b, &a, 60, 400, &err), 0);
    assert_int_equal(batch_follow(&a, &b, 700, 20, &err), 0);
    for (uint64_t i = 0; i < 400; i++)
        check_row(&shards, 60 + i, batch_row(&b, i).bytes);
    for (uint64_t i = 0; i < 20; i++)
        check_row(&shards, 700 + i, batch_row(&a, i).bytes);
    assert_int_equal(batch_row(&a, 3).n, 5 * 77);
    assert_int_equal(batch_read(&a, 720, 2 * 431 - 720, &err), 0);
    assert_int_equal(batch_read(&a, 2 * 431, 0, &err), 0);
    assert_int_equal(batch_read(&a, 5, 1, &err), -1); /* not backwards */
    batch_release(&a);
    batch_release(&b);
    reader_close(&reader);
    close_shards(&shards);
}

/* Rows that are picked out: some near each other, some far away, in two shards; of a table in any
 * order, too. */
static void test_picked(void **state)
{
    (void)state;
    for (unsigned width = 3; width < 6000; width *= 17) {
        struct shards shards = {.made = {wide, wide}, .n = 2};
        uint64_t rows[400], n_rows = 0, n = 0;
        struct error err = {0};

        for (size_t i = 0; i < 2; i++) {
            shards.made[i].shape[0] = 1000;
            shards.made[i].shape[1] = 1;
            shards.made[i].shape[2] = width;
            shards.made[i].salt = (unsigned)i;
            shards.made[i].deflated = i == 0;
            n_rows += 1000;
        }
        open_shards(&shards, true);
        for (uint64_t row = 2; row < n_rows; row += row % 11 == 0 ? 100 : row % 7 + 1)
            rows[n++] = row;
        assert_in_range(n, 20, 400);
        for (unsigned at_random = 0; at_random < 2; at_random++) {
            struct reader reader;
            struct batch batch = {.reader = &reader};

            assert_int_equal((at_random ? open_table(&reader, shards.arrays, 2, 1 << 24, &err)
                                        : open_reader(&reader, shards.arrays, 2, &err)),
                             0);
            assert_int_equal(batch_add(&batch, rows, n, &err), 0);
            assert_int_equal(batch_add(&batch, &(uint64_t){n_rows - 1}, 1, &err), 0);
            if (at_random)
                assert_int_equal(batch_add(&batch, (uint64_t[]){n_rows - 2, 7, 8}, 3, &err), 0);
            assert_int_equal(batch.n, n + (at_random ? 4 : 1));
            for (uint64_t i = 0; i < n; i++)
                check_row(&shards, rows[i], batch_row(&batch, i).bytes);
            check_row(&shards, n_rows - 1, batch_row(&batch, n).bytes);
            if (at_random) {
                check_row(&shards, n_rows - 2, batch_row(&batch, n + 1).bytes);
                check_row(&shards, 8, batch_row(&batch, n + 3).bytes);
            }
            batch_release(&batch);
            reader_close(&reader);
        }
        close_shards(&shards);
    }
}

/* Lists of two shards, in sequence and at random. */
static void test_lists(void **state)
{
    static const int64_t offsets[2][5] = {{0, 2, 2, 5, 6}, {0, 1, 1, 1, 3}};
    static const uint64_t n_elements[2] = {6, 3};
    const struct error reason = {.kind = ERROR_DATA, .message = "why"};
    struct archive_in archives[2][2];
    const struct array *starts[2], *elements[2];
    struct error err = {0};
    struct csr csr;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct made_array made = {.name = "i.npy",
                                  .descr = "'<u2'",
                                  .n_dims = 1,
                                  .shape = {n_elements[i]},
                                  .item_nbytes = 2,
                                  .salt = (unsigned)i};
        struct bytes npy = {0};
        FILE *file;

        make_npy_file(scratch(i == 0 ? "e0.npy" : "e1.npy"), &made);
        assert_int_equal(npy_header_write("'<i8'", (const uint64_t[]){5}, 1, 0, &npy, &err), 0);
        assert_int_equal(bytes_append(&npy, offsets[i], sizeof offsets[i], &err), 0);
        file = fopen(scratch(i == 0 ? "o0.npy" : "o1.npy"), "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(npy.data, 1, npy.n_bytes, file), npy.n_bytes);
        assert_int_equal(fclose(file), 0);
        bytes_release(&npy);
        assert_int_equal(
            archive_in_open(&archives[0][i], scratch(i == 0 ? "o0.npy" : "o1.npy"), true, &err), 0);
        assert_int_equal(
            archive_in_open(&archives[1][i], scratch(i == 0 ? "e0.npy" : "e1.npy"), true, &err), 0);
        starts[i] = &archives[0][i].arrays[0];
        elements[i] = &archives[1][i].arrays[0];
    }
    assert_int_equal(csr_open(&csr, starts, elements, 2, &err), 0);
    assert_int_equal(csr.n_rows, 8);
    for (int at_random = 0; at_random < 2; at_random++) {
        struct budget budget = {1000, scratch_folder};
        struct reader reader = {
            .arrays = elements, .n_arrays = 2, .csr = &csr, .at_random = at_random};
        struct batch all = {.reader = &reader}, some = {.reader = &reader};

        assert_int_equal(reader_open(&reader, &budget, &err), 0);
        for (uint64_t row = 0; row < 8; row += 3)
            assert_int_equal(batch_add(&some, &row, 1, &err), 0);
        assert_int_equal(some.n, 3);
        assert_int_equal(batch_row(&some, 0).n, 2);
        assert_int_equal(batch_row(&some, 1).n, 1);
        assert_int_equal(batch_row(&some, 2).n, 0);
        if (at_random) {
            assert_int_equal(batch_read(&all, 0, 8, &err), 0);
            assert_int_equal(all.bytes.n_bytes, 18);
            assert_memory_equal(batch_row(&all, 3).bytes, batch_row(&some, 1).bytes, 2);
            assert_int_equal(batch_row(&all, 7).n, 2);
        }
        /* The shard that a row is in is named, with the row's number there. */
        assert_int_equal(reader_fail(&reader, 3, &reason, &err), -1);
        assert_non_null(strstr(err.message, "e0.npy: row 3: why"));
        err = (struct error){0};
        assert_int_equal(reader_fail(&reader, 5, &reason, &err), -1);
        assert_non_null(strstr(err.message, "e1.npy: row 1: why"));
        err = (struct error){0};
        batch_release(&all);
        batch_release(&some);
        reader_close(&reader);
    }
    csr_release(&csr);
    elements[1] = elements[0]; /* more than the offsets say */
    assert_int_equal(csr_open(&csr, starts, elements, 2, &err), -1);
    assert_non_null(strstr(err.message, "row 4: offset 3, expected 6 to 6"));
    for (size_t i = 0; i < 4; i++)
        archive_in_close(&archives[i / 2][i % 2]);
}

static void test_summary(void **state)
{
    static const struct dtype dtype = {.kind = DTYPE_FLOAT, .itemsize = 4};
    float numbers[200];
    struct row row = {.bytes = (const uint8_t *)numbers, .dtype = &dtype, .n = 200};

    (void)state;
    for (int i = 0; i < 200; i++)
        numbers[i] = (float)(i - 50) / 4;
    struct row_summary s = row_summarize(&row, 1, 199);
    assert_true(s.sum == 199 * (-49 + 149) / 8.0 && s.min == -12.25 && s.max == 37.25);
    numbers[7] = NAN;
    s = row_summarize(&row, 7, 3);
    assert_true(isnan(s.sum) && s.min == -10.5 && s.max == -10.25);
    s = row_summarize(&row, 0, 0);
    assert_true(s.sum == 0 && s.min > s.max);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_sequence),        IN_SCRATCH(test_npy_file),
        IN_SCRATCH(test_refuses),         IN_SCRATCH(test_fortran_in_name),
        IN_SCRATCH(test_damage),          IN_SCRATCH(test_stream_length),
        IN_SCRATCH(test_wrong_crc),       IN_SCRATCH(test_held),
        IN_SCRATCH(test_damaged_empty),   IN_SCRATCH(test_truncated_while_read),
        IN_SCRATCH(test_table),           IN_SCRATCH(test_table_without_folder),
        IN_SCRATCH(test_rows_of_nothing), IN_SCRATCH(test_batches),
        IN_SCRATCH(test_picked),          IN_SCRATCH(test_lists),
        cmocka_unit_test(test_summary),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
