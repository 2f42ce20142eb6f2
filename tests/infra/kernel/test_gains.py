"""infra.kernel.gains: how many follow, in powers of two; who comes and goes at a border is not told each time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.kernel.gains import MOST, Gains, followers_of, gain_of, settled

FOLLOWERS = st.integers(0, 1 << 40)


@pytest.mark.parametrize(("followers", "gain"), [(0, 0), (1, 1), (2, 2), (3, 2), (4, 3), (7, 3), (8, 4), (1_000_000, 20), (1 << 80, MOST)])
def test_a_gain_is_the_power_of_two_that_the_number_lies_in(followers: int, gain: int) -> None:
    """DPS-20."""
    assert gain_of(followers) == gain


@given(st.integers(0, MOST))
def test_what_a_gain_means_has_that_gain(gain: int) -> None:
    assert gain_of(followers_of(gain)) == gain
    assert followers_of(gain) < followers_of(gain + 1)


@given(st.integers(0, 41), FOLLOWERS)
def test_a_gain_is_never_far_from_the_number(before: int, followers: int) -> None:
    """DPS-20: within a quarter of the power of two; nobody is 0, and somebody is not."""
    now = settled(before, followers)
    assert (now == 0) == (followers == 0)
    if followers:
        assert 0.75 * (1 << now - 1) <= followers < 1.25 * (1 << now)
    assert settled(now, followers) == now


@given(st.integers(1, 40), st.lists(st.sampled_from([-1, 0, 1]), max_size=50))
def test_who_comes_and_goes_at_a_border_changes_it_once(power: int, steps: list[int]) -> None:
    """DPS-20: the hysteresis. Numbers that stay within a tenth of a border are told once at most."""
    border, width = 1 << power + 4, (1 << power + 4) // 10
    gain, changes = gain_of(border), 0
    for step in steps:
        now = settled(gain, border + step * width)
        changes += now != gain
        gain = now
    assert changes <= 1


def test_rows_that_nobody_told_of_have_none_and_one_follower_is_told_of_them() -> None:
    gains = Gains()
    gains[3] = 200
    assert [gains[row] for row in (0, 3, 99)] == [0, MOST, 0]
    assert gains.told([0, 3, 99]) == bytes([1, MOST, 1])
