/*
 * run_plan.h - what every command that writes shards does: takes its operands, and carries a plan
 * out.
 */
#ifndef SYMAUG_CLI_RUN_PLAN_H
#define SYMAUG_CLI_RUN_PLAN_H

#include "cli/input_list.h"
#include "engine/plan.h"

#include <jansson.h>

/* The operands and --files-from as inputs. Without -o and --out-dir the last of two operands is the
 * output. */
int run_take_operands(struct settings *settings, struct input_list *inputs, int n, char **operands,
                      struct error *err);

/* The form of an output of that name, where none was told, and what follows from it. */
void run_settle_form(struct settings *settings, const char *output);

/* Refuse outputs that are there, or cannot be, before work begins: one, or with --out-dir one for
 * each input. */
int run_check_outputs(const struct settings *settings, const struct plan *plan, const char *output,
                      struct error *err);

/* Write the plan's outputs, or with --dry-run say what they would be. *stats takes a line for each
 * (--stats). Returns 1 where --skip-existing found another output than would be written. */
int run_plan(const struct settings *settings, struct plan *plan, const char *output, json_t **stats,
             struct error *err);

#endif
