"""Streams that are the same compiled and interpreted, even, and apart from each other."""

import math

import pytest

from overlay.protocol.buffer import Buffer
from overlay.protocol.chance import MULTIPLIER, begin, below, draw, happens, sample, shuffle, wide
from overlay.simulator.compiled import COMPILED, INTERPRETED, numbers

# Of a chi-square with k degrees of freedom, values above k + 5 sqrt(2k) come about once in a million.
SIGMAS = 5.0


def stream(seed: int = 1, number: int = 0) -> list[int]:
    """Returns a buffer with one stream."""
    streams = [0]
    begin(streams, 0, seed, number)
    return streams


def too_uneven(counts: list[int]) -> bool:
    """Returns whether numbers that were drawn with equal chances would hardly ever be so far apart, or so near to each other."""
    expected = sum(counts) / len(counts)
    chi_square: float = sum((each - expected) ** 2 for each in counts) / expected
    freedom = len(counts) - 1
    return abs(chi_square - freedom) > SIGMAS * math.sqrt(2 * freedom)


def script(streams: Buffer, items: Buffer, drawn: Buffer) -> None:
    """Uses a stream in every way."""
    for at in range(len(streams)):
        begin(streams, at, (1 << 62) + 7, at * 1_000_003)
    for place in range(len(drawn)):
        at = place % len(streams)
        if place % 4 == 0:
            drawn[place] = draw(streams, at)
        elif place % 4 == 1:
            drawn[place] = below(streams, at, 1 + (1 << (place % 31)))
        elif place % 4 == 2:
            drawn[place] = wide(streams, at)
        else:
            drawn[place] = 1 if happens(streams, at, 1, 3) else 0
    sample(streams, 0, items, 3, 20, 8)
    shuffle(streams, 1, items, 0, len(items))


def test_compiled_and_interpreted_draw_the_same() -> None:
    """OV-1."""
    results = []
    for execution in (COMPILED, INTERPRETED):
        buffers = [execution.filled(5), execution.buffer(range(40)), execution.filled(4_000)]
        execution.kernel(script)(*buffers)
        results.append([numbers(each) for each in buffers])
    assert results[0] == results[1]


def test_no_stream_leaves_63_bits() -> None:
    streams = stream()
    for _ in range(10_000):
        draw(streams, 0)
        assert 0 < streams[0] < MULTIPLIER << 32 < 1 << 63


def test_the_period_is_as_long_as_it_can_be() -> None:
    """p = MULTIPLIER * 2^32 - 1 and (p - 1) / 2 are primes: a stream repeats itself after (p - 1) / 2 draws at the earliest."""
    half = MULTIPLIER * (1 << 31) - 1
    for number in (half, 2 * half + 1):
        assert all(pow(base, number - 1, number) == 1 for base in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37))


@pytest.mark.parametrize("count", [1, 2, 3, 7, 1000])
def test_numbers_below_a_count_are_even(count: int) -> None:
    streams, counts = stream(count), [0] * count
    for _ in range(100 * max(count, 100)):
        counts[below(streams, 0, count)] += 1
    assert count == 1 or not too_uneven(counts)


def test_counts_that_do_not_divide_the_range_are_not_biased() -> None:
    """Of 3 * 2^29, plain scaling would give a third of the results twice as often as the others."""
    count, streams, thirds = 3 << 29, stream(3), [0, 0, 0]
    for _ in range(30_000):
        thirds[below(streams, 0, count) % 3] += 1
    assert not too_uneven(thirds)


def test_successive_draws_fill_a_square_evenly() -> None:
    streams, cells = stream(8), [0] * 1024
    for _ in range(60_000):
        cells[below(streams, 0, 32) * 32 + below(streams, 0, 32)] += 1
    assert not too_uneven(cells)


def test_every_bit_is_set_half_of_the_times() -> None:
    streams, total = stream(9), 20_000
    numbers = [draw(streams, 0) for _ in range(total)]
    for bit in range(32):
        ones = sum(number >> bit & 1 for number in numbers)
        assert abs(ones - total / 2) < SIGMAS * (total / 4) ** 0.5


@pytest.mark.parametrize("neighbours", ["numbers", "seeds"])
def test_neighbouring_streams_have_nothing_in_common(neighbours: str) -> None:
    cells = [0] * 256
    for each in range(20_000):
        one, other = (stream(5, each), stream(5, each + 1)) if neighbours == "numbers" else (stream(each, 5), stream(each + 1, 5))
        cells[(draw(one, 0) >> 28) * 16 + (draw(other, 0) >> 28)] += 1
    assert not too_uneven(cells)


def test_seed_and_number_are_no_sum() -> None:
    begun = {stream(seed, number)[0] for seed in range(60) for number in range(60)}
    assert len(begun) == 3600
    assert len({stream(seed << shift, 0)[0] for seed in (1, 3) for shift in range(60)}) == 120


def test_a_sample_takes_everything_equally_often_and_nothing_twice() -> None:
    streams, counts = stream(2), [0] * 10
    for _ in range(20_000):
        items = list(range(10))
        assert sample(streams, 0, items, 0, 10, 3) == 3
        assert sorted(items) == list(range(10))
        for item in items[:3]:
            counts[item] += 1
    # Three of ten without repetition vary less than single draws would: only too much is wrong here.
    assert max(abs(each - 6_000) for each in counts) < SIGMAS * (20_000 * 0.3 * 0.7) ** 0.5


def test_a_sample_of_more_than_there_are_is_all_of_them_and_touches_nothing_beside() -> None:
    items = list(range(10))
    assert sample(stream(), 0, items, 4, 3, 5) == 3
    assert sorted(items[4:7]) == [4, 5, 6]
    assert items[:4] + items[7:] == [0, 1, 2, 3, 7, 8, 9]


def test_all_orders_of_a_shuffle_are_equally_likely() -> None:
    streams, counts = stream(4), dict.fromkeys(range(1000), 0)
    for _ in range(24_000):
        items = [0, 1, 2, 3]
        shuffle(streams, 0, items, 0, 4)
        counts[items[0] * 100 + items[1] * 10 + items[2]] += 1
    orders = [each for each in counts.values() if each]
    assert len(orders) == 24
    assert not too_uneven(orders)


def test_something_happens_as_often_as_it_is_to() -> None:
    streams = stream(6)
    times = sum(happens(streams, 0, 30, 100) for _ in range(10_000))
    assert abs(times - 3_000) < SIGMAS * 2_100**0.5
    assert not any(happens(streams, 0, 0, 5) for _ in range(100))
    assert all(happens(streams, 0, 5, 5) for _ in range(100))
