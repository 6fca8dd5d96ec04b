/*
 * options.h - every option of every command: the one place that says what an option is called, what
 * it takes, what it is for, which commands have it and which field of the settings it sets.
 *
 * It is included several times. settings.h makes a field of each OPTION(type, field, letter, name,
 * argument, help, commands, what becomes of the argument); an OTHER sets a field that is not its
 * own, or none; a GROUP is a heading of the help. settings.c makes a row of option_table of each;
 * getopt_long, help, completions, the library and the manifest (RECORDED) go by the rows.
 *
 * The commands are names, or groups of commands in capital letters (see struct command), between
 * spaces; NULL: all. Texts are borrowed from the command line. A field is 0 where nothing is said,
 * unless settings_default has it.
 */

GROUP("inputs and outputs")

OPTION(const char *, board, 'b', "board", "BOARD",
       "the board: a preset or FAMILY:SIZE, see `symaug boards`", " READS KEYS sample ", TEXT)
OPTION(const char *, output, 'o', "output", "FILE",
       "write FILE; all operands are inputs, which are joined", " expand manifest dedupe ", TEXT,
       WRITTEN)
OPTION(uint64_t, row, 0, "row", "K", "the row to show; the first is 0", " show ", ANY_NUMBER(0),
       SAID(row_said))
OTHER('o', "output", "FILE", "write a picture (SVG) to FILE; - is standard output", " show ", TEXT,
      SETS(output), .takes_stream = true)
OTHER('o', "output", "FILE", "write the page to FILE (default report.html); - is standard output",
      " report ", TEXT, SETS(output), .takes_stream = true)
OPTION(const char *, out_dir, 0, "out-dir", "DIR",
       "write one output per input into DIR, under the same name", " expand FOLDS ", TEXT, WRITTEN)
OPTION(const char *, files_from, 0, "files-from", "FILE",
       "the names of inputs, one a line; - reads them from standard input: with `expand`, more "
       "inputs; with `manifest merge`, all that must be there",
       " expand manifest FOLDS ", TEXT, .takes_stream = true)
OPTION(bool, zero, '0', "null", NULL, "the names in --files-from end with NUL",
       " expand manifest FOLDS ", FLAG)
OTHER(0, "part", "I/N", "with --out-dir: only the I-th of every N inputs (many machines)",
      " expand split ", CALL(set_part))
OPTION(bool, skip_existing, 0, "skip-existing", NULL,
       "do nothing for outputs whose manifest matches inputs and options", " expand ", FLAG)
OPTION(bool, skip_bad, 0, "skip-bad", NULL,
       "with --out-dir: report inputs that cannot be read, go on", " expand ", FLAG)
OPTION(bool, force, 'f', "force", NULL, "replace existing outputs",
       " expand sample manifest show report FOLDS ", FLAG)
OPTION(bool, dry_run, 'n', "dry-run", NULL, "print the plan, write nothing", " expand FOLDS ", FLAG)

GROUP("which rows, in which order")

OPTION(const char *, transforms, 0, "transforms", "LIST",
       "all, rotations, reflections, or ids and names: 0,3,6 (default all)",
       " expand verify show mover boards ", TEXT, .words = "all rotations reflections")
OPTION(uint32_t, pick, 0, "pick", "K", "K distinct images of each row, chosen at random",
       " expand ", NUMBER(1, BOARD_MAX_TRANSFORMS), RECORDED)
OPTION(bool, keep_identity, 0, "keep-identity", NULL, "with --pick: the row itself is one of them",
       " expand ", FLAG)
OPTION(bool, unique, 0, "unique", NULL, "leave out images that equal another one of their row",
       " expand ", FLAG, RECORDED)
OPTION(bool, canonical, 0, "canonical", NULL,
       "one image of each row: the canonical one, see symaug-npz(5)", " expand ", FLAG, RECORDED)
OPTION(bool, orbit_key, 0, "orbit-key", NULL,
       "add the array symaug_orbit: a key that all images of a position share", " expand ", FLAG,
       RECORDED)
