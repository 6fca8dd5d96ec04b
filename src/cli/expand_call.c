/* expand_call.c - see expand_call.h. */
#include "cli/expand_call.h"

#include "base/text.h"
#include "cli/command.h"
#include "cli/option.h"
#include "cli/reading.h"
#include "engine/threads.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_ORDER "block:16"

static int parse_order(struct expand_call *call, const char *text, struct error *err)
{
    uint64_t block;

    call->settings.order_text = text;
    if (strcmp(text, "sample") == 0)
        call->request.block_rows = 1;
    else if (strcmp(text, "transform") == 0)
        call->request.block_rows = 0;
    else if (strncmp(text, "block:", 6) == 0 && text_parse_u64(text + 6, &block) == 0 && block > 0)
        call->request.block_rows = block;
    else
        return error_set(err, ERROR_USAGE, "--order: %s is none of block:B, sample, transform",
                         text_quote(text).text);
    return 0;
}

static int parse_format(struct expand_call *call, const char *text, struct error *err)
{
    static const char *const forms[] = {
        [ARCHIVE_OUT_NPZ] = "npz", [ARCHIVE_OUT_NPY_FOLDER] = "npy-dir", [ARCHIVE_OUT_NPY] = "npy"};

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(text, forms[i]) == 0) {
            call->settings.form = (enum archive_out_form)i;
            call->format_said = true;
            return 0;
        }
    }
    return error_set(err, ERROR_USAGE, "--format: %s is none of npz, npy-dir, npy",
                     text_quote(text).text);
}

static int parse_threads(struct expand_call *call, const char *text, struct error *err)
{
    uint64_t n;

    if (text_parse_u64(text, &n) != 0 || n < 1 || n > 1024)
        return error_set(err, ERROR_USAGE, "--threads: %s is no number from 1 to 1024",
                         text_quote(text).text);
    call->settings.n_threads = (int)n;
    return 0;
}

static int parse_pick(struct expand_call *call, const char *text, struct error *err)
{
    uint64_t n;

    if (text_parse_u64(text, &n) != 0 || n < 1 || n > BOARD_MAX_TRANSFORMS)
        return error_set(err, ERROR_USAGE, "--pick: %s is no number from 1 to %d",
                         text_quote(text).text, BOARD_MAX_TRANSFORMS);
    call->request.pick = (uint32_t)n;
    return 0;
}

static int parse_rows_per_shard(struct expand_call *call, const char *text, struct error *err)
{
    if (text_parse_u64(text, &call->request.rows_per_shard) != 0 ||
        call->request.rows_per_shard == 0)
        return error_set(err, ERROR_USAGE, "--rows-per-shard: %s is no whole number from 1 on",
                         text_quote(text).text);
    return 0;
}

static int parse_seed(struct expand_call *call, const char *text, struct error *err)
{
    if (text_parse_u64(text, &call->request.seed) != 0)
        return error_set(err, ERROR_USAGE, "--seed: %s is no whole number", text_quote(text).text);
    return 0;
}

/* I/N: the I-th of every N inputs. */
static int parse_part(struct expand_call *call, const char *text, struct error *err)
{
    char *end;
    unsigned long long part = strtoull(text, &end, 10), n = 0;

    if (*text >= '0' && *text <= '9' && *end == '/' && end[1] >= '0' && end[1] <= '9')
        n = strtoull(end + 1, &end, 10);
    if (n == 0 || *end != '\0' || part < 1 || part > n)
        return error_set(err, ERROR_USAGE, "--part: %s is not I/N with I from 1 to N",
                         text_quote(text).text);
    call->part = part;
    call->n_parts = n;
    return 0;
}

/* Options without an argument. Returns 1 when id was one of them. */
static int apply_flag(struct expand_call *call, int id)
{
    switch (id) {
    case OPT_FORCE:
        call->settings.force = true;
        return 1;
    case OPT_DRY_RUN:
        call->dry_run = true;
        return 1;
    case OPT_NO_PROVENANCE:
        call->request.provenance = false;
        return 1;
    case OPT_SIDECAR:
        call->settings.sidecar = true;
        return 1;
    case OPT_KEEP_IDENTITY:
        call->request.keep_identity = true;
        return 1;
    case OPT_UNIQUE:
        call->request.unique = true;
        return 1;
    case OPT_SHUFFLE:
        call->request.shuffle = true;
        return 1;
    case OPT_SKIP_EXISTING:
        call->skip_existing = true;
        return 1;
    case OPT_SKIP_BAD:
        call->skip_bad = true;
        return 1;
    case OPT_NULL:
        call->zero = true;
        return 1;
    default:
        return 0;
    }
}

