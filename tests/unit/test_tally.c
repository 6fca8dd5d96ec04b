/* test_tally.c - counting a shard whose numbers of games or transforms cannot be read: the count
 * fails with what is wrong, and no row is given a part or a transform that nobody read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "npz_maker.h"

#include "engine/settings.h"
#include "report/set.h"

/* clang-format off */
static const struct made_array arrays[] = {
    {.name = "game_id.npy", .descr = "'<i4'", .n_dims = 1, .shape = {50}, .item_nbytes = 4},
    {.name = "state.npy", .descr = "'|u1'", .n_dims = 4, .shape = {50, 2, 9, 9}, .item_nbytes = 1, .salt = 1},
    {.name = "symaug_transform.npy", .descr = "'|u1'", .n_dims = 1, .shape = {50}, .item_nbytes = 1, .salt = 2},
    {.name = "value.npy", .descr = "'<f4'", .n_dims = 1, .shape = {50}, .item_nbytes = 4, .salt = 3},
};
/* clang-format on */

/* Change a byte near the end of a stored array. */
static void damage(const char *path, const char *name, long n_before_end)
{
    FILE *file = fopen(path, "r+b");
    uint8_t all[1 << 16];
    const size_t n = fread(all, 1, sizeof all, file);
    const uint8_t *member = memmem(all, n, name, strlen(name));
    const uint8_t *next = memmem(member + 1, n - (size_t)(member + 1 - all), "PK", 2);

    assert_int_equal(fseek(file, next - all - n_before_end, SEEK_SET), 0);
    assert_int_not_equal(fputc(next[-n_before_end] ^ 1, file), EOF);
    assert_int_equal(fclose(file), 0);
}

/* Count a shard one of whose arrays is damaged, if any is. */
static int count(const char *damaged, struct tally *tally, struct shard *shard, struct error *err)
{
    static struct settings settings;
    const struct verify_located images = {0};
    const char *path = scratch("in.npz");
    int status;

    make_npz(path, arrays, sizeof arrays / sizeof *arrays);
    if (damaged != NULL)
        damage(path, damaged, 8);
    settings = settings_default;
    settings.board = "go9";
    settings.n_threads = 1;
    *shard = (struct shard){0};
    *tally = (struct tally){0};
    status = shard_open(shard, path, &settings, err);
    if (status == 0)
        status = tally_init(tally, shard, &settings, err);
    return status == 0 ? tally_add(tally, shard, &images, false, err) : status;
}

static void release(struct tally *tally, struct shard *shard)
{
    tally_release(tally);
    shard_close(shard);
}

static void test_sound(void **state)
{
    struct error err = {0};
    struct tally tally;
    struct shard shard;

    (void)state;
    assert_int_equal(count(NULL, &tally, &shard, &err), 0);
    assert_non_null(tally.labels[0].by_transform);
    assert_true(tally.labels[0].all.n > 0);
    release(&tally, &shard);
}

/* Maps are of the planes in which --planes says that stones are. */
static void test_told_planes(void **state)
{
    /* clang-format off */
    static const struct made_array hex[] = {
        {.name = "state.npy", .descr = "'|u1'", .n_dims = 4, .shape = {50, 3, 9, 9}, .item_nbytes = 1},
    };
    /* clang-format on */
    static const struct {
        const char *planes;
        uint64_t maps[2];
    } cases[] = {{"colour", {0, 1}}, {"~0,2,1", {1, 2}}, {"2,~1,0", {0, 2}}, {"mover", {0, 1}}};
    const char *path = scratch("hex.npz");

    (void)state;
    make_npz(path, hex, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct settings settings = settings_default;
        struct error err = {0};
        struct tally tally;
        struct shard shard;

        settings.board = "rhombus:9";
        assert_int_equal(conventions_set(&settings.conventions, "planes", cases[i].planes, &err),
                         0);
        assert_int_equal(shard_open(&shard, path, &settings, &err), 0);
        assert_int_equal(tally_init(&tally, &shard, &settings, &err), 0);
        assert_int_equal(tally.n_maps, 2);
        for (size_t m = 0; m < 2; m++)
            assert_int_equal(tally.maps[m].plane, cases[i].maps[m]);
        release(&tally, &shard);
    }
}

static void test_damaged(void **state)
{
    static const char *const names[] = {"game_id.npy", "symaug_transform.npy"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct error err = {0};
        struct tally tally;
        struct shard shard;

        assert_int_equal(count(names[i], &tally, &shard, &err), -1);
        assert_int_equal(err.kind, ERROR_DATA);
        assert_non_null(strstr(err.message, "CRC"));
        assert_int_equal(tally.labels[0].all.n, 0);
        release(&tally, &shard);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_sound),
        IN_SCRATCH(test_told_planes),
        IN_SCRATCH(test_damaged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
