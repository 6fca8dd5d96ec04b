/* cmd_show.c - symaug show: all images of a row, as a picture or on the terminal. */
#include "base/output.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/option.h"
#include "cli/order_option.h"
#include "cli/reading.h"
#include "engine/threads.h"
#include "show/svg.h"
#include "show/terminal.h"
#include "verify/verify_locate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DEFAULT_COLUMNS 80
#define MOST_COLUMNS    1000

enum colour_when { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

struct call {
    struct plan_request reading;
    struct verify_request verify;
    uint64_t row;
    bool row_said;
    const char *output; /* NULL: the terminal; "-": SVG on standard output */
    bool force;
    enum colour_when colour;
    int verbosity;
};

/* --- options --- */

static int parse_colour(struct call *call, const char *text, struct error *err)
{
    static const char *const words[] = {"auto", "always", "never"};

    for (int i = 0; i < 3; i++) {
        if (strcmp(text, words[i]) == 0) {
            call->colour = (enum colour_when)i;
            return 0;
        }
    }
    return error_set(err, ERROR_USAGE, "--color: %s is none of auto, always, never",
                     text_quote(text).text);
}

static int parse_row(struct call *call, const char *text, struct error *err)
{
    call->row_said = true;
    if (text_parse_u64(text, &call->row) == 0)
        return 0;
    return error_set(err, ERROR_USAGE, "--row: %s is no row number (the first is 0)",
                     text_quote(text).text);
}

static int apply(void *self, int id, const char *argument, struct error *err)
{
    struct call *call = self;
    int handled = reading_option(&call->reading, id, argument, err);

    if (handled != 0)
        return handled < 0 ? -1 : 0;
    if (command_common_option(CMD_SHOW, id, &call->verbosity))
        return 0;
    switch (id) {
    case OPT_ROW:
        return parse_row(call, argument, err);
    case OPT_ORDER:
        return order_option(&call->verify, argument, err);
    case OPT_TRANSFORMS:
        call->reading.transforms = argument;
        return 0;
    case OPT_OUTPUT:
        call->output = argument;
        return 0;
    case OPT_FORCE:
        call->force = true;
        return 0;
    case OPT_COLOR:
        return parse_colour(call, argument, err);
    default:
        return error_set(err, ERROR_INTERNAL, "option %d is not handled", id);
    }
}

static int check(const struct call *call, int n_operands, struct error *err)
{
    if (n_operands != 1)
        return error_set(err, ERROR_USAGE, "expected FILE, found %d operands", n_operands);
    if (!call->row_said)
        return error_set(err, ERROR_USAGE, "no row given; use --row K (the first is 0)");
    return 0;
}

/* --- the terminal --- */

static bool is_set(const char *name)
{
    const char *text = getenv(name);

    return text != NULL && *text != '\0';
}

static unsigned columns_of_terminal(void)
{
    const char *said = getenv("COLUMNS");
    struct winsize size;
    uint64_t columns;

    if (said != NULL && text_parse_u64(said, &columns) == 0 && columns > 0)
        return columns < MOST_COLUMNS ? (unsigned)columns : MOST_COLUMNS;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return DEFAULT_COLUMNS;
}

/* Is the user's locale one of UTF-8? Its name says so: there is no need to load it. */
static bool locale_is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < 3; i++) {
        const char *name = getenv(names[i]);

        if (name != NULL && *name != '\0')
            return strcasestr(name, "UTF-8") != NULL || strcasestr(name, "UTF8") != NULL;
    }
    return false;
}

static struct terminal_style choose_style(enum colour_when when)
{
    const char *term = getenv("TERM");
    const bool is_dumb = term != NULL && strcmp(term, "dumb") == 0;
    const bool is_plain =
        when == COLOUR_NEVER || (when == COLOUR_AUTO && (is_set("NO_COLOR") || is_dumb));

    return (struct terminal_style){
        .columns = columns_of_terminal(),
        .unicode = !is_plain && (when == COLOUR_ALWAYS || locale_is_utf8()),
        .colours = !is_plain && (when == COLOUR_ALWAYS || isatty(STDOUT_FILENO) == 1),
    };
}

/* --- writing --- */

static int print(const struct text *text, struct error *err)
{
    fwrite(text->text, 1, text->n_bytes, stdout);
    return command_flush(err);
}

static int write_file(const struct call *call, const struct text *text, struct error *err)
{
    struct output out;

    if (output_open(&out, call->output, call->force, err) != 0)
        return -1;
    if (output_write(&out, text->text, text->n_bytes, err) == 0)
        return output_commit(&out, call->force, err);
    output_abort(&out);
    return -1;
}

static int write_sheet(const struct call *call, const struct sheet *sheet, struct error *err)
{
    const struct terminal_style style = choose_style(call->colour);
    struct text text = {0};
    int status = call->output != NULL ? svg_write(sheet, &text, err)
                                      : terminal_write(sheet, &style, &text, err);

    if (status == 0)
        status = call->output == NULL || strcmp(call->output, "-") == 0
                     ? print(&text, err)
                     : write_file(call, &text, err);
    text_release(&text);
    return status;
}

/* --- running --- */

/* What a set of images that is known by its manifest or zip comment says of itself counts where the
 * command line says nothing. */
static int show(struct call *call, const char *path, struct error *err)
{
    struct verify_located located;
    struct sheet_request request = {.path = path, .row = call->row, .reading = &call->reading};
    struct sheet_stored *stored = NULL;
    struct sheet sheet;
    int status = verify_locate(&call->verify, path, call->row, &located, err);

    if (status != 0)
        return -1;
    call->reading.conventions = located.conventions;
    if (located.board != NULL)
        call->reading.board = located.board;
    if (located.n > 0) {
        stored = calloc(located.n, sizeof *stored);
        if (stored == NULL)
            status = error_no_memory(err, "images");
        for (size_t k = 0; k < located.n && status == 0; k++)
            stored[k] = (struct sheet_stored){located.images[k].row, located.images[k].transform};
        request.stored = stored;
        request.n_stored = located.n;
    }
    if (status == 0)
        status = sheet_build(&sheet, &request, err);
    if (status == 0 && located.board == NULL) /* found now, but not when images were looked for */
        status = error_no_memory(err, "board");
    if (status == 0) {
        status = write_sheet(call, &sheet, err);
        sheet_release(&sheet);
    }
    free(stored);
    verify_located_release(&located);
    return status;
}

int cmd_show(int argc, char **argv, struct error *err)
{
    struct call call = {.reading = reading_defaults};
    int first, status;

    call.reading.allow_expanded = true;
    call.verify.n_threads = threads_usable();
    call.verify.reading = &call.reading;
    status = option_parse(CMD_SHOW, argc, argv, apply, &call, &first, err);
    if (status == 0)
        status = reading_finish(&call.reading, err);
    if (status == 0)
        status = check(&call, argc - first, err);
    if (status == 0)
        status = show(&call, argv[first], err);
    reading_release(&call.reading);
    return status;
}
