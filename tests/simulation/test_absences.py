"""Users who come back, and what they may say of what they have."""

import pytest

from . import world
from .operations import Operation
from .runs import SimulationRun, run

# What is said by the operation `recover`, and how soon after it a connection ends by `flicker`.
POINT, POINT_AND_NUMBERS = 1, 2
BEFORE_THE_ANSWER, BEHIND_IT = 0, 3
# Somebody follows one topic, has a point, and is told that all is well.
BEGUN = [
    Operation("connect", 0.0, (0, 0, 1, 0)),
    Operation("subscribe", 0.0, (0, 1, 0, 0)),
    Operation("settle", 0.0, (0, 0, 0, 0)),
    Operation("point", 0.0, (0, 0, 0, 0)),
]


def relived(operations: list[Operation]) -> SimulationRun:
    """Returns a life in which events are kept for 20 s."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(world, "WINDOW_S", 20.0)
        return run(0, 0, operations, is_varied=False)


@pytest.mark.parametrize("said", [POINT, POINT_AND_NUMBERS])
def test_a_point_is_not_said_of_a_topic_that_was_asked_for_since_and_not_answered(said: int) -> None:
    """DPS-5: nobody at the site has heard that somebody wants it, so nothing of it is recorded. The other topic comes whole."""
    found = relived(
        [
            *BEGUN,
            Operation("power", 0.0, (8, 0, 0, 0)),
            Operation("subscribe", 0.0, (0, 3, 0, 0)),
            Operation("go_away", 0.0, (0, 0, 0, 0)),
            Operation("publish", 0.0, (1, 0, 2, 1)),
            Operation("publish", 0.0, (0, 0, 2, 1)),
            Operation("recover", 0.1, (0, 1, said, 0)),
        ]
    )
    assert not found.violation, f"{found.violation}\n{found.table(20)}"
    assert "is gone without a word" in [line.what for line in found.story if line.who == "sto/ap1"]
    assert found.looked_at["missed"] == 3


@pytest.mark.parametrize(("breaks", "missed"), [(BEFORE_THE_ANSWER, 7), (BEHIND_IT, 4 + 7)])
@pytest.mark.parametrize("said", [POINT, POINT_AND_NUMBERS])
def test_who_is_cut_off_before_the_answer_says_the_same_point_again(said: int, breaks: int, missed: int) -> None:
    """DPS-5: at each answer they have all since they follow the topic: one event from before, and three at a time."""
    found = relived(
        [
            *BEGUN,
            Operation("go_away", 0.0, (0, 0, 0, 0)),
            Operation("publish", 0.0, (0, 0, 2, 1)),
            Operation("flicker", 0.1, (0, 1, said, breaks)),
            Operation("publish", 0.2, (0, 0, 2, 1)),
            Operation("recover", 0.1, (0, 1, said, 0)),
        ]
    )
    assert not found.violation, f"{found.violation}\n{found.table(20)}"
    story = [line.what for line in found.story]
    assert story.count("goes away") == 2
    assert found.looked_at["missed"] == missed
    # Behind the answer they have another point, which is newer.
    recovered = sum("'recovered': True" in what and "'replayed': 0" not in what for what in story)
    assert recovered == (1 if breaks == BEFORE_THE_ANSWER else 2)
