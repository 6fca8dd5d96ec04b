/*
 * codec_bench.c - how fast and how small the codecs make what training shards are made of.
 *
 * usage: codec_bench [-n REPEATS] [-s SET] [FILE ITEM_NBYTES PERIOD[,PERIOD..]]
 *
 * Sets of rows are made up (consecutive positions differ by a move, images by a permutation, rows
 * in blocks of 16), or read from a file. All codecs take turns, so that a busy machine is unfair to
 * none; compare the ratios within one run. MB/s are of uncompressed bytes, the median of all
 * rounds, on one core. With a FILE, only that is encoded. libdeflate takes part where it is
 * installed; it sees no history in front of a piece.
 */
#include "codec/grid.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#if defined(HAVE_ISAL)
#include <isa-l.h>
#endif

#define SET_NBYTES   ((size_t)16 << 20)
#define PIECE_NBYTES ((size_t)1 << 20)
#define BLOCK_NROWS  16
#define MAX_REPEATS  99
#define MAX_CELLS    400

struct set {
    const char *name;
    size_t item_nbytes;
    size_t n_cells;
    size_t n_planes; /* stones of two colours and their history, then planes of a constant */
    size_t n_images;
    enum { PLANES, DENSE, VISITS, ONE_HOT } kind;
};

static const struct set sets[] = {
    {"hex8 planes f32", 4, 81, 40, 12, PLANES},    {"go planes u8", 1, 361, 17, 8, PLANES},
    {"gomoku planes f32", 4, 225, 5, 8, PLANES},   {"hex13 planes f32", 4, 169, 3, 4, PLANES},
    {"dense policy f32", 4, 169, 1, 4, DENSE},     {"visits policy f32", 4, 169, 1, 4, VISITS},
    {"one-hot policy f32", 4, 225, 1, 8, ONE_HOT}, {"visits policy i16", 2, 362, 2, 8, VISITS},
};

#define N_SETS (sizeof sets / sizeof *sets)

/* A member in memory. */
struct data {
    struct codec_member member;
    uint8_t *bytes;
    size_t n_bytes;
};

static uint64_t random_state = 1;

static uint32_t next_random(uint32_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) * below >> 31);
}

/* The cell that goes to `cell` in an image: different in every image, the identity in the first. */
static size_t source_cell(size_t cell, size_t image, size_t n_cells)
{
    static const size_t factors[] = {1, 2, 4, 7, 8, 11, 13, 14, 16, 17, 22, 23};

    return n_cells % factors[image] == 0 ? n_cells - 1 - cell : cell * factors[image] % n_cells;
}

static void put_value(uint8_t *out, size_t item_nbytes, double value)
{
    const float narrow = (float)value;
    const int16_t whole = (int16_t)(value * 800);

    if (item_nbytes == 4)
        memcpy(out, &narrow, 4);
    else if (item_nbytes == 2)
        memcpy(out, &whole, 2);
    else
        *out = value != 0;
}

/* A game: one stone more every row, a new game when the board is half full. */
static void next_position(double *row, const struct set *set)
{
    static size_t n_stones;
    const size_t n_history = set->n_planes / 2;
    const size_t cell = next_random((uint32_t)set->n_cells);

    if (n_stones++ % (set->n_cells / 2) == 0)
        memset(row, 0, set->n_planes * set->n_cells * sizeof *row);
    for (size_t plane = 2 * n_history; plane-- > 2;)
        memcpy(row + plane * set->n_cells, row + (plane - 2) * set->n_cells,
               set->n_cells * sizeof *row);
    if (row[cell] == 0 && row[set->n_cells + cell] == 0)
        row[n_stones % 2 * set->n_cells + cell] = 1;
    for (size_t i = 0; i < set->n_cells && set->n_planes % 2; i++)
        row[2 * n_history * set->n_cells + i] = (double)(n_stones % 2);
}

static void next_policy(double *row, const struct set *set)
{
    for (size_t i = 0; i < set->n_planes * set->n_cells; i++) {
        const uint32_t u = 1 + next_random(1u << 20);

        row[i] = next_random(10) < 4   ? 0
                 : set->kind == DENSE  ? 1.0 / u
                 : next_random(10) < 4 ? 0
                                       : (double)((1 << 20) / u % 800) / 800;
    }
    if (set->kind == ONE_HOT) {
        memset(row, 0, set->n_cells * sizeof *row);
        row[next_random((uint32_t)set->n_cells)] = 1;
    }
}

static struct data make_data(const struct set *set)
{
    const size_t row_nitems = set->n_planes * set->n_cells;
    const size_t plane_nbytes = set->n_cells * set->item_nbytes;
    double *const rows = calloc((BLOCK_NROWS + 1) * row_nitems, sizeof *rows);
    struct data data = {.n_bytes = SET_NBYTES, .bytes = calloc(SET_NBYTES + CODEC_READ_SLACK, 1)};
    size_t at = 0;

