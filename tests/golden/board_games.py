"""Rules of the games of share/boards, written from their rule books and not from the board files:
which moves a position has, what a move does, and a fact about the position (lines, goals, scores).

A position is a dictionary of nested tuples, sets and dictionaries in which every integer is a cell,
"A" and "B" are the players, and all other text stays what it is, so that the image of a position, a
move or a fact under a transform needs no knowledge of the game: see test_board_games.py."""

import functools
import itertools

import numpy as np

ORTH = [(0, 1), (1, 0), (0, -1), (-1, 0)]
DIAG = [(1, 1), (1, -1), (-1, -1), (-1, 1)]
KING = ORTH + DIAG
HEX = [(0, 1), (1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1)]
KNIGHT = [(a * s, b * t) for a, b in ((1, 2), (2, 1)) for s in (1, -1) for t in (1, -1)]
OTHER = {"A": "B", "B": "A"}


class Game:
    """Stones fall on free cells and stay, unless a game says otherwise."""

    steps = ORTH

    def __init__(self, dims, cells):
        self.dims, self.cells = dims, set(cells)
        self.near = {c: self.around(c, self.steps) for c in self.cells}

    @functools.cache
    def to(self, cell, step, n=1):
        """The cell n steps on, or None off board."""
        at = [a + n * s for a, s in zip(np.unravel_index(cell, self.dims), step)]
        if any(a < 0 or a >= d for a, d in zip(at, self.dims)):
            return None
        found = int(np.ravel_multi_index(at, self.dims))
        return found if found in self.cells else None

    def around(self, cell, steps):
        return [c for c in (self.to(cell, s) for s in steps) if c is not None]

    def row(self, cell):
        return cell // self.dims[-1]

    def col(self, cell):
        return cell % self.dims[-1]

    def at(self, row, col):
        return row * self.dims[-1] + col

    def start(self, rng):
        return {"turn": "A", "stones": {}}

    def free(self, s):
        return self.cells - set(s["stones"])

    def mine(self, s, player=None):
        return {c for c, (p, _) in s["stones"].items() if p == (player or s["turn"])}

    def legal(self, s):
        return self.free(s)

    def play(self, s, move):
        return {**s, "turn": OTHER[s["turn"]], "stones": {**s["stones"], move: (s["turn"], "stone")}}

    def groups(self, stones, near=None):
        """Groups of joined cells."""
        near, rest, found = near or self.near, set(stones), []
        while rest:
            group = [rest.pop()]
            for c in group:
                joined = rest.intersection(near[c])
                rest -= joined
                group.extend(joined)
            found.append(set(group))
        return found

    def of(self, s, player):
        """The fact about one player."""
        return str(sorted(map(len, self.groups(self.mine(s, player)))))

    def fact(self, s):
        return {p: self.of(s, p) for p in "AB"}


# --- lines ---


class Lines(Game):
    length, steps = 3, ()

    def of(self, s, player):
        steps = [d for d in itertools.product((-1, 0, 1), repeat=len(self.dims)) if d > (0,) * len(d)]
        mine = self.mine(s, player)
        return str(sum(all(self.to(c, d, k) in mine for k in range(self.length))
                       for c in mine for d in steps))  # fmt: skip


class Qubic(Lines):
    length = 4


class Ultimate(Lines):
    """The last move sends to a small board, unless that is full."""

    def small(self, row, col):
        return {self.at(3 * row + r, 3 * col + c) for r in range(3) for c in range(3)}

    def legal(self, s):
        last = s.get("last")
        sent = self.small(self.row(last) % 3, self.col(last) % 3) if last is not None else set()
        return self.free(s) & sent or self.free(s)

    def play(self, s, move):
        return {**super().play(s, move), "last": move}

    def of(self, s, player):
        mine, won = self.mine(s, player), 0
        for row, col in np.ndindex(3, 3):
            grid = np.array(sorted(self.small(row, col))).reshape(3, 3)
            lines = [*grid, *grid.T, grid.diagonal(), grid[::-1].diagonal()]
            won += any(set(line) <= mine for line in lines)
        return str(won)


