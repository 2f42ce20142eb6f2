"""Delays grow, stop growing, and are spread over the whole interval."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.kernel.backoff import Backoff


def test_the_limit_doubles_from_the_base_and_stops_at_the_cap() -> None:
    backoff = Backoff(base_s=0.5, cap_s=5.0)
    assert [backoff.limit_s(attempt) for attempt in range(6)] == [0.5, 1.0, 2.0, 4.0, 5.0, 5.0]


@given(attempt=st.integers(0, 10**6), seed=st.integers(0, 2**32))
def test_a_delay_lies_between_zero_and_its_limit(attempt: int, seed: int) -> None:
    backoff = Backoff(base_s=0.1, cap_s=30.0)
    assert 0 <= backoff.delay_s(attempt, random.Random(seed)) < backoff.limit_s(attempt) <= 30.0


def test_a_thousand_clients_are_spread_over_the_interval() -> None:
    """SB-60: clients of a crashed access point do not come back all at once."""
    rng = random.Random(1)
    delays = [Backoff(base_s=1.0, cap_s=30.0).delay_s(3, rng) for _ in range(1000)]
    per_second = [sum(second <= delay < second + 1 for delay in delays) for second in range(8)]
    assert min(per_second) > 90
    assert max(per_second) < 160


@pytest.mark.parametrize(("base_s", "cap_s"), [(0.0, 1.0), (-1.0, 1.0), (2.0, 1.0)])
def test_limits_that_make_no_sense_are_refused(base_s: float, cap_s: float) -> None:
    with pytest.raises(ValueError, match="0 < base_s <= cap_s"):
        Backoff(base_s=base_s, cap_s=cap_s)
