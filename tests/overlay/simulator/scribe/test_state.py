"""Seats are found again, and settings that make no sense are refused."""

from typing import Any

import pytest

from overlay.simulator.errors import OverlayError
from overlay.simulator.scribe.overlay import ScribeOverlay
from overlay.simulator.scribe.state import ScribeSettings, find_seat, make_seat, subscribes
from tests.support.even_workload import even_workload


@pytest.mark.parametrize("setting", [{"leaves": 0}, {"leaves": 31}, {"rows": 0}, {"rows": 16}, {"patience": 0}])
def test_a_setting_that_makes_no_sense_is_refused_with_what_to_give(setting: dict[str, Any]) -> None:
    with pytest.raises(OverlayError, match="give"):
        ScribeSettings(**setting).check()


def test_a_seat_is_found_again_and_nobody_else_has_it() -> None:
    state = ScribeOverlay(even_workload(nodes=40, topics=10, each=2, seed=1), 1).state
    seats = {(node, topic): make_seat(state, node, topic) for node in range(40) for topic in range(10)}
    assert len(set(seats.values())) == 400
    assert all(find_seat(state, *each) == seat for each, seat in seats.items())


def test_whoever_subscribes_is_found() -> None:
    subscribed = even_workload(nodes=30, topics=9, each=3, seed=2)
    state = ScribeOverlay(subscribed, 1).state
    rows = subscribed.topics_of.lists()
    assert all(subscribes(state, node, topic) == (topic in rows[node]) for node in range(30) for topic in range(9))