OPTION(const char *, key, 0, "key", "NAMES",
       "the arrays that are the position, or NAME:0-13 for some of its planes (default: planes, "
       "packed, grid, tile and to-move)",
       " expand verify report mover KEYS ", TEXT)
OPTION(bool, shuffle, 0, "shuffle", NULL, "write the rows in a fixed pseudo-random order",
       " expand ", FLAG, RECORDED)
OPTION(const char *, order_text, 0, "order", "ORDER",
       "block:B, sample (a row's images together) or transform (default block:16)",
       " expand verify show ", CALL(set_order), SAID(order_said), RECORDED,
       .words = "block:16 sample transform")
OPTION(uint64_t, rows_per_shard, 0, "rows-per-shard", "R",
       "cut the output into shards of R rows: OUT-00000.npz, ..., or as OUT says: x%03d.npz",
       " expand ", ANY_NUMBER(1), RECORDED)

GROUP("how they are written")

OPTION(const char *, level_text, 'l', "level", "LEVEL", codec_level_help, " expand FOLDS ",
       CALL(set_level), RECORDED, .words = codec_level_words)
OPTION(enum archive_out_form, form, 0, "format", "FORM",
       "npz, npy-dir (a folder of plain .npy files), or npy (one array); default: npz, or npy if "
       "the output is called so",
       " expand FOLDS ", WORD("npz npy-dir npy"), SAID(form_said), RECORDED)

GROUP("what the arrays mean")

OTHER(0, "role", "NAME=ROLE", "what array NAME means, a role of symaug-npz(5); may be repeated",
      " READS KEYS ", CALL(add_role), .repeats = true)
OTHER(0, "copy", "NAME", "array NAME is repeated for each image; same as --role NAME=copy",
      " READS KEYS ", CALL(add_role), .repeats = true)
OPTION(const char *, schema, 0, "schema", "FILE",
       "roles from a JSON file, as `symaug info --write-schema` makes it", " READS KEYS ", TEXT)
OTHER(0, "policy", "LAYOUT", "the policy's layout: see `symaug boards BOARD`",
      " READS KEYS boards ", CALL(set_policy))
OTHER(0, "planes", "CONV",
      "whose stones: colour, mover, canonical, openspiel, or a permutation such as 1,0,~2",
      " MOVES KEYS ", CONVENTION("colour mover canonical openspiel"))
OTHER(0, "value", "CONV", "what a value counts: colour01, colour11, colour-wdl or mover",
      " MOVES dedupe ", CONVENTION("colour01 colour11 colour-wdl mover"))
OTHER(0, "to-move", "CODING", "the player to move: 01, 12 or pm1", " MOVES KEYS ",
      CONVENTION("01 12 pm1"))
OTHER(0, "plane-order", "ORDER", "planes stored as yx (row, column) or xy", " READS KEYS ",
      WORD("yx xy"), SETS(roles.plane_xy))
OTHER(0, "ambiguous", "WHAT",
      "policy entries that name a region by one cell: map, keep or drop (default map)",
      " MOVES dedupe ", CONVENTION("map keep drop"))
OTHER(0, "castling", "WHAT",
      "chess rows with castling rights: swap, or skip their mirror image (default swap)", " MOVES ",
      CONVENTION("swap skip"))
OTHER(0, "castling-planes", "LIST",
      "the planes of own K, own Q, their K, their Q castling rights, or none", " MOVES KEYS ",
      CONVENTION("none"))
OTHER(0, "tiles", "WHAT", "Take It Easy: keep tiles (2 images) or permute (12)", " MOVES KEYS ",
      CONVENTION("keep permute"))

GROUP("more")

OPTION(bool, provenance, 0, "no-provenance", NULL,
       "do not add the arrays symaug_source and symaug_transform", " expand ", BECOMES(false))
OPTION(bool, sidecar, 0, "sidecar", NULL, "also write NAME.json with the number of rows (KataGo)",
       " expand ", FLAG)
