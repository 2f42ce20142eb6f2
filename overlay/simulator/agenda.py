"""What is to happen, by time: a bounded heap over flat buffers, for drivers that let messages take time. Compiled or interpreted.

An entry says when, of what kind, at whom, from whom, and two numbers more that only the driver understands. Of entries for the same time,
the one that was added first comes first, so that a seed gives the same run everywhere.

`heap` has two numbers for each entry: its time, and its ticket, which is how many were added before it, and its slot. The rest of an
entry stays in its slot, because the heap moves what it holds.
"""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from ..protocol.buffer import Buffer
from .compiled import Execution
from .errors import OverlayError

# Places of an entry that was taken.
AT_US: Final = 0
KIND: Final = 1
RECEIVER: Final = 2
SENDER: Final = 3
ITEM: Final = 4
DETAIL: Final = 5
ENTRY: Final = 6
# Places of `tally`: the entries that wait, those that were added in all, the slots that were ever used, the one that was freed last, and
# the entries that found no room.
WAITING: Final = 0
ADDED: Final = 1
USED: Final = 2
FREE: Final = 3
LOST: Final = 4
_TALLY: Final = 5
_NONE: Final = -1
_SLOT_BITS: Final = 24
_SLOT_MASK: Final = (1 << _SLOT_BITS) - 1
# Numbers of a slot: those of an entry without its time.
_PARTS: Final = ENTRY - 1
_NODE: Final = 2


class EventAgenda(NamedTuple):
    """Entries that wait for their time. Drivers read `entry`, which has the one taken last, and `tally`."""

    heap: Buffer
    slots: Buffer
    tally: Buffer
    entry: Buffer


def new_agenda(room: int, execution: Execution) -> EventAgenda:
    """Returns an empty agenda for `room` entries. Raises OverlayError if that is none, or too many to be numbered."""
    if not 1 <= room <= _SLOT_MASK:
        raise OverlayError(f"an agenda for {room:,} entries: give it room for 1 to {_SLOT_MASK:,}")
    agenda = EventAgenda(
        heap=execution.filled(_NODE * room),
        slots=execution.filled(_PARTS * room),
        tally=execution.filled(_TALLY),
        entry=execution.filled(ENTRY),
    )
    clear(agenda)
    return agenda


def room_of(agenda: EventAgenda) -> int:
    """Returns for how many entries there is room."""
    return len(agenda.slots) // _PARTS


def enlarged(agenda: EventAgenda, room: int, execution: Execution) -> EventAgenda:
    """Returns an agenda with the same entries, and with room for `room` of them. Raises OverlayError if that is too many to be numbered."""
    larger = new_agenda(room, execution)
    # Lists and arrays have slices, which buffers of protocol code need not have.
    pairs: Iterable[tuple[Any, Any]] = zip(agenda, larger, strict=True)
    for old, new in pairs:
        new[: len(old)] = old
    return larger


def clear(agenda: EventAgenda) -> None:
    """Forgets all entries, and that some were lost."""
    for place in range(_TALLY):
        agenda.tally[place] = 0
    agenda.tally[FREE] = _NONE


def has_lost(agenda: EventAgenda) -> bool:
    """Returns whether an entry found no room since the agenda was cleared. Kernels that clear it again ask before they do."""
    return agenda.tally[LOST] > 0


def check_room(agenda: EventAgenda) -> None:
    """Raises OverlayError if an entry found no room since the agenda was cleared. Drivers ask after each kernel that adds."""
    lost = int(agenda.tally[LOST])
    if lost:
        raise OverlayError(
            f"{lost:,} messages found no room among {room_of(agenda):,} that were under way at once, so the run is not valid; "
            "give a larger room, or publish less at a time"
        )


def add(agenda: EventAgenda, at_us: int, kind: int, receiver: int, sender: int, item: int, detail: int) -> bool:
    """Adds an entry. Returns whether there was room; otherwise it is lost, which `check_room` tells.

    - `at_us`: when, from 0 on.
    - `kind`, `receiver`, `sender`, `item`, `detail`: what the driver finds in `entry` at that time.
    """
    slot = _take_slot(agenda)
    if slot == _NONE:
        agenda.tally[LOST] += 1
        return False
    first = slot * _PARTS - 1
    agenda.slots[first + KIND] = kind
    agenda.slots[first + RECEIVER] = receiver
    agenda.slots[first + SENDER] = sender
    agenda.slots[first + ITEM] = item
    agenda.slots[first + DETAIL] = detail
    ticket = (agenda.tally[ADDED] << _SLOT_BITS) | slot
    agenda.tally[ADDED] += 1
    agenda.tally[WAITING] += 1
    _rise(agenda.heap, agenda.tally[WAITING] - 1, at_us, ticket)
    return True


def next_us(agenda: EventAgenda) -> int:
    """Returns the time of the first entry, or -1 if there is none."""
    return agenda.heap[0] if agenda.tally[WAITING] > 0 else _NONE


def take(agenda: EventAgenda) -> bool:
    """Moves the first entry to `entry`. Returns whether there was one."""
    waiting = agenda.tally[WAITING]
    if waiting == 0:
        return False
    slot = agenda.heap[1] & _SLOT_MASK
    agenda.entry[AT_US] = agenda.heap[0]
    for part in range(_PARTS):
        agenda.entry[1 + part] = agenda.slots[slot * _PARTS + part]
    agenda.slots[slot * _PARTS] = agenda.tally[FREE]
    agenda.tally[FREE] = slot
    waiting -= 1
    agenda.tally[WAITING] = waiting
    place = _sink(agenda.heap, waiting)
    _rise(agenda.heap, place, agenda.heap[_NODE * waiting], agenda.heap[_NODE * waiting + 1])
    return True


def _take_slot(agenda: EventAgenda) -> int:
    """Returns a slot that nobody uses, _NONE if all are in use."""
    slot = agenda.tally[FREE]
    if slot != _NONE:
        agenda.tally[FREE] = agenda.slots[slot * _PARTS]
        return slot
    if agenda.tally[USED] * _PARTS == len(agenda.slots):
        return _NONE
    agenda.tally[USED] += 1
    return agenda.tally[USED] - 1


def _rise(heap: Buffer, place: int, at_us: int, ticket: int) -> None:
    """Puts a pair at `place`, which is free, or as far above it as it belongs."""
    while place > 0:
        above = (place - 1) // 2
        over_us = heap[_NODE * above]
        if over_us < at_us or (over_us == at_us and heap[_NODE * above + 1] < ticket):
            break
        _move(heap, above, place)
        place = above
    heap[_NODE * place] = at_us
    heap[_NODE * place + 1] = ticket


def _sink(heap: Buffer, count: int) -> int:
    """Moves the free place at the top down to a leaf of the first `count` pairs, along the earlier ones. Returns where it is then."""
    place = 0
    while 2 * place + 1 < count:
        below = 2 * place + 1
        if below + 1 < count and _earlier(heap, below + 1, below):
            below += 1
        _move(heap, below, place)
        place = below
    return place


def _earlier(heap: Buffer, one: int, other: int) -> bool:
    if heap[_NODE * one] != heap[_NODE * other]:
        return heap[_NODE * one] < heap[_NODE * other]
    return heap[_NODE * one + 1] < heap[_NODE * other + 1]


def _move(heap: Buffer, source: int, place: int) -> None:
    heap[_NODE * place] = heap[_NODE * source]
    heap[_NODE * place + 1] = heap[_NODE * source + 1]
