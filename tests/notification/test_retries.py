"""When a failed attempt is repeated, whatever the clock does."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notification.retries import MAX_ATTEMPTS, MIN_ATTEMPTS, WINDOW_S, next_delay_s

WINDOW_MS = int(WINDOW_S * 1000)
times_ms = st.integers(-(1 << 53), 1 << 53)
seeds = st.integers(0, 1 << 32).map(random.Random)


def delays(rng: random.Random) -> list[float]:
    """Returns all delays under a clock that tells what was waited; nothing else takes time."""
    found: list[float] = []
    while (delay_s := next_delay_s(len(found) + 1, 0, int(sum(found) * 1000), rng)) is not None:
        found.append(delay_s)
    return found


@settings(max_examples=60)
@given(seeds)
def test_there_are_eight_attempts_within_half_an_hour(rng: random.Random) -> None:
    found = delays(rng)
    assert len(found) == MAX_ATTEMPTS - 1
    assert WINDOW_S / 3 < sum(found) < WINDOW_S


@settings(max_examples=60)
@given(seeds)
def test_each_delay_is_at_least_as_long_as_the_one_before_could_be(rng: random.Random) -> None:
    found = delays(rng)
    assert found == sorted(found)
    assert found[0] >= 7


def test_two_that_failed_together_do_not_come_back_together() -> None:
    assert delays(random.Random(1)) != delays(random.Random(2))


@settings(max_examples=60)
@given(st.lists(times_ms, min_size=MAX_ATTEMPTS, max_size=MAX_ATTEMPTS), times_ms, seeds)
def test_a_clock_that_jumps_makes_neither_an_endless_nor_an_immediate_loop(
    clock_ms: list[int], started_ms: int, rng: random.Random
) -> None:
    found = [next_delay_s(attempt, started_ms, now_ms, rng) for attempt, now_ms in enumerate(clock_ms, 1)]
    assert found[-1] is None
    assert all(delay_s is None or 7 <= delay_s < WINDOW_S for delay_s in found)


@settings(max_examples=60)
@given(st.integers(1, MIN_ATTEMPTS - 1), times_ms, times_ms, seeds)
def test_a_clock_alone_takes_the_first_attempts_from_nobody(attempt: int, started_ms: int, now_ms: int, rng: random.Random) -> None:
    assert next_delay_s(attempt, started_ms, now_ms, rng) is not None


@pytest.mark.parametrize("late_ms", [0, 1, WINDOW_MS])
def test_after_the_window_it_is_given_up(late_ms: int) -> None:
    assert next_delay_s(MIN_ATTEMPTS, 5, 5 + WINDOW_MS + late_ms, random.Random(1)) is None


def test_what_the_other_side_asks_for_is_waited_but_not_for_ever() -> None:
    rng = random.Random(1)
    assert next_delay_s(1, 0, 0, rng, at_least_s=600) == 600
    assert next_delay_s(1, 0, 0, rng, at_least_s=86_400) == WINDOW_S
    assert 7 <= (next_delay_s(1, 0, 0, rng, at_least_s=0.5) or 0) <= 14


def test_attempts_are_counted_from_one() -> None:
    with pytest.raises(ValueError, match="counted from 1, got 0"):
        next_delay_s(0, 0, 0, random.Random(1))
