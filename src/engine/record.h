/*
 * record.h - manifests of expansions: from a plan and what was written, and back from the manifest
 * beside a file to settings, as though what it says were told on the command line.
 */
#ifndef SYMAUG_ENGINE_RECORD_H
#define SYMAUG_ENGINE_RECORD_H

#include "engine/expand.h"
#include "engine/out_member.h"
#include "manifest/manifest.h"

/* Write PATH.manifest.json: the job's plan, and what was written. */
int record_write(const struct expand_job *job, const char *path, const struct expand_result *result,
                 const struct members *members, struct error *err);

/* Append to a list in what the output at path is not what the job would make: settings, roles,
 * inputs, bytes; nothing when it is just that. *is_known: a manifest that can be read tells. */
int record_compare(const struct expand_job *job, const char *path, bool *is_known,
                   struct text *list, struct error *err);

/* BASENAME.json beside an output, from which KataGo's shuffler reads the number of rows: find out
 * before the long work that it cannot be written, and write it, complete and durable. */
int sidecar_check(const char *path, bool force, struct error *err);
int sidecar_write(const char *path, uint64_t n_rows, bool force, struct error *err);

/* What the manifest of a file says: no flag of the run that made it need be repeated. */
struct recall {
    struct settings settings;           /* the user's; what they do not say is the manifest's */
    const struct manifest *manifest;    /* or NULL; borrowed from the caller or from `own` */
    struct manifest *own;               /* owned, or NULL */
    const struct manifest_file *output; /* which of its outputs the file is; NULL: none */
    bool owns_roles;                    /* the list of roles in settings, */
    size_t n_own;                       /* and its first ones; the others are borrowed */
};

/*
 * Recall a file. given: its manifest, of which it is output `output`; NULL: the one that stands
 * beside it. exact: a manifest that stands beside it must list its very bytes, else it says
 * nothing. The caller's settings must outlive the recall; release it in any case.
 */
int recall_open(struct recall *recall, const struct settings *settings,
                const struct archive_in *archive, const struct manifest *given, size_t output,
                bool exact, struct error *err);

/* Whether the manifest's outputs hold images: those of commands that keep rows as they are do when
 * an input did. */
bool recall_is_expanded(const struct recall *recall);

/* The board of the manifest, or of the shard's zip comment; NULL: neither names one that can be
 * built, with *why saying so where one was tried. *from: what named it. */
struct board *recall_board(const struct recall *recall, const struct archive_in *archive,
                           const char **from, struct error *why);

/* Accepts a zeroed one. */
void recall_release(struct recall *recall);

#endif
