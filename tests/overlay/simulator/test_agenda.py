"""What is to happen comes in the order of its time, and nothing is lost without a word."""

import heapq

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.protocol.chance import begin, below
from overlay.simulator.agenda import (
    AT_US,
    DETAIL,
    ENTRY,
    ITEM,
    KIND,
    RECEIVER,
    SENDER,
    WAITING,
    EventAgenda,
    add,
    check_room,
    clear,
    enlarged,
    has_lost,
    new_agenda,
    next_us,
    room_of,
    take,
)
from overlay.simulator.compiled import COMPILED, INTERPRETED, Execution, numbers
from overlay.simulator.errors import OverlayError

ROOM = 12
# An entry is taken, or one is added for this time.
steps = st.lists(st.one_of(st.none(), st.integers(0, 6)), max_size=60)


@given(steps)
def test_entries_come_by_time_and_those_of_one_time_in_the_order_in_which_they_were_added(wanted: list[int | None]) -> None:
    agenda = new_agenda(ROOM, INTERPRETED)
    model: list[tuple[int, int]] = []
    lost = 0
    for number, at_us in enumerate(wanted):
        if at_us is None:
            assert take(agenda) is bool(model)
            if model:
                due, added = heapq.heappop(model)
                assert numbers(agenda.entry) == [due, added, added + 1, added + 2, added + 3, added + 4]
        elif add(agenda, at_us, number, number + 1, number + 2, number + 3, number + 4):
            heapq.heappush(model, (at_us, number))
        else:
            assert len(model) == ROOM
            lost += 1
        assert next_us(agenda) == (model[0][0] if model else -1)
        assert agenda.tally[WAITING] == len(model) <= ROOM
        assert has_lost(agenda) is (lost > 0)
    if lost:
        with pytest.raises(OverlayError, match=f"^{lost} messages found no room among {ROOM} "):
            check_room(agenda)
    else:
        check_room(agenda)


def test_the_parts_of_an_entry_have_their_places() -> None:
    agenda = new_agenda(1, INTERPRETED)
    add(agenda, 10, 11, 12, 13, 14, 15)
    take(agenda)
    assert [agenda.entry[at] for at in (AT_US, KIND, RECEIVER, SENDER, ITEM, DETAIL)] == [10, 11, 12, 13, 14, 15]
    assert len(agenda.entry) == ENTRY


def test_a_cleared_agenda_is_as_a_new_one() -> None:
    agenda = new_agenda(2, INTERPRETED)
    for _ in range(3):
        add(agenda, 5, 0, 0, 0, 0, 0)
    clear(agenda)
    check_room(agenda)
    assert not take(agenda)
    assert add(agenda, 1, 7, 0, 0, 0, 0)
    assert add(agenda, 1, 8, 0, 0, 0, 0)
    assert not add(agenda, 1, 9, 0, 0, 0, 0)
    assert take(agenda)
    assert agenda.entry[KIND] == 7


@pytest.mark.parametrize("room", [0, -1, 1 << 24])
def test_an_agenda_without_room_or_with_too_much_is_refused(room: int) -> None:
    with pytest.raises(OverlayError, match="room for 1 to 16,777,215"):
        new_agenda(room, INTERPRETED)


def churn(agenda: EventAgenda, streams: list[int], seen: list[int], steps: int) -> None:
    """Adds and takes at random, and writes the times and kinds of what comes into `seen`."""
    for step in range(steps):
        if below(streams, 0, 3) < 2:
            add(agenda, step + below(streams, 0, 50), step, 0, 0, 0, 0)
        elif take(agenda):
            seen[step] = agenda.entry[AT_US] * steps + agenda.entry[KIND]


def outcome(execution: Execution) -> list[int]:
    agenda, streams, seen = new_agenda(400, execution), execution.filled(1), execution.filled(1000)
    begin(streams, 0, 3, 1)
    execution.kernel(churn)(agenda, streams, seen, 1000)
    return numbers(seen)


def test_it_does_the_same_compiled_and_interpreted() -> None:
    """OV-1."""
    found = outcome(INTERPRETED)
    assert outcome(COMPILED) == found
    assert np.count_nonzero(found) > 200


@pytest.mark.parametrize("execution", [INTERPRETED, COMPILED], ids=["interpreted", "compiled"])
def test_an_enlarged_agenda_goes_on_where_it_was(execution: Execution) -> None:
    agenda = new_agenda(3, execution)
    for at_us in (5, 3, 9):
        add(agenda, at_us, 1, at_us, 0, 0, 0)
    take(agenda)
    larger = enlarged(agenda, 5, execution)
    assert room_of(larger) == 5
    assert [add(larger, at_us, 1, at_us, 0, 0, 0) for at_us in (4, 7, 5, 8)] == [True, True, True, False]
    came = []
    while take(larger):
        came.append(larger.entry[RECEIVER])
    assert came == [4, 5, 5, 7, 9]
