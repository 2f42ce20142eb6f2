"""The message cache of GossipSub: which events came lately, in windows of a heartbeat each (libp2p, gossipsub v1.0, "Message Cache"). Pure.

Events have positions, counted from the first one that a node ever got. A node keeps the last ones in a ring of `size` places of `log`,
from `row * size` on. `marks` has `windows + 1` numbers for each row: where the window that is 0, 1, 2, … heartbeats old begins, and at
last the position of the next event.
"""

from .buffer import Buffer


def remember(log: Buffer, marks: Buffer, row: int, size: int, windows: int, event: int) -> None:
    """Puts an event into the current window. It drives out the oldest one of a full ring."""
    at = row * (windows + 1) + windows
    log[row * size + marks[at] % size] = event
    marks[at] += 1


def shift(marks: Buffer, row: int, windows: int) -> None:
    """Ends the current window, and forgets the oldest one."""
    first = row * (windows + 1)
    for age in range(windows - 1, 0, -1):
        marks[first + age] = marks[first + age - 1]
    marks[first] = marks[first + windows]


def begins(marks: Buffer, row: int, size: int, windows: int, counted: int) -> int:
    """Returns the position of the first event in the last `counted` windows, the current one included."""
    first = row * (windows + 1)
    return max(marks[first + counted - 1], marks[first + windows] - size)


def ends(marks: Buffer, row: int, windows: int) -> int:
    """Returns the position behind the last event."""
    return marks[row * (windows + 1) + windows]


def event_at(log: Buffer, row: int, size: int, position: int) -> int:
    """Returns the event at a position that is not forgotten."""
    return log[row * size + position % size]
