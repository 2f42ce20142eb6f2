"""Interest: which links want which topic, in little memory (design 5.4).

A topic has a dense *row* number. A row is one bit mask of links, and one 32-bit handle for each link. There is no object for a row
beyond the topic's bytes and its number. Rows are reused only after `release`: a node that uses row numbers as handles towards other
nodes decides when the last delivery under the old meaning has passed (see `limbo`).
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from sys import byteorder
from typing import Final

from .errors import Refused
from .ring import CELL_SHIFT, CELLS
from .topics import Topic

# A row's mask is 64 bits wide, so that it costs eight bytes; more links would cost every row more. The two highest bits are no links.
MAX_LINKS: Final = 62
LINKS: Final = (1 << MAX_LINKS) - 1
# So many rows are looked at for one part of what is wanted; and so many where each of them has to be hashed.
ROWS_AT_ONCE: Final = 8192
TOPICS_AT_ONCE: Final = 1024
# Where few of the rows have to be looked at, so many times as many.
LOOKS_AT_ONCE: Final = 8
# The cells of everything, for `Interest.wanted_in`.
EVERY_CELL: Final = b"\1" * CELLS
# Which of the two bytes of a cell's number in memory is the higher one.
HIGHER_HALF: Final = int(byteorder == "little")
NO_TOPIC: Final = Topic(b"")


class Interest:
    """Topic -> row -> mask of links. Link numbers are bits 0 to 61; what the two others mean is up to the node.

    `by_cell`: each row has two bytes for the cell of the ring that its topic lies in, and eight for its topic. So `wanted_in` need not hash
    all topics, and passes over most rows without a look at each. Whoever hashes a topic anyway notes its cell. A row of which that is not
    known is in cell 0.
    """

    def __init__(self, *, by_cell: bool = False) -> None:
        self.rows: dict[Topic, int] = {}
        self.masks = array("Q")
        self._cells = array("H") if by_cell else None
        self._topics: list[Topic] = []
        self._handles: dict[int, array[int]] = {}
        self._free: list[int] = []

    def __len__(self) -> int:
        """Returns the number of rows, those included that nobody wants any more and that are not released yet."""
        return len(self.rows)

    def handles(self, bit: int) -> "array[int]":
        """Returns the handles of link `bit`, indexed by row. It is the same object for as long as the link exists."""
        return self._handles[bit]

    def check_room(self) -> None:
        """Raises `Refused("overloaded")` when there are as many links as a mask has bits."""
        if len(self._handles) >= MAX_LINKS:
            raise Refused(
                "overloaded", f"this node has {MAX_LINKS} subscribing links and can have no more; go to another one, or start one"
            )

    def open(self) -> int:
        """Gives a new link the lowest free number. Raises `Refused("overloaded")` as `check_room` does."""
        self.check_room()
        bit = next(bit for bit in range(MAX_LINKS) if bit not in self._handles)
        self._handles[bit] = array("I")
        return bit

    def subscribe(self, bit: int, topics: Sequence[Topic], handles: Sequence[int]) -> list[tuple[int, Topic, int]]:
        """Notes that link `bit` wants `topics`, under `handles`.

        Returns (row, topic, mask before) for each topic that it did not want before.
        """
        rows, masks, mine, flag = self.rows, self.masks, self._handles[bit], 1 << bit
        news: list[tuple[int, Topic, int]] = []
        for topic, handle in zip(topics, handles, strict=True):
            row = rows.get(topic)
            if row is None:
                row = self._new_row(topic)
            if row >= len(mine):  # in place, because `fanout` holds this very array; places that are not written are never read
                mine.frombytes(bytes(4 * (len(masks) + len(topics) - len(mine))))  # as far as the last of them can need
            mine[row] = handle
            before = masks[row]
            if not before & flag:
                masks[row] = before | flag
                news.append((row, topic, before))
        return news

    def row_of(self, topic: Topic) -> int:
        """Returns the row of `topic`, a new one that nobody wants yet where there is none."""
        row = self.rows.get(topic)
        return self._new_row(topic) if row is None else row

    def _new_row(self, topic: Topic) -> int:
        if self._free:
            row = self._free.pop()
        else:
            row = len(self.masks)
            self.masks.append(0)
            if self._cells is not None:
                self._cells.append(0)
                self._topics.append(NO_TOPIC)
        if self._cells is not None:
            self._topics[row] = topic
        self.rows[topic] = row
        return row

    def unsubscribe(self, bit: int, topics: Iterable[Topic]) -> list[tuple[int, Topic, int]]:
        """Notes that link `bit` no longer wants `topics`. Returns (row, topic, mask after) for each that it did want."""
        rows, masks, flag = self.rows, self.masks, 1 << bit
        gone: list[tuple[int, Topic, int]] = []
        for topic in topics:
            row = rows.get(topic)
            if row is not None and masks[row] & flag:
                masks[row] ^= flag  # the bit is set, so this clears it; the handle stays and means nothing
                gone.append((row, topic, masks[row]))
        return gone

    def close(self, bit: int) -> list[tuple[int, Topic, int]]:
        """Unsubscribes link `bit`, which is gone, from everything, and forgets it. Returns what `unsubscribe` does."""
        masks, flag = self.masks, 1 << bit
        gone = self.unsubscribe(bit, [topic for topic, row in self.rows.items() if masks[row] & flag])
        self.forget(bit)
        return gone

    def forget(self, bit: int) -> None:
        """Forgets link `bit`, which is gone and wants nothing any more. Its number may be given out again."""
        del self._handles[bit]

    def release(self, row: int, topic: Topic) -> bool:
        """Forgets a row that nobody wants, so that its number is free for another topic. Returns False if it is wanted again."""
        if self.rows.get(topic) != row or self.masks[row]:
            return False
        del self.rows[topic]
        self._free.append(row)
        if self._cells is not None:
            self._cells[row], self._topics[row] = 0, NO_TOPIC
        return True

    def wanted(self, mask: int) -> Iterator[tuple[int, Topic]]:
        """Yields (row, topic) of everything that any link of `mask` wants."""
        masks = self.masks
        return ((row, topic) for topic, row in self.rows.items() if masks[row] & mask)

    def note_cells(self, pairs: Iterable[tuple[int, Topic]], hashes: Iterable[int]) -> None:
        """Notes the cells of the ring that topics lie in, by their hashes."""
        if (mine := self._cells) is not None:
            for (row, _), hashed in zip(pairs, hashes, strict=True):
                mine[row] = hashed >> CELL_SHIFT

    def wanted_in(self, mask: int, cells: bytes) -> Iterator[list[tuple[int, Topic]]]:
        """Yields, in parts, (row, topic) of what any link of `mask` wants, but for what is known to lie in cells that are 0 in `cells`.

        What is not known is in cell 0, so that one should be 1. The table may change between two parts. Then no later part has what is not
        wanted any more. What is new since the first part may be in one, or in none.
        """
        return self._wanted_in_all(mask) if self._cells is None else self._wanted_in_cells(mask, cells, self._cells)

    def _wanted_in_cells(self, mask: int, cells: bytes, mine: "array[int]") -> Iterator[list[tuple[int, Topic]]]:
        masks, topics, part, looked = self.masks, self._topics, list[tuple[int, Topic]](), 0
        # First by half of each cell's number, for many rows in one step: most of a million lie in none of these.
        halves = bytes(1 in cells[half << 8 : half + 1 << 8] for half in range(256))
        for start in range(0, len(masks), ROWS_AT_ONCE):
            near = mine[start : start + ROWS_AT_ONCE].tobytes()[HIGHER_HALF::2].translate(halves)
            rows = compress(range(start, start + len(near)), near)
            # A row that nobody has is wanted by nobody.
            part += [(row, topics[row]) for row in rows if cells[mine[row]] and masks[row] & mask]
            looked += 1
            if len(part) >= TOPICS_AT_ONCE or looked == LOOKS_AT_ONCE:
                yield part
                part, looked = [], 0
        if looked:
            yield part

    def _wanted_in_all(self, mask: int) -> Iterator[list[tuple[int, Topic]]]:
        masks, known = self.masks, self.rows
        rows, topics = list(known.values()), list(known)
        for start in range(0, len(rows), TOPICS_AT_ONCE):
            end = start + TOPICS_AT_ONCE
            yield [
                (row, topic)
                for row, topic in zip(rows[start:end], topics[start:end], strict=True)
                if masks[row] & mask and known.get(topic) == row  # the number of a row may be another topic's by now
            ]
