/*
 * cmd_show.c - symaug show: all images of one row, drawn on the terminal or as SVG. Of an expanded
 * set the stored images are located as `verify` finds them, and drawn beside what is computed.
 * Decides here what depends on the terminal (width, colours, Unicode); the drawing is in src/show.
 */
#include "base/output.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/option.h"
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DEFAULT_COLUMNS 80
#define MOST_COLUMNS    1000

/* --- the terminal --- */

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

static struct terminal_style choose_style(enum when when)
{
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
    const bool is_dumb = term != NULL && strcmp(term, "dumb") == 0;
    const bool wants_none = no_color != NULL && *no_color != '\0';
    const bool is_plain = when == WHEN_NEVER || (when == WHEN_AUTO && (wants_none || is_dumb));

    return (struct terminal_style){
        .columns = columns_of_terminal(),
        .unicode = when == WHEN_ALWAYS || (!is_dumb && locale_is_utf8()),
        .colours = !is_plain && (when == WHEN_ALWAYS || isatty(STDOUT_FILENO) == 1),
    };
}

/* --- writing --- */

static int write_sheet(const struct settings *settings, const struct sheet *sheet,
                       struct error *err)
{
    const struct terminal_style style = choose_style(settings->colour);
    struct output out = {0};
    struct text text = {0};
    int status = settings->output != NULL ? svg_write(sheet, NULL, &text, err)
                                          : terminal_write(sheet, &style, &text, err);

    if (status == 0 && (settings->output == NULL || strcmp(settings->output, "-") == 0)) {
        fwrite(text.text, 1, text.n_bytes, stdout);
        status = command_flush(err);
    } else if (status == 0) {
        status = output_open(&out, settings->output, settings->force, err);
        if (status == 0)
            status = output_write(&out, text.text, text.n_bytes, err);
        if (status == 0)
            status = output_commit(&out, settings->force, err);
        output_abort(&out);
    }
    text_release(&text);
    return status;
}

/* --- running --- */

static int show(const struct settings *settings, const char *path, struct error *err)
{
    const struct sheet_request request = {.path = path, .row = settings->row, .settings = settings};
    struct report_sheet found;
    int status = report_sheet_build(&found, &request, false, err);

    if (status == 0) {
        status = write_sheet(settings, &found.sheet, err);
        report_sheet_release(&found);
    }
    return status;
}

static int run_show(int argc, char **argv, struct error *err)
{
    struct settings settings;
    int first, status = option_parse("show", argc, argv, &settings, &first, err);

    if (status == 0 && argc - first != 1)
        status = error_set(err, ERROR_USAGE, "expected FILE, found %d operands", argc - first);
    if (status == 0 && !settings.row_said)
        status = error_set(err, ERROR_USAGE, "no row given; use --row K (the first is 0)");
    if (status == 0)
        status = show(&settings, argv[first], err);
    settings_release(&settings);
    return status;
}

const struct command command_show = {
    "show",
    "[--board BOARD] FILE --row K [OPTION]...",
    "draw all images of a row, on the terminal or as SVG",
    "Images are computed; of an expanded set (known as `verify` knows it) those that are stored "
    "are\n"
    "drawn, with red rings where they are not what is computed.",
    "show --board hex11 --row 0 games.npz",
    run_show,
};
