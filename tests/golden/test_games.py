#!/usr/bin/python3
"""Games played at random by rules that stand here and in board_games.py, on boards from a file and others:
every image that `expand` makes of them is a game by the same rules. In each image a position follows from the
one before by the action that leads, what has mass is what is legal, a game ends when it is over, and its
value is who has won; a fact about the men at its end is the same."""

import contextlib
import json
import os
import tempfile

import numpy as np

import board_games
from golden import Tap, load, run

tap = Tap()
FOLDER = "share/boards"
PASS = "pass"


class Rules:
    """Men are a dictionary from cells to players, 0 who moves first; past is of (men, action)."""

    moves = False  # actions are from * cells + to, else cells

    def __init__(self, name, dims, cells):
        self.game = board_games.GAMES[name](dims, cells)
        self.near, self.cells = self.game.near, set(cells)

    def start(self):
        return {}

    def position(self, men, player=0):
        return {"turn": "AB"[player], "stones": {c: ("AB"[p], "man") for c, p in men.items()}}

    def legal(self, men, player, past):
        """Actions and what kind each is: of all kinds some have mass."""
        return {c: "" for c in self.cells - set(men)}

    def make(self, men, player, action):
        return {**men, action: player}

    def fact(self, men, player):
        return eval(self.game.of(self.position(men), "AB"[player]))

    def wins(self, men, player):
        return False

    def over(self, men, player, legal):
        """Who has won, -1 nobody; None as long as the game goes on."""
        if self.wins(men, 1 - player):
            return 1 - player
        return None if legal else self.stuck(men, player)

    def stuck(self, men, player):
        raise AssertionError("somebody has won before")


class Y(Rules):
    def wins(self, men, player):
        return 3 in self.fact(men, player)


class Bridges(Rules):
    def wins(self, men, player):
        return any(joins for _, joins in self.fact(men, player))


class Havannah(Rules):
    """The number of holes of a group is told by Euler's formula."""

    def wins(self, men, player):
        for group in self.game.groups({c for c, p in men.items() if p == player}):
            pairs = {frozenset((c, n)) for c in group for n in self.near[c] if n in group}
            threes = {pair | {n} for pair in pairs for n in group if all(n in self.near[c] for c in pair)}
            full = any(len(self.near[c]) == 6 and group.issuperset(self.near[c]) for c in group)
            if full or len(group) - len(pairs) + len(threes) < 1:
                return True
        return any(bridge or fork for bridge, fork, _ in self.fact(men, player))

    def stuck(self, men, player):
        return -1


class Go(Rules):
    def __init__(self, *args):
        super().__init__(*args)
        self.passes = isinstance(self.game, board_games.HexGo)

    def groups(self, men):
        """Of each man's cell, its group and the group's liberties."""
        found = {}
        for player in 0, 1:
            for g in self.game.groups({c for c, p in men.items() if p == player}):
                free = {n for c in g for n in self.near[c] if n not in men}
                found |= {c: (g, free) for c in g}
        return found

    def legal(self, men, player, past):
        if self.passes and len(past) > 1 and past[-1][1] == past[-2][1] == PASS:
            return {}
        groups, found = self.groups(men), {PASS: ""} if self.passes else {}
        for c in self.cells - set(men):
            taken = {x for n in self.near[c] if men.get(n) == 1 - player and groups[n][1] == {c} for x in groups[n][0]}
            lives = any(n not in men for n in self.near[c])
            joins = any(men.get(n) == player and groups[n][1] != {c} for n in self.near[c])
            if not (taken or lives or joins):
                continue
            if len(taken) == 1 and past and self.make(men, player, c) == past[-1][0]:
                continue
            found[c] = f"taken {min(len(taken), 2)} lives {lives} joins {joins}"
        return found

    def make(self, men, player, action):
        if action == PASS:
            return men
        after = {**men, action: player}
        for g, free in self.groups(after).values():
            if not free and after.get(min(g)) == 1 - player:
                after = {c: p for c, p in after.items() if c not in g}
        return after

    def wins(self, men, player):
        return not self.passes and self.fact(men, player)[1]

    def stuck(self, men, player):
        if not self.passes:
            return 1 - player
        lead = sum(1 - 2 * p for p in men.values())
        for g in self.game.groups(self.cells - set(men)):
            owners = {men[n] for c in g for n in self.near[c] if n in men}
            lead += len(g) * (1 - 2 * owners.pop()) if len(owners) == 1 else 0
        return (lead < 0) if lead else -1


