"""Children of a seat, beside sets; and what a node does with its seat."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.protocol.pastry import NOBODY
from overlay.protocol.scribe import JOINS, LEAVES, STAYS, add_child, begin_records, has_child, joins_on, next_deed, remove_child

ROOM = 6
deeds = st.lists(st.tuples(st.booleans(), st.integers(0, 2), st.integers(0, 7)), max_size=60)


@given(deeds)
def test_children_are_a_set_for_each_seat_as_far_as_there_is_room(script: list[tuple[bool, int, int]]) -> None:
    firsts, children, nexts, free = [NOBODY] * 3, [NOBODY] * ROOM, [0] * ROOM, [0]
    begin_records(nexts, free)
    expected: list[set[int]] = [set(), set(), set()]
    for adds, seat, node in script:
        if adds:
            is_in = node in expected[seat] or sum(map(len, expected)) < ROOM
            assert add_child(firsts, seat, children, nexts, free, node) == is_in
            expected[seat] |= {node} if is_in else set()
        else:
            assert remove_child(firsts, seat, children, nexts, free, node) == (node in expected[seat])
            expected[seat].discard(node)
        found = [{node for node in range(8) if has_child(firsts, each, children, nexts, node)} for each in range(3)]
        assert found == expected


@pytest.mark.parametrize(
    ("subscribes", "has_children", "is_root", "silent", "deed"),
    [
        (True, False, False, 0, STAYS),
        (True, False, False, 2, JOINS),
        (False, True, False, 2, JOINS),
        (False, True, True, 9, STAYS),
        (False, False, False, 0, LEAVES),
        (False, False, True, 0, LEAVES),
    ],
)
def test_what_a_node_does_with_its_seat(subscribes: bool, has_children: bool, is_root: bool, silent: int, deed: int) -> None:
    assert next_deed(subscribes, has_children, is_root, silent, 1) == deed


def test_a_join_ends_where_the_tree_begins() -> None:
    assert joins_on(False)
    assert not joins_on(True)
