"""infra.runtime.call_links: a peer that is called answers, one that calls asks, and neither does both on one link."""

from typing import cast

import pytest

from infra.kernel.errors import Refused
from infra.kernel.frames import AnyFrame, Bye, Call, Heartbeat, Hello, Reply, View
from infra.runtime.call_links import AskedLink, AskingLink
from infra.runtime.link import Link

VIEW = View(0, ())
CALL, REPLY, HEARTBEAT = Call(1, "ann", "", "may-see", b""), Reply(1, "", "", b""), Heartbeat(VIEW)


class Part:
    """A link to a `role`, and the part of ours that its handler tells what comes."""

    def __init__(self, role: str) -> None:
        self.peer = Hello(role, f"{role}1", "sto", 1, 0, VIEW)
        self.link = cast(Link, self)
        self.told: list[AnyFrame | str] = []

    def take(self, link: Link, call: Call) -> None:
        assert link is self.link
        self.told.append(call)

    def lost(self, link: Link) -> None:
        assert link is self.link
        self.told.append("lost")


def asked(part: Part) -> AskedLink:
    return AskedLink(part.link, part.told.append, lambda: part.told.append("lost"))


def test_answers_of_a_peer_that_is_asked_are_taken_in_their_order() -> None:
    part, second = Part("social"), Reply(2, "forbidden", "no", b"")
    asked(part).frames([REPLY, HEARTBEAT, second])
    assert part.told == [REPLY, second]


def test_with_the_link_the_answers_that_a_peer_owes_are_given_up() -> None:
    part = Part("social")
    asked(part).down("over")
    assert part.told == ["lost"]


def test_calls_of_a_peer_that_asks_are_taken_in_their_order() -> None:
    part, second = Part("accesspoint"), Call(2, "bob", "", "may-see", b"")
    AskingLink(part.link, part.take).frames([CALL, HEARTBEAT, second])
    assert part.told == [CALL, second]


def test_whoever_wants_to_know_is_told_when_a_peer_that_asked_is_gone() -> None:
    part = Part("accesspoint")
    AskingLink(part.link, part.take).down("over")
    assert part.told == []
    AskingLink(part.link, part.take, part.lost).down("over")
    assert part.told == ["lost"]


@pytest.mark.parametrize("frame", [CALL, Bye(1000, "over"), Hello("social", "s1", "sto", 1, 0, VIEW)])
def test_a_peer_that_is_asked_says_nothing_but_answers(frame: AnyFrame) -> None:
    """DPS-24: what came before it in the same read is taken."""
    part = Part("social")
    with pytest.raises(Refused, match=f"{type(frame).__name__} from a social makes no sense here") as refused:
        asked(part).frames([REPLY, frame, REPLY])
    assert refused.value.code.name == "bad-link-frame"
    assert part.told == [REPLY]


@pytest.mark.parametrize("frame", [REPLY, Bye(1000, "over"), Hello("presence", "p1", "sto", 1, 0, VIEW)])
def test_a_peer_that_asks_says_nothing_but_calls(frame: AnyFrame) -> None:
    """DPS-24."""
    part = Part("presence")
    with pytest.raises(Refused, match=f"{type(frame).__name__} from a presence makes no sense here") as refused:
        AskingLink(part.link, part.take).frames([CALL, frame, CALL])
    assert refused.value.code.name == "bad-link-frame"
    assert part.told == [CALL]