class Pentago(Lines):
    """A stone, then a quarter turn of a quadrant, told by where its corners go."""

    length = 5

    def legal(self, s):
        moves = set()
        for top, left in itertools.product((0, 3), repeat=2):
            corners = [self.at(top + r, left + c) for r, c in ((0, 0), (0, 2), (2, 2), (2, 0))]
            for turn in (1, 3):
                turned = frozenset((a, corners[(i + turn) % 4]) for i, a in enumerate(corners))
                moves |= {(c, turned) for c in self.free(s)}
        return moves

    def play(self, s, move):
        s = super().play(s, move[0])
        goes = dict(move[1])
        rows, cols = [self.row(c) for c in goes], [self.col(c) for c in goes]
        top, left = min(rows), min(cols)
        clockwise = goes[self.at(top, left)] == self.at(top, left + 2)
        stones = {}
        for c, stone in s["stones"].items():
            r, k = self.row(c) - top, self.col(c) - left
            if 0 <= r < 3 and 0 <= k < 3:
                r, k = (k, 2 - r) if clockwise else (2 - k, r)
            stones[self.at(r + top, k + left)] = stone
        return {**s, "stones": stones}


class Morris(Game):
    """Stones are placed; who closes a mill takes a stone away."""

    def __init__(self, dims, cells):
        super().__init__(dims, cells)
        self.mills = []
        for k in range(7):
            for line in ([c for c in sorted(cells) if self.row(c) == k],
                         [c for c in sorted(cells) if self.col(c) == k]):  # fmt: skip
                self.mills += [set(line[:3]), set(line[3:])] if k == 3 else [set(line)]

    def legal(self, s):
        mine, theirs, moves = self.mine(s), self.mine(s, OTHER[s["turn"]]), set()
        for c in self.free(s):
            closes = any(c in mill and mill - {c} <= mine for mill in self.mills)
            moves |= {(c, x) for x in theirs} if closes and theirs else {(c, None)}
        return moves

    def play(self, s, move):
        s = super().play(s, move[0])
        return {**s, "stones": {c: p for c, p in s["stones"].items() if c != move[1]}}

    def of(self, s, player):
        return str(sum(mill <= self.mine(s, player) for mill in self.mills))


# --- connections ---


class Havannah(Game):
    steps = HEX

    def sides(self, c):
        size = self.dims[0] // 2
        q, r = self.col(c) - size, self.row(c) - size
        return [i for i, x in enumerate((q, -q, r, -r, q + r, -q - r)) if x == size]

    def of(self, s, player):
        found = []
        for group in self.groups(self.mine(s, player)):
            corners = sum(len(self.sides(c)) == 2 for c in group)
            sides = {self.sides(c)[0] for c in group if len(self.sides(c)) == 1}
            inside = [g for g in self.groups(self.cells - group) if not any(map(self.sides, g))]
            found.append((corners > 1, len(sides) > 2, bool(inside)))
        return str(sorted(found))


class Star(Havannah):
    """What a group owns: cells of the edge, and corners."""

    def of(self, s, player):
        mine = self.groups(self.mine(s, player))
        return str(sorted((sum(bool(self.sides(c)) for c in g),
                           sum(len(self.sides(c)) == 2 for c in g)) for g in mine))  # fmt: skip


class Y(Game):
    """Who joins the three sides wins."""

    steps = HEX

    def of(self, s, player):
        n = self.dims[0] - 1
        return str(sorted(len({i for c in group for i, x in enumerate(
            (self.row(c) == n, self.col(c) == n, self.row(c) + self.col(c) == n)) if x})
            for group in self.groups(self.mine(s, player))))  # fmt: skip


