/*
 * classes.c - rows grouped by the shapes of their positions, whatever their order.
 *
 * Rows are sorted by shape; those of one shape are a class. Most classes hold the images of one
 * source. Others are left alone: symmetric positions, whose images cannot be told apart, and those
 * that occur in several games.
 */
#include "verify/parts.h"

/* What makes rows a class, and in what order they are listed. */
enum class_key {
    BY_SHAPE,  /* the shape of the position; by row */
    BY_PLANES, /* the shape; by planes, of which a part of the hash takes the place of the transform
                */
    BY_POLICY, /* what the policy holds, which must have been read; by row */
};

/* List the first n rows, sorted by a key that takes the place of sources; 0: it tells nothing.
 * NULL: err is set. */
static struct lane_image *list_rows(struct probe *p, uint64_t n, enum class_key key,
                                    struct error *err)
{
    const bool is_read = p->n >= n && p->rows[n - 1] == n - 1;
    const struct reader rows = {.arrays = &p->planes->array, .n_arrays = 1};
    struct lane_image *list;
    struct sketch one;
    struct walk walk;

    if (new_items(&list, n + 1, "list of rows", err) != 0)
        return NULL;
    walk_begin(&walk, &rows, is_read ? 0 : 1, p->lanes->request->settings->budget, err);
    for (uint64_t i = 0; i < n && (is_read || walk_next(&walk)); i++) {
        const struct sketch *sketch = is_read ? &p->sketches[i] : &one;

        if (!is_read)
            sketch_planes(&p->sketcher, walk.rows->bytes, &one);
        list[i] = (struct lane_image){.row = i,
                                      .source = key != BY_POLICY   ? sketch->shape
                                                : sketch->is_level ? 0
                                                                   : sketch->policy,
                                      .transform = key == BY_PLANES ? (uint32_t)sketch->planes : 0};
    }
    qsort(list, n, sizeof *list, lane_image_compare);
    if (walk_end(&walk) == 0)
        return list;
    free(list);
    return NULL;
}

/* The end of the class, the rows of one shape, that begins at `first` in a list of n rows. */
static uint64_t class_end(const struct lane_image *list, uint64_t first, uint64_t n)
{
    uint64_t end = first + 1;

    while (end < n && list[end].source == list[first].source)
        end++;
    return end;
}

/* The number of rows, 2 to `most`, of the classes that hold most of the n rows; 0: there are none.
 * *n_saved: how many rows in classes of 2 to `most` repeat others. */
static uint32_t usual_rows(const struct lane_image *list, uint64_t n, uint32_t most,
                           uint64_t *n_saved)
{
    uint64_t n_of[LAYOUT_MAX_IMAGES + 1] = {0};
    uint32_t usual = 0;

    *n_saved = 0;
    for (uint64_t i = 0, end; i < n; i = end) {
        end = class_end(list, i, n);
        if (end - i > 1 && end - i <= most) {
            n_of[end - i] += end - i;
            *n_saved += end - i - 1;
        }
    }
    for (uint32_t k = 2; k <= most; k++)
        usual = n_of[k] > n_of[usual] ? k : usual;
    return usual;
}