OPTION(bool, means, 0, "merge", "WHAT",
       "what becomes of a position's labels: first (the first row's; the default) or mean",
       " dedupe ", WORD("first mean"))
OTHER(0, "conflict", "X", "count positions whose values differ by more than X (default 0)",
      " dedupe ", CALL(set_conflict))
OPTION(const char *, conflicts, 0, "conflicts", "FILE", "list such positions in FILE (CSV)",
       " dedupe ", TEXT, WRITTEN)
OPTION(const char *, parts, 0, "parts", "LIST", "the parts and their shares: train=0.9,val=0.1",
       " split ", TEXT)
OPTION(const char *, by, 0, "by", "WHAT",
       "what decides: position (the default), or an array whose equal rows stay together",
       " split ", TEXT)
OPTION(uint8_t, overlap, 0, "overlap", "WHAT",
       "with --by ARRAY, of positions in several parts: warn (the default), keep (say nothing) or "
       "drop (all but those in the first-named part)",
       " split ", WORD("warn keep drop"))
OPTION(uint64_t, n_rows, 0, "rows", "N", "how many rows to make", " sample ", NUMBER(0, 1000000000),
       SAID(n_rows_said))
OPTION(uint64_t, seed, 0, "seed", "S", "seed of everything random (default 1)",
       " sample expand split ", ANY_NUMBER(0))
OPTION(bool, check, 0, "check", NULL, "prove that the transforms are a group and print the report",
       " boards ", FLAG)
OTHER(0, "action", "I",
      "what policy index I means, and its images; -: the images of those on standard input",
      " boards ", CALL(set_action), SAID(action_said), .words = "-")
OPTION(bool, not_expanded, 0, "not-expanded", NULL,
       "the rows are a source, whatever they look like", " verify ", FLAG)
OTHER(0, "leak", "FILE",
      "another set, whose positions must not occur here in any image; may be repeated", " verify ",
      CALL(add_leak), .repeats = true)
OPTION(uint64_t, max_findings, 0, "max-findings", "N",
       "list at most N findings per file (default 100)", " verify report ", NUMBER(0, 1000000000))
OPTION(bool, json, 0, "json", NULL, "print JSON", " info boards verify manifest report overlap ",
       FLAG)
OPTION(bool, write_schema, 0, "write-schema", NULL, "print the roles as a schema for --schema",
       " info ", FLAG)

GROUP("what a run may use")

OPTION(int, n_threads, 'j', "threads", "N", "worker threads (default: the usable processors)",
       " expand verify report KEYS ", NUMBER(1, 1024))
OPTION(uint64_t, max_memory, 0, "max-memory", "SIZE",
       "memory for what cannot stream, the rest goes to a temp file (default 1G)", " MOVES KEYS ",
       SIZE)
OPTION(const char *, tmpdir, 0, "tmpdir", "DIR",
       "where such temp files are (default: TMPDIR or /tmp)", " MOVES KEYS ", TEXT)
OPTION(bool, use_map, 0, "no-mmap", NULL, "read inputs instead of mapping them", " READS KEYS ",
       BECOMES(false))

GROUP("what it says")

OPTION(enum when, progress, 0, "progress", "WHEN",
       "a progress line: auto (on a terminal), always, never", " expand verify report KEYS ",
       WORD("auto always never"))
OPTION(enum when, colour, 0, "color", "WHEN",
       "colours: auto (on a terminal), always, never (plain ASCII)", " show ",
       WORD("auto always never"))
OPTION(const char *, stats, 0, "stats", "FILE", "write times and speeds as JSON", " expand dedupe ",
       TEXT, WRITTEN, .is_replaced = true, .takes_stream = true)
OPTION(int, verbosity, 'q', "quiet", NULL, "errors only", NULL, BECOMES(-1))
OTHER('v', "verbose", NULL, "say more", NULL, BECOMES(1), SETS(verbosity))
OTHER('h', "help", NULL, "print this help", NULL, .kind = OPTION_END)
OTHER(0, "version", NULL, "print the version and those of the libraries", NULL, .kind = OPTION_END)
