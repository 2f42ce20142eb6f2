"""Settings of PolderCast: those of its authors, and those that make no sense."""

from typing import Any

import pytest

from overlay.simulator.errors import OverlayError
from overlay.simulator.poldercast.options import PolderOptions, SpreadOptions


def test_the_defaults_are_those_of_the_authors() -> None:
    assert tuple(PolderOptions().settings()) == (4, 20, 20, 10, 10, 10, 0, 0, 1, 0, 0)
    assert tuple(SpreadOptions().settings()) == (2, 0, 1, 1, 0, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ring": 3}, "ring is 3: half of the neighbours have higher ids and half lower, so give 2, 4, 6"),
        ({"ring": 0}, "ring is 0"),
        ({"ring_gossip": 0}, "ring_gossip is 0: a message needs room"),
        ({"vicinity": 5, "vicinity_gossip": 6}, "vicinity_gossip is 6, and the view has 5: give 1 to 5, or a larger view"),
        ({"cyclon_gossip": 21}, "cyclon_gossip is 21, and the view has 20"),
        ({"cyclon": 0, "cyclon_gossip": 0}, "cyclon_gossip is 0"),
    ],
)
def test_sizes_that_do_not_fit_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OverlayError, match=message):
        PolderOptions(**options)


@pytest.mark.parametrize("fanout", [1, 0, -2])
def test_an_event_goes_to_both_ring_neighbours_at_least(fanout: int) -> None:
    with pytest.raises(OverlayError, match=f"fanout is {fanout}: both ring neighbours get an event, so give 2 or more"):
        SpreadOptions(fanout=fanout)
