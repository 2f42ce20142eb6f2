"""Repair by neighbours: who is told."""

from collections import Counter

from overlay.protocol.repair import ring_neighbours, whom_to_tell
from overlay.protocol.rings import EMPTY
from tests.support.profile_table import stream


def test_neighbours_of_the_topic_are_listed_once() -> None:
    """OV-5: in a small ring one node stands above and below."""
    found = [0] * 4
    assert ring_neighbours([9, 9, 9, 9, 5, EMPTY, 6, 5], 0, 4, 1, found) == 2
    assert found[:2] == [5, 6]


def test_each_of_those_found_is_told_as_often() -> None:
    """OV-5."""
    streams = stream()
    told = Counter(whom_to_tell([5, 6, 7, 8], 3, streams, 0) for _ in range(3000))
    assert told.keys() == {5, 6, 7}
    assert all(abs(times - 1000) < 120 for times in told.values())


def test_who_knows_nobody_tells_nobody() -> None:
    assert ring_neighbours([EMPTY] * 4, 0, 4, 0, []) == 0
    assert whom_to_tell([], 0, stream(), 0) == EMPTY
