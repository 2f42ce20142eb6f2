"""The handlers of links: each sort of peer may say what it is there for, and nothing else."""

from typing import Any, cast

import pytest

from infra.kernel.errors import Refused
from infra.kernel.frames import Call, Frame, Heartbeat, Hello, Reply, View
from infra.runtime.callers import Callers
from infra.runtime.link import Link
from notification.link_handlers import AskedLink, AskingLink

VIEW = View(0, ())
CALL, REPLY, HEARTBEAT = Call(1, "ann", "", "pull", b"{}"), Reply(1, "", "", b""), Heartbeat(VIEW)


class Peer:
    """A link, and a part that notes what the handlers of the link tell it."""

    def __init__(self) -> None:
        self.peer = Hello("presence", "p1", "sto", 1, 0, VIEW)
        self.told: list[Frame | str] = []

    def take(self, link: Link, call: Call) -> None:
        assert link is cast(Any, self)
        self.told.append(call)

    def reply(self, link: Link, reply: Reply) -> None:
        assert link is cast(Any, self)
        self.told.append(reply)

    def link_down(self, link: Link) -> None:
        assert link is cast(Any, self)
        self.told.append("down")


def test_a_peer_that_is_asked_answers_and_calls_nobody() -> None:
    peer = Peer()
    handler = AskedLink(cast(Link, peer), peer)
    handler.frames([REPLY, HEARTBEAT])
    with pytest.raises(Refused, match="Call from a presence makes no sense here"):
        handler.frames([CALL])
    handler.down("over")
    assert peer.told == [REPLY, "down"]


def test_a_peer_that_asks_calls_and_answers_nothing() -> None:
    peer = Peer()
    handler = AskingLink(cast(Link, peer), cast(Callers, peer), peer.link_down)
    handler.frames([CALL, HEARTBEAT])
    with pytest.raises(Refused, match="Reply from a presence makes no sense here"):
        handler.frames([REPLY])
    handler.down("over")
    assert peer.told == [CALL, "down"]