class Moves(Rules):
    moves = True

    def start(self):
        return {c: "AB".index(p) for c, (p, _) in self.game.start(None)["stones"].items()}

    def legal(self, men, player, past):
        found = {}
        for a, b in self.game.legal(self.position(men, player)):
            step = self.game.row(b) - self.game.row(a), self.game.col(b) - self.game.col(a)
            found[a, b] = f"{max(map(abs, step))} {step[0] < 0} {b in men}"
        return found

    def make(self, men, player, action):
        return {**{c: p for c, p in men.items() if c != action[0]}, action[1]: player}


class Breakthrough(Moves):
    def wins(self, men, player):
        return self.fact(men, player)[1]

    def stuck(self, men, player):
        return 1 - player


class Othello(Rules):
    passes = True

    def start(self):
        return {c: 1 - "AB".index(p) for c, (p, _) in self.game.start(None)["stones"].items()}

    def legal(self, men, player, past):
        own, theirs = (self.game.legal(self.position(men, p)) for p in (player, 1 - player))
        return {c: "" for c in own or ([PASS] if theirs else [])}

    def make(self, men, player, action):
        if action == PASS:
            return men
        after = self.game.play(self.position(men, player), action)["stones"]
        return {c: "AB".index(p) for c, (p, _) in after.items()}

    def stuck(self, men, player):
        lead = sum(1 - 2 * p for p in men.values())
        return (lead < 0) if lead else -1


HEXAGON = {"hexagon": 3, "neighbours": "hexagonal"}
SQUARE = {"rows": 5, "cols": 5, "neighbours": "orthogonal"}
PLAIN = {"rows": 6, "cols": 6, "neighbours": "king"}
MIRROR = [{"name": "m", "dst": [r * 6 + 5 - c for r in range(6) for c in range(6)]}]

# How many games at least, and what must be seen: 0 who moves first wins, 1 the other, -1 nobody; a pass.
GAMES = {
    "breakthrough": (Breakthrough, 6, {0, 1}), "bridges": (Bridges, 8, {0, 1}),
    "gonnect": (Go, 3, {0, 1}), "hexgo": (Go, 6, {0, 1, PASS}),
    "triangle": (Y, 12, {0, 1}),
    "othello6": (Othello, 8, {0, 1, PASS}), "othello8": (Othello, 4, {0, 1, PASS}), "othello10": (Othello, 2, {PASS}),
    **{f"havannah{n}": (Havannah, 6 if n < 7 else 1, {0, 1} if n < 7 else set()) for n in range(4, 11)},
    "havannah4:rings": (Havannah, 10, {0, 1}), "gonnect:endless": (Go, 12, {0, 1, -1}),
    "hexgo:small": (Go, 20, {0, 1, PASS}),
    "othello8:built-in": (Othello, 4, {0, 1, PASS}), "breakthrough:8x8": (Breakthrough, 6, {0, 1}),
    "breakthrough:6x6": (Breakthrough, 6, {0, 1}), "breakthrough:5x3": (Breakthrough, 6, {0, 1}),
    "breakthrough:20x20": (Breakthrough, 1, set()),
}  # fmt: skip


@contextlib.contextmanager
def board_file(description):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "b.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(description, file)
        yield path


class Rows:
    """The form in which games are stored: planes of both players' men and of who is to move, or, where no
    transform exchanges them, of the mover's and the other's men, the last move and the board."""

    def __init__(self, rules, board):
        self.rules, self.board = rules, board
        self.n_cells = board["cells"]
        self.on_board = np.array(board["on_board"])
        self.swaps = any(t["swaps_colours"] for t in board["transforms"])
        self.n_actions = self.n_cells + getattr(rules, "passes", False)
        if rules.moves:
            self.n_actions = self.n_cells * (self.n_cells if board["name"].startswith("file:") else 12)

    def state(self, men, player, past):
        planes = np.zeros((3 if self.swaps else 4, self.n_cells), np.float32)
        for c, p in men.items():
            planes[p if self.swaps else p ^ player, c] = 1
        if self.swaps:
            planes[2] = player
        else:
            planes[3] = self.on_board
            if past and past[-1][1] != PASS:
                planes[2, past[-1][1]] = 1
        return planes

    def number(self, action, men):
        """Moves are from * cells + to, of the family Breakthrough (from * 6 + step) * 2 + capture."""
        if action == PASS:
            return self.n_cells
        if not self.rules.moves:
            return action
        a, b = action
        if self.n_actions > 12 * self.n_cells:
            return a * self.n_cells + b
        side = self.rules.game.col(b) - self.rules.game.col(a)
        return (a * 6 + (1 if b > a else 4) + side) * 2 + (b in men)

    def over(self, men, player, past, legal):
        """The winner, -1 also of a game that goes on for too long; or None."""
        winner = self.rules.over(men, player, legal)
        return -1 if winner is None and len(past) == 4 * self.n_cells else winner

    def values(self, winner, n):
        if self.swaps:
            return [0.5 if winner < 0 else winner] * n
        return [0 if winner < 0 else 1 if k % 2 == winner else -1 for k in range(n)]


