"""What loading has left free between objects that stay is filled, before workers are forked.

A worker's first objects would else go there, one here and one there, and copy a page for each: the
page, in the worker and in the process it is forked from, takes more than the gap was worth.
"""

import sys
from typing import Final

# CPython has pools of 16 KB with blocks of one size each. Larger objects leave hardly any gap.
SIZES: Final = range(48, 257, 16)
EMPTY_BYTES: Final = sys.getsizeof(b"")
# So many blocks in a row are no gap but a pool in which nothing lies.
ROW_BYTES: Final = 15 * 1024
MOST_BYTES: Final = 2 * 1024 * 1024  # Of one size, wherever another allocator may put them.


def filled_gaps() -> list[list[bytes]]:
    """Return what lies in the gaps; they are free again once that is forgotten."""
    return [_filled(size) for size in SIZES]


def _filled(size: int) -> list[bytes]:
    blocks = [bytes(size - EMPTY_BYTES)]
    in_a_row = 0
    while in_a_row < ROW_BYTES and len(blocks) * size < MOST_BYTES:
        blocks.append(bytes(size - EMPTY_BYTES))
        follows = id(blocks[-1]) - id(blocks[-2]) == size  # In CPython, that is where it lies.
        in_a_row = in_a_row + size if follows else 0
    del blocks[len(blocks) - in_a_row // size :]
    return blocks
