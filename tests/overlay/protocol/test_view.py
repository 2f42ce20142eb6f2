"""Views: who is the oldest, and what becomes of ages and copies of profiles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.protocol.profile import PROFILE, VERSION
from overlay.protocol.view import CELL, NODE, NONE, ROW, SINCE, drop, find, gather, hear, oldest, put, refresh, renew, tell
from tests.support.profile_table import cells_of, entries_of, profile_table, rows_of

views = st.dictionaries(st.integers(0, 9), st.integers(-5, 5)).map(lambda found: list(found.items()))
# Two profiles for each of ten nodes: node n has the rows n and 10 + n, the second with a later version.
TABLE = profile_table([[1]] * 20)
TABLE.profiles[10 * PROFILE + VERSION :: PROFILE] = [1] * 10


@given(views)
def test_the_oldest_was_refreshed_least_recently(view: list[tuple[int, int]]) -> None:
    """P2P-6."""
    place = oldest(cells_of(view), 0, len(view))
    assert place == NONE if not view else view[place][1] == min(since for _, since in view)


@given(views, st.integers(0, 9))
def test_an_entry_is_found_and_dropped_and_the_others_stay(view: list[tuple[int, int]], node: int) -> None:
    cells = [99] * CELL + cells_of(view)
    place = find(cells, 1, len(view), node)
    if place == NONE:
        assert node not in dict(view)
    else:
        left = drop(cells, 1, len(view), place)
        assert entries_of(cells, left, 1) == sorted(each for each in view if each[0] != node)
        assert cells[:CELL] == [99] * CELL


def test_ages_in_a_scripted_trace() -> None:
    """P2P-6: an age grows by one with each cycle, is kept when an entry is handed on, and is 0 after hearing from the node itself."""
    cells, message = cells_of([(3, 10)], room=1), cells_of([], room=2)
    tell(cells, 0, 14, message, 0)
    assert (message[NODE], message[SINCE]) == (3, 4)
    hear(message, 1, 100)
    assert message[SINCE] == 96
    put(cells, 1, 3, 3, message[SINCE])
    tell(cells, 1, 102, message, 1)
    assert message[CELL + SINCE] == 6
    refresh(cells, 0, 1, 3, 17)
    refresh(cells, 0, 1, 8, 17)
    assert entries_of(cells, 1) == [(3, 17)]


@pytest.mark.parametrize(("younger", "since"), [(False, 2), (True, 7)])
def test_a_copy_from_a_third_party_makes_an_entry_younger_only_if_copies_may(younger: bool, since: int) -> None:
    """P2P-6, P2P-25: and never older."""
    cells, message = cells_of([(3, 2), (4, 9)]), cells_of([(3, 7), (4, 1), (5, 8)])
    renew(cells, 0, 2, message, 3, TABLE.profiles, younger)
    assert entries_of(cells, 2) == [(3, since), (4, 9)]


def test_a_later_copy_of_a_profile_replaces_an_earlier_one_and_not_the_other_way_round() -> None:
    cells, message = cells_of([(3, 0), (4, 0)]), cells_of([(3, -9), (4, -9)])
    message[ROW] = 13
    cells[CELL + ROW] = 14
    renew(cells, 0, 2, message, 2, TABLE.profiles, False)
    assert rows_of(cells, 2) == {3: 13, 4: 14}


@given(views, views, st.booleans())
def test_a_pool_has_every_node_once(first: list[tuple[int, int]], second: list[tuple[int, int]], younger: bool) -> None:
    """P2P-3. The first view says how old a node is, unless the lower age counts."""
    pool, seen = cells_of([], room=20), [-1] * 10
    for base in (0, 1000):
        size = gather(pool, 0, cells_of(first), 0, len(first), TABLE.profiles, seen, base, younger)
        size = gather(pool, size, cells_of(second), 0, len(second), TABLE.profiles, seen, base, younger)
        ages = dict(second) | dict(first)
        if younger:
            ages = {node: max(dict(first).get(node, -99), dict(second).get(node, -99)) for node in ages}
        assert entries_of(pool, size) == sorted(ages.items())


def test_a_pool_has_the_latest_copy_of_a_profile() -> None:
    pool, seen, later = cells_of([], room=2), [-1] * 10, cells_of([(3, 0)])
    later[ROW] = 13
    size = gather(pool, 0, cells_of([(3, 5)]), 0, 1, TABLE.profiles, seen, 0, False)
    gather(pool, size, later, 0, 1, TABLE.profiles, seen, 0, False)
    assert (rows_of(pool, 1), entries_of(pool, 1)) == ({3: 13}, [(3, 5)])