int classes_find(struct probe *probe, struct classes *classes, struct error *err)
{
    const uint64_t n = probe_is_whole(probe) ? probe->n_rows : probe->n_first;
    const uint32_t n_all = probe->planes->spec.n_steps / probe->sketcher.n_still;
    const struct sketch *sketches = probe->sketches;
    struct lane_image *list = list_rows(probe, n, BY_PLANES, err);
    uint64_t n_of[LAYOUT_MAX_IMAGES + 1] = {0}, n_good = 0, n_alike = 0, n_unlike = 0;
    uint64_t n_classes = 0, n_once = 0, n_repeated = 0, n_saved = 0, first = 0;

    *classes = (struct classes){.n_images = 1};
    if (list == NULL)
        return -1;
    while (first < n && list[first].source == 0) /* nothing is known of these */
        first++;
    /* The first walk finds how many different rows most classes have; the second judges all by
     * that.
     */
    for (int walk = 0; walk < 2; walk++) {
        for (uint64_t i = first, end; i < n; i = end) {
            const struct sketch *base = &sketches[list[i].row];
            uint64_t n_different = 1;
            bool alike = true;

            end = class_end(list, i, n);
            for (uint64_t k = i + 1; k < end; k++) {
                const bool is_other = list[k].transform != list[k - 1].transform;
                const bool same = sketches[list[k].row].policy == base->policy;

                n_different += is_other;
                alike &= same;
                classes->n_alike += walk == 0 && is_other && same;
            }
            if (walk == 0 && n_different <= probe->max_images)
                n_of[n_different] += end - i;
            if (walk == 0)
                continue;
            const bool is_good = 3 * n_different >= 2 * classes->n_images;
            n_once += base->is_symmetric && end - i == n_different;
            n_repeated += base->is_symmetric && end - i > n_different;
            if (n_different == 1 && (end - i > 1 || (classes->n_images > 2 && n == probe->n_rows)))
                continue;
            n_classes++;
            n_saved += end - i - 1;
            n_good += is_good;
            n_alike += is_good && alike && !base->is_level;
            n_unlike += is_good && !alike;
        }
        for (uint32_t k = 2; walk == 0 && k <= probe->max_images; k++)
            classes->n_images = n_of[k] > n_of[classes->n_images] ? k : classes->n_images;
    }
    classes->is_enumeration =
        (n_once > n_repeated && 50 * n_once > n_classes && classes->n_images >= n_all) ||
        n_unlike > n_alike;
    classes->saved = n > first ? (double)n_saved / (double)(n - first) : 0;
    classes->n_usual = classes->n_images;
    if (classes->n_images < 2 || 2 * n_good <= n_classes || n_good * (classes->n_images - 1) < 3)
        classes->n_images = 0;
    free(list);
    return 0;
}

/* What is seen of a class. */
enum {
    LABELS_DIFFER, /* a label is not that of the image, and may be that of another source */
    COPIES_DIFFER, /* numbers differ that every image should repeat */
    IS_REPEATED,   /* two rows are the same image */
    IS_STRANGE,    /* the policies of two rows tell something, and other things */
    IS_RELATED,    /* some row is an image of the first one */
    N_SEEN,
};

/* Bits that are kept beside the first row of a class: for each of these, and above them of how many
 * images there is a row, if all have a name. */
#define SEEN(what)  (UINT32_C(1) << (what))
#define KINDS_SHIFT 8

/* Name the images of the n rows of a class after its first row, and note what is seen. window->n is
 * n, or 0 if they are too many to be told apart. */
static int relate_class(struct probe *p, struct window *window, struct lane_image *list, uint64_t n,
                        bool by_policy, struct error *err)
{
    const struct lanes *lanes = p->lanes;
    const bool *allowed = p->groups->allowed;
    uint32_t seen = 0, n_kinds = 0;
    bool are_named = window->n > 1;

    for (uint64_t k = 0; k < window->n; k++)
        window->rows[k] = list[k].row;
    if (probe_read_window(window, err) != 0)
        return -1;
    struct sketch first = {.is_level = true}, own = {0};
    for (uint64_t k = 0; k < window->n; k++) {
        sketch_policy(window, k, k == 0 ? &first : &own);
        if (k > 0 && !first.is_level && !own.is_level && own.policy != first.policy)
            seen |= SEEN(IS_STRANGE);
    }
    const bool are_alike = !first.is_level && !(seen & SEEN(IS_STRANGE));
    for (uint64_t k = 0; k < n && !p->planes->is_broken; k++) {
        const struct orbit_pair planes = {window, (size_t)lanes->planes, 0, k, 0};
        bool best[BOARD_MAX_TRANSFORMS];
        const uint32_t t =
            window->n == 0 ? NO_TRANSFORM : orbit_relate(&planes, allowed, !by_policy, best);

        list[k].transform = t;
        are_named &= t != NO_TRANSFORM;
        seen |= k > 0 && t != NO_TRANSFORM ? SEEN(IS_RELATED) : 0;
        bool is_repeated = false;
        for (uint64_t m = 0; m < k && k < window->n && t != NO_TRANSFORM; m++)
            is_repeated |= list[m].transform == t;
        seen |= is_repeated ? SEEN(IS_REPEATED) : 0;
        n_kinds += !is_repeated;
        for (size_t i = 0; i < lanes->n && k > 0 && t != NO_TRANSFORM; i++) {
            const struct orbit_pair pair = {window, i, 0, k, 0};
            const struct lane *lane = &lanes->items[i];

            if (!lane_is_compared(lane) || orbit_same(&pair, t, ORBIT_EXACT))
                continue;
            if (lane->binding->role == ROLE_COPY)
                seen |= SEEN(COPIES_DIFFER);
            else if (lane->spec.kind == SPEC_KEEP || !are_alike)
                seen |= SEEN(LABELS_DIFFER);
        }
    }
    list[0].at = seen | (are_named ? n_kinds << KINDS_SHIFT : 0);
    return 0;
}

