/*
 * cmd_report.c - symaug report: a page about sets of shards, as HTML and as JSON. src/report does
 * the work; the command decides where it goes, and which options a reader needs to repeat it.
 */
#include "cli/cli.h"

#include "report/report.h"

static void tell(const struct settings *settings, const char *path, const char *sentence)
{
    command_say(settings, 0, "%s: %s", text_path(path).text, sentence);
}

static int check_report(struct call *call, struct error *err)
{
    struct settings *settings = &call->settings;

    if (settings->json && settings->output != NULL && strcmp(settings->output, "-") == 0)
        return command_misuse(err, "--json and -o - both write to standard output");
    if (!settings->json && settings->output == NULL)
        settings->output = "report.html";
    return 0;
}

static int run_report(struct call *call, struct error *err)
{
    const struct settings *settings = &call->settings;
    const bool has_page = settings->output != NULL;
    const char *options = call->options.text != NULL ? call->options.text : "";
    struct text page = {0};
    json_t *json = NULL;

    call->progress.unit = "step";
    int code = report_make(&(struct report_request){settings, (const char *const *)call->operands,
                                                    (size_t)call->n_operands, options, tell},
                           has_page ? &page : NULL, settings->json ? &json : NULL, err);
    if (code >= 0 && has_page &&
        command_put(settings->output, settings->force, page.text, page.n_bytes, err) != 0)
        code = -1;
    if (code >= 0 && settings->json && command_put_json(NULL, json, err) != 0)
        code = -1;
    text_release(&page);
    return code;
}

const struct command command_report = {
    "report",
    "report MOVES READS",
    TAKES_FILES,
    "[--board BOARD] [OPTION]... FILE|FOLDER|MANIFEST...",
    "write a page about sets: contents, faults, pictures, symmetry",
    "One HTML page that needs nothing else, report.html unless -o says otherwise; each operand is "
    "a set. Exit 1 when a set has errors or cannot be checked, as `verify` decides it.",
    "report --board hex11 train.npz valid.npz",
    check_report,
    run_report,
};