static int apply(void *self, int id, const char *argument, struct error *err)
{
    struct expand_call *call = self;
    int handled = reading_option(&call->request, id, argument, err);

    if (handled != 0)
        return handled < 0 ? -1 : 0;
    if (command_common_option(CMD_EXPAND, id, &call->verbosity) || apply_flag(call, id))
        return 0;
    switch (id) {
    case OPT_OUTPUT:
        call->output = argument;
        return 0;
    case OPT_OUT_DIR:
        call->out_dir = argument;
        return 0;
    case OPT_TRANSFORMS:
        call->request.transforms = argument;
        return 0;
    case OPT_FILES_FROM:
        call->files_from = argument;
        return 0;
    case OPT_STATS:
        call->stats = argument;
        return 0;
    case OPT_PART:
        return parse_part(call, argument, err);
    case OPT_PICK:
        return parse_pick(call, argument, err);
    case OPT_ROWS_PER_SHARD:
        return parse_rows_per_shard(call, argument, err);
    case OPT_SEED:
        return parse_seed(call, argument, err);
    case OPT_ORDER:
        return parse_order(call, argument, err);
    case OPT_FORMAT:
        return parse_format(call, argument, err);
    case OPT_THREADS:
        return parse_threads(call, argument, err);
    case OPT_LEVEL:
        call->settings.level_text = argument;
        return codec_level_parse(argument, &call->settings.level, err);
    case OPT_PROGRESS:
        return progress_parse(argument, &call->progress, err);
    default:
        return error_set(err, ERROR_INTERNAL, "option %d is not handled", id);
    }
}

/* --- what belongs together --- */

static int take_inputs(struct expand_call *call, int n, char **operands, struct error *err)
{
    for (int i = 0; i < n; i++)
        if (input_list_add(&call->inputs, operands[i], err) != 0)
            return -1;
    if (call->files_from != NULL &&
        input_list_add_from(&call->inputs, call->files_from, call->zero, err) != 0)
        return -1;
    if (call->inputs.n == 0)
        return error_set(err, ERROR_USAGE, "no input given");
    return 0;
}

/* Without -o and --out-dir the last operand is the output. */
static int take_operands(struct expand_call *call, int n, char **operands, struct error *err)
{
    if (call->output != NULL || call->out_dir != NULL)
        return take_inputs(call, n, operands, err);
    if (call->files_from != NULL)
        return error_set(err, ERROR_USAGE, "--files-from goes with -o or --out-dir");
    if (n != 2)
        return error_set(err, ERROR_USAGE,
                         n < 2 ? "expected IN and OUT, found %d operand%s"
                               : "expected IN and OUT, found %d operand%s; several inputs need -o "
                                 "or --out-dir",
                         n, n == 1 ? "" : "s");
    call->output = operands[1];
    return take_inputs(call, 1, operands, err);
}

static int check(const struct expand_call *call, struct error *err)
{
    if (call->output != NULL && call->out_dir != NULL)
        return error_set(err, ERROR_USAGE, "--output and --out-dir exclude each other");
    if (call->request.keep_identity && call->request.pick == 0)
        return error_set(err, ERROR_USAGE, "--keep-identity goes with --pick");
    if (call->n_parts > 0 && call->out_dir == NULL)
        return error_set(err, ERROR_USAGE, "--part goes with --out-dir");
    if (call->skip_bad && call->out_dir == NULL)
        return error_set(err, ERROR_USAGE, "--skip-bad goes with --out-dir");
    if (call->skip_existing && call->settings.form == ARCHIVE_OUT_NPY_FOLDER)
        return error_set(err, ERROR_USAGE, "--skip-existing does not work on folders");
    if (call->zero && call->files_from == NULL)
        return error_set(err, ERROR_USAGE, "--null goes with --files-from");
    return 0;
}

static bool ends_with(const char *text, const char *suffix)
{
    const size_t n = strlen(text), n_suffix = strlen(suffix);

    return n >= n_suffix && strcmp(text + n - n_suffix, suffix) == 0;
}

void expand_call_settle_form(struct expand_call *call, const char *output)
{
    if (!call->format_said && output != NULL && ends_with(output, ".npy"))
        call->settings.form = ARCHIVE_OUT_NPY;
    if (call->settings.form == ARCHIVE_OUT_NPY) /* one array: no room for where rows come from */
        call->request.provenance = false;
    if (call->settings.form != ARCHIVE_OUT_NPZ) {
        call->settings.level = (struct codec_level){.kind = CODEC_STORE};
        call->settings.level_text = "store";
    }
}

/* What the rest of the call depends on. */
static int finish(struct expand_call *call, struct error *err)
{
    expand_call_settle_form(call, call->output);
    call->request.n_threads = call->settings.n_threads;
    if (reading_finish(&call->request, err) != 0)
        return -1;
    call->settings.max_memory = call->request.max_memory;
    call->settings.tmpdir = call->request.tmpdir;
    if (call->out_dir != NULL && input_list_check_names(&call->inputs, err) != 0)
        return -1;
    if (call->n_parts > 0)
        input_list_keep_part(&call->inputs, call->part, call->n_parts);
    return 0;
}

int expand_call_parse(struct expand_call *call, int argc, char **argv, struct error *err)
{
    int first;

    *call = (struct expand_call){
        .request = reading_defaults,
        .settings = {.level_text = "default", .order_text = DEFAULT_ORDER},
    };
    call->request.provenance = true;
    call->request.seed = 1;
    call->settings.n_threads = threads_usable();
    if (codec_level_parse("default", &call->settings.level, err) != 0 ||
        option_parse(CMD_EXPAND, argc, argv, apply, call, &first, err) != 0 ||
        check(call, err) != 0 || take_operands(call, argc - first, argv + first, err) != 0)
        return -1;
    return finish(call, err);
}

void expand_call_release(struct expand_call *call)
{
    reading_release(&call->request);
    input_list_release(&call->inputs);
}