class Bridges(Game):
    """A bridge joins the posts before and after it, in a row or a column: A's go down where rows are even,
    B's across, and the other way where they are odd. A goes from the first row to the last."""

    def of(self, s, player):
        down = {0: (-1, 0), 1: (0, -1)}
        near = {}
        for c in self.mine(s, player):
            r, k = self.row(c), self.col(c)
            y, x = down[(r + (player == "B")) % 2]
            ends = [(r + y, k + x), (r - y, k - x)]
            near.setdefault(ends[0], []).append(ends[1])
            near.setdefault(ends[1], []).append(ends[0])
        axis, n = "AB".index(player), self.dims[0]
        return str(sorted((len(g), any(p[axis] == -1 for p in g) and any(p[axis] == n for p in g))
                          for g in self.groups(near, near)))  # fmt: skip


class Twixt(Game):
    """Links of a knight's move join own pegs; A's goals are rows, B's columns."""

    steps = KNIGHT

    def goals(self, player, c):
        return (self.row(c) if player == "A" else self.col(c)) in (0, 23)

    def legal(self, s):
        return {c for c in self.free(s) if not self.goals(OTHER[s["turn"]], c)}

    def play(self, s, move):
        links = {frozenset((move, c)) for c in self.near[move] if c in self.mine(s)}
        free = {x for x in links if not any(self.crosses(x, y) for y in s.get("links", ()))}
        return {**super().play(s, move), "links": frozenset(s.get("links", frozenset()) | free)}

    def crosses(self, one, other):
        if one & other:
            return False
        (a, b), (c, d) = (([self.row(x), self.col(x)] for x in sorted(link)) for link in (one, other))

        def side(p, q, r):
            return np.sign((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]))

        return side(a, b, c) != side(a, b, d) and side(c, d, a) != side(c, d, b)

    def of(self, s, player):
        mine = self.mine(s, player)
        near = {c: [d for d in mine if frozenset((c, d)) in s.get("links", ())] for c in mine}
        groups = self.groups(mine, near)
        return str(sorted((len(g), sum(self.goals(player, c) for c in g)) for g in groups))


class Go(Game):
    """Capture and no suicide, without ko; a group's liberties are the free cells around it."""

    def captured(self, stones, player):
        mine = {c for c, (p, _) in stones.items() if p == player}
        return {c for g in self.groups(mine) if not any(n not in stones for c in g for n in self.near[c])
                for c in g}  # fmt: skip

    def play(self, s, move):
        after = super().play(s, move)
        lost = self.captured(after["stones"], after["turn"])
        after["stones"] = {c: p for c, p in after["stones"].items() if c not in lost}
        return after

    def legal(self, s):
        return {c for c in self.free(s) if not self.captured(self.play(s, c)["stones"], s["turn"])}


class Gonnect(Go):
    def of(self, s, player):
        last, mine = self.dims[0] - 1, self.groups(self.mine(s, player))
        spans = [(max(map(f, g)) - min(map(f, g))) == last for g in mine for f in (self.row, self.col)]
        return str((len(mine), any(spans)))


class HexGo(Go):
    steps = HEX


class Blooms(Go):
    """Two colours a player; a bloom of one colour is taken without free cells beside it."""

    steps = HEX

    def legal(self, s):
        return {(c, colour) for c in self.free(s) for colour in ("light", "dark")}

    def play(self, s, move):
        stones, lost = {**s["stones"], move[0]: (s["turn"], move[1])}, set()
        for stone in itertools.product(OTHER[s["turn"]], ("light", "dark")):
            for g in self.groups({c for c, p in stones.items() if p == stone}):
                lost |= g if not any(n not in stones for c in g for n in self.near[c]) else set()
        stones = {c: p for c, p in stones.items() if c not in lost}
        return {**s, "turn": OTHER[s["turn"]], "stones": stones}


# --- flips, walls, pieces ---