def played(rows, rng):
    """The arrays of a game, the men at its end, and who has won. Nobody passes who need not, until the game is long."""
    rules, men, past, winner = rows.rules, rows.rules.start(), [], None
    state, policy = [], []
    legal = rules.legal(men, 0, past)
    while winner is None:
        player = len(past) % 2
        choices = [a for a in legal if a != PASS] or [PASS]
        action = PASS if PASS in legal and len(past) >= rows.n_cells else choices[rng.integers(len(choices))]
        mass = np.zeros(rows.n_actions, np.float32)
        mass[[rows.number(a, men) for a in legal]] = rng.integers(1, 9, len(legal))
        mass[rows.number(action, men)] = 16
        state.append(rows.state(men, player, past))
        policy.append(mass / mass.sum())
        past.append((men, action))
        men = rules.make(men, player, action)
        legal = rules.legal(men, 1 - player, past)
        winner = rows.over(men, 1 - player, past, legal)
    n, dims = len(past), (rows.board["rows"], rows.board["cols"])
    return {"state": np.reshape(state, (n, -1, *dims)), "policy": np.array(policy),
            "value": np.array(rows.values(winner, n), np.float32),
            "current_player": np.arange(n, dtype=np.int8) % 2}, men, winner  # fmt: skip


def replay(rows, shard, men, begins):
    """Play the rows of one game again, which that player begins with those men. Returns the men at its end."""
    rules, past, winner = rows.rules, [], None
    legal = rules.legal(men, begins, past)
    for row, policy in enumerate(shard["policy"]):
        assert winner is None, f"row {row}: the game is over"
        player = (begins + row) % 2
        assert shard["current_player"][row] == player, f"row {row}: who is to move"
        found = shard["state"][row].reshape(-1, rows.n_cells)
        assert np.array_equal(found, rows.state(men, player, past)), f"row {row}: planes"
        numbers = {rows.number(a, men): a for a in legal}
        assert abs(policy.sum(dtype=np.float64) - 1) < 1e-5
        assert set(np.flatnonzero(policy)) == set(numbers), f"row {row}: legal actions"
        action = numbers[int(policy.argmax())]
        past.append((men, action))
        men = rules.make(men, player, action)
        legal = rules.legal(men, 1 - player, past)
        winner = rows.over(men, 1 - player, past, legal)
    assert winner is not None, "the game is not over"
    assert np.array_equal(shard["value"], rows.values(winner, len(past))), "who has won"
    return men


def rows_of(name, path):
    board, kind = json.loads(run("boards", "--json", path)[0]), GAMES[name][0]
    cells = np.flatnonzero(board["on_board"]).tolist()
    return Rows(kind(name.split(":")[0], (board["rows"], board["cols"]), cells), board)


def images_of(board, arrays, n_images):
    """The arrays of each image of a game, which verify finds nothing wrong with."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(source, **arrays)
        run("expand", "-q", "--board", board, "--order", "transform", source, out)
        for file in source, out:
            said = run("verify", "--board", board, file)[0]
            assert said.endswith(" 0 errors, 0 warnings\n"), said
        shard = load(out)
    n = len(arrays["value"])
    assert len(shard["value"]) == n * n_images
    return [{key: shard[key][t * n : (t + 1) * n] for key in arrays} for t in range(n_images)]


def replayed(name, board, wanted=lambda rules, men, n_plies: True):
    """All games, or those whose end is wanted. Returns the transforms that keep the position they start from."""
    rows, rng, seen, n = rows_of(name, board), np.random.default_rng(1), set(), 0
    start = rows.rules.start()
    starts = [{t["dst"][c]: p ^ t["swaps_colours"] for c, p in start.items()} for t in rows.board["transforms"]]
    transforms, (_, n_games, expected) = rows.board["transforms"], GAMES[name]
    while n < n_games or not (expected <= seen or n > 99):
        arrays, men, winner = played(rows, rng)
        if not wanted(rows.rules, men, len(arrays["value"])):
            continue
        n += 1
        seen |= {winner, PASS} if arrays["policy"][:, rows.n_cells :].any() else {winner}
        facts = [rows.rules.fact(men, player) for player in (0, 1)]
        for t, men, image in zip(transforms, starts, images_of(board, arrays, len(transforms))):
            swaps = int(t["swaps_colours"])
            try:
                men = replay(rows, image, men, swaps)
                assert [rows.rules.fact(men, player ^ swaps) for player in (0, 1)] == facts, "facts at the end"
            except AssertionError as error:
                raise AssertionError(f"game {n} under {t['name']}: {error}") from error
    assert seen >= expected, seen
    return [t["id"] for t, men in zip(transforms, starts) if men == start]


@tap.test(*sorted(name for name in GAMES if ":" not in name))
def every_image_is_a_game(name):
    """A board's file says which transforms there are: those that keep the start."""
    kept = replayed(name, f"file:{FOLDER}/{name}.json")
    assert kept == list(range(len(kept))) and len(kept) > 3


