"""Memories of what was used or came lately: bounded, and what is used stays."""

from hypothesis import given
from hypothesis import strategies as st

from infra.kernel.recent import Recent, RecentIds


@given(st.lists(st.integers(0, 20)), st.integers(1, 5))
def test_it_holds_the_last_ones_and_never_more_than_twice_its_size_and_never_a_wrong_value(keys: list[int], size: int) -> None:
    recent, lately = Recent[int, str](size), list[int]()
    for key in keys:
        known = recent.take(key)
        assert known == str(key) if key in lately else known in (None, str(key))
        recent.add(key, str(key))
        lately = [*(each for each in lately if each != key), key][-size:]
    assert sum(recent.take(key) is not None for key in set(keys)) <= 2 * size


def test_what_is_taken_and_added_again_outlives_what_is_not() -> None:
    recent = Recent[str, int](2)
    recent.add("used", 0)
    for number in range(10):
        known = recent.take("used")
        assert known == 0
        recent.add("used", known)
        recent.add(f"once {number}", number)
    assert recent.take("once 0") is None


def test_a_false_value_is_a_value() -> None:
    recent = Recent[str, int](1)
    recent.add("zero", 0)
    assert "zero" in recent.young
    assert recent.take("zero") == 0
    assert recent.take("zero") is None


def test_ids_are_remembered_for_at_least_as_many_others_and_at_most_twice_as_many() -> None:
    recent = RecentIds(size=100)
    assert not any(recent.seen(b"%d" % n) for n in range(1000))
    assert all(recent.seen(b"%d" % n) for n in range(900, 1000))
    assert not recent.seen(b"0")


@given(st.lists(st.integers(0, 30), max_size=200), st.integers(1, 5))
def test_ids_that_came_lately_are_seen_and_one_that_came_long_ago_is_not(keys: list[int], size: int) -> None:
    recent, new = RecentIds(size), list[int]()
    for key in keys:
        seen = recent.seen(b"%d" % key)
        assert seen or key not in new[-size:]
        assert not seen or key in new[-2 * size :]
        if not seen:
            new.append(key)