class Othello(Game):
    def start(self, rng):
        h = self.dims[0] // 2
        stones = {self.at(h - 1, h - 1): "A", self.at(h, h): "A", self.at(h - 1, h): "B", self.at(h, h - 1): "B"}
        return {"turn": "A", "stones": {c: (p, "stone") for c, p in stones.items()}}

    def flips(self, s, cell):
        found, theirs = set(), self.mine(s, OTHER[s["turn"]])
        for d in KING:
            n = 1
            while self.to(cell, d, n) in theirs:
                n += 1
            if self.to(cell, d, n) in self.mine(s):
                found |= {self.to(cell, d, k) for k in range(1, n)}
        return found

    def legal(self, s):
        return {c for c in self.free(s) if self.flips(s, c)}

    def play(self, s, move):
        after = super().play(s, move)
        after["stones"] |= {c: (s["turn"], "stone") for c in self.flips(s, move)}
        return after

    def of(self, s, player):
        return str(len(self.mine(s, player)))


class Blokus(Game):
    """Bars and corners of up to three cells, beside own cells' corners but not their edges."""

    corners = {}

    def legal(self, s):
        mine, free, moves = self.mine(s), self.free(s), set()
        banned = {n for c in mine for n in self.near[c]}
        seeds = {n for c in mine for n in self.around(c, DIAG)} | set(self.corners[s["turn"]])
        for seed in seeds & free - banned:
            shapes = {frozenset([seed])}
            for _ in range(2):
                shapes |= {x | {n} for x in shapes for c in x for n in self.near[c] if n in free - banned}
            moves |= shapes
        return moves

    def play(self, s, move):
        stones = {**s["stones"], **{c: (s["turn"], "stone") for c in move}}
        return {**s, "turn": OTHER[s["turn"]], "stones": stones}


class Duo(Blokus):
    corners = {"A": [4 * 14 + 4], "B": [9 * 14 + 9]}


class Blokus20(Blokus):
    corners = {"A": [0, 399], "B": [19, 380]}


class Quoridor(Game):
    """Pawns step; walls of two cells stand between rows or columns. A goes up to row 0."""

    def start(self, rng):
        return {"turn": "A", "stones": {76: ("A", "pawn"), 4: ("B", "pawn")}, "walls": frozenset()}

    def wall_moves(self):
        for r, c in itertools.product(range(8), repeat=2):
            a, b, d, e = (self.at(r + i, c + j) for i in (0, 1) for j in (0, 1))
            yield frozenset((frozenset((a, d)), frozenset((b, e))))
            yield frozenset((frozenset((a, b)), frozenset((d, e))))

    def reach(self, s, start, n):
        shut, found = {x for wall in s["walls"] for x in wall}, {start}
        for _ in range(n):
            found |= {x for c in found for x in self.near[c] if frozenset((c, x)) not in shut}
        return found

    def legal(self, s):
        (pawn,) = self.mine(s)
        taken = {x for wall in s["walls"] for x in wall}
        walls = {w for w in self.wall_moves() if not w & taken and not self.crossed(s, w)}
        return (self.reach(s, pawn, 1) & self.free(s)) | walls

    def crossed(self, s, wall):
        cells = {c for pair in wall for c in pair}
        return any({c for pair in w for c in pair} == cells for w in s["walls"])

    def play(self, s, move):
        after = {**s, "turn": OTHER[s["turn"]]}
        if isinstance(move, frozenset):
            return {**after, "walls": s["walls"] | {move}}
        (pawn,) = self.mine(s)
        stones = {c: p for c, p in s["stones"].items() if c != pawn}
        return {**after, "stones": {**stones, move: (s["turn"], "pawn")}}

    def of(self, s, player):
        """How far the pawn's goal is."""
        (pawn,), goal = self.mine(s, player), 0 if player == "A" else 8
        for n in range(82):
            if any(self.row(c) == goal for c in self.reach(s, pawn, n)):
                break
        return str(n)


class Moving(Game):
    """Pieces move from cell to cell and take what is there: a move is (from, to, *taken)."""

    def play(self, s, move):
        stones = {c: p for c, p in s["stones"].items() if c not in (move[0], *move[2:])}
        stones[move[1]] = (s["stones"][move[0]][0], self.becomes(s["stones"][move[0]], move[1]))
        return {**s, "turn": OTHER[s["turn"]], "stones": stones}

    def becomes(self, stone, to):
        return stone[1]

    def setup(self, a, b, kind="man"):
        return {"turn": "A", "stones": {**{c: ("A", kind) for c in a}, **{c: ("B", kind) for c in b}}}

    def ahead(self, player):
        return 1 if player == "A" else -1

    def of(self, s, player):
        return str((len(self.mine(s, player)), sorted(k for p, k in s["stones"].values() if p == player)))


