#!/usr/bin/python3
"""Board files that name a game: samples are played by its rules, which stand here and in board_games.py.
Every position follows from the one before by the action that leads, only what is legal has mass, a game
ends when it is over, and its value is who has won."""

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

# Rows, and results that must be seen: 0 who moves first, 1 the other, -1 nobody.
GAMES = {
    "breakthrough": (Breakthrough, 1500, {0, 1}), "bridges": (Bridges, 1200, {0, 1}),
    "gonnect": (Go, 800, {0, 1}), "hexgo": (Go, 700, {0, 1}),
    "triangle": (Y, 600, {0, 1}),
    "othello6": (Othello, 600, {0, 1}), "othello8": (Othello, 500, {0, 1}),
    "othello10": (Othello, 400, {0, 1}),
    **{f"havannah{n}": (Havannah, 300, {0, 1} if n < 7 else set()) for n in range(4, 11)},
    "havannah4:rings": (Havannah, 24000, {0, 1}), "gonnect:endless": (Go, 6000, {0, 1, -1}),
    "hexgo:small": (Go, 2000, {0, 1}),
}  # fmt: skip


def described(path):
    return json.loads(run("boards", "--json", path)[0])


def sampled(path, rows):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "s.npz")
        run("sample", "-q", "--rows", rows, "--board", f"file:{path}", out)
        return load(out)


class Replay:
    """Plays a sample again, row by row."""

    def __init__(self, rules, board, shard):
        self.rules, self.shard = rules, shard
        self.n_cells = board["cells"]
        self.on_board = np.array(board["on_board"])
        self.swaps = any(t["swaps_colours"] for t in board["transforms"])
        self.kinds, self.results = {}, set()

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

    def number(self, action):
        if action == PASS:
            return self.n_cells
        return action[0] * self.n_cells + action[1] if self.rules.moves else action

    def run(self):
        rows, row = len(self.shard["policy"]), 0
        while row < rows:
            first, men, past, winner = row, self.rules.start(), [], None
            legal = self.rules.legal(men, 0, past)
            while row < rows and winner is None and len(past) < 4 * self.n_cells:
                men = self.step(row, men, past, legal)
                legal = self.rules.legal(men, len(past) % 2, past)
                winner = self.rules.over(men, len(past) % 2, legal)
                row += 1
            if winner is None and row == rows and len(past) < 4 * self.n_cells:
                return
            self.check_values(first, row, -1 if winner is None else winner)

    def step(self, row, men, past, legal):
        player, shard = len(past) % 2, self.shard
        assert shard["current_player"][row] == player, row
        found = shard["state"][row].reshape(-1, self.n_cells)
        assert np.array_equal(found, self.state(men, player, past)), f"row {row}, ply {len(past)}"
        policy = shard["policy"][row]
        assert abs(policy.sum(dtype=np.float64) - 1) < 1e-5
        legal = {self.number(a): (a, kind) for a, kind in legal.items()}
        assert set(np.flatnonzero(policy)) <= set(legal), f"row {row}, ply {len(past)}"
        for number, (_, kind) in legal.items():
            n, n_visited = self.kinds.get(kind, (0, 0))
            self.kinds[kind] = (n + 1, n_visited + (policy[number] > 0))
        action = legal[int(policy.argmax())][0]
        past.append((men, action))
        return self.rules.make(men, player, action)

    def check_values(self, first, end, winner):
        if self.swaps:
            expected = [0.5 if winner < 0 else winner] * (end - first)
        else:
            expected = [0 if winner < 0 else 1 if k % 2 == winner else -1 for k in range(end - first)]
        assert np.array_equal(self.shard["value"][first:end], expected), f"rows {first} to {end}"
        self.results.add(int(winner))


