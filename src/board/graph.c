/*
 * graph.c - the symmetries of a board whose file gives edges, lines and colours of cells instead of
 * transforms.
 *
 * Cells, lines, colours and players become the vertices of a graph, in classes that a symmetry must
 * keep. A line or colour is joined to its cells and a player to his colours, so that the colours of
 * two players are exchanged all together or not at all. nauty finds generators of the graph's
 * automorphism group. Elements that are turns or mirrors of the coordinates are named so. The order
 * of elements depends on their maps alone, not on how nauty found them.
 *
 * nauty is loaded when a board needs it and is not required otherwise. It keeps its state in static
 * variables, so it is called under a lock, which a forked child finds free.
 */
#include "board/families.h"
#include "board/group.h"

#include "base/perm.h"

#include <dlfcn.h>
#include <math.h>
#include <nauty/nausparse.h>
#include <pthread.h>

#define NAUTY      "libnauty.so.2"
#define MAX_LEVELS 128
#define MAX_NODES  128
#define MAX_VISITS (1u << 20) /* vertices times nodes of a search */

/* More memory than nauty needs: per vertex, and in addition. */
#define NAUTY_VERTEX_NBYTES 512
#define NAUTY_NBYTES        (1u << 20)

/* --- a subgroup of the turns --- */

/* Add the turns that keep everything; mirrors too, unless `only_rotations`. */
static int add_turns(struct board *b, bool only_rotations, struct error *err)
{
    const struct board_box *box = board_turns_of(b);
    struct relations edges = {0}, lines = {0};
    uint32_t lost;
    int status = relations_init(&edges, b, false, err);

    if (status == 0)
        status = relations_init(&lines, b, true, err);
    for (uint32_t i = 1; i < box->n_elements && status == 0; i++) {
        const struct board_turn *turn = &box->elements[i].turn;
        struct board_transform *t = &b->transforms[b->n_transforms];

        if (only_rotations && turn->rr * turn->cc - turn->rc * turn->cr < 0)
            continue;
        status = board_alloc_maps(b, b->n_transforms, err);
        if (status != 0 || !board_turn_cells(b, turn, t->dst) ||
            perm_is_identity(t->dst, b->n_cells) || /* it is there already */
            relations_kept(&edges, t->dst, &lost) < edges.n ||
            relations_kept(&lines, t->dst, &lost) < lines.n)
            continue;
        t->swaps_colours = !group_keeps_colours(b, t->dst, false, &lost);
        if (!t->swaps_colours || group_keeps_colours(b, t->dst, true, &lost))
            b->n_transforms++;
    }
    free(edges.slots);
    free(lines.slots);
    return status;
}

/* --- nauty --- */

/* What nauty's callbacks, which take no argument of ours, work on; under the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct nauty_state {
    volatile int *stop;  /* nauty gives up when it is set */
    struct board *board; /* gets the generators */
    int first_player;    /* a vertex */
    uint32_t n_nodes;    /* of the search so far */
    bool is_long;        /* the search was given up */
    bool no_memory;
} nauty_state;

static void take_lock(void)
{
    pthread_mutex_lock(&lock);
}

static void give_lock(void)
{
    pthread_mutex_unlock(&lock);
}

static void keep_lock_from_children(void)
{
    pthread_atfork(take_lock, give_lock, give_lock);
}

/* nauty's callback for a generator: the image of every vertex. */
static void add_generator(int count, int *image, int *orbits, int n_orbits, int stabilised,
                          int n_vertices)
{
    struct board *b = nauty_state.board;
    struct board_transform *t = &b->transforms[b->n_transforms];

    (void)count, (void)orbits, (void)n_orbits, (void)stabilised, (void)n_vertices;
    /* Further generators only enlarge a group that is too large already, as nauty's count says. */
    if (b->n_transforms > BOARD_MAX_TRANSFORMS || nauty_state.no_memory)
        return;
    if (board_alloc_maps(b, b->n_transforms, NULL) != 0) {
        nauty_state.no_memory = true;
        return;
    }
    for (uint32_t cell = 0; cell < b->n_cells; cell++)
        t->dst[cell] = (uint32_t)image[cell];
    t->swaps_colours =
        b->n_pairs > 0 && image[nauty_state.first_player] != nauty_state.first_player;
    b->n_transforms++;
}

