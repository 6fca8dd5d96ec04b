/*
 * cmd_report.c - symaug report: a page about sets of shards, as HTML and as JSON. Everything is
 * found out and written in src/report; the command says where it goes, and which options a reader
 * needs to repeat it.
 */
#include "base/output.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/json_out.h"
#include "cli/option.h"
#include "report/report.h"

#include <stdio.h>
#include <string.h>

/* The words of the command line before the operands, without those that say where the page goes. */
static int repeat_options(int n, char **words, struct text *options, struct error *err)
{
    for (int i = 1; i < n; i++) {
        const char *word = words[i];

        if (strcmp(word, "--") == 0)
            break;
        if (strcmp(word, "-o") == 0 || strcmp(word, "--output") == 0)
            i++; /* with its argument */
        else if (strncmp(word, "-o", 2) != 0 && strncmp(word, "--output=", 9) != 0 &&
                 strcmp(word, "-f") != 0 && strcmp(word, "--force") != 0 &&
                 strcmp(word, "--json") != 0 &&
                 (text_append_shell(options, word, err) != 0 ||
                  text_append(options, err, " ") != 0))
            return -1;
    }
    return text_append(options, err, "%s", "");
}

static int write_page(const struct settings *settings, const struct text *page, struct error *err)
{
    const char *path = settings->output != NULL ? settings->output : "report.html";
    struct output out;

    if (strcmp(path, "-") == 0) {
        fwrite(page->text, 1, page->n_bytes, stdout);
        return command_flush(err);
    }
    if (output_open(&out, path, settings->force, err) != 0)
        return -1;
    if (output_write(&out, page->text, page->n_bytes, err) == 0)
        return output_commit(&out, settings->force, err);
    output_abort(&out);
    return -1;
}

static int report(const struct settings *settings, int first, int argc, char **argv,
                  struct error *err)
{
    const bool has_page = !settings->json || settings->output != NULL;
    struct text options = {0}, page = {0};
    json_t *json = NULL;
    int code = repeat_options(first, argv, &options, err);
    const struct report_request request = {settings, (const char *const *)argv + first,
                                           (size_t)(argc - first), options.text};

    if (code == 0)
        code = report_make(&request, has_page ? &page : NULL, settings->json ? &json : NULL, err);
    if (code >= 0 && has_page && write_page(settings, &page, err) != 0)
        code = -1;
    if (code >= 0 && settings->json && json_out_print(json, err) != 0)
        code = -1;
    text_release(&options);
    text_release(&page);
    return code;
}

static int run_report(int argc, char **argv, struct error *err)
{
    struct settings settings;
    int first, status = option_parse("report", argc, argv, &settings, &first, err);

    if (status == 0 && first == argc)
        status = error_set(err, ERROR_USAGE, "no file given");
    if (status == 0 && settings.json && settings.output != NULL &&
        strcmp(settings.output, "-") == 0)
        status = error_set(err, ERROR_USAGE, "--json and -o - both write to standard output");
    if (status == 0)
        status = report(&settings, first, argc, argv, err);
    settings_release(&settings);
    return status;
}

const struct command command_report = {
    "report",
    "[--board BOARD] [OPTION]... FILE|FOLDER|MANIFEST...",
    "write a page about sets: contents, faults, pictures, symmetry",
    "One HTML page that needs nothing else, report.html unless -o says otherwise; each operand is "
    "a\n"
    "set. Exit 1 when a set has errors or cannot be checked, as `verify` decides it.",
    "report --board hex11 train.npz valid.npz",
    run_report,
};
