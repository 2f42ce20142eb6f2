"""The hash ring: which slot owns a topic.

uhashring lays the points out. This class makes the ring an immutable value whose answer depends on the set of slots alone, and looks keys
up by bisection, without what uhashring keeps for each key. The hash is blake2b, never the built-in one: that is salted, and two
processes would disagree.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import repeat
from struct import unpack
from typing import Final

from uhashring import HashRing

# Points of a slot. With 128 the fullest of 16 slots has up to 1.28 times the mean share; SB-19 allows 1.25.
POINTS: Final = 256
# So many hashes there are.
SPACE: Final = 1 << 64
# A cell is all hashes that begin with the same 16 bits. Whoever keeps the cell of a million topics, at two bytes each, finds out
# without hashing them again which of them a change of the ring may concern.
CELLS: Final = 1 << 16
CELL_SHIFT: Final = 48
# What was reckoned of the last rings is kept: the links of a process, and roles that share one, all ask for the same. Cells take 64 KiB.
KEPT: Final = 32
# Of the parts of two rings, which take 250 KiB with five slots, all that is reckoned is so in one turn.
KEPT_ARCS: Final = 4
# So many points are kept by their names, those of 32 slots: 1 MiB.
KEPT_POINTS: Final = 1 << 13

_Arc = tuple[int, int, str | None, str | None]


def hash64(key: bytes | str) -> int:
    """Returns a 64-bit hash of `key`, the same in every process."""
    data = key.encode() if isinstance(key, str) else key
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big")


def hashes64(keys: Sequence[bytes]) -> tuple[int, ...]:
    """Returns what `hash64` does of each of many `keys`, at half the cost. `hashed >> CELL_SHIFT` is the cell that a hash lies in."""
    return unpack(f">{len(keys)}Q", b"".join([blake2b(key, digest_size=8).digest() for key in keys]))


@lru_cache(maxsize=KEPT_POINTS)
def point_of(name: str) -> int:
    """Returns the point that has a name. With each step of the ring nearly all points stay as they were."""
    return hash64(name)


@lru_cache(maxsize=KEPT)
def _layout(taken: tuple[tuple[str, int], ...]) -> tuple[list[int], list[str]]:
    """Returns the points of slots that have taken so many, in order, and the owner of each. Equal rings of a process share them."""
    if not taken:
        return [], []
    nodes = {slot: {"vnodes": share} for slot, share in taken}  # two slots may share a point; then the order decides
    layout = HashRing(nodes, hash_fn=point_of).get_points()
    return [point for point, _ in layout], [owner for _, owner in layout]


@lru_cache(maxsize=KEPT)
def _heirs(taken: tuple[tuple[str, int], ...]) -> list[str | None]:
    """Returns, for each point in order, whose the next one is that is another slot's than it; None where there is no other slot."""
    _, owners = _layout(taken)
    heirs: list[str | None] = [None] * len(owners)
    if len({*owners}) > 1:
        heir, after = None, None
        for at in range(2 * len(owners) - 1, -1, -1):  # twice around, so that the last points see the first ones
            owner = owners[at % len(owners)]
            if after is not None and after != owner:
                heir = after
            heirs[at % len(owners)], after = heir, owner
    return heirs


