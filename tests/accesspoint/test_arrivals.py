"""accesspoint.arrivals: who comes in, and what they are told then."""

from collections import Counter
from typing import Any

import pytest

from accesspoint.core import AccessPointCore
from accesspoint.session import SessionState
from infra.kernel.errors import Refused
from infra.kernel.places import Places, VisitorLimits
from infra.runtime.tokens import Identity
from tests.support.bare_core import make_core, welcomed
from tests.support.recording_session import RecordingSession


def test_a_client_is_welcomed_with_what_it_may_do_and_what_time_it_is() -> None:
    """SB-13: the access point is the clock of its clients."""
    core = make_core(
        max_topics=7, max_topics_per_message=5, max_messages_per_s=3, max_message_bytes=999, max_bytes_per_s=1000, max_topics_per_s=11
    )
    session = RecordingSession(core)
    answer = session.tell(12.345, op="hello", token="eve")
    assert answer == {
        "op": "welcome",
        "session": session.id,
        "site": "sto",
        "user": "eve",
        "time_ms": 12345,
        "expires_ms": 10**15,
        "limits": {
            "message_bytes": 999,
            "topics_per_message": 5,
            "topics": 7,
            "messages_per_s": 3,
            "bytes_per_s": 1000,
            "topics_per_s": 11,
        },
        "window": {},
    }
    assert (session.state, session.user, len(session.id)) == (SessionState.READY, "eve", 16)
    assert session.tell(12.5, op="ping") == {"op": "pong", "time_ms": 12500}


def test_no_two_sessions_have_the_same_id() -> None:
    core = make_core()
    assert len({welcomed(core, f"u{n}").id for n in range(100)}) == 100


def test_one_user_has_so_many_connections_and_the_others_have_theirs() -> None:
    """DPS-26: 500 connections of one user were let in."""
    core = make_core(max_connections_per_user=3)
    sessions = [welcomed(core) for _ in range(3)]
    with pytest.raises(Refused, match="overloaded: this user has 3 connections here") as refused:
        welcomed(core)
    assert refused.value.code.reconnect
    assert core.refusals == {"overloaded": 1}
    welcomed(core, "dan")
    core.leave(sessions[0], "lost")
    core.leave(sessions[0], "lost")  # told twice, counted once
    welcomed(core)


def test_of_too_many_strangers_the_oldest_go_and_whoever_says_hello_stays() -> None:
    """DPS-26: a bound on unfinished handshakes, and nobody is kept out by it."""
    core = make_core(max_unfinished=3)
    guest = welcomed(core)
    strangers = [RecordingSession(core) for _ in range(5)]
    assert [stranger.ending for stranger in strangers] == [("overloaded", None), ("overloaded", None), None, None, None]
    strangers[2].tell(op="hello", token="dan")
    core.leave(strangers[3], "lost")
    assert len(core.arrivals.strangers) == 1
    for _ in range(2):
        RecordingSession(core)
    assert (len(core.arrivals.strangers), guest.ending, strangers[2].ending, strangers[4].ending) == (3, None, None, None)
    assert core.refusals == core.disconnects - Counter({"lost": 1}) == {"overloaded": 2}


def held_core(revoked: set[str], **options: Any) -> AccessPointCore:
    """Returns a core that has just been started. The tokens of those in `revoked` are taken no more."""

    def verify(token: str, wall_s: float) -> Identity:
        if token in revoked:
            raise Refused("token-revoked")
        return Identity(token, 1e12)

    core = make_core(verify, **options)
    core.arrivals.hold()
    return core


def test_nobody_is_let_in_before_it_is_known_whose_tokens_are_revoked() -> None:
    """DPS-28: after a restart an access point let in whom it had not heard of yet."""
    revoked: set[str] = set()
    core = held_core(revoked)
    ann, bob = RecordingSession(core), RecordingSession(core)
    assert (ann.tell(op="hello", token="ann"), bob.tell(1.0, op="hello", token="bob")) == (None, None)
    assert (ann.state, core.arrivals.ready, len(core.users)) == (SessionState.ASKING, {}, 0)
    revoked.add("ann")
    core.arrivals.release(5.0, 1005.0)
    assert (ann.ending, ann.messages, core.refusals) == (("token-revoked", None), [], {"token-revoked": 1})
    assert (bob.state, bob.messages[0]["op"], bob.messages[0]["time_ms"]) == (SessionState.READY, "welcome", 1_005_000)
    assert (bob.let_in_count, len(core.arrivals.strangers)) == (1, 0)
    assert welcomed(core, "cid").state is SessionState.READY


def test_a_token_that_is_known_to_be_bad_is_refused_at_once_also_before_all_is_known() -> None:
    core = held_core({"ann"})
    with pytest.raises(Refused, match="token-revoked"):
        RecordingSession(core).tell(op="hello", token="ann")


def test_who_leaves_while_they_are_held_comes_in_no_more_and_the_oldest_make_room() -> None:
    core = held_core(set(), max_unfinished=2)
    sessions = [RecordingSession(core) for _ in range(3)]
    for session in sessions[1:]:
        session.tell(op="hello", token="ann")
    core.leave(sessions[1], "lost")
    core.arrivals.release(1.0, 1.0)
    assert [session.state for session in sessions] == [SessionState.ENDED, SessionState.ENDED, SessionState.READY]
    assert sessions[0].ending == ("overloaded", None)


def test_bad_tokens_of_a_refresh_count_against_the_address() -> None:
    """DPS-26: a session could try one after the other."""
    bad = {"old"}
    core = held_core(bad)
    core.arrivals.release(0.0, 0.0)
    places = Places(9, VisitorLimits(bad_tokens_per_s=0.5))
    ann, bob = welcomed(core, "ann"), welcomed(core, "bob")
    for session in (ann, bob):
        session.place = places.take("192.0.2.1", 0.0)
    with pytest.raises(Refused, match="token-revoked"):
        ann.tell(op="refresh", token="old")
    refused = bob.tell(op="refresh", token="bob")
    assert refused is not None
    assert refused["code"] == "rate-limited"
    assert (bob.tell(2.0, op="refresh", token="bob") or {})["op"] == "refreshed"
