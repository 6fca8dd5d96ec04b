/*
 * say.c - what commands print: the progress line, lines on standard error, and text and JSON on
 * standard output or in a file.
 *
 * The progress line covers all files of a command. It is drawn once the command has taken a second,
 * on a terminal or if --progress asks for it, and replaced by a summary at the end. Everything else
 * is printed after progress_hide.
 */
#include "cli/cli.h"

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

void command_say(const struct settings *settings, int least, const char *format, ...)
{
    FILE *to = settings->said != NULL ? settings->said : stderr;
    va_list args;

    if (settings->verbosity < least)
        return;
    if (to == stderr)
        progress_hide(settings);
    fputs("symaug: ", to);
    va_start(args, format);
    vfprintf(to, format, args);
    va_end(args);
    fputc('\n', to);
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
