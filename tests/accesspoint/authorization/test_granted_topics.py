"""What sessions may follow by subscription tokens: until when, how much, and that nothing of it outlives them."""

import gc
import weakref

import pytest

from accesspoint.authorization.granted_topics import GrantedTopics
from accesspoint.session import Session
from infra.kernel.errors import Refused
from infra.kernel.topics import user_topic

BOB, CID, DAN = user_topic("bob"), user_topic("cid"), user_topic("dan")
FAR_S = 1e8


def test_topics_end_with_their_tokens_each_in_its_time() -> None:
    granted, ann, eve = GrantedTopics(10), Session(0.0), Session(0.0)
    granted.grant(ann, [BOB, CID], 10.5)
    granted.grant(ann, [DAN], 5.0)
    granted.grant(eve, [BOB], 7.0)
    assert granted.over(4.9) == []
    assert granted.over(7.0) == [(ann, [DAN]), (eve, [BOB])]
    assert (granted.has(ann, BOB), granted.has(ann, DAN), len(granted)) == (True, False, 1)
    assert granted.over(11.0) == [(ann, [BOB, CID])]
    assert (granted.over(1e9), len(granted)) == ([], 0)


def test_another_token_puts_the_end_off_and_a_topic_that_was_dropped_never_ends() -> None:
    granted, ann = GrantedTopics(10), Session(0.0)
    granted.grant(ann, [BOB, CID], 10.0)
    granted.grant(ann, [BOB], 20.0)
    granted.drop(ann, [CID])
    assert granted.over(19.0) == []
    assert granted.over(20.0) == [(ann, [BOB])]


class Remembered(Session):
    """A session of which one can find out whether it is still there."""


def test_nothing_holds_a_session_that_has_left_however_long_its_token_is_good() -> None:
    """DPS-26: with tokens of a year and clients that come back each minute, all sessions of a year stayed in memory."""
    granted, ann = GrantedTopics(10), Remembered(0.0)
    granted.grant(ann, [BOB], FAR_S)
    granted.left(ann)
    seen = weakref.ref(ann)
    del ann
    gc.collect()
    assert seen() is None


def test_nothing_stays_of_a_client_that_follows_and_leaves_without_end() -> None:
    """DPS-26."""
    granted, ann = GrantedTopics(10), Session(0.0)
    for n in range(5_000):
        granted.grant(ann, [BOB], FAR_S - n)
        granted.drop(ann, [BOB])
        granted.grant(ann, [], FAR_S - n)
    assert (len(granted), granted.waiting <= 100) == (0, True)


def test_a_session_has_a_bounded_number_of_them_and_is_told_what_to_do() -> None:
    """DPS-26: a token with a `*` would let a client name topics without end, and none of them need be followed."""
    granted, ann = GrantedTopics(2), Session(0.0)
    granted.grant(ann, [BOB], FAR_S)
    with pytest.raises(Refused, match=r"too-many-topics.*unsubscribe"):
        granted.grant(ann, [CID, DAN], FAR_S)
    assert not granted.has(ann, CID)
    granted.grant(ann, [BOB, CID], FAR_S)
    granted.drop(ann, [BOB])
    granted.grant(ann, [DAN], FAR_S)