/* nauty's callback for a node of its search. Give up on a deep search, since nauty recurses for
 * each level: a group that fits a board needs less than a tenth of MAX_LEVELS. Also give up on a
 * large graph with few symmetries whose cells look alike, so that each of them is tried in vain. */
static void look_at_node(graph *graph, int *labels, int *ends, int level, int n_classes,
                         int n_target, int code, int n_words, int n_vertices)
{
    (void)graph, (void)labels, (void)ends, (void)n_classes, (void)n_target, (void)code;
    (void)n_words;
    const uint32_t n_nodes = ++nauty_state.n_nodes;

    nauty_state.is_long = level <= MAX_LEVELS && n_nodes > MAX_NODES &&
                          (uint64_t)n_nodes * (uint32_t)n_vertices > MAX_VISITS;
    if (level > MAX_LEVELS || nauty_state.is_long)
        *nauty_state.stop = 1;
}

/* A board's graph in nauty's form. Vertices are the cells of the box, then lines (each set of cells
 * once, since exchanging duplicates would enlarge the group), colours and players. */
struct board_graph {
    sparsegraph sparse;          /* its arrays are owned */
    int *labels, *ends, *orbits; /* owned, all in `labels`: vertices by class, ends[i] 0 where a
                                    class ends; each off-board cell is a class of its own */
};

/* Join two vertices; while there is no room for edges, only count them. */
static void join(sparsegraph *sparse, uint32_t a, uint32_t b)
{
    if (sparse->e != NULL) {
        sparse->e[sparse->v[a] + (size_t)sparse->d[a]] = (int)b;
        sparse->e[sparse->v[b] + (size_t)sparse->d[b]] = (int)a;
    }
    sparse->d[a]++;
    sparse->d[b]++;
}

static int graph_init(struct board_graph *g, const struct board *b, struct relations *sets,
                      struct error *err)
{
    sparsegraph *sparse = &g->sparse;

    if (relations_init(sets, b, true, err) != 0)
        return -1;
    const uint32_t lines = b->n_cells, colours = lines + sets->n_different;
    const uint32_t players = colours + b->n_colours, n = players + (b->n_pairs > 0 ? 2 : 0);
    sparse->v = calloc(n, sizeof *sparse->v);
    sparse->d = calloc(n, sizeof *sparse->d);
    g->labels = calloc(3 * (size_t)n, sizeof *g->labels);
    void *room = malloc((size_t)n * NAUTY_VERTEX_NBYTES + NAUTY_NBYTES);
    const bool has_room = room != NULL; /* for nauty, which exits when out of memory */
    free(room);
    if (sparse->v == NULL || sparse->d == NULL || g->labels == NULL || !has_room)
        return error_no_memory(err, "graph of a board");
    g->ends = g->labels + n;
    g->orbits = g->ends + n;
    sparse->nv = (int)n;
    sparse->vlen = sparse->dlen = n;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < b->n_edges; i++)
            join(sparse, b->edges[i][0], b->edges[i][1]);
        for (uint32_t i = 0, line = lines; i < sets->n; i++) {
            if (!relations_is_first(sets, i))
                continue;
            for (uint32_t k = relations_start(sets, i); k < relations_start(sets, i + 1); k++)
                join(sparse, line, sets->cells[k]);
            line++;
        }
        for (uint32_t i = 0; i < b->n_colours; i++) {
            for (uint32_t k = 0; k < b->colours[i].n_cells; k++)
                join(sparse, colours + i, b->colours[i].cells[k]);
            if (i < 2 * b->n_pairs)
                join(sparse, players + i % 2, colours + i);
        }
        if (pass == 1)
            break;
        for (uint32_t v = 0; v < n; v++) {
            sparse->v[v] = sparse->nde;
            sparse->nde += (size_t)sparse->d[v];
        }
        sparse->elen = sparse->nde;
        if (new_items(&sparse->e, sparse->nde + 1, "graph of a board", err) != 0)
            return -1;
        memset(sparse->d, 0, n * sizeof *sparse->d);
    }
    for (uint32_t cell = 0, n_on = 0, n_off = b->n_on_board; cell < lines; cell++)
        g->labels[b->on_board[cell] ? n_on++ : n_off++] = (int)cell;
    for (uint32_t i = lines; i < n; i++)
        g->labels[i] = (int)i;
    for (uint32_t i = 0; i < n; i++)
        g->ends[i] = i < lines     ? i + 1 < b->n_on_board
                     : i < colours ? i + 1 < colours
                     : i < players ? i - colours < 2 * b->n_pairs && (i - colours) % 2 == 0
                                   : i == players;
    return 0;
}

