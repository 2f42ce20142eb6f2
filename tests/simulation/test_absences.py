"""Users who come back, and what they may say of what they have."""

import pytest

from . import world
from .operations import Operation
from .runs import SimulationRun, run

# Those of the operation `recover`, at the same site.
POINT, POINT_AND_NUMBERS = 1, 2


def come_back_behind_an_unanswered_subscribe(said: int) -> SimulationRun:
    """Returns a life in which somebody follows a topic at an access point that is gone without a word, and comes back with `said`."""
    operations = [
        Operation("connect", 0.0, (0, 0, 1, 0)),
        Operation("subscribe", 0.0, (0, 1, 0, 0)),
        Operation("settle", 0.0, (0, 0, 0, 0)),
        Operation("point", 0.0, (0, 0, 0, 0)),
        Operation("power", 0.0, (8, 0, 0, 0)),
        Operation("subscribe", 0.0, (0, 3, 0, 0)),
        Operation("go_away", 0.0, (0, 0, 0, 0)),
        Operation("publish", 0.0, (1, 0, 2, 1)),
        Operation("publish", 0.0, (0, 0, 2, 1)),
        Operation("recover", 0.1, (0, 1, said, 0)),
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(world, "WINDOW_S", 20.0)
        return run(0, 0, operations, is_varied=False)


@pytest.mark.parametrize("said", [POINT, POINT_AND_NUMBERS])
def test_a_point_is_not_said_of_a_topic_that_was_asked_for_since_and_not_answered(said: int) -> None:
    """DPS-5: nobody at the site has heard that somebody wants it, so nothing of it is recorded. The other topic comes whole."""
    found = come_back_behind_an_unanswered_subscribe(said)
    assert not found.violation, f"{found.violation}\n{found.table(20)}"
    assert "is gone without a word" in [line.what for line in found.story if line.who == "sto/ap1"]
    assert found.looked_at["missed"] == 3
