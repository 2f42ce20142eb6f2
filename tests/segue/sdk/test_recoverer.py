"""What a client asks for when it comes back, and what it makes of the answers."""

from typing import Any

import pytest

from infra.kernel.errors import Refused
from segue.sdk.cursor import Number, Position
from segue.sdk.kept_positions import KeptPositions
from segue.sdk.messages import Event, Gap, Kept, Limits, LostTopic, RejectedTopic, Subscribed, Welcome
from segue.sdk.recoverer import Recoverer

BOB = "hm://presence/user/bob/"
EVE = "hm://presence/user/eve/"
ALBUMS = "hm://notifications/feed/a1%new-album/"


def welcome(window: bool = True, topics_per_message: int = 100, message_bytes: int = 32_768) -> Welcome:
    kept = {"user": Kept(keep="latest", seconds=120)} if window else {}
    limits = Limits(message_bytes=message_bytes, topics_per_message=topics_per_message)
    return Welcome(session="s", site="sto", user="ann", time_ms=0, limits=limits, window=kept)


def answer(call_id: int, **fields: Any) -> Subscribed:
    return Subscribed(id=call_id, installed="local", **fields)


def event(topic: str, seq: int, epoch: int = 1) -> Event:
    return Event(topic=topic, site="sto", epoch=epoch, seq=seq, ts_ms=0, id="", kind="play", payload={})


def followed(*topics: str, point: str | None = "p1", **how: Any) -> Recoverer:
    """Returns the recovery of a client that followed `topics`, and is welcomed for the second time."""
    recoverer = Recoverer()
    recoverer.connect(welcome(**how))
    for call_id, batch in enumerate(recoverer.batches(topics)):
        recoverer.ask(call_id, batch, "local")
        recoverer.answered(answer(call_id, recovered=False, lost=tuple(LostTopic(topic, "expired") for topic in batch), point=point))
    recoverer.disconnect()
    recoverer.connect(welcome(**how))
    return recoverer


def test_who_begins_to_follow_has_missed_nothing_whatever_the_server_says() -> None:
    recoverer = Recoverer()
    recoverer.connect(welcome())
    assert recoverer.ask(1, [BOB], "all") == {"op": "subscribe", "topics": [BOB], "wait": "all", "recover": True}
    said, gaps = recoverer.answered(answer(1, recovered=False, lost=(LostTopic(BOB, "expired"),), point="p1"))
    assert (said.recovered, said.lost, gaps) == (None, (), [])


def test_who_comes_back_says_the_point_and_the_numbers() -> None:
    recoverer = followed(BOB, EVE)
    recoverer.take(event(BOB, 5))
    recoverer.disconnect()
    assert list(recoverer.batches([BOB, EVE])) == [[BOB, EVE]]
    asked = recoverer.ask(7, [BOB, EVE], "local")
    assert (asked["recover"], asked["point"], asked["since"]) == (True, "p1", {BOB: {"sto": (1, 5)}})
    said, gaps = recoverer.answered(answer(7, recovered=True, replayed=3, point="p2"))
    assert (said.recovered, said.lost, said.replayed, gaps) == (True, (), 3, [])
    recoverer.disconnect()
    assert recoverer.cursors.position(EVE) == Position("p2", {})


def test_what_is_lost_is_told_by_reason_and_its_position_is_emptied() -> None:
    recoverer = followed(BOB, EVE)
    recoverer.ask(7, [BOB, EVE], "local")
    said, gaps = recoverer.answered(answer(7, recovered=False, lost=(LostTopic(BOB, "owner-lost"), LostTopic("other", "x")), point="p2"))
    assert (said.recovered, said.lost) == (False, (LostTopic(BOB, "owner-lost"),))
    assert gaps == [Gap(topics=(BOB,), reason="owner-lost", point="p2")]
    taken = [recoverer.take(event(topic, 5)) for topic in (BOB, EVE)]
    assert [each.gap for each in taken if each is not None] == [None, 0]


@pytest.mark.parametrize("recovered", [None, False])
def test_an_answer_that_says_nothing_of_a_recovery_promises_nothing(recovered: bool | None) -> None:
    recoverer = followed(BOB)
    recoverer.ask(7, [BOB], "local")
    said, _ = recoverer.answered(answer(7, recovered=recovered))
    assert (said.recovered, said.lost) == (False, (LostTopic(BOB, "expired"),))


