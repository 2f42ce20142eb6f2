"""A tap takes its kinds of frames out of each batch, and passes the rest on in its order."""

from typing import cast

import pytest

from infra.kernel.errors import Refused
from infra.kernel.frames import NOBODY, AnyFrame, Call, Deliver, Fence, Heartbeat, Reply, View
from infra.runtime.link import Link
from infra.runtime.tapped_link import TappedLink

CALL, REPLY, BEAT, FENCE = Call(1, NOBODY, "", "last", b""), Reply(1, "", "", b""), Heartbeat(View(0, ())), Fence(7)
EVENTS = Deliver([1], [b"{}"])
LINK = cast(Link, object())


class RestHandler:
    """The handler of what a tap leaves. It writes down everything, and so does `take`."""

    def __init__(self) -> None:
        self.said: list[object] = []

    def take(self, link: Link, frame: AnyFrame) -> None:
        assert link is LINK
        self.said.append(frame)

    def frames(self, frames: list[AnyFrame]) -> None:
        self.said.append(frames)

    def down(self, reason: str) -> None:
        self.said.append(reason)


@pytest.fixture
def rest() -> RestHandler:
    return RestHandler()


def test_a_batch_without_such_frames_is_passed_on_as_it_is(rest: RestHandler) -> None:
    tapped = TappedLink(LINK, rest, (Call, Reply), rest.take)
    batch: list[AnyFrame] = [EVENTS, BEAT, EVENTS]
    tapped.frames(batch)
    assert rest.said == [batch]
    assert rest.said[0] is batch


def test_each_frame_keeps_its_place(rest: RestHandler) -> None:
    """DPS-17: what comes first may be the view under which the next one counts."""
    TappedLink(LINK, rest, (Call, Reply), rest.take).frames([EVENTS, BEAT, REPLY, CALL, FENCE])
    assert rest.said == [[EVENTS, BEAT], REPLY, CALL, [FENCE]]


def test_where_nothing_is_left_the_rest_is_not_called(rest: RestHandler) -> None:
    TappedLink(LINK, rest, (Call,), rest.take).frames([CALL, CALL])
    assert rest.said == [CALL, CALL]


def test_what_the_tap_refuses_ends_the_batch(rest: RestHandler) -> None:
    def refuse(link: Link, frame: AnyFrame) -> None:
        raise Refused("forbidden")

    with pytest.raises(Refused, match="forbidden"):
        TappedLink(LINK, rest, (Call,), refuse).frames([EVENTS, CALL, BEAT])
    assert rest.said == [[EVENTS]]


def test_both_hear_that_the_link_is_gone_and_the_rest_also_when_the_tap_fails(rest: RestHandler) -> None:
    def lost(link: Link) -> None:
        assert link is LINK
        rest.said.append("lost")
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        TappedLink(LINK, rest, (Call,), rest.take, lost).down("why")
    assert rest.said == ["lost", "why"]
    TappedLink(LINK, rest, (Call,), rest.take).down("later")
    assert rest.said[2:] == ["later"]