/* Load nauty and let it add the generators of the graph's group. Under the lock. */
static int run_nauty(struct board *b, struct board_graph *g, statsblk *stats, struct error *err)
{
    static void *nauty; /* the shared library; NULL: not loaded yet */
    void (*run)(sparsegraph *, int *, int *, int *, optionblk *, statsblk *, sparsegraph *);
    void (*release)(void);
    optionblk options = {.userautomproc = add_generator,
                         .usernodeproc = look_at_node,
                         .linelength = 0,
                         .defaultptn = FALSE,
                         .maxinvarlevel = 1,
                         .schreier = FALSE};

    if (nauty == NULL)
        nauty = dlopen(NAUTY, RTLD_NOW | RTLD_LOCAL);
    if (nauty == NULL)
        return error_set(err, ERROR_DATA,
                         "the symmetries of edges are found by nauty, which cannot be loaded: "
                         "install libnauty2, or give transforms");
    *(void **)&run = dlsym(nauty, "sparsenauty");
    *(void **)&release = dlsym(nauty, "nauty_freedyn");
    options.dispatch = dlsym(nauty, "dispatch_sparse");
    nauty_state = (struct nauty_state){
        .stop = dlsym(nauty, "nauty_kill_request"), .board = b, .first_player = g->sparse.nv - 2};
    if (run == NULL || release == NULL || nauty_state.stop == NULL || options.dispatch == NULL)
        return error_set(err, ERROR_DATA, "%s lacks functions expected of nauty 2.8", NAUTY);
    *nauty_state.stop = 0;
    run(&g->sparse, g->labels, g->ends, g->orbits, &options, stats, NULL);
    release();
    if (nauty_state.is_long)
        return error_set(err, ERROR_DATA,
                         "the transforms that edges and colours allow take too long to find: give "
                         "more colours or lines, or transforms");
    return nauty_state.no_memory ? error_no_memory(err, "transforms of a board") : 0;
}

/* Add the generators of the graph's group; *order is its number of elements. */
static int find_generators(struct board *b, double *order, struct error *err)
{
    struct board_graph g = {0};
    struct relations sets = {0};
    statsblk stats = {0};
    int status = graph_init(&g, b, &sets, err);

    if (status == 0) {
        pthread_once(&once, keep_lock_from_children);
        take_lock();
        status = run_nauty(b, &g, &stats, err);
        give_lock();
    }
    free(sets.slots);
    free(g.sparse.v);
    free(g.sparse.d);
    free(g.sparse.e);
    free(g.labels);
    *order = stats.errstatus == 0 ? stats.grpsize1 : INFINITY;
    for (int i = 0; i < stats.grpsize2 && *order < 1e300; i++)
        *order *= 10;
    return status;
}

/* --- names and order --- */

/* Turns and mirrors in the order of the box's elements, then all others by their maps. */
static int compare_transforms(const void *a, const void *b, void *board)
{
    const struct board_transform *x = a, *y = b;
    const uint32_t n = ((const struct board *)board)->n_cells;
    uint32_t i = 0;

    if (x->turn != y->turn) /* NULL comes last */
        return (uintptr_t)x->turn - 1 < (uintptr_t)y->turn - 1 ? -1 : 1;
    while (i < n && x->dst[i] == y->dst[i])
        i++;
    return i < n ? order_of_u32(&x->dst[i], &y->dst[i]) : x->swaps_colours - y->swaps_colours;
}

