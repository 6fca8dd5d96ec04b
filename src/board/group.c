/* group.c - see group.h: the tables of a group, computed from its maps. */
#include "board/group.h"

#include "base/perm.h"
#include "board/joint.h"

#include <stdlib.h>

static const char *name_of(const struct board *b, uint32_t t)
{
    return b->transforms[t].name != NULL ? b->transforms[t].name : "(no name)";
}

static int check_maps(const struct board *b, struct error *err)
{
    for (uint32_t t = 0; t < b->n_transforms; t++) {
        struct text_quoted fault;

        if (joint_fault(b, t, &fault, err) != 0)
            return -1;
        if (fault.text[0] != '\0')
            return error_set(err, ERROR_DATA, "transform %s is no permutation: %s",
                             text_quote(name_of(b, t)).text, fault.text);
    }
    return 0;
}

static int check_elements(const struct joint *j, struct error *err)
{
    const struct board *b = j->board;
    uint32_t one, other;

    if (!perm_is_identity(j->maps, j->n_points))
        return error_set(err, ERROR_DATA, "transform 0, %s, is not the identity: %s",
                         text_quote(name_of(b, 0)).text, joint_moved_text(j, 0).text);
    if (joint_find_equal(j, &one, &other))
        return error_set(err, ERROR_DATA, "transforms %s and %s are the same",
                         text_quote(name_of(b, one)).text, text_quote(name_of(b, other)).text);
    return 0;
}

static int fill_compose(struct board *b, const struct joint *j, struct error *err)
{
    const uint32_t n = b->n_transforms;

    for (uint32_t one = 0; one < n; one++) {
        for (uint32_t other = 0; other < n; other++) {
            int product = joint_product(j, one, other);

            if (product < 0)
                return error_set(err, ERROR_DATA,
                                 "the transforms are no group: %s followed by %s is not one of "
                                 "them (%s)",
                                 text_quote(name_of(b, one)).text,
                                 text_quote(name_of(b, other)).text,
                                 joint_product_text(j, one, other).text);
            b->compose[one * n + other] = (uint8_t)product;
            /* In a finite set of permutations closed under products every inverse is found. */
            if (product == 0)
                b->inverse[one] = (uint8_t)other;
        }
    }
    return 0;
}

static int alloc_tables(struct board *b, struct error *err)
{
    const size_t n = b->n_transforms;

    if (b->compose == NULL)
        b->compose = calloc(n * n, 1);
    if (b->inverse == NULL)
        b->inverse = calloc(n, 1);
    if (b->compose == NULL || b->inverse == NULL)
        return error_no_memory(err, "tables of a group");
    for (uint32_t t = 0; t < n; t++) {
        struct board_transform *transform = &b->transforms[t];

        if (transform->src == NULL)
            transform->src = malloc(b->n_cells * sizeof *transform->src);
        if (transform->src == NULL)
            return error_no_memory(err, "tables of a group");
    }
    return 0;
}

int group_complete(struct board *b, struct error *err)
{
    struct joint j = {0};
    int status = -1;

    if (check_maps(b, err) != 0 || alloc_tables(b, err) != 0)
        return -1;
    for (uint32_t t = 0; t < b->n_transforms; t++)
        perm_invert(b->transforms[t].dst, b->n_cells, b->transforms[t].src);
    if (joint_init(&j, b, err) != 0)
        return -1;
    if (check_elements(&j, err) == 0 && fill_compose(b, &j, err) == 0)
        status = 0;
    joint_release(&j);
    return status;
}
