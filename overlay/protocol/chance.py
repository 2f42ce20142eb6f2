"""Random streams that are the same compiled and interpreted. Pure: a stream is one number in a buffer, `streams[at]`.

Each stream is a multiply-with-carry generator with a lag of one: the number is `carry * 2^32 + digit`, and the next one is
`MULTIPLIER * digit + carry`. MULTIPLIER is below 2^31, so no number ever needs more than 63 bits. MULTIPLIER * 2^32 - 1 is a safe prime,
so every stream repeats itself after 2^62 draws or so, wherever it begins.
"""

from typing import Final

from .buffer import Buffer

MULTIPLIER: Final = 1787688159
_MASK: Final = 0xFFFFFFFF
_SPAN: Final = 1 << 32


def begin(streams: Buffer, at: int, seed: int, number: int) -> None:
    """Begins the stream `number` of `seed` at `streams[at]`. Both are below 2^63; each pair of them gives another stream."""
    carry = _mixed(seed, number, 0x2545F491)
    digit = _mixed(seed, number, 0x6C62272E)
    # A carry of 0 or of the greatest value may stand still; neither is ever begun with.
    streams[at] = ((1 + carry % (MULTIPLIER - 2)) << 32) | digit


def draw(streams: Buffer, at: int) -> int:
    """Returns the next number below 2^32 of the stream."""
    now = streams[at]
    digit, carry = now & _MASK, now >> 32
    streams[at] = MULTIPLIER * digit + carry
    # The digits alone are a plain linear sequence; with the carries over them they pass as random.
    return digit ^ carry


def below(streams: Buffer, at: int, count: int) -> int:
    """Returns a number from 0 to `count` - 1, all with the same chance. `count` is 1 to 2^31 - 1."""
    scaled = draw(streams, at) * count
    # Of 2^32 draws, 2^32 % count would make low results likelier; those are drawn again.
    if scaled & _MASK < count:
        least = (_SPAN - count) % count
        while scaled & _MASK < least:
            scaled = draw(streams, at) * count
    return scaled >> 32


def happens(streams: Buffer, at: int, times: int, of: int) -> bool:
    """Returns whether something happens that happens `times` in `of` times."""
    return below(streams, at, of) < times


def wide(streams: Buffer, at: int) -> int:
    """Returns a number below 2^62."""
    high = draw(streams, at) >> 1
    return (high << 31) | (draw(streams, at) >> 1)


def sample(streams: Buffer, at: int, items: Buffer, first: int, count: int, wanted: int) -> int:
    """Moves `wanted` random ones of `items[first : first + count]` to the front of that part, in random order, or all if there are fewer.

    Returns how many those are.
    """
    taken = min(wanted, count)
    for place in range(first, first + taken):
        other = place + below(streams, at, first + count - place)
        kept = items[place]
        items[place] = items[other]
        items[other] = kept
    return taken


def shuffle(streams: Buffer, at: int, items: Buffer, first: int, count: int) -> None:
    """Puts `items[first : first + count]` into random order."""
    sample(streams, at, items, first, count, count)


def _mixed(seed: int, number: int, salt: int) -> int:
    """Returns 32 bits that depend on all bits of `seed` and `number`."""
    found = _scattered(salt ^ (seed & _MASK))
    found = _scattered(found ^ (seed >> 32))
    found = _scattered(found ^ salt ^ (number & _MASK))
    return _scattered(found ^ (number >> 32))


def _scattered(bits: int) -> int:
    """Returns 32 bits for 32 bits, one to one. If one bit of `bits` changes, each bit of the result changes half of the times."""
    bits ^= bits >> 16
    bits = (bits * 0x7FEB352D) & _MASK
    bits ^= bits >> 15
    bits = (bits * 0x2C1B3C6D) & _MASK
    bits ^= bits >> 14
    bits = (bits * 0x31848BAB) & _MASK
    return bits ^ (bits >> 16)
