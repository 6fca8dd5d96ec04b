/*
 * manifest_inputs.h - the inputs of a joined manifest: are all there, is one there twice?
 */
#ifndef SYMAUG_CLI_MANIFEST_INPUTS_H
#define SYMAUG_CLI_MANIFEST_INPUTS_H

#include "manifest/manifest.h"

/* ERROR_DATA unless its inputs are, by their names without folders, those that a file lists (as
 * input_list_add_from reads it). */
int manifest_inputs_check(const struct manifest *manifest, const char *file, bool zero,
                          struct error *err);

/* Warn on standard error of inputs that hold the same bytes. */
int manifest_inputs_warn(const struct manifest *manifest, struct error *err);

#endif
