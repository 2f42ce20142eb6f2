"""Cyclon: views of uniformly random nodes, by swapping entries (PC 5.3, P2P-8). Pure."""

from .buffer import Buffer
from .chance import sample
from .view import CELL, NODE, NONE, ROW, SINCE, find, put, tell


def choose(
    cells: Buffer, first: int, count: int, now: int, wanted: int, streams: Buffer, at: int, picks: Buffer, message: Buffer, to: int
) -> int:
    """Writes `wanted` random entries of the view into a message, from entry `to` on. Returns how many the message has then."""
    for place in range(count):
        picks[place] = place
    taken = sample(streams, at, picks, 0, count, wanted)
    for place in range(taken):
        tell(cells, first + picks[place], now, message, to + place)
    return to + taken


def merge(cells: Buffer, first: int, count: int, most: int, me: int, message: Buffer, received: int, sent: Buffer, told: int) -> int:
    """Takes up what was received: into free places first, then over entries that were sent away. Returns how many the view has.

    The view has at most `most` entries; `sent` is the message that went the other way, with `told` entries. A node that the view has
    already, and `me`, are passed over.
    """
    given = 0
    for at in range(received):
        node = message[at * CELL + NODE]
        if node != me and find(cells, first, count, node) == NONE:
            if count < most:
                put(cells, first + count, node, message[at * CELL + ROW], message[at * CELL + SINCE])
                count += 1
            else:
                place = NONE
                while place == NONE and given < told:
                    place = find(cells, first, count, sent[given * CELL + NODE])
                    given += 1
                if place == NONE:
                    return count
                put(cells, first + place, node, message[at * CELL + ROW], message[at * CELL + SINCE])
    return count
