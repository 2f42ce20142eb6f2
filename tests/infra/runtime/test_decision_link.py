"""The link to the decision service: one at a time, told everything, and heard as long as it makes sense."""

import asyncio
from collections.abc import Iterator, Sequence

import pytest

from infra.kernel.errors import Refused
from infra.kernel.frames import Assignment, Followed, Frame, Heartbeat, Hello, Publish, Survey, Surveyed, View
from infra.kernel.roles import DECISION
from infra.runtime.decision_link import DecisionLink
from infra.runtime.link import Link
from tests.support.recording_wire import RecordingWire

# Of the loop; more than anything here could take.
TURNS = 50
VIEW = View(0, ())


class Owner:
    """Notes what it is told to do, and tells one portion whenever it is asked."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def begin(self) -> None:
        self.done.append("begin")

    def end(self) -> None:
        self.done.append("end")

    def tell(self) -> Iterator[Sequence[Frame]]:
        yield [Followed(["ann"], [b"Ubob"])]

    def epoch(self) -> int:
        return 7 if "assign 7" in self.done else 0

    def assign(self, frame: Assignment) -> None:
        self.done.append(f"assign {frame.epoch}")


def linked(node: str) -> tuple[Link, RecordingWire]:
    wire = RecordingWire()
    return Link(wire, Hello(DECISION, node, "sto", 1, 0, VIEW), None, 0.0, lambda link: link.flush()), wire


def assignment(epoch: int) -> Assignment:
    return Assignment(epoch, 0, True, [], [], 0, 0, "b3m", 1, 1, 0.0, 0.0, 0)


async def test_a_service_is_told_everything_unasked_and_then_whenever_it_asks() -> None:
    owner, (link, wire) = Owner(), linked("o1")
    decision = DecisionLink(owner)
    decision.link_up(link)
    decision.frames([Survey(1), assignment(7), Heartbeat(VIEW)])
    for _ in range(TURNS):
        await asyncio.sleep(0)
    assert [type(frame) for frame in wire.sent] == [Followed, Followed, Surveyed]
    assert wire.sent[-1] == Surveyed(1, 7)
    assert owner.done == ["begin", "assign 7"]


def _refused(second: Hello, decision: DecisionLink) -> str:
    with pytest.raises(Refused) as refused:
        decision.admit(second)
    return refused.value.code.name


async def test_a_second_service_is_refused_until_the_first_is_gone() -> None:
    owner, (first, _), (second, _) = Owner(), linked("o1"), linked("o2")
    decision = DecisionLink(owner)
    decision.link_up(first)
    assert _refused(second.peer, decision) == "duplicate-node"
    with pytest.raises(Refused, match="stop it first"):
        decision.link_up(second)
    assert owner.done == ["begin"]
    decision.admit(first.peer)  # it may link again
    decision.down("gone")
    decision.admit(second.peer)
    decision.link_up(second)
    assert owner.done == ["begin", "end", "begin"]


async def test_what_a_decision_service_has_no_business_to_say_is_refused() -> None:
    decision = DecisionLink(Owner())
    decision.link_up(linked("o1")[0])
    with pytest.raises(Refused, match="Publish from the decision service makes no sense"):
        decision.frames([Publish(1, 0, [], [], [])])
