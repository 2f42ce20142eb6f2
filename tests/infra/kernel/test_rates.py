"""Rates: in no time does anybody do more than their burst and what the time allows, and nobody waits for longer than they are told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.kernel.http_error import http_error
from infra.kernel.rates import Bucket, Buckets, Rate, RateRefused

RATES = st.builds(Rate, per_s=st.floats(0.1, 1000), burst=st.floats(1, 100))
PAUSES = st.floats(0, 10)
COSTS = st.floats(0.01, 100)


@given(RATES, st.lists(st.tuples(PAUSES, COSTS), max_size=50))
def test_in_any_time_no_more_is_allowed_than_a_burst_and_what_the_time_brings(rate: Rate, asked: list[tuple[float, float]]) -> None:
    """DPS-26."""
    bucket, now_s, allowed = Bucket(rate), 0.0, list[tuple[float, float]]()
    for pause_s, cost in asked:
        now_s += pause_s
        cost = min(cost, rate.burst)
        if not bucket.allow(now_s, cost):
            allowed.append((now_s, cost))
    for first, (begin_s, _) in enumerate(allowed):
        for last in range(first, len(allowed)):
            total = sum(cost for _, cost in allowed[first : last + 1])
            assert total <= rate.burst + rate.per_s * (allowed[last][0] - begin_s) + 1e-6 * rate.per_s + 1e-6


@given(RATES, st.lists(st.tuples(PAUSES, COSTS), max_size=50), COSTS)
def test_who_waits_as_long_as_they_are_told_is_let_in_and_nobody_is_told_too_much(
    rate: Rate, asked: list[tuple[float, float]], cost: float
) -> None:
    bucket, now_s = Bucket(rate), 0.0
    for pause_s, each in asked:
        now_s += pause_s
        bucket.allow(now_s, each)
    wait_s = bucket.allow(now_s, cost)
    if wait_s > 1e-6:
        assert bucket.allow(now_s + wait_s * 0.99 - 1e-7, cost) > 0
        assert bucket.allow(now_s + wait_s + 1e-6, cost) == 0


def test_what_is_refused_costs_nothing() -> None:
    bucket = Bucket(Rate(per_s=1, burst=2))
    assert [bucket.allow(0.0) for _ in range(4)] == [0, 0, 1, 1]
    assert bucket.allow(1.0) == 0


def test_what_costs_more_than_a_burst_is_allowed_to_a_full_bucket_and_paid_for_afterwards() -> None:
    bucket = Bucket(Rate(per_s=1, burst=2))
    assert bucket.allow(0.0, 10) == 0
    assert bucket.allow(0.0) == 9
    assert bucket.allow(9.0) == 0


def test_what_has_happened_is_taken_all_the_same_and_the_debt_lasts_until_it_is_paid() -> None:
    bucket = Bucket(Rate(per_s=10, burst=20))
    assert bucket.take(0.0, 20) == 0
    assert bucket.take(0.0, 50) == pytest.approx(5.0)
    assert bucket.take(1.0, 0) == pytest.approx(4.0)
    assert bucket.take(5.0, 0) == 0


@given(RATES, st.integers(1, 5), st.lists(st.tuples(st.integers(0, 9), PAUSES, COSTS), max_size=60))
def test_many_buckets_are_as_strict_as_one_for_each_key_while_there_is_room_and_never_stricter(
    rate: Rate, size: int, asked: list[tuple[int, float, float]]
) -> None:
    few, many, now_s = Buckets[int](rate, size), Buckets[int](rate, 10), 0.0
    single = {key: Bucket(rate) for key in range(10)}
    for key, pause_s, cost in asked:
        now_s += pause_s
        assert many.allow(key, now_s, cost) == single[key].allow(now_s, cost)
        few.allow(key, now_s, cost)
        assert len(few) <= size


@given(RATES, st.integers(1, 5), st.lists(st.tuples(st.lists(st.integers(0, 9), max_size=30), PAUSES), max_size=20))
def test_a_batch_is_as_many_single_uses_one_after_the_other(rate: Rate, size: int, asked: list[tuple[list[int], float]]) -> None:
    """DPS-26."""
    batches, singles, few, now_s = Buckets[int](rate, 10), Buckets[int](rate, 10), Buckets[int](rate, size), 0.0
    for keys, pause_s in asked:
        now_s += pause_s
        waits_s = batches.allow_each(keys, now_s)
        assert waits_s == {position: wait_s for position, key in enumerate(keys) if (wait_s := singles.allow(key, now_s))}
        few.allow_each(keys, now_s)
        assert len(few) <= size


def test_the_full_buckets_are_forgotten_first() -> None:
    buckets = Buckets[str](Rate(per_s=1, burst=10), 2)
    buckets.allow("busy", 0.0, 10)
    buckets.allow("idle", 1.0, 1)
    buckets.allow("new", 3.0)
    assert buckets.allow("busy", 3.0, 10) > 0  # still known, though it is older


def test_with_more_keys_than_room_the_one_that_was_not_used_for_the_longest_begins_anew() -> None:
    buckets = Buckets[int](Rate(per_s=1, burst=1), 2)
    for key in range(3):
        assert buckets.allow(key, 0.0) == 0
    assert len(buckets) == 2
    assert buckets.allow(2, 0.0) > 0
    assert buckets.allow(0, 0.0) == 0


def test_a_map_that_was_large_becomes_small_again() -> None:
    buckets = Buckets[int](Rate(per_s=1, burst=1), 1000)
    for key in range(500):
        buckets.allow(key, 0.0)
    for now_s in range(10, 510):
        buckets.allow(-1, now_s)
    assert len(buckets) == 1


def test_in_a_map_that_is_too_small_those_that_are_used_again_and_again_stay_known() -> None:
    buckets = Buckets[int](Rate(per_s=1, burst=2000), 80)
    for key in range(1000):
        assert buckets.allow(key, 0.0) == 0
        assert buckets.allow(-1, 0.0) == 0
    assert len(buckets) <= 80
    assert buckets.allow(-1, 0.0, 2000) == 1000  # one that begins anew would be full


@pytest.mark.parametrize("together", [False, True])
def test_who_is_refused_has_not_used_anything_and_is_forgotten_in_their_turn(together: bool) -> None:
    buckets = Buckets[int](Rate(per_s=1, burst=1), 2)

    def wait_s() -> float:
        return buckets.allow_each([0], 0.0).get(0, 0.0) if together else buckets.allow(0, 0.0)

    for key in range(2):
        buckets.allow(key, 0.0)
    assert wait_s() == 1
    buckets.allow(2, 0.0)
    assert wait_s() == 0


class CountedKey(str):
    """A key that counts how often a map has looked at any."""

    looks = 0

    def __hash__(self) -> int:
        CountedKey.looks += 1
        return super().__hash__()


@pytest.mark.parametrize("number", [100, 20_000])
@pytest.mark.parametrize("pause_s", [0.0, 0.1, 10.0])
def test_a_use_costs_the_same_however_many_keys_there_are(number: int, pause_s: float) -> None:
    buckets, keys, uses = Buckets[CountedKey](Rate(per_s=1, burst=2), number // 2), [CountedKey(n) for n in range(number)], 0
    CountedKey.looks = 0
    for turn in range(60_000 // number):
        for begin in range(0, number, 50):
            buckets.allow_each(keys[begin : begin + 50], turn * pause_s)
            uses += 50
    assert CountedKey.looks < 12 * uses


@pytest.mark.parametrize(("wait_s", "told_s"), [(0.001, "1"), (1.0, "1"), (1.2, "2"), (61.0, "61")])
@pytest.mark.parametrize(("name", "status"), [("rate-limited", 429), ("overloaded", 503)])
def test_over_http_the_wait_is_told_in_whole_seconds(wait_s: float, told_s: str, name: str, status: int) -> None:
    """RFC 9110 10.2.3."""
    error = http_error(RateRefused(wait_s, "more than 5 a second", name))
    assert (error.status, dict(error.headers)) == (status, {"Retry-After": told_s})