class Ring:
    """An immutable consistent-hash ring over slot names (SB-17, SB-19, SB-20).

    - `slots`: those that own anything.
    """

    __slots__ = ("_owners", "_points", "_taken", "slots")

    def __init__(self, slots: Iterable[str], points: int = POINTS, shares: Mapping[str, int] | None = None) -> None:
        """Lays out the ring.

        - `slots`: any names, in any order.
        - `points`: how many points a slot has.
        - `shares`: how many of them some slots have taken; without it, each has all of them. A slot takes its points in the same order
          whatever the others have. So a share that rises moves topics to its slot alone, and one that falls from its slot alone.
        """
        taken = {slot: points if shares is None else shares.get(slot, points) for slot in slots}
        self.slots: tuple[str, ...] = tuple(sorted(slot for slot, share in taken.items() if share))
        self._taken = tuple((slot, taken[slot]) for slot in self.slots)
        self._points, self._owners = _layout(self._taken)

    @property
    def share_of(self) -> dict[str, int]:
        """How many points each of `slots` has taken."""
        return dict(self._taken)

    def owner(self, key: bytes) -> str | None:
        """Returns the slot that owns `key`; None on an empty ring."""
        return self.owner_at(hash64(key))

    def owner_at(self, hashed: int) -> str | None:
        """Returns the slot that owns a key with this hash; None on an empty ring."""
        if not self._points:
            return None
        # The next point clockwise; behind the last one comes the first.
        return self._owners[bisect_right(self._points, hashed) % len(self._points)]

    def owners(self, keys: Sequence[bytes]) -> list[str | None]:
        """Returns the slot that owns each of many `keys`; None for all of them on an empty ring."""
        return self.owners_at(hashes64(keys))

    def owners_at(self, hashes: Sequence[int]) -> list[str | None]:
        """Returns what `owner_at` does of each of many `hashes`."""
        if not self._points:
            return [None] * len(hashes)
        points, around = self._points, [*self._owners, self._owners[0]]
        return [around[bisect_right(points, hashed)] for hashed in hashes]

    def heir_at(self, hashed: int) -> str | None:
        """Returns the slot that would own a key with this hash if its owner were not there; None where there is no other slot."""
        if not self._points:
            return None
        return _heirs(self._taken)[bisect_right(self._points, hashed) % len(self._points)]

    def heir(self, key: bytes) -> str | None:
        """Returns the slot that would own `key` if its owner were not there; None where there is no other slot."""
        return self.heir_at(hash64(key))

    def heirs(self, slot: str) -> frozenset[str]:
        """Returns the slots that would own something of what `slot` owns if it were not there."""
        return frozenset(heir for owner, heir in zip(self._owners, _heirs(self._taken), strict=True) if owner == slot and heir is not None)

    def parts(self, later: "Ring") -> dict[tuple[str | None, str | None], float]:
        """Returns how much of all keys has which owner here and on the ring `later`, as parts of 1."""
        return dict(_parts(self, later))

    def moved_cells(self, later: "Ring") -> bytes:
        """Returns for each cell 1 if a key in it has another owner on the ring `later`, else 0. Of cell 0 it is always 1."""
        return _moved_cells(self, later)

    def cells_of(self, slot: str) -> bytes:
        """Returns for each cell 1 if `slot` owns a key in it, else 0. Of cell 0 it is always 1."""
        return _cells_of(self, slot)

    def step(self, later: "Ring") -> "RingStep":
        """Returns what tells which keys have another owner on the ring `later`."""
        return _step(self, later)

    def arcs(self, later: "Ring") -> list[_Arc]:
        """Returns start and end of each part of all hashes that has one owner here and one on the ring `later`, and these two."""
        return _arcs(self, later)

    def _owners_from(self, edges: Sequence[int]) -> Iterator[str | None]:
        """Yields `owner_at` of each of `edges`, which rise."""
        if not self._points:
            yield from repeat(None, len(edges))
            return
        points, owners, at = self._points, self._owners, 0
        for edge in edges:
            while at < len(points) and points[at] <= edge:
                at += 1
            yield owners[at] if at < len(points) else owners[0]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ring) and self._taken == other._taken

    def __hash__(self) -> int:
        return hash(self._taken)


class RingStep:
    """The change from one ring to another, for many keys at a time: one look-up for each instead of one on either ring.

    - `moves`: the pairs of owners, here and there, between which keys move.
    """

    __slots__ = ("_at", "_starts", "moves")

    def __init__(self, before: Ring, after: Ring) -> None:
        arcs = [(start, (here, there)) for start, _, here, there in before.arcs(after)]
        self.moves = sorted({move for _, move in arcs if move[0] != move[1]}, key=str)
        index = {move: at for at, move in enumerate(self.moves)}
        self._starts = [start for start, _ in arcs]
        # In front of the first start there is nothing, so that no 1 has to be taken from what bisection finds.
        self._at = [-1, *(index.get(move, -1) for _, move in arcs)]

    def moving(self, hashes: Sequence[int]) -> list[int]:
        """Returns which of `moves` each of many hashes takes part in; -1 where its owner stays."""
        starts, at = self._starts, self._at
        return [at[bisect_right(starts, hashed)] for hashed in hashes]


@lru_cache(maxsize=KEPT_ARCS)
def _arcs(ring: Ring, later: Ring) -> list[_Arc]:
    edges = sorted({0, SPACE, *ring._points, *later._points})
    return list(zip(edges, edges[1:], ring._owners_from(edges), later._owners_from(edges), strict=False))


@lru_cache(maxsize=KEPT)
def _step(ring: Ring, later: Ring) -> RingStep:
    return RingStep(ring, later)


@lru_cache(maxsize=KEPT)
def _parts(ring: Ring, later: Ring) -> dict[tuple[str | None, str | None], float]:
    found: dict[tuple[str | None, str | None], float] = {}
    for start, end, here, there in ring.arcs(later):
        found[here, there] = found.get((here, there), 0.0) + (end - start) / SPACE
    return found


@lru_cache(maxsize=KEPT)
def _moved_cells(ring: Ring, later: Ring) -> bytes:
    return _marked((start, end) for start, end, here, there in ring.arcs(later) if here != there)


@lru_cache(maxsize=KEPT)
def _cells_of(ring: Ring, slot: str) -> bytes:
    return _marked((start, end) for start, end, here, _ in ring.arcs(ring) if here == slot)


def _marked(arcs: Iterable[tuple[int, int]]) -> bytes:
    cells = bytearray(CELLS)
    cells[0] = 1  # there is also what nobody has hashed yet
    for start, end in arcs:
        first, last = start >> CELL_SHIFT, (end - 1) >> CELL_SHIFT
        cells[first : last + 1] = b"\1" * (last + 1 - first)
    return bytes(cells)
