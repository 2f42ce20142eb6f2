"""Bloom filters, one behind the other (quasar 3.1, P2P-36). Pure.

A filter is a number of words of WORD_BITS bits in a buffer. An id has `hashes` places in it, the numbers of the bits that it sets; whoever
has an id computes them once, by `find_places`. They stand in a buffer of their own, so that exact sets, in which every id has one bit of
its own, are the same filters with other places.
"""

from typing import Final

from .buffer import Buffer

# As many as a number may have here: the fewer words, the sooner they are merged.
WORD_BITS: Final = 62
_HALF: Final = 0x7FFFFFFF


def find_places(places: Buffer, at: int, identity: int, hashes: int, bits: int) -> None:
    """Writes the places of `identity`, an id of `ids`, to `places[at : at + hashes]`. The id is random, so its halves are two hashes."""
    place, step = identity & _HALF, (identity >> 31) & _HALF | 1
    for number in range(hashes):
        places[at + number] = place % bits
        place += step


def insert(filters: Buffer, first: int, places: Buffer, at: int, hashes: int) -> None:
    """Inserts what has the places from `places[at]` on into the filter that begins at `filters[first]`."""
    for number in range(hashes):
        place = places[at + number]
        filters[first + place // WORD_BITS] |= 1 << (place % WORD_BITS)


def contains(filters: Buffer, first: int, places: Buffer, at: int, hashes: int) -> bool:
    """Returns whether all places are set. If they are not, it was never inserted."""
    for number in range(hashes):
        place = places[at + number]
        if not (filters[first + place // WORD_BITS] >> (place % WORD_BITS)) & 1:
            return False
    return True


def merge(filters: Buffer, first: int, others: Buffer, theirs: int, words: int) -> None:
    """Inserts all that is in the filter of `words` words at `others[theirs]`."""
    for word in range(words):
        filters[first + word] |= others[theirs + word]


def clear(filters: Buffer, first: int, words: int) -> None:
    """Empties `words` words."""
    for word in range(words):
        filters[first + word] = 0


def bits_set(filters: Buffer, first: int, words: int) -> int:
    """Returns how many bits are set."""
    found = 0
    for word in range(words):
        left = filters[first + word]
        while left:
            left &= left - 1
            found += 1
    return found