    for (size_t row = 0; at + set->item_nbytes <= SET_NBYTES; row = 0) {
        for (; row < BLOCK_NROWS; row++) {
            double *const position = rows + BLOCK_NROWS * row_nitems;

            set->kind == PLANES ? next_position(position, set) : next_policy(position, set);
            memcpy(rows + row * row_nitems, position, row_nitems * sizeof *rows);
        }
        for (size_t i = 0; i < set->n_images * BLOCK_NROWS * row_nitems; i++) {
            const size_t cell = i % set->n_cells, plane = i / set->n_cells;
            const size_t source =
                source_cell(cell, plane / (BLOCK_NROWS * set->n_planes), set->n_cells);

            if (at + set->item_nbytes > SET_NBYTES)
                break;
            put_value(data.bytes + at, set->item_nbytes,
                      rows[plane % (BLOCK_NROWS * set->n_planes) * set->n_cells + source]);
            at += set->item_nbytes;
        }
    }
    free(rows);
    data.member = (struct codec_member){
        .n_bytes = SET_NBYTES,
        .item_nbytes = set->item_nbytes,
        .periods = {(uint32_t)plane_nbytes, (uint32_t)(plane_nbytes * set->n_planes),
                    (uint32_t)(plane_nbytes * set->n_planes * BLOCK_NROWS)},
        .n_periods = 3,
        .row_nbytes = plane_nbytes * set->n_planes,
        .image_nrows = BLOCK_NROWS,
        .n_images = set->n_images};
    for (uint32_t side = 9; side < 20; side++)
        if (side * side == set->n_cells)
            data.member.periods[data.member.n_periods++] = side * (uint32_t)set->item_nbytes;
    return data;
}

static struct data read_data(char **args)
{
    struct data data = {.bytes = calloc(SET_NBYTES + CODEC_READ_SLACK, 1)};
    FILE *const file = fopen(args[0], "rb");