def replayed(name, path):
    board, (kind, rows, results) = described(path), GAMES[name]
    rules = kind(name.split(":")[0], (board["rows"], board["cols"]), np.flatnonzero(board["on_board"]).tolist())
    replay = Replay(rules, board, sampled(path, rows))
    replay.run()
    assert replay.results >= results, replay.results
    for kind, (n, n_visited) in replay.kinds.items():
        assert n < 40 or n_visited > n / 2, f"{kind}: {n_visited} of {n}"


@tap.test(*sorted(name for name in GAMES if ":" not in name))
def games_are_replayed(name):
    """A quarter of the actions has no visits: of every kind of action that is not rare, more than half has."""
    replayed(name, f"{FOLDER}/{name}.json")


@tap.test(
    ("havannah4:rings", HEXAGON | {"game": "havannah"}),
    ("gonnect:endless", SQUARE | {"rows": 3, "cols": 3, "game": "gonnect"}),
    ("hexgo:small", HEXAGON | {"hexagon": 1, "game": "go"}),
)  # fmt: skip
def small_boards_are_replayed(name, description):
    """Where rings about one cell, and positions that come again and again, are not rare."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "b.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(description, file)
        replayed(name, path)


# --- the key ---

@tap.test(
    ("breakthrough", HEXAGON), ("bridg-it", SQUARE), ("bridg-it", PLAIN | {"without": ["odd"]}),
    ("bridg-it", SQUARE | {"without": ["even"], "neighbours": "diagonal"}), ("go", PLAIN), ("go", SQUARE | {"edges": [[0, 7]]}),
    ("gonnect", HEXAGON), ("gonnect", SQUARE | {"rows": 4}), ("gonnect", SQUARE | {"without": [3]}),
    ("havannah", SQUARE), ("havannah", HEXAGON | {"without": [3]}), ("havannah", {"hexagon": 3, "straight": 3}),
    ("othello", SQUARE), ("othello", PLAIN | {"without": [3]}),
    ("othello", PLAIN | {"rows": 2}), ("y", HEXAGON), ("go", {"hexagon": 12, "neighbours": "hexagonal"}),
    ("othello", PLAIN | {"transforms": [{**MIRROR[0], "planes": [0, 1]}]}),
    ("hex", SQUARE), ("", SQUARE), (3, SQUARE),
)  # fmt: skip
def a_game_that_does_not_fit_is_refused(game, description):
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "b.json"), os.path.join(folder, "s.npz")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**description, "game": game}, file)
        _, why = run("sample", "--rows", 3, "--board", f"file:{path}", out, code=65)
        assert why.count("\n") == 1 and "game" in why, why
        if game in ("hex", "", 3):
            assert "breakthrough, bridg-it, go, " in why, why
        with open(path, "w", encoding="utf-8") as file:
            json.dump(description, file)
        run("sample", "-q", "--rows", 3, "--board", f"file:{path}", out)


@tap.test(
    ("go", SQUARE), ("go", SQUARE | {"without": [12]}), ("gonnect", SQUARE | {"rows": 2, "cols": 2}),
    ("havannah", HEXAGON | {"hexagon": 1}), ("y", {"triangle": 2, "neighbours": "hexagonal"}),
    ("bridg-it", {"rows": 3, "cols": 3, "without": ["odd"], "neighbours": "diagonal"}),
    ("othello", PLAIN | {"rows": 4, "cols": 8}), ("breakthrough", PLAIN | {"rows": 2, "cols": 2}),
    ("othello", PLAIN | {"transforms": MIRROR}),
    ("go", {"rows": 1, "cols": 1, "neighbours": "orthogonal", "transforms": [{"name": "m", "dst": [0]}]}),
)  # fmt: skip
def other_boards_are_played(game, description):
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "b.json"), os.path.join(folder, "s.npz")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**description, "game": game}, file)
        run("sample", "-q", "--rows", 300, "--board", f"file:{path}", out)
        assert run("verify", "--board", f"file:{path}", out)[0].endswith(" 0 errors, 0 warnings\n")


if __name__ == "__main__":
    tap.main()