/* Which image the first of the n rows of a class is: one that makes all of them images that are
 * told; 0 if there is none, or if nothing is told. */
static uint32_t first_image(const struct probe *p, const struct lane_image *list, uint64_t n)
{
    const struct board *board = p->planes->spec.board;
    const bool *expected = p->groups->expected;

    for (uint32_t t = 0; p->groups->is_told && t < board->n_transforms; t++) {
        const uint8_t *then = &board->compose[t * board->n_transforms];
        uint64_t k = 0;

        while (k < n && (list[k].transform == NO_TRANSFORM || expected[then[list[k].transform]]))
            k++;
        if (k == n)
            return t;
    }
    return 0;
}

/* What all classes show. */
struct class_tally {
    uint64_t usual, most;    /* rows of most classes; more than these are not told apart */
    uint64_t n_alone;        /* single rows */
    uint64_t n_all, n_odd;   /* classes of several rows; those without whole sources */
    uint64_t n_seen[N_SEEN]; /* classes in which something is seen */
    uint64_t n_of_kinds[LAYOUT_MAX_IMAGES + 1];
    uint64_t n_pairs[2];    /* of the first row of a class and another: unrelated, related */
    uint64_t n_left_out[2]; /* rows of positions that occur too often, or are symmetric */
};

/* Name the images of all classes in the list, each after its first row, and add them up. */
static int relate_classes(struct probe *p, struct lane_image *list, bool by_policy,
                          struct class_tally *tally, struct error *err)
{
    struct window window = {0};
    int status = lanes_open(p->lanes, true, NULL, err);

    if (status == 0)
        status = window_init(&window, p->lanes, tally->most, err);
    for (uint64_t i = 0, end; status == 0 && !p->planes->is_broken && i < p->n_rows; i = end) {
        end = class_end(list, i, p->n_rows);
        const uint64_t n = end - i;
        /* If a position has many more rows than images, nothing tells which row is whose image; a
         * few more are taken for duplicates. */
        window.n = n <= tally->most && !(by_policy && list[i].source == 0) ? n : 0;
        tally->n_left_out[0] += n - window.n;
        status = relate_class(p, &window, list + i, n, by_policy, err);
        tally->n_alone += n == 1;
        tally->n_all += n > 1;
        tally->n_odd += n > 1 && n % tally->usual != 0;
        tally->n_of_kinds[list[i].at >> KINDS_SHIFT]++;
        for (uint64_t k = i + 1; k < i + window.n; k++)
            tally->n_pairs[list[k].transform != NO_TRANSFORM]++;
        for (int k = 0; k < N_SEEN; k++)
            tally->n_seen[k] += list[i].at >> k & 1;
    }
    window_release(&window);
    return status;
}

/* True when images are there twice in many classes as chance has it: where a program makes one of
 * them twice, nearly all classes hold equally many different ones. */
static bool are_drawn(const struct class_tally *tally)
{
    const uint64_t n_repeated = tally->n_seen[IS_REPEATED], n_classes = tally->n_seen[IS_RELATED];
    uint64_t n_named = 0, n_usual = 0;

    for (uint32_t k = 1; k <= LAYOUT_MAX_IMAGES; k++) {
        n_named += tally->n_of_kinds[k];
        n_usual = tally->n_of_kinds[k] > n_usual ? tally->n_of_kinds[k] : n_usual;
    }
    return 4 * n_repeated > n_classes && 5 * n_usual < 4 * n_named;
}

