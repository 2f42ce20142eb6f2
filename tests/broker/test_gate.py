"""When an event of a topic that is out goes out all the same."""

from broker.gate import Gate
from infra.kernel.assignment import Assigned
from infra.kernel.frames import Assignment
from infra.kernel.topics import Topic, user_topic
from tests.support.assignments import assignment

BOB, EVE = user_topic("bob"), user_topic("eve")


class Place:
    """An assignment and its gate."""

    def __init__(self) -> None:
        self.assigned = Assigned()
        self.gate = Gate(self.assigned.out)

    def say(self, frame: Assignment) -> None:
        switch = self.assigned.offer(frame)
        assert switch is not None
        self.gate.switch(switch)

    def passed(self, topic: Topic, *times_s: float) -> list[float]:
        """Returns at which of these times an event passes."""
        found = []
        for now_s in times_s:
            self.gate.tick(now_s)
            if self.gate.passes(topic):
                found.append(now_s)
        return found


def test_what_is_not_out_passes_and_what_is_does_not() -> None:
    place = Place()
    place.say(assignment(1, BOB))
    assert (place.passed(BOB, 0, 1, 2), place.passed(EVE, 2, 3)) == ([], [2, 3])
    place.say(assignment(2, base=1, come=(BOB,)))
    assert place.passed(BOB, 4) == [4]


def test_what_leaves_passes_for_one_overlap_at_least_and_not_for_ever() -> None:
    """SB-66: each topic from its own switch on; the next switch prolongs nothing."""
    place = Place()
    place.passed(BOB, 10)
    place.say(assignment(1, BOB, overlap_ms=5000))
    assert place.passed(BOB, 10, 14.9, 15) == [10, 14.9, 15]
    place.say(assignment(2, EVE, base=1, overlap_ms=5000))
    assert place.passed(BOB, 15.1, 19) == []
    assert place.passed(EVE, 19, 20, 20.1) == [19, 20]


def test_a_topic_that_comes_back_during_its_overlap_and_leaves_again_has_a_new_one() -> None:
    place = Place()
    place.say(assignment(1, BOB, overlap_ms=5000))
    place.passed(BOB, 3)
    place.say(assignment(2, base=1, come=(BOB,)))
    place.say(assignment(3, BOB, base=2, overlap_ms=1000))
    assert place.passed(BOB, 4, 4.5, 5.5) == [4]


def test_at_a_reduced_rate_one_event_of_each_topic_passes_in_the_time() -> None:
    """After the overlap, and no two of them nearer than that."""
    place = Place()
    place.say(assignment(1, BOB, EVE, overlap_ms=1000, every_ms=2000))
    assert place.passed(BOB, 0.5, 1, 1.5, 2, 3, 3.5, 4, 5.5, 6, 6.5) == [0.5, 1, 1.5, 4, 6.5]  # the one at 1.5 is the first after it
    assert place.passed(EVE, 6.5, 7) == [6.5]
    place.say(assignment(2, base=1))
    assert place.passed(BOB, 20) == []
