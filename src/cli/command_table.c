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
    {"show", CMD_SHOW, "[--board BOARD] FILE --row K [OPTION]...",
     "draw all images of a row, on the terminal or as SVG",
     "Images are computed; of an expanded set (known as `verify` knows it) those that are stored "
     "are\n"
     "drawn, with red rings where they are not what is computed.",
     cmd_show},
    {"sample", CMD_SAMPLE, "--board BOARD --rows N [OPTION]... OUT",
     "make a synthetic shard: random play", NULL, cmd_sample},
    {"manifest", CMD_MANIFEST, "check MANIFEST...  |  merge -o OUT FOLDER|MANIFEST...",
     "check that the outputs of manifests are there, or join manifests into one",
     "merge joins manifests, and those that stand beside their outputs in a FOLDER. It fails when\n"
     "they differ in board, transforms, options or version, and on outputs that are missing,\n"
     "unfinished or there twice. OUT is the same whatever the order and number of the parts.",
     cmd_manifest},
};

const size_t command_n_table = sizeof command_table / sizeof *command_table;