/* Make groups of the classes whose images have names. */
static void name_classes(struct probe *p, struct lane_image *list, struct class_tally *tally)
{
    const struct board *board = p->planes->spec.board;
    const bool is_complete = tally->n_odd <= 1 || 10 * tally->n_odd <= tally->n_all;
    uint64_t n_sources = 0;
    uint32_t doubts = p->is_irregular ? SEEN(IS_REPEATED) : 0; /* which count */

    for (int k = 0; k < IS_RELATED; k++)
        doubts |= 2 * tally->n_seen[k] <= tally->n_seen[IS_RELATED] ? SEEN(k) : 0;
    p->groups->is_drawn = are_drawn(tally);
    for (uint64_t i = 0, end; i < p->n_rows; i = end) {
        const uint64_t source = n_sources++;

        end = class_end(list, i, p->n_rows);
        /* A class of the usual size holds one source, unless rows of several that were not expanded
         * add up to it. */
        if (is_complete && end - i != tally->usual)
            list[i].at &= ~SEEN(IS_REPEATED);
        else if (is_complete &&
                 (tally->n_alone == 0 || !(list[i].at & (SEEN(IS_REPEATED) | SEEN(IS_STRANGE)))))
            list[i].at = 0;
        const bool is_open = (list[i].at & doubts) != 0;
        const uint8_t *then =
            &board->compose[first_image(p, list + i, end - i) * board->n_transforms];
        tally->n_left_out[0] += is_open ? end - i : 0;
        for (uint64_t k = i; k < end; k++) {
            tally->n_left_out[1] +=
                !is_open && end - i <= tally->most && list[k].transform == NO_TRANSFORM;
            if (is_open || list[k].transform == NO_TRANSFORM)
                list[k].transform = NO_TRANSFORM;
            else
                list[k].transform = then[list[k].transform];
            list[k].source = list[k].transform == NO_TRANSFORM ? n_sources++ : source;
        }
    }
}

int classes_take(struct probe *p, uint32_t n_images, bool by_policy, struct error *err)
{
    struct lane_image *list = list_rows(p, p->n_rows, by_policy ? BY_POLICY : BY_SHAPE, err);
    struct class_tally tally = {.most = n_images + n_images / 2};
    uint64_t n_saved;

    if (list == NULL)
        return -1;
    const uint32_t usual = usual_rows(list, p->n_rows, p->n_ids, &n_saved);
    tally.usual = p->is_irregular || usual == 0 ? n_images : usual;
    tally.most = tally.usual > tally.most ? tally.usual : tally.most;
    const int status = relate_classes(p, list, by_policy, &tally, err);
    /* Policies that have equal numbers by chance are no images. */
    const bool is_chance = by_policy && tally.n_pairs[1] < 3 * tally.n_pairs[0];
    if (status != 0 || p->planes->is_broken || tally.n_seen[IS_RELATED] == 0 || is_chance) {
        free(list);
        if (status == 0 && is_chance)
            return 0;
        return status != 0 ? -1
                           : text_append(&p->lanes->result->note, err, "images not checked: %s",
                                         p->planes->is_broken
                                             ? "the planes cannot be read"
                                             : "nothing tells which rows of a position are images "
                                               "of one source");
    }
    name_classes(p, list, &tally);
    qsort(list, p->n_rows, sizeof *list, lane_image_compare);
    p->groups->entries = list;
    p->lanes->result->is_expanded = true;
    struct text_quoted left_out[2] = {0};

    for (int k = 0; k < 2; k++)
        if (tally.n_left_out[k] > 0)
            left_out[k] = text_format("; %" PRIu64 " rows are not compared: their %s %s",
                                      tally.n_left_out[k], by_policy ? "policies" : "positions",
                                      k == 0 ? "occur too often" : "are symmetric");
    return text_append(&p->lanes->result->note, err,
                       "expanded, %u images per source, rows grouped by their %s%s%s",
                       p->is_irregular && usual > 0 ? usual : n_images,
                       by_policy ? "policies" : "positions", left_out[0].text, left_out[1].text);
}

/* Of a row and those that a layout takes for images of the same source, but whose classes are
 * others: how many there are, and whether it differs from all of them in what it holds: a wrong
 * image has their policy, or, where that tells nothing, as many stones. */
