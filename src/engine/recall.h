/*
 * recall.h - what the manifest beside an output says, as though it were told on the command line:
 * board, conventions, roles. So no flag of the run that made it need be repeated.
 */
#ifndef SYMAUG_ENGINE_RECALL_H
#define SYMAUG_ENGINE_RECALL_H

#include "board/board.h"
#include "engine/settings.h"
#include "shard/archive_in.h"
#include "shard/manifest.h"

struct recall {
    struct settings settings;        /* the user's; what they do not say is the manifest's */
    const struct manifest *manifest; /* or NULL; borrowed from the caller or from `own` */
    struct manifest *own;            /* owned, or NULL */
    size_t output;                   /* which of its outputs the file is */
    bool is_listed;                  /* it is one of them */
    bool owns_roles;                 /* the list of roles, */
    size_t n_own;                    /* and its first ones; the others are borrowed */
};

/*
 * Recall a shard. given: its manifest, of which it is output `output`; NULL: the one that stands
 * beside it. exact: a manifest that stands beside it must list its very bytes, else it says
 * nothing. The caller's settings must outlive the recall; release it in any case.
 */
int recall_open(struct recall *recall, const struct settings *settings,
                const struct archive_in *archive, const struct manifest *given, size_t output,
                bool exact, struct error *err);

/* The board of the manifest, or of the shard's zip comment; NULL: neither names one that can be
 * built. *from: what named it. */
struct board *recall_board(const struct recall *recall, const struct archive_in *archive,
                           const char **from);

/* Accepts a zeroed one. */
void recall_release(struct recall *recall);

#endif