@tap.test(*sorted(name for name in GAMES if name.startswith("breakthrough:")))
def every_image_on_a_built_in_board_is_a_game(name):
    assert replayed(name, name) == [0, 1, 2, 3]


@tap.test()
def every_image_of_othello_is_a_game():
    """A square has eight transforms."""
    assert replayed("othello8:built-in", "othello") == [0, 2, 6, 7]


@tap.test(("gonnect:endless", SQUARE | {"rows": 3, "cols": 3}, 12), ("hexgo:small", HEXAGON | {"hexagon": 1}, 0))
def every_image_on_a_small_board_is_a_game(name, description, n_plies):
    """Where positions that come again and again are not rare in long games."""
    with board_file(description) as path:
        replayed(name, f"file:{path}", lambda rules, men, n: n > n_plies)


@tap.test()
def every_image_of_a_ring_is_a_ring():
    """Games that were won by nothing else; where rings about one cell are not rare."""

    def ring(rules, men, _):
        facts = [fact for player in (0, 1) for fact in rules.fact(men, player)]
        return any(rings for _, _, rings in facts) and not any(bridge or fork for bridge, fork, _ in facts)

    replayed("havannah4:rings", f"file:{FOLDER}/havannah4.json", ring)


@tap.test(*sorted(name for name in GAMES if ":" not in name))
def a_wrong_map_is_seen(name):
    """The check can fail: when cells go three cells on, not each of ten games is one any more."""
    rows, rng = rows_of(name, f"file:{FOLDER}/{name}.json"), np.random.default_rng(2)
    cells, src, n = np.flatnonzero(rows.on_board), np.arange(rows.n_cells), rows.n_cells
    src[cells] = np.roll(cells, 3)
    for _ in range(10):
        arrays, _, _ = played(rows, rng)
        state, policy = arrays["state"], arrays["policy"].copy()
        if rows.rules.moves:
            policy = policy.reshape(-1, n, n)[:, src][:, :, src].reshape(policy.shape)
        else:
            policy[:, :n] = policy[:, src]
        state = state.reshape(len(state), -1, n)[:, :, src].reshape(state.shape)
        try:
            replay(rows, {**arrays, "state": state, "policy": policy}, rows.rules.start(), 0)
        except AssertionError:
            return
    raise AssertionError("nothing is seen")


# --- the key, which is for readers ---


@tap.test(
    ("go", SQUARE), ("go", SQUARE | {"without": [12]}), ("gonnect", SQUARE | {"rows": 2, "cols": 2}),
    ("havannah", HEXAGON | {"hexagon": 1}), ("y", {"triangle": 2, "neighbours": "hexagonal"}),
    ("bridg-it", {"rows": 3, "cols": 3, "without": ["odd"], "neighbours": "diagonal"}),
    ("othello", PLAIN | {"rows": 4, "cols": 8}), ("breakthrough", PLAIN | {"rows": 2, "cols": 2}),
    ("othello", PLAIN | {"transforms": MIRROR}), ("breakthrough", HEXAGON), ("Hex, on squares", SQUARE), ("", PLAIN),
    ("go", {"rows": 1, "cols": 1, "neighbours": "orthogonal", "transforms": [{"name": "m", "dst": [0]}]}),
    ("othello", PLAIN | {"transforms": [{**MIRROR[0], "planes": [0, 1]}]}),
)  # fmt: skip
def a_game_changes_nothing(game, description):
    samples = []
    for described in description, {**description, "game": game}:
        with board_file(described) as path:
            out = f"{path}.npz"
            run("sample", "-q", "--rows", 300, "--board", f"file:{path}", out)
            assert run("verify", "--board", f"file:{path}", out)[0].endswith(" 0 errors, 0 warnings\n")
            with open(out, "rb") as file:
                samples.append(file.read())
    assert samples[0] == samples[1]


@tap.test(3, None, ["go"])
def a_game_is_text(game):
    with board_file(SQUARE | {"game": game}) as path:
        _, why = run("boards", path, code=65)
        assert why.count("\n") == 1 and "game is not text" in why, why


if __name__ == "__main__":
    tap.main()
