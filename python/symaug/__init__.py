"""symaug for Python: every symmetric image of board-game training rows, while a net trains.

    Board      cells, transforms and action maps of a board
    Augmenter  images of the rows of arrays or of a shard, any row under any transform
    Loader     batches of images of many shards, shuffled; resumes exactly
    expand, verify, dedupe, split, overlap   the program's commands
    Error      what every failure is

Arrays are numpy's. Options are those of `symaug expand` as keywords: --to-move pm1 is
to_move="pm1", and several of one kind are a list: role=["x=planes", "y=copy"].
"""

from .library import Error
from .board import Board
from .augmenter import Augmenter
from .loader import Loader
from .program import dedupe, expand, overlap, split, verify

__version__ = "1.0.0"
__all__ = ["Augmenter", "Board", "Error", "Loader", "dedupe", "expand", "overlap", "split", "verify"]
