"""Answers to surveys: in portions, within the bound of the link, and none that nobody waits for."""

import asyncio
from collections.abc import Callable, Iterator, Sequence

from infra.kernel.frames import Followed, Frame, Heartbeat, Hello, Surveyed, View
from infra.runtime.link import Link
from infra.runtime.surveys import Surveys
from tests.support.recording_wire import RecordingWire

DEADLINE_S = 30.0
VIEW = View(0, ())


class Place:
    """A link to a service, and a role that has three portions to tell whenever it is asked."""

    def __init__(self) -> None:
        self.wire = RecordingWire()
        self.link = Link(self.wire, Hello("decision", "o1", "sto", 1, 0, VIEW), None, 0.0, lambda link: link.flush())
        self.surveys = Surveys(self.link, self.tell, lambda: 40 + self.rounds)
        self.rounds = 0

    def tell(self) -> Iterator[Sequence[Frame]]:
        self.rounds += 1
        for n in range(3):
            yield [Followed([f"{self.rounds}-{n}"], [b"Ubob"])]

    @property
    def said(self) -> list[str | int]:
        """The user of each portion, the number of each answer."""
        found: list[str | int] = []
        for frame in self.wire.sent:
            if isinstance(frame, Followed):
                found += frame.users
            elif isinstance(frame, Surveyed):
                found.append(frame.n)
        return found

    async def until(self, condition: Callable[[], bool]) -> None:
        deadline_s = asyncio.get_running_loop().time() + DEADLINE_S
        while not condition():
            assert asyncio.get_running_loop().time() < deadline_s
            await asyncio.sleep(0)

    async def rest(self) -> None:
        """Waits for more turns than anything here could take."""
        for _ in range(50):
            await asyncio.sleep(0)


async def test_a_survey_is_answered_a_portion_in_each_turn_and_then_closed() -> None:
    place = Place()
    place.surveys.ask(7)
    assert place.said == []
    lengths = []
    while 7 not in place.said:
        await asyncio.sleep(0)
        lengths.append(len(place.said))
    assert place.said == ["1-0", "1-1", "1-2", 7]
    assert place.wire.sent[-1] == Surveyed(7, 41)
    assert lengths == sorted(lengths)
    assert {1, 2} <= set(lengths)


async def test_what_is_told_unasked_is_not_closed_and_surveys_come_after_it() -> None:
    place = Place()
    place.surveys.ask(None)
    place.surveys.ask(1)
    await place.until(lambda: 1 in place.said)
    assert place.said == ["1-0", "1-1", "1-2", "2-0", "2-1", "2-2", 1]


async def test_of_several_surveys_that_wait_the_newest_is_answered() -> None:
    place = Place()
    for n in range(1, 6):
        place.surveys.ask(n)
    await place.until(lambda: 5 in place.said)
    await place.rest()
    assert [each for each in place.said if isinstance(each, int)] == [1, 5]
    place.surveys.ask(6)
    await place.until(lambda: 6 in place.said)


async def test_a_service_that_does_not_read_is_told_nothing_more_until_it_does() -> None:
    place = Place()
    place.wire.queued_bytes = 1 << 30
    place.surveys.ask(1)
    await place.until(lambda: len(place.said) == 1)
    await place.rest()
    assert place.said == ["1-0"]
    place.wire.queued_bytes = 0
    place.link.send(Heartbeat(VIEW))  # the link finds out that there is room again
    await place.until(lambda: 1 in place.said)


async def test_a_link_that_is_gone_is_told_nothing_more_and_nothing_more_is_taken_for_it() -> None:
    for queued_bytes in (0, 1 << 30):
        place = Place()
        place.wire.queued_bytes = queued_bytes
        place.surveys.ask(1)
        await place.until(lambda place=place: len(place.said) == 1)  # type: ignore[misc]
        place.surveys.end()
        await place.rest()
        assert place.said == ["1-0"]
    place = Place()
    place.surveys.ask(1)
    place.surveys.end()
    await place.rest()
    assert (place.said, place.rounds) == ([], 0)