static uint32_t count_others(const struct probe *p, const struct layout *layout, uint64_t source,
                             uint64_t row, const uint64_t *classes, bool *is_stranger)
{
    const struct sketch *own = &p->sketches[row];
    const uint64_t next = layout_row(layout, (source + 1) % layout->n_sources, 0);
    const bool tells = !own->is_level && p->sketches[next].policy != own->policy;
    uint32_t n = 0;

    *is_stranger = true;
    for (uint32_t k = 0; k < layout->n_images; k++) {
        const uint64_t other = layout_row(layout, source, k);
        const struct sketch *its = &p->sketches[other];

        if (classes[row] == 0 || classes[other] == 0 || classes[other] == classes[row])
            continue;
        *is_stranger &= its->policy != own->policy || (!tells && its->n_filled != own->n_filled);
        n++;
    }
    return n;
}

int classes_are_exact(struct probe *p, const struct layout *layout, uint32_t n_images,
                      bool *are_exact, struct error *err)
{
    struct window window = {0};
    uint64_t *classes = calloc(p->n + 1, sizeof *classes); /* by row, from 1; 0: tells nothing */
    struct lane_image *list = list_rows(p, p->n, BY_SHAPE, err);
    int status = list != NULL ? probe_read_all(p, &window, err) : -1;
    /* Rows without images, and of these in a class with others; rows without and with images whose
     * layout has others beside them, and that are strangers there. */
    uint64_t n_alone = 0, n_beside = 0, n_others[2] = {0}, n_strange[2] = {0};

    if (classes == NULL)
        status = error_no_memory(err, "rows of a set");
    *are_exact = status == 0;
    for (uint64_t k = 0, first = 0, end = 0; *are_exact && k < p->n; k++) {
        const struct sketch *sketch = &p->sketches[list[k].row];
        uint64_t n_exact = 1;

        first = k < end ? first : k;
        end = k < end ? end : class_end(list, k, p->n);
        if (sketch->shape == 0 || sketch->is_symmetric || end - first > 2 * p->max_images)
            continue;
        for (uint64_t m = first; m < end && *are_exact; m++) {
            uint32_t u = m == k ? p->groups->n_transforms : 0;

            while (u < p->groups->n_transforms &&
                   !(p->groups->allowed[u] && orbit_same_row(&window, list[m].row, list[k].row, u)))
                u++;
            n_exact += u < p->groups->n_transforms;
            *are_exact = u > 0;
        }
        classes[list[k].row] = n_exact > 1 ? first + 1 : p->n + 1 + k;
        n_alone += n_exact == 1;
        n_beside += n_exact == 1 && end - first > 1;
    }
    for (uint64_t i = 0; *are_exact && i < layout->n_sources * layout->n_images; i++) {
        const uint64_t source = i / layout->n_images;
        const uint64_t row = layout_row(layout, source, (uint32_t)(i % layout->n_images));

        const bool has_images = classes[row] <= p->n;
        bool is_stranger;
        const uint32_t n = count_others(p, layout, source, row, classes, &is_stranger);

        n_others[has_images] += n > 0;
        n_strange[has_images] += n > 0 && is_stranger;
    }
    *are_exact &= (n_alone > 0 || n_others[1] > 0 || n_images > layout->n_images) &&
                  2 * n_strange[1] >= n_others[1];
    if (n_alone > 0 && *are_exact) {
        const bool are_many = 3 * n_alone * n_images >= p->n - n_alone;
        const bool is_at_end = classes[0] > p->n || classes[p->n - 1] > p->n;

        *are_exact = n_strange[0] == n_alone
                         ? (is_at_end && n_alone <= n_images) || (are_many && n_alone > 2)
                         : are_many && n_alone >= MANY_ALONE && 4 * n_beside <= p->n &&
                               2 * n_strange[0] > n_alone;
    }
    window_release(&window);
    free(classes);
    free(list);
    return status;
}

int classes_find_alike(struct probe *p, struct classes *classes, struct error *err)
{
    struct lane_image *list = list_rows(p, p->n, BY_POLICY, err);
    uint64_t n_saved, first = 0;

    *classes = (struct classes){.n_images = 1};
    if (list == NULL)
        return -1;
    while (first < p->n && list[first].source == 0)
        first++;
    const uint64_t n = p->n - first; /* that tell something */
    const uint32_t usual = usual_rows(list + first, n, p->max_images, &n_saved);
    if (2 * n >= p->n && 8 * n_saved >= 3 * n && usual > 0 && n_saved >= MANY_ALONE * (usual - 1)) {
        classes->n_images = usual;
        classes->saved = (double)n_saved / (double)n;
    }
    free(list);
    return 0;
}
