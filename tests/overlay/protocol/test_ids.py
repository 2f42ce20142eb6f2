"""Ids on a circle, against a circle that is written out."""

from hypothesis import given
from hypothesis import strategies as st

from overlay.protocol.ids import SPACE, ahead, apart, between

ids = st.integers(0, SPACE - 1) | st.sampled_from([0, 1, SPACE // 2, SPACE - 2, SPACE - 1])


@given(ids, ids)
def test_a_step_ahead_leads_there_and_back_again(one: int, other: int) -> None:
    """P2P-1, modulo arithmetic included."""
    assert (one + ahead(one, other)) % SPACE == other
    assert ahead(one, other) + ahead(other, one) in (0, SPACE)
    assert 0 <= ahead(one, other) < SPACE


@given(ids, ids)
def test_the_distance_is_the_shorter_way_and_the_same_from_both_sides(one: int, other: int) -> None:
    assert apart(one, other) == apart(other, one) == min((one - other) % SPACE, (other - one) % SPACE)


@given(ids, ids, ids)
def test_between_is_what_one_meets_on_the_way_up(start: int, middle: int, end: int) -> None:
    """P2P-1: on the circle unrolled from `start`, where `end` comes after it."""
    last = end if end > start else end + SPACE
    assert between(start, middle, end) is any(start < each < last for each in (middle, middle + SPACE))
