"""Who gets an event from a node that received it for the first time."""

from hypothesis import given
from hypothesis import strategies as st

from overlay.protocol.profile import NONE
from overlay.protocol.rings import EMPTY
from overlay.protocol.spread import draw_mixed, draw_union, others, others_wanted, ring_targets
from tests.support.profile_table import cells_of, profile_table, stream

AFTER, BEFORE, STRANGER = 1, 2, 3


def ring(sender: int, *, after: int = AFTER, before: int = BEFORE) -> list[int]:
    """Returns the ring neighbours that get it."""
    chosen = [0, 0]
    return sorted(chosen[: ring_targets(after, before, sender, chosen)])


def test_the_three_cases() -> None:
    """P2P-9: from the successor, from the predecessor, from anybody else or by itself."""
    assert (ring(AFTER), others_wanted(AFTER, BEFORE, AFTER, 5)) == ([BEFORE], 4)
    assert (ring(BEFORE), others_wanted(AFTER, BEFORE, BEFORE, 5)) == ([AFTER], 4)
    assert (ring(STRANGER), others_wanted(AFTER, BEFORE, STRANGER, 5)) == ([AFTER, BEFORE], 3)
    assert (ring(NONE), others_wanted(AFTER, BEFORE, NONE, 5)) == ([AFTER, BEFORE], 3)


def test_with_the_least_fanout_others_get_it_only_from_ring_neighbours() -> None:
    assert [others_wanted(AFTER, BEFORE, sender, 2) for sender in (AFTER, BEFORE, STRANGER, NONE)] == [1, 1, 0, 0]


def test_in_a_ring_of_two_it_is_sent_once_and_not_back() -> None:
    assert ring(NONE, before=AFTER) == [AFTER]
    assert ring(AFTER, before=AFTER) == []


def test_who_knows_no_ring_neighbours_sends_to_others_only() -> None:
    """The publisher's sender is NONE, and an unknown neighbour is EMPTY: one is not taken for the other."""
    assert ring(NONE, after=EMPTY, before=EMPTY) == []
    assert others_wanted(EMPTY, EMPTY, NONE, 5) == 3


def test_others_subscribe_and_are_neither_the_sender_nor_chosen() -> None:
    """P2P-11."""
    table = profile_table([[7], [7], [7], [7], [1, 2], [1, 7], [7]])
    view = cells_of([(node, 0) for node in range(7)])
    found = [99, 0, 0, 0, 0, 0, 0, 0]
    end = others(view, 0, 7, table.profiles, table.topics, 7, STRANGER, [AFTER, BEFORE], 2, found, 1, 1)
    assert found[1:end] == [0, 5, 6]
    assert others(view, 0, 7, table.profiles, table.topics, 7, STRANGER, [AFTER, BEFORE], 2, found, 1, end) == end


@given(st.lists(st.integers(10, 30), unique=True), st.integers(0, 12), st.integers(1, 1000))
def test_a_union_gives_exactly_as_many_as_there_are(found: list[int], wanted: int, seed: int) -> None:
    """P2P-9."""
    chosen = [AFTER, BEFORE] + [0] * 30
    total = draw_union(stream(seed), 0, list(found), len(found), wanted, chosen, 2)
    assert total == 2 + min(wanted, len(found))
    assert len(set(chosen[:total])) == total
    assert set(chosen[2:total]) <= set(found)


@given(st.lists(st.integers(10, 20), unique=True), st.lists(st.integers(10, 20), unique=True), st.integers(0, 12), st.integers(1, 1000))
def test_mixed_links_are_never_more_and_nobody_is_chosen_twice(first: list[int], second: list[int], wanted: int, seed: int) -> None:
    """P2P-9."""
    chosen = [AFTER] + [0] * 30
    total = draw_mixed(stream(seed), 0, first + second, len(first) + len(second), len(first), wanted, chosen, 1)
    assert total - 1 <= min(wanted, len({*first, *second}))
    assert len(set(chosen[:total])) == total
    assert set(chosen[1:total]) <= {*first, *second}


def test_a_coin_says_which_view_a_link_comes_from_and_an_empty_one_gives_none() -> None:
    """2.2: so a view without subscribers halves the links instead of leaving all to the other one."""
    streams, counts = stream(), {0: 0, 1: 0}
    for _ in range(4000):
        counts[draw_mixed(streams, 0, [10, 11, 12], 3, 3, 1, [0] * 4, 0)] += 1
    assert all(abs(count - 2000) < 160 for count in counts.values())
