"""Counts of events, by hand."""

import numpy as np

from overlay.simulator.compiled import COMPILED, INTERPRETED, Execution, numbers
from overlay.simulator.event_counts import (
    MANY,
    MOST_HOPS,
    TopicMembers,
    as_arrays,
    crowded_share,
    draw_publisher,
    find_live,
    new_event_counts,
    note_event,
    note_missed,
    note_reached,
)


def members(execution: Execution) -> TopicMembers:
    """Returns three topics: topic 0 has the nodes 0, 2 and 3, topic 1 nobody, topic 2 the node 1."""
    return TopicMembers(execution.buffer([3, 0, 2, 1], np.int32), execution.buffer([0, 3, 3, 4]), execution.filled(3))


def test_those_who_are_there_are_found_in_their_order() -> None:
    for execution in (COMPILED, INTERPRETED):
        of, alive = members(execution), execution.buffer([1, 0, 1, 1], np.uint8)
        found = execution.kernel(find_live)
        assert [found(alive, of, topic) for topic in (2, 1, 0)] == [0, 0, 3]
        assert [of.members[at] for at in numbers(of.live)] == [3, 0, 2]


def test_who_has_an_event_and_who_missed_it_are_counted_by_topic_and_by_node() -> None:
    for execution in (COMPILED, INTERPRETED):
        of, counts = members(execution), new_event_counts(4, 3, execution)
        execution.kernel(find_live)(execution.buffer([1, 1, 1, 1], np.uint8), of, 0)
        note = execution.kernel(note_reached)
        note(counts, 0, 3, 3, 0, 0)
        note(counts, 0, 0, 3, MOST_HOPS + 5, 2)
        execution.kernel(note_missed)(counts, of, 3, execution.buffer([MOST_HOPS + 5, -1, -1, 0]))
        found = as_arrays(counts)
        assert numbers(found.reached) == [2, 0, 0]
        assert (numbers(found.hops), numbers(found.copies)) == ([MOST_HOPS + 5, 0, 0], [2, 0, 0])
        assert (numbers(found.got), numbers(found.received), numbers(found.missed)) == ([1, 0, 0, 0], [2, 0, 0, 0], [0, 0, 1, 0])
        assert np.flatnonzero(np.asarray(found.by_hops)).tolist() == [MOST_HOPS]


def test_deliveries_in_many_copies_are_told_from_the_others() -> None:
    for execution in (COMPILED, INTERPRETED):
        counts = new_event_counts(4, 3, execution)
        note = execution.kernel(note_reached)
        # The publisher is sent copies of its own event, which are no delivery.
        for node, copies in ((3, MANY), (0, MANY), (1, MANY - 1), (0, MANY + 1)):
            note(counts, 0, node, 3, 1, copies)
        assert numbers(counts.crowded) == [2, 0, 0, 0]
        assert crowded_share(counts) == 2 / 3
        assert crowded_share(new_event_counts(4, 3, execution)) == 0


def test_publishers_are_drawn_from_those_who_are_there_by_the_number_of_the_event() -> None:
    drawn = []
    for execution in (COMPILED, INTERPRETED):
        of, streams = members(execution), execution.filled(1)
        size = execution.kernel(find_live)(execution.buffer([1, 1, 1, 0], np.uint8), of, 0)
        draw = execution.kernel(draw_publisher)
        drawn.append([draw(streams, 0, 5, number, of, size) for number in range(100)])
    assert drawn[0] == drawn[1]
    assert {*drawn[0]} == {0, 2}


def test_an_event_is_noted_by_who_has_it_and_who_has_not() -> None:
    for execution in (COMPILED, INTERPRETED):
        of, counts = members(execution), new_event_counts(4, 3, execution)
        size = execution.kernel(find_live)(execution.buffer([1, 1, 1, 1], np.uint8), of, 0)
        execution.kernel(note_event)(counts, of, 0, size, 3, execution.buffer([2, 7, -1, 0]), execution.buffer([4, 9, 0, 1]))
        found = as_arrays(counts)
        assert (found.wanted[0], found.reached[0], found.hops[0], found.copies[0]) == (3, 2, 2, 5)
        assert numbers(found.got) == [1, 0, 0, 0]
        assert numbers(found.missed) == [0, 0, 1, 0]
        assert numbers(found.received) == [4, 0, 0, 1]
