"""Pace: whoever keeps to the limits is never stopped, whoever does not is slowed down, and whoever never stops is sent away."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accesspoint.options import AccessPointOptions
from accesspoint.pace import ActRates, Pace
from accesspoint.session import Session
from infra.kernel.errors import Refused
from infra.kernel.rates import BURST_S

OPTIONS = AccessPointOptions(
    site="sto", node="ap1", aggregators=["a1"], max_messages_per_s=100, max_bytes_per_s=1000, max_topics_per_s=50, flooding_s=5.0
)


def pace(**changes: float) -> Pace:
    return Pace(msgspec.structs.replace(OPTIONS, **changes))


@given(st.lists(st.tuples(st.floats(0, 2), st.integers(0, 9), st.integers(0, 99), st.integers(0, 9)), max_size=60))
def test_whoever_keeps_to_every_limit_is_never_stopped(reads: list[tuple[float, int, int, int]]) -> None:
    """DPS-26."""
    paced, session, now_s = pace(), Session(0.0), 0.0
    for pause_s, frames, size_bytes, topics in reads:
        now_s += pause_s + max((frames or 1) / 100, size_bytes / 1000, topics / 50)
        session.named_topics += topics
        assert paced.spend(session, now_s, frames, size_bytes) == 0
    assert paced.rests == 0


@pytest.mark.parametrize(
    ("frames", "size_bytes", "topics", "per_s"), [(1, 0, 0, 100), (0, 50, 0, 20), (1, 1, 5, 10), (0, 1, 0, 500)], ids=lambda n: str(n)
)
def test_whoever_is_too_fast_in_any_way_is_slowed_down_to_the_limit(frames: int, size_bytes: int, topics: int, per_s: int) -> None:
    """Frames, bytes, topics, and reads that complete nothing."""
    paced, session, now_s, reads = pace(flooding_s=10_000), Session(0.0), 0.0, 0
    while now_s < 100:
        session.named_topics += topics
        now_s += paced.spend(session, now_s, frames, size_bytes)
        reads += 1
    assert per_s * 100 <= reads <= per_s * (100 + BURST_S) + 1


def test_after_a_pause_as_much_comes_at_once_as_in_two_seconds() -> None:
    paced, session = pace(), Session(0.0)
    assert [paced.spend(session, 0.0, 1, 0) for _ in range(200)] == [0] * 200
    assert paced.spend(session, 0.0, 1, 0) > 0
    assert paced.rests == 1


def test_whoever_never_stops_is_closed_after_so_long() -> None:
    paced, session, now_s = pace(), Session(0.0), 0.0
    with pytest.raises(Refused, match="flooding: faster than the limits in welcome for 5 s") as refused:  # noqa: PT012 - it takes time
        while now_s < 100:
            now_s += paced.spend(session, now_s, 10, 0)
    assert 4 < now_s < 6
    assert (refused.value.code.fatal, refused.value.code.reconnect) == (True, True)


def test_whoever_is_a_little_too_fast_is_slowed_down_for_ever_and_never_closed() -> None:
    paced, session, now_s = pace(), Session(0.0), 0.0
    for _ in range(100_000):
        now_s += 1 / 105
        now_s += paced.spend(session, now_s, 1, 0)
    assert paced.rests > 50


def test_each_user_has_their_own_rate_of_acts() -> None:
    """DPS-26."""
    rates = ActRates(msgspec.structs.replace(OPTIONS, max_user_acts_per_s=1))
    for user in ("ann", "bob"):
        for _ in range(2):
            rates.check(user, 0.0)
    with pytest.raises(Refused, match="rate-limited: over 1 acts a second of this user"):
        rates.check("ann", 0.5)
    rates.check("ann", 1.0)
