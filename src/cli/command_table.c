/* command_table.c - every command, one row each. */
#include "cli/command.h"
#include "cli/option.h"

const struct command command_table[] = {
    {"expand", CMD_EXPAND, "[OPTION]... IN OUT  |  -o OUT IN...  |  --out-dir DIR IN...",
     "write every symmetric image of every row",
     "IN is an .npz file, a .npy file or a folder of .npy files. OUT gets every image of every "
     "row\n"
     "and OUT.manifest.json says what was done. An existing OUT is kept unless -f is given.\n"
     "Split training and validation data before expanding, and shuffle the result when training.",
     cmd_expand},
    {"verify", CMD_VERIFY, "[OPTION]... FILE|MANIFEST...",
     "check shards, and expanded sets against the exact orbits of their sources",
     "One line per finding, with a code in brackets; exit 1 when there are errors. An expanded set "
     "is\n"
     "known by its provenance arrays, its manifest, or its rows; --order says it otherwise. A "
     "name\n"
     "that ends in .json is a manifest: all outputs that it lists are checked.",
     cmd_verify},
    {"info", CMD_INFO, "[OPTION]... FILE...", "show arrays, their types, shapes and roles", NULL,
     cmd_info},
    {"boards", CMD_BOARDS, "[OPTION]... [BOARD|FILE]",
     "list the boards, or show one: its transforms, cells and policy layouts",
     "hex8 is the hexagon of radius 4 (61 cells), not an 8 x 8 board of the game of Hex: that is\n"
     "rhombus:8. FILE is a board description in JSON.",
     cmd_boards},
    {"sample", CMD_SAMPLE, "--board BOARD --rows N [OPTION]... OUT",
     "make a synthetic shard: random play", NULL, cmd_sample},
    {"manifest", CMD_MANIFEST, "check MANIFEST...",
     "check that the outputs of a manifest are there, with its rows and arrays", NULL,
     cmd_manifest},
};

const size_t command_n_table = sizeof command_table / sizeof *command_table;