    if (file == NULL) {
        perror(args[0]);
        exit(EXIT_FAILURE);
    }
    data.n_bytes = fread(data.bytes, 1, SET_NBYTES, file);
    fclose(file);
    data.member.n_bytes = data.n_bytes;
    data.member.item_nbytes = strtoul(args[1], NULL, 10);
    for (char *p = strtok(args[2], ","); p != NULL && data.member.n_periods < 16;
         p = strtok(NULL, ","))
        data.member.periods[data.member.n_periods++] = (uint32_t)strtoul(p, NULL, 10);
    return data;
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Encoders write all pieces to out and return the number of bytes. */
typedef size_t encode_function(const struct data *data, const void *what, uint8_t *out);

static size_t run_zlib(const struct data *data, const void *what, uint8_t *out)
{
    const int *const level = what;
    size_t n = 0;
    z_stream z = {0};

    deflateInit2(&z, *level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
    for (size_t at = 0; at < data->n_bytes; at += PIECE_NBYTES) {
        const size_t left = data->n_bytes - at;
        const size_t history = at < CODEC_HISTORY_NBYTES ? at : CODEC_HISTORY_NBYTES;

        deflateReset(&z);
        if (history > 0)
            deflateSetDictionary(&z, data->bytes + at - history, (uInt)history);
        z.next_in = data->bytes + at;
        z.avail_in = (uInt)(left < PIECE_NBYTES ? left : PIECE_NBYTES);
        z.next_out = out + n;
        z.avail_out = 2 * PIECE_NBYTES;
        deflate(&z, Z_SYNC_FLUSH);
        n += 2 * PIECE_NBYTES - z.avail_out;
    }
    deflateEnd(&z);
    return n;
}

static size_t run_isal(const struct data *data, const void *what, uint8_t *out)
{
#if defined(HAVE_ISAL)
    static uint8_t buffer[ISAL_DEF_LVL1_DEFAULT];
    struct isal_zstream z;
    size_t n = 0;

    (void)what;
    isal_deflate_init(&z);
    z.level = 1;
    z.level_buf = buffer;
    z.level_buf_size = sizeof buffer;
    for (size_t at = 0; at < data->n_bytes; at += PIECE_NBYTES) {
        const size_t left = data->n_bytes - at;

        isal_deflate_reset(&z);
        z.next_in = data->bytes + at;
        z.avail_in = (uint32_t)(left < PIECE_NBYTES ? left : PIECE_NBYTES);
        z.next_out = out + n;
        z.avail_out = 2 * PIECE_NBYTES;
        z.flush = FULL_FLUSH;
        isal_deflate(&z);
        n += 2 * PIECE_NBYTES - z.avail_out;
    }
    return n;
#else
    (void)data, (void)what, (void)out;
    return 0;
#endif
}

/* libdeflate's functions, found at run time; alloc is NULL without it. */
static struct {
    void *(*alloc)(int level);
    size_t (*compress)(void *compressor, const void *in, size_t in_nbytes, void *out,
                       size_t out_nbytes);
    void (*free)(void *compressor);
} libdeflate;

static void libdeflate_load(void)
{
    void *const library = dlopen("libdeflate.so.0", RTLD_NOW);

    if (library == NULL)
        return;
    *(void **)&libdeflate.compress = dlsym(library, "libdeflate_deflate_compress");
    *(void **)&libdeflate.free = dlsym(library, "libdeflate_free_compressor");
    if (libdeflate.compress != NULL && libdeflate.free != NULL)
        *(void **)&libdeflate.alloc = dlsym(library, "libdeflate_alloc_compressor");
}

static size_t run_libdeflate(const struct data *data, const void *what, uint8_t *out)
{
    const int *const level = what;
    size_t n = 0;
    void *compressor;

    if (libdeflate.alloc == NULL)
        return 0;
    compressor = libdeflate.alloc(*level);
    for (size_t at = 0; at < data->n_bytes; at += PIECE_NBYTES) {
        const size_t left = data->n_bytes - at;

        n += libdeflate.compress(compressor, data->bytes + at,
                                 left < PIECE_NBYTES ? left : PIECE_NBYTES, out + n,
                                 2 * PIECE_NBYTES);
    }
    libdeflate.free(compressor);
    return n;
}

static size_t run_codec(const struct data *data, const void *what, uint8_t *out)
{
    const struct codec *const codec = what;
    struct codec_choice choice = {.codec = codec};
    struct codec_member member = data->member;
    struct error err = {0};
    size_t n = 0;
    void *state;

    member.sample = data->bytes;
    member.sample_nbytes = data->n_bytes < CODEC_TRIAL_NBYTES ? data->n_bytes : CODEC_TRIAL_NBYTES;
    if (codec->train(&member, &choice.trained, &err) != 0 ||
        (state = codec->state_new(&choice, &err)) == NULL) {
        fprintf(stderr, "%s\n", err.message);
        exit(EXIT_FAILURE);
    }
    for (size_t at = 0; at < data->n_bytes; at += PIECE_NBYTES) {
        const size_t left = data->n_bytes - at;

        const struct codec_piece piece = {
            data->bytes + at, left < PIECE_NBYTES ? left : PIECE_NBYTES,
            at < CODEC_HISTORY_NBYTES ? at : CODEC_HISTORY_NBYTES, false, at};

        n += codec->encode(state, &piece, out + n, &err);
    }
    codec->state_free(state);
    codec_choice_release(&choice);
    return n;
}

static const int level_1 = 1, level_6 = 6;

static const struct contender {
    const char *name;
    encode_function *encode;
    const void *what;
} contenders[] = {
    {"zlib:6", run_zlib, &level_6},
    {"zlib:1", run_zlib, &level_1},
    {"libdeflate:6", run_libdeflate, &level_6},
    {"isal:1", run_isal, NULL},
    {"grid", run_codec, &codec_grid},
    {"sparse", run_codec, &codec_grid_sparse},
    {"moved", run_codec, &codec_grid_moved},
    {"values", run_codec, &codec_grid_values},
    {"best", run_codec, &codec_grid_best},
};

#define N_CONTENDERS (sizeof contenders / sizeof *contenders)

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void compare(const char *name, const struct data *data, int repeats)
{
    double times[N_CONTENDERS][MAX_REPEATS];
    size_t sizes[N_CONTENDERS];
    uint8_t *const out = malloc(2 * SET_NBYTES + 2 * PIECE_NBYTES);

    for (int round = 0; round < repeats; round++) {
        for (size_t i = 0; i < N_CONTENDERS; i++) {
            const double start = seconds();

            sizes[i] = contenders[i].encode(data, contenders[i].what, out);
            times[i][round] = seconds() - start;
        }
    }
    printf("%-19s", name);
    for (size_t i = 0; i < N_CONTENDERS; i++) {
        qsort(times[i], (size_t)repeats, sizeof **times, compare_doubles);
        if (sizes[i] == 0)
            printf(" | %-14s", "-");
        else
            printf(" | %5.0f @ %6.2f", (double)data->n_bytes / times[i][repeats / 2] / 1e6,
                   (double)data->n_bytes / (double)sizes[i]);
    }
    putchar('\n');
    free(out);
}

int main(int argc, char **argv)
{
    const char *wanted = "";
    int repeats = 5, option;

    while ((option = getopt(argc, argv, "n:s:")) != -1) {
        if (option == 'n')
            repeats = atoi(optarg);
        else if (option == 's')
            wanted = optarg;
        else
            return 64;
    }
    if (repeats < 1 || repeats > MAX_REPEATS)
        return 64;
    libdeflate_load();
    printf("%-19s", "MB/s @ ratio");
    for (size_t i = 0; i < N_CONTENDERS; i++)
        printf(" | %-14s", contenders[i].name);
    putchar('\n');
    for (size_t i = 0; argc - optind < 3 && i < N_SETS; i++) {
        struct data data;

        if (strstr(sets[i].name, wanted) == NULL)
            continue;
        data = make_data(&sets[i]);
        compare(sets[i].name, &data, repeats);
        free(data.bytes);
    }
    if (argc - optind >= 3) {
        struct data data = read_data(argv + optind);

        compare("file", &data, repeats);
        free(data.bytes);
    }
    return 0;
}