class Breakthrough(Moving):
    """A goes down to the last row."""

    def start(self, rng):
        rows, cols = self.dims
        n = (2 if rows > 5 else 1) * cols
        return self.setup(range(n), range(rows * cols - n, rows * cols))

    def legal(self, s):
        mine, moves = self.mine(s), set()
        for c in mine:
            for side in (-1, 0, 1):
                to = self.to(c, (self.ahead(s["turn"]), side))
                if to is not None and to not in mine and (side or to not in s["stones"]):
                    moves.add((c, to))
        return moves

    def of(self, s, player):
        goal = self.dims[0] - 1 if player == "A" else 0
        return str((len(self.mine(s, player)), any(self.row(c) == goal for c in self.mine(s, player))))


class Checkers(Moving):
    """Men step ahead and jump over one other; who comes to the last row is a king."""

    def start(self, rng):
        n = self.dims[0]
        dark = [c for c in sorted(self.cells) if (self.row(c) + self.col(c)) % 2]
        return self.setup([c for c in dark if self.row(c) < n // 2 - 1], [c for c in dark if self.row(c) > n // 2])

    def legal(self, s):
        steps, jumps = set(), set()
        for c in self.mine(s):
            for d in DIAG:
                if s["stones"][c][1] == "man" and d[0] != self.ahead(s["turn"]):
                    continue
                near, far = self.to(c, d), self.to(c, d, 2)
                if near in self.free(s):
                    steps.add((c, near))
                elif near in self.mine(s, OTHER[s["turn"]]) and far in self.free(s):
                    jumps.add((c, far, near))
        return jumps or steps

    def becomes(self, stone, to):
        return "king" if self.row(to) == (self.dims[0] - 1 if stone[0] == "A" else 0) else stone[1]


class Alquerque(Moving):
    """Steps along the lines, and jumps."""

    def start(self, rng):
        return self.setup(range(12), range(13, 25))

    def legal(self, s):
        moves, free = set(), self.free(s)
        for c in self.mine(s):
            for d in KING if (self.row(c) + self.col(c)) % 2 == 0 else ORTH:
                if self.to(c, d) in free:
                    moves.add((c, self.to(c, d)))
                elif self.to(c, d) in self.mine(s, OTHER[s["turn"]]) and self.to(c, d, 2) in free:
                    moves.add((c, self.to(c, d, 2), self.to(c, d)))
        return moves


class Xiangqi(Moving):
    """Without check: generals and advisers stay in palaces, elephants on their bank."""

    def start(self, rng):
        stones = {}
        for player, back, guns, men in (("A", 0, 2, 3), ("B", 9, 7, 6)):
            for c, kind in enumerate("RHEDGDEHR"):
                stones[self.at(back, c)] = (player, kind)
            stones |= {self.at(guns, c): (player, "cannon") for c in (1, 7)}
            stones |= {self.at(men, c): (player, "soldier") for c in range(0, 9, 2)}
        return {"turn": "A", "stones": stones}

    def reach(self, s, c, kind):
        free, player = self.free(s), s["turn"]
        bank = [r for r in range(10) if (r < 5) == (player == "A")]
        if kind in "GD":
            to = self.around(c, ORTH if kind == "G" else DIAG)
            return [x for x in to if self.row(x) in (0, 1, 2, 7, 8, 9) and 3 <= self.col(x) <= 5]
        if kind == "E":
            return [x for d in DIAG if self.to(c, d) in free
                    for x in [self.to(c, d, 2)] if x is not None and self.row(x) in bank]  # fmt: skip
        if kind == "H":
            return [x for d in ORTH if self.to(c, d) in free for x in self.around(self.to(c, d), DIAG)
                    if abs(self.row(x) - self.row(c)) + abs(self.col(x) - self.col(c)) == 3]  # fmt: skip
        if kind == "soldier":
            return self.around(c, [(self.ahead(player), 0)] + ORTH[::2] * (self.row(c) not in bank))
        found = []
        for d in ORTH:
            n = 1
            while self.to(c, d, n) in free:
                found.append(self.to(c, d, n))
                n += 1
            if kind == "cannon":
                n += 1
                while self.to(c, d, n) in free:
                    n += 1
            if self.to(c, d, n) is not None:
                found.append(self.to(c, d, n))
        if kind == "cannon":
            near = set(found) & set(s["stones"])
            return [x for x in found if x in free or self.screens(s, c, x) == 1 and x in near]
        return found

    def screens(self, s, c, x):
        step = np.sign(self.row(x) - self.row(c)), np.sign(self.col(x) - self.col(c))
        n = max(abs(self.row(x) - self.row(c)), abs(self.col(x) - self.col(c)))
        return sum(self.to(c, step, k) in s["stones"] for k in range(1, n))

    def legal(self, s):
        mine = self.mine(s)
        return {(c, x) for c in mine for x in self.reach(s, c, s["stones"][c][1]) if x not in mine}


class LinesOfAction(Moving):
    """As far as there are men on the line, over own men but not over others."""

    def start(self, rng):
        side = range(1, 7)
        return self.setup([self.at(r, c) for r in (0, 7) for c in side], [self.at(r, c) for r in side for c in (0, 7)])

    def legal(self, s):
        moves, mine = set(), self.mine(s)
        theirs = set(s["stones"]) - mine
        for c in mine:
            for d in KING:
                n = sum(self.to(c, d, k) in s["stones"] for k in range(-7, 8) if self.to(c, d, k) is not None)
                if self.to(c, d, n) is not None and self.to(c, d, n) not in mine and not any(
                        self.to(c, d, k) in theirs for k in range(1, n)):  # fmt: skip
                    moves.add((c, self.to(c, d, n)))
        return moves

    def of(self, s, player):
        near = {c: self.around(c, KING) for c in self.cells}
        return str(len(self.groups(self.mine(s, player), near)))


class ChineseCheckers(Moving):
    """Steps, and hops over any pin for as long as there are some."""

    steps = HEX

    def points(self, player):
        return [c for c in self.cells if (self.row(c) < 4 if player == "A" else self.row(c) > 12)]

    def start(self, rng):
        return self.setup(self.points("A"), self.points("B"))

    def legal(self, s):
        moves, free = set(), self.free(s)
        for c in self.mine(s):
            reached = [c]
            for x in reached:
                hops = [self.to(x, d, 2) for d in HEX if self.to(x, d) in s["stones"] and self.to(x, d) != c]
                reached += [h for h in set(hops) if h in free and h not in reached]
            moves |= {(c, x) for x in reached[1:]} | {(c, x) for x in self.near[c] if x in free}
        return moves

    def of(self, s, player):
        return str(len(self.mine(s, player).intersection(self.points(OTHER[player]))))


class Abalone(Game):
    """Marbles in a line push fewer others: (last of the line, the next one)."""

    steps = HEX

    def start(self, rng):
        cells = sorted(self.cells)
        drawn = rng.permutation(cells)[:28]
        return {"turn": "A", "stones": {int(c): ("AB"[i % 2], "marble") for i, c in enumerate(drawn)}}

    def line(self, s, c, d):
        """How many own marbles from c on, and how many others after them."""
        mine, theirs = self.mine(s), self.mine(s, OTHER[s["turn"]])
        n = m = 0
        while self.to(c, d, n) in mine:
            n += 1
        while self.to(c, d, n + m) in theirs:
            m += 1
        return n, m

    def legal(self, s):
        moves = set()
        for c in self.mine(s):
            for d in HEX:
                n, m = self.line(s, c, d)
                end = self.to(c, d, n + m)
                if n <= 3 and m < n and self.to(c, d) is not None and (end in self.free(s) or m and end is None):
                    moves.add((c, self.to(c, d)))
        return moves

    def play(self, s, move):
        c, stones = move[0], dict(s["stones"])
        d = self.row(move[1]) - self.row(c), self.col(move[1]) - self.col(c)
        n, m = self.line(s, c, d)
        for k in range(n + m, 0, -1):
            if self.to(c, d, k) is not None:
                stones[self.to(c, d, k)] = stones[self.to(c, d, k - 1)]
        del stones[c]
        return {**s, "turn": OTHER[s["turn"]], "stones": stones}


class Santorini(Game):
    """Step up at most one level, then build: (from, to, built on)."""

    steps = KING

    def start(self, rng):
        cells = [int(c) for c in rng.permutation(25)[:4]]
        stones = {c: ("AB"[i % 2], "worker") for i, c in enumerate(cells)}
        return {"turn": "A", "stones": stones, "levels": {c: "0" for c in self.cells}}

    def legal(self, s):
        level, free = s["levels"], self.free(s)
        can = {c for c in free if level[c] < "4"}
        return {(c, x, b) for c in self.mine(s) for x in self.near[c] if x in can and
                int(level[x]) <= int(level[c]) + 1 for b in self.near[x] if b in can | {c}}  # fmt: skip

    def play(self, s, move):
        stones = {**s["stones"], move[1]: s["stones"][move[0]]}
        del stones[move[0]]
        levels = {**s["levels"], move[2]: str(int(s["levels"][move[2]]) + 1)}
        return {"turn": OTHER[s["turn"]], "stones": stones, "levels": levels}

    def of(self, s, player):
        return str(sorted(s["levels"][c] for c in self.mine(s, player)))


class Yinsh(Game):
    """Five rings each; a ring leaves a marker, goes along a line and flips the markers it jumps."""

    steps = HEX

    def start(self, rng):
        cells = [int(c) for c in rng.permutation(sorted(self.cells))[:10]]
        return {"turn": "A", "stones": {c: ("AB"[i % 2], "ring") for i, c in enumerate(cells)}}

    def legal(self, s):
        moves = set()
        for c in self.mine(s):
            for d in HEX if s["stones"][c][1] == "ring" else ():
                n, jumped = 1, False
                while (x := self.to(c, d, n)) is not None and s["stones"].get(x, ("", ""))[1] != "ring":
                    if x in s["stones"]:
                        jumped = True
                    else:
                        moves.add((c, x))
                        if jumped:
                            break
                    n += 1
        return moves

    def play(self, s, move):
        c, x = move
        n = max(abs(self.row(x) - self.row(c)), abs(self.col(x) - self.col(c)))
        d = (self.row(x) - self.row(c)) // n, (self.col(x) - self.col(c)) // n
        stones = {**s["stones"], x: s["stones"][c], c: (s["turn"], "marker")}
        for k in range(1, n):
            over = self.to(c, d, k)
            if over in stones:
                stones[over] = (OTHER[stones[over][0]], "marker")
        return {**s, "turn": OTHER[s["turn"]], "stones": stones}


GAMES = {
    "abalone": Abalone, "alquerque": Alquerque, "blokus14": Duo, "blokus20": Blokus20, "blooms": Blooms,
    "breakthrough": Breakthrough, "bridges": Bridges, "checkers8": Checkers, "checkers10": Checkers,
    "chinesecheckers": ChineseCheckers, "gonnect": Gonnect, "hexgo": HexGo,
    "linesofaction": LinesOfAction, "morris": Morris, "othello6": Othello, "othello8": Othello,
    "othello10": Othello, "pentago": Pentago, "qubic": Qubic, "quoridor": Quoridor,
    "santorini": Santorini, "star": Star, "tictactoe3d": Lines, "triangle": Y, "twixt": Twixt,
    "ultimate": Ultimate, "xiangqi": Xiangqi, "yinsh": Yinsh,
    **{f"havannah{n}": Havannah for n in range(4, 11)},
}  # fmt: skip
