"""Cyclon: what is sent, and what becomes of a view."""

from hypothesis import given
from hypothesis import strategies as st

from overlay.protocol.cyclon import choose, merge
from overlay.protocol.view import CELL
from tests.support.profile_table import cells_of, entries_of, stream

nodes = st.lists(st.integers(0, 15), unique=True, max_size=8)


@given(nodes, st.integers(1, 9), st.integers(1, 100))
def test_a_message_has_random_entries_each_once_and_no_more_than_wanted(view: list[int], wanted: int, seed: int) -> None:
    """P2P-3."""
    message = cells_of([(99, 0)], room=10)
    entries = [(node, node - 20) for node in view]
    total = choose(cells_of(entries), 0, len(view), 5, wanted, stream(seed), 0, [0] * 10, message, 1)
    assert total == 1 + min(wanted, len(view))
    sent = entries_of(message, total - 1, 1)
    assert len(dict(sent)) == total - 1
    assert {(node, 5 - age) for node, age in sent} <= set(entries)
    assert message[:CELL] == cells_of([(99, 0)])


def test_every_entry_is_sent_as_often_as_the_others() -> None:
    streams, message, counts = stream(), cells_of([], room=3), dict.fromkeys(range(8), 0)
    for _ in range(8000):
        choose(cells_of([(node, 0) for node in range(8)]), 0, 8, 0, 3, streams, 0, [0] * 8, message, 0)
        for node, _ in entries_of(message, 3):
            counts[node] += 1
    assert all(abs(count - 3000) < 200 for count in counts.values())


def swapped(view: dict[int, int], received: list[int], sent: list[int], *, me: int, most: int) -> dict[int, int]:
    """Returns the view, with 1 for entries that came: each takes a free place, or that of the next entry that was sent and is there."""
    leaving = iter(sent)
    for node in received:
        if node != me and node not in view:
            gone = next((each for each in leaving if each in view), None) if len(view) == most else None
            if len(view) < most or gone is not None:
                view = {each: since for each, since in view.items() if each != gone} | {node: 1}
    return view


@given(nodes, nodes, st.data())
def test_received_entries_take_free_places_first_and_then_those_of_sent_ones(
    view: list[int], received: list[int], data: st.DataObject
) -> None:
    """P2P-3: bounded, nobody twice, never itself. Entries that were not sent away stay."""
    me, most = 15, 8
    view = [node for node in view if node != me]
    sent = data.draw(st.lists(st.sampled_from(view), unique=True)) if view else []
    cells = cells_of([(node, 0) for node in view], room=most)
    count = merge(
        cells,
        0,
        len(view),
        most,
        me,
        cells_of([(node, 1) for node in received]),
        len(received),
        cells_of([(n, 0) for n in sent]),
        len(sent),
    )
    assert entries_of(cells, count) == sorted(swapped(dict.fromkeys(view, 0), received, sent, me=me, most=most).items())
    assert count <= most


def test_sent_entries_that_are_gone_meanwhile_leave_no_room() -> None:
    cells = cells_of([(1, 0), (2, 0)])
    count = merge(cells, 0, 2, 2, 9, cells_of([(3, 1), (4, 1)]), 2, cells_of([(7, 0), (2, 0)]), 2)
    assert entries_of(cells, count) == [(1, 0), (3, 1)]
