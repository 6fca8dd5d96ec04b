/*
 * member.c - members from their owner to the archive: prepared beside the one in front, pulled in
 * their turn, checked at their end.
 *
 * Preparing is a task of the crew: each of two preparers takes every second member. A member may be
 * prepared while the one before it is pulled, unless it waits for that one's memory.
 */
#include "write/member.h"

#include "base/text.h"
#include "write/parts.h"

#include <stdlib.h>

/* A stored block of no bytes, not the last one: changes nothing, but for the length. */
static const uint8_t empty_block[5] = {0x00, 0x00, 0x00, 0xff, 0xff};

bool member_size_is_unsafe(uint64_t n_bytes)
{
    return n_bytes == UINT32_MAX;
}

/* --- preparing --- */

static bool preparer_is_due(void *self)
{
    const struct preparer *p = self;
    const struct members *all = p->all;

    if (p->next >= all->n)
        return false;
    if (p->next < all->n_begun)
        return true;
    return p->next <= all->n_begun && !all->list[p->next]->waits;
}

static void preparer_advance(void *self)
{
    struct preparer *p = self;

    p->next += MEMBERS_N_PREPARERS;
}

static void preparer_step(void *self)
{
    struct preparer *p = self;
    struct member *member = p->all->list[p->next];
    struct codec_member about = {.item_nbytes = 1};
    struct pieces *pieces = member->open(member, &about, &member->failure);

    if (pieces != NULL)
        member->packer = packer_new(p->all, pieces, &about, &member->failure);
    crew_change(p->all->crew, preparer_advance, p);
}

void members_begin(struct members *all)
{
    for (size_t i = 0; i < MEMBERS_N_PREPARERS; i++) {
        struct preparer *p = &all->preparers[i];

        *p = (struct preparer){.all = all, .next = i};
        p->task = (struct crew_task){.is_due = preparer_is_due, .step = preparer_step, .self = p};
        crew_add_task(all->crew, &p->task);
    }
}

void members_end(struct members *all)
{
    for (size_t i = 0; i < MEMBERS_N_PREPARERS; i++)
        crew_drop_task(all->crew, &all->preparers[i].task);
}

static void begin_next(void *self)
{
    struct members *all = self;

    all->n_begun++;
}

static bool is_prepared(void *self)
{
    const struct members *all = self;
    const size_t member = all->n_begun - 1;

    return all->preparers[member % MEMBERS_N_PREPARERS].next > member;
}

/* --- pulling --- */

void members_stop(struct members *all, const struct error *failure)
{
    all->failure = *failure;
    all->has_failed = true;
}

static int pull_packed(struct member *member, struct error *err)
{
    struct members *all = member->all;
    const uint64_t before = member->made_nbytes;

    if (all->n_begun < all->n && member == all->list[all->n_begun]) {
        crew_change(all->crew, begin_next, all);
        crew_await(all->crew, is_prepared, all);
    }
    if (all->has_failed || member->failure.kind != ERROR_NONE)
        return error_pass(err, all->has_failed ? &all->failure : &member->failure);
    if (packer_pull(member->packer, member, err) != 0)
        return -1;
    if (all->progress != NULL)
        all->progress(all->progress_self, member->made_nbytes - before);
    if (member->n_bytes > 0)
        return 0;
    member_release(member);
    if (member->close != NULL)
        member->close(member);
    return 0;
}

static int end_member(struct member *member, struct error *err)
{
    const unsigned long long made = member->made_nbytes, announced = member->unpacked_nbytes;

    member->ended = true;
    if (member->size_known && made != announced)
        return error_set(err, ERROR_INTERNAL, "member %s has %llu bytes, %llu were announced",
                         text_quote(member->name).text, made, announced);
    if (announced > 0 && made > announced)
        return error_set(err, ERROR_INTERNAL, "member %s has %llu bytes, more than its bound %llu",
                         text_quote(member->name).text, made, announced);
    if (member->zip_method == CODEC_ZIP_STORED && member->packed_nbytes != made)
        return error_set(err, ERROR_INTERNAL, "member %s has %llu bytes, %llu were delivered",
                         text_quote(member->name).text, made,
                         (unsigned long long)member->packed_nbytes);
    return 0;
}

int member_next(struct member *member, struct error *err)
{
    if (member->held_nbytes > 0) {
        member->bytes = member->held;
        member->n_bytes = member->held_nbytes;
        member->held_nbytes = 0;
        return 0;
    }
    member->n_bytes = 0;
    if (member->pull(member, err) != 0)
        return -1;
    if (member->n_bytes == 0)
        return end_member(member, err);
    if (member->zip_method == CODEC_ZIP_DEFLATE &&
        member_size_is_unsafe(member->packed_nbytes + member->n_bytes)) {
        member->held = member->bytes;
        member->held_nbytes = member->n_bytes;
        member->packed_nbytes += sizeof empty_block;
        member->bytes = empty_block;
        member->n_bytes = sizeof empty_block;
    }
    member->packed_nbytes += member->held_nbytes > 0 ? member->held_nbytes : member->n_bytes;
    return 0;
}

/* --- */

int members_add(struct members *all, struct member *member, struct error *err)
{
    struct member **list = reallocarray(all->list, all->n + 1, sizeof *list);

    if (list == NULL)
        return error_no_memory(err, "members");
    all->list = list;
    list[all->n++] = member;
    member->all = all;
    member->pull = pull_packed;
    return 0;
}

void member_release(struct member *member)
{
    packer_free(member->packer);
    member->packer = NULL;
}

void members_release(struct members *all)
{
    free(all->list);
    all->list = NULL;
    all->n = 0;
}
