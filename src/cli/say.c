/*
 * say.c - what commands print: the progress line, lines on standard error, and text and JSON on
 * standard output or in a file.
 *
 * The progress line covers all files of a command. It is drawn once the command has taken a second,
 * on a terminal or if --progress asks for it, and replaced by a summary at the end. Everything else
 * is printed after progress_hide.
 */
#include "cli/cli.h"

#include "base/output.h"

#include <sys/stat.h>
#include <unistd.h>

#define FIRST_SECONDS  1.0
#define REDRAW_SECONDS 0.1
#define NAME_NBYTES    48 /* shown of a path, its end */

double seconds_since(const struct timespec *start)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

static void draw(struct meter *meter, uint64_t n_done, uint64_t n_total)
{
    struct progress *p = (struct progress *)meter;
    const char *path = meter->path;
    const double seconds = seconds_since(&p->started);
    const double part = n_done < n_total ? (double)n_done / (double)n_total : 1;
    const double share = ((double)meter->n_begun - 1 + part) / (double)meter->n_pieces;

    if (meter->n_begun != p->piece) { /* the piece before is done */
        p->n_before += p->n_last;
        p->piece = meter->n_begun;
    }
    p->n_last = n_done;
    if (seconds < p->next)
        return;
    p->next = seconds + REDRAW_SECONDS;
    p->is_drawn = p->is_used = true;
    path += strlen(path) > NAME_NBYTES ? strlen(path) - NAME_NBYTES : 0;
    while (((unsigned char)*path & 0xc0) == 0x80) /* not from within a character */
        path++;
    fprintf(stderr, "\r\033[K%s %s (%s %zu of %zu): %3.0f%%  %s/s  %.0f s left", meter->what,
            text_path(path).text, p->unit, meter->n_begun, meter->n_pieces, 100 * share,
            text_size((uint64_t)((double)(p->n_before + n_done) / seconds)).text,
            share > 0 ? seconds * (1 - share) / share : 0);
    fflush(stderr);
}

void progress_begin(struct progress *p, struct settings *settings)
{
    const enum when when = settings->verbosity < 0 ? WHEN_NEVER : settings->progress;

    *p = (struct progress){
        .meter.show = draw, .unit = "file", .next = when == WHEN_ALWAYS ? 0 : FIRST_SECONDS};
    clock_gettime(CLOCK_MONOTONIC, &p->started);
    if (when == WHEN_ALWAYS || (when == WHEN_AUTO && isatty(STDERR_FILENO) == 1))
        settings->meter = &p->meter;
}

void progress_hide(const struct settings *settings)
{
    struct progress *p = (struct progress *)settings->meter;

    if (p == NULL || !p->is_drawn)
        return;
    p->is_drawn = false;
    fputs("\r\033[K", stderr);
    fflush(stderr);
}

void progress_end(const struct progress *p, const char *command)
{
    const double seconds = seconds_since(&p->started);
    const uint64_t n_bytes = p->n_before + p->n_last;

    if (p->is_used)
        fprintf(stderr, "symaug: %s: %zu %s%s, %s in %.1f s (%s/s)\n", command, p->meter.n_begun,
                p->unit, p->meter.n_begun == 1 ? "" : "s", text_size(n_bytes).text, seconds,
                text_size((uint64_t)((double)n_bytes / seconds)).text);
}

void command_say(const struct settings *settings, const char *format, ...)
{
    FILE *to = settings->said != NULL ? settings->said : stderr;
    va_list args;

    if (to == stderr)
        progress_hide(settings);
    fputs("symaug: ", to);
    va_start(args, format);
    vfprintf(to, format, args);
    va_end(args);
    fputc('\n', to);
}

/* True for one name in one folder, whether or not there is such a file. */
static bool is_same_name(const char *a, const char *b)
{
    const char *const paths[] = {a, b};
    struct stat folders[2];
    char folder[PATH_MAX];

    if (strcmp(text_base_name(a), text_base_name(b)) != 0)
        return false;
    for (size_t i = 0; i < 2; i++) {
        snprintf(folder, sizeof folder, "%.*s.", (int)(text_base_name(paths[i]) - paths[i]),
                 paths[i]);
        if (stat(folder, &folders[i]) != 0)
            return strcmp(a, b) == 0;
    }
    return folders[0].st_dev == folders[1].st_dev && folders[0].st_ino == folders[1].st_ino;
}

bool command_is_inside(const char *path, const char *folder)
{
    char parent[PATH_MAX], whole[PATH_MAX];

    snprintf(parent, sizeof parent, "%.*s", (int)(text_base_name(path) - path), path);
    snprintf(whole, sizeof whole, "%.*s", (int)text_path_nbytes(folder), folder);
    parent[text_path_nbytes(parent)] = '\0';
    return is_same_name(parent, whole);
}

int command_check_apart(const char *path, const char *const *others, size_t n, struct error *err)
{
    struct text inside = {0};
    struct stat st, other;
    int status = 0;

    if (path == NULL || strcmp(path, "-") == 0)
        return 0;
    const bool exists = stat(path, &st) == 0;
    const bool is_data = text_ends_with(path, ".npy") || text_ends_with(path, ".npz");
    for (size_t i = 0; i < n && status == 0; i++) {
        bool is_same = others[i] != NULL && is_same_name(path, others[i]);

        if (others[i] != NULL && exists && stat(others[i], &other) == 0) {
            inside.n_bytes = 0;
            if (is_data && S_ISDIR(other.st_mode) &&
                text_append(&inside, err, "%s/%s", others[i], text_base_name(path)) != 0)
                status = -1;
            else if (inside.n_bytes == 0 || stat(inside.text, &other) == 0)
                is_same |= other.st_dev == st.st_dev && other.st_ino == st.st_ino;
        }
        if (is_same && status == 0)
            status = error_set_at(err, ERROR_CANT_CREATE, ERROR_IN(path),
                                  "it would replace %s, which the same command reads or writes",
                                  text_path(inside.n_bytes > 0 ? inside.text : others[i]).text);
    }
    text_release(&inside);
    return status;
}

int command_put(const char *path, bool force, const char *text, size_t n_bytes, struct error *err)
{
    if (path != NULL && strcmp(path, "-") != 0)
        return output_put(path, force, text, n_bytes, err);
    fwrite(text, 1, n_bytes, stdout);
    if (fflush(stdout) != 0 || ferror(stdout))
        return error_set_errno(err, ERROR_IO, errno, "cannot write to standard output");
    return 0;
}

int command_put_json(const char *path, json_t *json, struct error *err)
{
    char *text = json != NULL ? json_dumps(json, JSON_INDENT(2) | JSON_SORT_KEYS) : NULL;
    struct text line = {0};
    int status =
        text != NULL ? text_append(&line, err, "%s\n", text) : error_no_memory(err, "JSON");

    if (status == 0)
        status = command_put(path, true, line.text, line.n_bytes, err);
    text_release(&line);
    free(text);
    json_decref(json);
    return status;
}
