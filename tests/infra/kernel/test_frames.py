"""What a view says of shares and a subscription of gains, and what an older peer makes of it."""

import msgspec
import pytest

from infra.kernel import codec
from infra.kernel.errors import Refused
from infra.kernel.frames import Frame, Heartbeat, Inherited, Subscribe, View
from infra.kernel.ring import POINTS, Ring


class OlderView(msgspec.Struct, frozen=True, array_like=True):
    """A view as it was before there were shares."""

    number: int
    slots: tuple[str, ...]


class OlderInherited(Frame, tag=46, frozen=True):
    """The answer of an heir as the version before says it."""

    slot: str
    kinds: list[str]


class OlderSubscribe(Frame, tag=3, frozen=True):
    """A subscription as it was before there were gains."""

    n: int
    handles: list[int]
    topics: list[bytes]


class OlderHeartbeat(Frame, tag=2, frozen=True):
    """A heartbeat as it was before there were shares."""

    view: OlderView


GROWING = View.of(7, {"b2": 32, "b1": POINTS}, {"b1": POINTS, "b2": POINTS})


def test_a_view_says_who_has_which_share_and_where_that_goes() -> None:
    assert View(7, ("b1", "b2"), (POINTS, 32), (POINTS, POINTS)) == GROWING
    assert (GROWING.share_of, GROWING.goal_of) == ({"b1": POINTS, "b2": 32}, {"b1": POINTS, "b2": POINTS})
    assert GROWING.ring == Ring(("b1", "b2"), shares={"b2": 32})
    assert not GROWING.is_there


def test_a_view_in_which_all_have_everything_is_the_one_without_shares() -> None:
    full = {"b1": POINTS, "b2": POINTS}
    assert View.of(8, full, full) == View(8, ("b1", "b2"))
    assert (View(8, ("b1", "b2")).share_of, View(8, ("b1", "b2")).goal_of) == (full, full)
    assert View(8, ("b1", "b2")).is_there


def test_a_view_may_stay_where_not_all_have_everything() -> None:
    aside = {"b1": POINTS, "b2": 0}
    assert View.of(9, aside, aside).is_there
    assert View.of(9, aside, aside).goal_of == aside


def test_of_two_views_with_one_number_the_shares_decide() -> None:
    """An echo of an older peer, which has dropped the shares, does not replace the view that has them."""
    assert GROWING.order > View(7, ("b1", "b2")).order
    assert View(8, ("b1",)).order > GROWING.order


@pytest.mark.parametrize(
    "view",
    [
        View(1, ("b1", "b2"), (POINTS,)),
        View(1, ("b1", "b2"), (POINTS, POINTS), (POINTS,)),
        View(1, ("b1", "b2"), (0, 0)),
        View(1, ("b1", "b2"), (1, 1), (0, 0)),
        View(1, (), (1,)),
    ],
)
def test_a_view_whose_shares_cannot_be_meant_is_not_sound(view: View) -> None:
    assert not view.is_sound


def test_views_without_shares_and_with_them_are_sound() -> None:
    assert all(view.is_sound for view in (View(0, ()), View(1, ("b1",)), GROWING))


def test_an_older_peer_passes_over_the_shares_and_its_views_are_read_as_full() -> None:
    older = msgspec.msgpack.Decoder(OlderHeartbeat).decode(codec.encode(Heartbeat(GROWING))[4:])
    assert older == OlderHeartbeat(OlderView(7, ("b1", "b2")))
    assert codec.FrameDecoder().feed(codec.encode(OlderHeartbeat(OlderView(7, ("b1", "b2"))))) == [Heartbeat(View(7, ("b1", "b2")))]


# What a peer of the version before gains says, byte by byte.
RECORDED_SUBSCRIBE = bytes.fromhex("0000000c940301910791c4045564616e")


def test_an_older_peer_passes_over_the_gains_and_what_it_says_tells_none() -> None:
    """DPS-20: what it says is recorded here. It is served as before."""
    topics, decoder = [b"Udan"], codec.FrameDecoder()
    assert codec.encode(OlderSubscribe(1, [7], topics)) == RECORDED_SUBSCRIBE
    assert decoder.feed(RECORDED_SUBSCRIBE) == [Subscribe(1, [7], topics)]
    told = codec.encode(Subscribe(1, [7], topics, b"\x05"))[4:]
    assert msgspec.msgpack.Decoder(OlderSubscribe).decode(told) == OlderSubscribe(1, [7], topics)


# What an heir of the version before says, which does not tell up to where it has given everything.
RECORDED_INHERITED = bytes.fromhex("0000000f932ea2623191a8706c61796c697374")


def test_an_older_peer_passes_over_up_to_where_an_heir_has_given_everything_and_says_nothing_of_it() -> None:
    """DPS-18: what it says is recorded here. Who hears it goes by what the broker that is gone had said."""
    decoder = codec.FrameDecoder()
    assert codec.encode(OlderInherited("b1", ["playlist"])) == RECORDED_INHERITED
    assert decoder.feed(RECORDED_INHERITED) == [Inherited("b1", ["playlist"])]
    told = codec.encode(Inherited("b1", ["playlist"], {1 << 50 | 7: 3}, {7: 9}))[4:]
    assert msgspec.msgpack.Decoder(OlderInherited).decode(told) == OlderInherited("b1", ["playlist"])


@pytest.mark.parametrize("gains", [b"\1", b"\1\2\3"])
def test_there_is_a_gain_for_each_topic_or_for_none(gains: bytes) -> None:
    frame = codec.encode(Subscribe(1, [7, 8], [b"Udan", b"Ueve"], gains))
    with pytest.raises(Refused, match="lists of different length"):
        codec.FrameDecoder().feed(frame)


@pytest.mark.parametrize("share", [-1, POINTS + 1])
def test_no_slot_has_more_points_than_there_are_or_less_than_none(share: int) -> None:
    with pytest.raises(Refused, match="not a frame"):
        codec.FrameDecoder().feed(codec.encode(Heartbeat(View(1, ("b1",), (share,)))))
