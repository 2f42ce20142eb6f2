"""services.links: a service that is called answers, one that calls asks, and neither does both on one link."""

from typing import Any, cast

import pytest

from infra.kernel.errors import Refused
from infra.kernel.frames import AnyFrame, Bye, Call, Heartbeat, Hello, Reply, View
from infra.runtime.callers import Callers
from infra.runtime.link import Link
from services.links import CalledService, ServiceCaller
from services.peers import ServicePeers

VIEW = View(0, ())
CALL, REPLY, HEARTBEAT = Call(1, "ann", "", "may-see", b""), Reply(1, "", "", b""), Heartbeat(VIEW)


class Part:
    """A link, and the part of a service that its handler tells what comes."""

    def __init__(self, role: str) -> None:
        self.peer = Hello(role, f"{role}1", "sto", 1, 0, VIEW)
        self.told: list[AnyFrame | str] = []

    def link_up(self, link: Link) -> None:
        self._note(link, "up")

    def link_down(self, link: Link) -> None:
        self._note(link, "down")

    def take(self, link: Link, call: Call) -> None:
        self._note(link, call)

    def reply(self, link: Link, reply: Reply) -> None:
        self._note(link, reply)

    def _note(self, link: Link, what: AnyFrame | str) -> None:
        assert link is cast(Any, self)
        self.told.append(what)


def called(part: Part) -> CalledService:
    return CalledService(cast(Link, part), cast(ServicePeers, part))


def caller(part: Part) -> ServiceCaller:
    return ServiceCaller(cast(Link, part), cast(Callers, part))


def test_a_service_can_be_called_from_the_moment_its_link_is_up() -> None:
    part = Part("social")
    called(part)
    assert part.told == ["up"]


def test_answers_of_a_called_service_are_taken_in_their_order() -> None:
    part = Part("social")
    second = Reply(2, "forbidden", "no", b"")
    called(part).frames([REPLY, HEARTBEAT, second])
    assert part.told == ["up", REPLY, second]


def test_with_the_link_the_answers_that_it_owes_are_given_up() -> None:
    part = Part("social")
    called(part).down("over")
    assert part.told == ["up", "down"]


def test_calls_of_a_caller_are_taken_in_their_order() -> None:
    part = Part("accesspoint")
    second = Call(2, "bob", "", "may-see", b"")
    caller(part).frames([CALL, HEARTBEAT, second])
    assert part.told == [CALL, second]


def test_when_a_caller_is_gone_its_calls_are_left_as_they_are() -> None:
    part = Part("accesspoint")
    caller(part).down("over")
    assert part.told == []


@pytest.mark.parametrize("frame", [CALL, Bye(1000, "over"), Hello("social", "s1", "sto", 1, 0, VIEW)])
def test_a_called_service_says_nothing_but_answers(frame: AnyFrame) -> None:
    """DPS-24: what came before it in the same read is taken."""
    part = Part("social")
    with pytest.raises(Refused, match=f"{type(frame).__name__} from a social makes no sense here") as refused:
        called(part).frames([REPLY, frame, REPLY])
    assert refused.value.code.name == "bad-link-frame"
    assert part.told == ["up", REPLY]


@pytest.mark.parametrize("frame", [REPLY, Bye(1000, "over"), Hello("accesspoint", "ap1", "sto", 1, 0, VIEW)])
def test_a_caller_says_nothing_but_calls(frame: AnyFrame) -> None:
    """DPS-24."""
    part = Part("accesspoint")
    with pytest.raises(Refused, match=f"{type(frame).__name__} from a accesspoint makes no sense here") as refused:
        caller(part).frames([CALL, frame, CALL])
    assert refused.value.code.name == "bad-link-frame"
    assert part.told == [CALL]