def test_who_has_neither_point_nor_number_may_have_missed_something_whatever_the_server_says() -> None:
    """DPS-5: the server means that nothing is missing from now on."""
    recoverer = followed(BOB, EVE, point=None)
    recoverer.take(event(EVE, 1))
    recoverer.disconnect()
    recoverer.ask(7, [BOB, EVE], "local")
    said, _ = recoverer.answered(answer(7, recovered=True, point="p1"))
    assert (said.recovered, said.lost) == (False, (LostTopic(BOB, "expired"),))


def test_topics_of_a_kind_that_is_not_kept_are_followed_without_and_said_to_be_lost() -> None:
    recoverer = followed(BOB, ALBUMS)
    assert list(recoverer.batches([BOB, ALBUMS, "no topic"])) == [[BOB], [ALBUMS, "no topic"]]
    assert recoverer.ask(8, [ALBUMS], "local") == {"op": "subscribe", "topics": [ALBUMS], "wait": "local"}
    said, gaps = recoverer.answered(answer(8))
    assert (said.recovered, said.lost) == (False, (LostTopic(ALBUMS, "no-window"),))
    assert [gap.topics for gap in gaps] == [(ALBUMS,)]


def test_a_server_without_a_window_hears_nothing_of_recovery() -> None:
    recoverer = followed(BOB, window=False)
    recoverer.take(event(BOB, 5))
    assert not recoverer.is_offered
    assert recoverer.ask(7, [BOB], "local") == {"op": "subscribe", "topics": [BOB], "wait": "local"}
    said, gaps = recoverer.answered(answer(7))
    assert (said.recovered, said.lost, gaps) == (None, (), [])
    taken = recoverer.take(event(BOB, 6))
    assert taken is not None
    assert taken.gap is None


def test_topics_with_different_points_are_asked_for_apart() -> None:
    recoverer = followed(BOB, EVE)
    recoverer.ask(1, [BOB], "local")
    recoverer.answered(answer(1, recovered=True, point="p2"))
    recoverer.disconnect()
    assert list(recoverer.batches([BOB, EVE])) == [[BOB], [EVE]]


def test_numbers_take_their_room_in_a_message() -> None:
    topics = [f"hm://presence/user/u{n}/" for n in range(20)]
    recoverer = followed(*topics, message_bytes=2048)
    assert [len(batch) for batch in recoverer.batches(topics)] == [20]
    for topic in topics:
        recoverer.take(event(topic, 1))
    recoverer.disconnect()
    assert max(len(batch) for batch in recoverer.batches(topics)) < 10


def test_a_position_that_the_server_does_not_take_is_given_up_and_said_to_be_lost() -> None:
    recoverer = followed(BOB)
    recoverer.ask(7, [BOB], "local")
    assert recoverer.refused(7, Refused("bad-field", "point: no point"))
    assert recoverer.ask(8, [BOB], "local") == {"op": "subscribe", "topics": [BOB], "wait": "local", "recover": True}
    said, _ = recoverer.answered(answer(8, recovered=False, lost=(LostTopic(BOB, "expired"),)))
    assert said.lost == (LostTopic(BOB, "expired"),)


def test_other_refusals_are_those_of_the_application() -> None:
    recoverer = followed(BOB)
    recoverer.ask(7, [BOB], "local")
    assert not recoverer.refused(7, Refused("too-many-topics", ""))
    assert not recoverer.refused(99, Refused("bad-field", ""))
    assert recoverer.ask(8, [BOB], "local")["point"] == "p1"


def test_a_topic_that_is_rejected_for_now_keeps_its_position() -> None:
    recoverer = followed(BOB)
    recoverer.ask(7, [BOB], "local")
    said, _ = recoverer.answered(answer(7, recovered=True, rejected=(RejectedTopic(BOB, "unavailable"),)))
    assert said.recovered is None
    assert recoverer.ask(8, [BOB], "local")["point"] == "p1"


def test_an_answer_to_nothing_is_passed_on() -> None:
    recoverer = followed(BOB)
    assert recoverer.answered(answer(99)) == (answer(99), [])


def test_kept_positions_follow_what_is_said_and_begin_the_next_life() -> None:
    kept = KeptPositions("ann", {BOB: Position("p1", {"sto": (Number(1, 5),)})})
    recoverer = Recoverer(kept)
    recoverer.connect(welcome())
    assert recoverer.ask(1, [BOB], "local")["since"] == {BOB: {"sto": (1, 5)}}
    assert recoverer.take(event(BOB, 5)) is None
    recoverer.answered(answer(1, recovered=True, point="p2"))
    assert kept.positions[BOB] == Position("p2", {"sto": (Number(1, 5),)})
    recoverer.miss(Gap(topics=(BOB,), reason="split", point="p3"))
    assert kept.positions[BOB] == Position("p3", {})
    recoverer.forget([BOB])
    assert kept.positions == {}
