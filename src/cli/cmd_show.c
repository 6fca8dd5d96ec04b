/*
 * cmd_show.c - symaug show: all images of one row, drawn on the terminal or as SVG. In an expanded
 * set the stored images are found as `verify` finds them, and compared with what is computed. This
 * file decides what depends on the terminal (width, colours, Unicode); src/show draws.
 */
#include "cli/cli.h"

#include "report/report.h"

#include <sys/ioctl.h>
#include <unistd.h>

#define DEFAULT_COLUMNS 80
#define MOST_COLUMNS    1000

static int check_show(struct call *call, struct error *err)
{
    return call->settings.row_said
               ? 0
               : command_misuse(err, "no row given; use --row K (the first is 0)");
}

static int run_show(struct call *call, struct error *err)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const struct settings *settings = &call->settings;
    const struct sheet_request request = {
        .path = call->operands[0], .row = settings->row, .settings = settings};
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR"), *said = getenv("COLUMNS");
    const enum when when = settings->colour;
    const bool is_dumb = term != NULL && strcmp(term, "dumb") == 0;
    const bool wants_none = no_color != NULL && *no_color != '\0';
    const bool is_plain = when == WHEN_NEVER || (when == WHEN_AUTO && (wants_none || is_dumb));
    const char *locale = NULL; /* its name is enough to know that it is UTF-8 */
    struct sheet sheet;
    struct text text = {0};
    struct winsize size;
    uint64_t columns;

    for (size_t i = 0; i < 3 && (locale == NULL || *locale == '\0'); i++)
        locale = getenv(names[i]);
    if (said != NULL && text_parse_u64(said, &columns) == 0 && columns > 0)
        columns = columns < MOST_COLUMNS ? columns : MOST_COLUMNS;
    else if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        columns = size.ws_col;
    else
        columns = DEFAULT_COLUMNS;
    const struct terminal_style style = {
        .columns = (unsigned)columns,
        .unicode = when == WHEN_ALWAYS ||
                   (!is_dumb && locale != NULL &&
                    (strcasestr(locale, "UTF-8") != NULL || strcasestr(locale, "UTF8") != NULL)),
        .colours = !is_plain && (when == WHEN_ALWAYS || isatty(STDOUT_FILENO) == 1),
    };
    if (report_sheet_build(&sheet, &request, false, err) != 0)
        return -1;
    int status = settings->output != NULL ? svg_write(&sheet, NULL, &text, err)
                                          : terminal_write(&sheet, &style, &text, err);
    sheet_release(&sheet);
    if (status == 0)
        status = command_put(settings->output, settings->force, text.text, text.n_bytes, err);
    text_release(&text);
    return status;
}

const struct command command_show = {
    "show",
    "show MOVES READS",
    TAKES_FILE,
    "[--board BOARD] FILE --row K [OPTION]...",
    "draw all images of a row, on the terminal or as SVG",
    "Images are computed; of an expanded set (known as `verify` knows it) those that are stored "
    "are drawn, with red rings where they are not what is computed.",
    "show --board hex11 --row 0 games.npz",
    check_show,
    run_show,
};