/* Put the transforms in order, and name them: turns and mirrors by what they are, others by their
 * order and a number. */
static int set_names(struct board *b, struct error *err)
{
    uint64_t orders[BOARD_MAX_TRANSFORMS];

    qsort_r(b->transforms + 1, b->n_transforms - 1, sizeof *b->transforms, compare_transforms, b);
    for (uint32_t t = 1; t < b->n_transforms; t++) {
        struct board_transform *one = &b->transforms[t];
        const char *swap = one->swaps_colours ? "-swap" : "";
        unsigned n_such = 1;

        orders[t] = perm_order(1, one->dst, b->n_cells);
        if (orders[t] == 0) /* no memory: in a group of at most 255 elements orders fit */
            return error_no_memory(err, "transforms of a board");
        for (uint32_t u = 1; u < t; u++)
            n_such += b->transforms[u].turn == NULL && orders[u] == orders[t];
        if ((one->turn != NULL ? board_set_text(&one->name, err, "%s%s", one->turn->name, swap)
                               : board_set_text(&one->name, err, "order-%u-%u%s",
                                                (unsigned)orders[t], n_such, swap)) != 0)
            return -1;
    }
    return 0;
}

int group_find(struct board *b, enum group_which which, struct error *err)
{
    double order = 0;

    if (which != GROUP_WHOLE) {
        if (b->rows == 0)
            return error_set(err, ERROR_DATA,
                             "a subgroup of turns needs coordinates: rows and cols, or a shape");
        if (add_turns(b, which == GROUP_ROTATIONS, err) != 0)
            return -1;
    } else if (find_generators(b, &order, err) != 0) {
        return -1;
    }
    if (order > BOARD_MAX_TRANSFORMS || order * group_n_entries(b) > GROUP_MAX_ENTRIES)
        return error_set(err, ERROR_DATA,
                         "edges and colours allow %s transforms, at most %d with %u entries "
                         "together: give more colours or lines, generators, or \"subgroup\": "
                         "\"rotations\" or \"turns\"",
                         order < 1e15 ? text_format("%.0f", order).text : "too many",
                         BOARD_MAX_TRANSFORMS, GROUP_MAX_ENTRIES);
    for (uint32_t t = 1; t < b->n_transforms; t++)
        if (board_set_text(&b->transforms[t].name, err, "generator") != 0)
            return -1;
    if (group_arrange(b, which == GROUP_WHOLE, err) != 0)
        return -1;
    if (which == GROUP_WHOLE && b->n_transforms != order)
        return error_set(err, ERROR_INTERNAL,
                         "nauty counts %.0f transforms, its generators make %u", order,
                         b->n_transforms);
    return set_names(b, err);
}

int group_missing(const struct board *b, struct text *out, struct error *err)
{
    struct board whole = *b; /* borrows all but its transforms */
    uint32_t n_missing = 0;
    int status = -1;

    whole.fault = NULL;
    whole.n_planes = whole.n_actions = 0;
    whole.n_transforms = 1;
    if (new_items(&whole.transforms, BOARD_MAX_TRANSFORMS + 2, "transforms of a board", err) != 0 ||
        board_alloc_maps(&whole, 0, err) != 0 || group_find(&whole, GROUP_WHOLE, err) != 0)
        goto out;
    for (uint32_t i = 0; i < whole.n_transforms; i++) {
        const struct board_transform *one = &whole.transforms[i];
        uint32_t t = 0;

        while (t < b->n_transforms &&
               memcmp(b->transforms[t].dst, one->dst, b->n_cells * sizeof *one->dst) != 0)
            t++;
        if (t == b->n_transforms &&
            text_append(out, err, "%s%s", n_missing++ > 0 ? ", " : "", one->name) != 0)
            goto out;
    }
    status = (int)n_missing;
out:
    for (uint32_t t = 0; whole.transforms != NULL && t <= whole.n_transforms; t++)
        board_release_transform(&whole.transforms[t]);
    free(whole.transforms);
    free(whole.fault);
    return status;
}
