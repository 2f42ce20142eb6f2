"""What an access point decides, without sockets or clocks."""

import json
import random
from collections import Counter
from collections.abc import Callable
from itertools import count
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accesspoint import messages
from accesspoint.core import AccessPointCore
from accesspoint.options import AccessPointOptions
from accesspoint.outbox import Outbox
from accesspoint.session import SessionState
from infra.kernel.errors import ConfigError, Refused
from infra.kernel.frames import Call, Frame, Gone, Here, Reply, Subscribe, Unsubscribe, View
from infra.kernel.interest import MAX_LINKS
from infra.runtime.tokens import Identity
from tests.support.recording_session import RecordingSession, never

OPTIONS = AccessPointOptions(site="sto", node="ap1", policy="open", aggregators=["a1"])
FEEDS = [f"hm://presence/user/u{n}/" for n in range(9)]


class Outlet(list[Frame]):
    """A link that keeps what was sent."""

    def send(self, frame: Frame) -> None:
        self.append(frame)


def make_core(verify: Callable[[str, float], Identity] = lambda token, wall_s: Identity(token, 1e12), **options: Any) -> AccessPointCore:
    """Returns a core for which a token is a user name."""
    return AccessPointCore(msgspec.structs.replace(OPTIONS, **options), verify, random.Random(1), never)


def welcomed(core: AccessPointCore, user: str = "eve", now_s: float = 0.0) -> RecordingSession:
    session = RecordingSession(core, now_s)
    answer = session.tell(now_s, op="hello", token=user, client="c1")
    assert answer is not None
    assert answer["op"] == "welcome"
    return session


def linked(core: AccessPointCore) -> Outlet:
    """Returns the aggregator's link."""
    outlet = Outlet()
    core.announcer.set_view(View(1, ("a1",)))
    core.announcer.node_up("a1", outlet)
    outlet.clear()
    return outlet


# Hello.


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
    assert core.strangers == 1
    for _ in range(2):
        RecordingSession(core)
    assert (core.strangers, guest.ending, strangers[2].ending, strangers[4].ending) == (3, None, None, None)
    assert core.refusals == core.disconnects - Counter({"lost": 1}) == {"overloaded": 2}


def test_connections_are_admitted_up_to_the_limit_and_not_while_draining() -> None:
    core = make_core(max_connections=1)
    core.admit()
    session = RecordingSession(core)
    with pytest.raises(Refused, match="overloaded: this access point serves 1 connections"):
        core.admit()
    core.leave(session, "lost")
    core.leave(session, "lost")  # told twice, counted once
    core.draining = True
    with pytest.raises(Refused, match="going-away"):
        core.admit()
    assert (core.connects, core.disconnects) == (1, {"lost": 1})


def test_options_that_contradict_each_other_are_refused() -> None:
    OPTIONS.check()
    msgspec.structs.replace(OPTIONS, aggregators=["a1"] * MAX_LINKS).check()
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("aggregators", {"aggregators": []}),
        ("aggregators names 64", {"aggregators": ["a1"] * (MAX_LINKS + 1)}),
        ("silent_s", {"ping_s": 75.0}),
        ("drain_per_s", {"drain_per_s": 0.0}),
        ("max_calls_bytes", {"max_calls_bytes": OPTIONS.max_message_bytes - 1}),
        ("services names notifications", {"services": {"presence": [], "notifications": []}}),
    ]
    for name, change in wrong:
        with pytest.raises(ConfigError, match=rf"accesspoint\.{name}"):
            msgspec.structs.replace(OPTIONS, **change).check()


# Subscriptions.


def test_only_the_first_who_wants_a_topic_is_announced_and_only_the_last_who_leaves_it() -> None:
    """SB-9, SB-10."""
    core = make_core()
    link, one, two = linked(core), welcomed(core), welcomed(core)
    one.tell(op="subscribe", topics=FEEDS[:2])
    two.tell(op="subscribe", topics=FEEDS[1:3])
    one.tell(op="subscribe", topics=FEEDS[:2])
    assert [(frame.topics) for frame in link if isinstance(frame, Subscribe)] == [[b"Uu0", b"Uu1"], [b"Uu2"]]
    one.tell(op="unsubscribe", topics=FEEDS[:2])
    assert [frame.topics for frame in link if isinstance(frame, Unsubscribe)] == [[b"Uu0"]]
    core.leave(two, "lost")
    assert [frame.topics for frame in link if isinstance(frame, Unsubscribe)] == [[b"Uu0"], [b"Uu1", b"Uu2"]]
    assert core.hub.subscriptions == 0


def test_leaving_a_topic_twice_or_one_that_was_never_wanted_is_answered_all_the_same() -> None:
    core = make_core()
    link, session = linked(core), welcomed(core)
    session.tell(op="subscribe", topics=FEEDS[:1])
    for n in range(2):
        assert session.tell(op="unsubscribe", topics=FEEDS[:3], id=n) == {"op": "unsubscribed", "id": n}
    assert [frame.topics for frame in link if isinstance(frame, Unsubscribe)] == [[b"Uu0"]]


def test_a_wrong_uri_among_those_to_leave_leaves_all_of_them_as_they_were() -> None:
    core = make_core()
    link, session = linked(core), welcomed(core)
    session.tell(op="subscribe", topics=FEEDS[:2])
    error = session.tell(op="unsubscribe", topics=[FEEDS[0], "hm://nowhere", FEEDS[1]], id=1)
    assert error is not None
    assert (error["code"], error["id"]) == ("bad-topic", 1)
    assert (core.hub.subscriptions, [frame for frame in link if isinstance(frame, Unsubscribe)]) == (2, [])


@pytest.mark.parametrize("wait", ["local", "all"])
def test_without_anybody_upstream_the_answer_is_partial_after_a_while(wait: str) -> None:
    core = make_core(install_s=2.0)
    session = welcomed(core)
    assert session.tell(10.0, op="subscribe", topics=FEEDS, wait=wait, id=1) is None
    core.tick(11.9, 0.25)
    assert session.messages[-1]["op"] == "welcome"
    core.tick(12.0, 0.25)
    assert session.messages[-1] == {"op": "subscribed", "id": 1, "installed": "partial", "missing_sites": ["sto"], "rejected": []}


def test_what_is_installed_is_answered_at_once_and_nobody_who_has_left_is_answered() -> None:
    core = make_core()
    link, session, gone = linked(core), welcomed(core), welcomed(core)
    gone.tell(op="subscribe", topics=FEEDS[:1], id=1)
    session.tell(op="subscribe", topics=FEEDS[:1], id=2)
    core.leave(gone, "lost")
    core.announcer.applied("a1", link[-1].n, {"sto": link[-1].n, "lon": 0})  # type: ignore[attr-defined]
    core.subscriptions.advance(0.1)
    assert session.messages[-1]["installed"] == "local"
    assert gone.messages[-1]["op"] == "welcome"
    answer = session.tell(0.2, op="subscribe", topics=FEEDS[:1], id=3)
    assert answer is not None
    assert (answer["id"], answer["installed"]) == (3, "local")
    session.tell(0.2, op="subscribe", topics=FEEDS[:1], wait="all", id=4)
    core.tick(2.2, 0.25)
    assert (session.messages[-1]["installed"], session.messages[-1]["missing_sites"]) == ("partial", ["lon"])


# Services.


def presence(core: AccessPointCore, service: str = "presence") -> Outlet:
    outlet = Outlet()
    core.calls.node_up(service, "p1", outlet)
    return outlet


def call(outlet: Outlet) -> Call:
    assert isinstance(outlet[-1], Call)
    return outlet[-1]


def test_an_action_goes_to_its_service_as_it_was_written_and_the_answer_comes_back_under_its_id() -> None:
    core = make_core()
    outlet, session = presence(core), welcomed(core)
    text = b'{"kind":"play", "op":"act" ,"id":"x","track":1.50}'
    assert session.tell_text(text) is None
    asked = call(outlet)
    assert (asked.user, asked.client, asked.op, asked.body) == ("eve", "c1", "act", text)
    core.calls.reply("p1", Reply(asked.n, "", "", b""))
    assert session.messages[-1] == {"op": "ok", "id": "x"}
    core.calls.reply("p1", Reply(asked.n, "", "", b""))  # twice: nobody waits any more
    assert len(session.messages) == 2


def test_a_service_may_answer_with_a_body_of_its_own() -> None:
    core = make_core()
    outlet, session = presence(core, "notification"), welcomed(core)
    for op, more in (("pull", {"since": 17}), ("seen", {"mark": 18}), ("read", {}), ("history", {"topic": FEEDS[0], "before": "c"})):
        session.tell(op=op, id=1, **more)
        assert (call(outlet).op, json.loads(call(outlet).body)) == (op, {"op": op, "id": 1} | more)
    core.calls.reply("p1", Reply(call(outlet).n, "", "", b'{"op":"history","items":[]}'))
    assert session.messages[-1] == {"op": "history", "items": []}


def test_a_refusal_of_a_service_is_an_error_and_ends_the_connection_if_it_is_fatal() -> None:
    core = make_core()
    outlet, session = presence(core), welcomed(core)
    session.tell(op="act", kind="play", id=1)
    core.calls.reply("p1", Reply(call(outlet).n, "bad-field", "no such kind", b""))
    error = session.messages[-1]
    assert (error["code"], error["reason"], error["id"], session.ending) == ("bad-field", "no such kind", 1, None)
    session.tell(op="act", kind="play", id=2)
    core.calls.reply("p1", Reply(call(outlet).n, "too-large", "an action of a megabyte", b""))
    assert session.ending == ("too-large", None)
    assert (core.refusals["bad-field"], core.refusals["too-large"]) == (1, 1)


def test_what_no_service_answers_is_unavailable_sooner_or_later() -> None:
    core = make_core(max_calls=2, call_s=5.0)
    session = welcomed(core)
    reasons = count()

    def refused(now_s: float = 0.0) -> str:
        answer = session.tell(now_s, op="act", kind="play", id=next(reasons))
        assert answer is not None
        assert answer["code"] == "unavailable"
        return str(answer["reason"])

    assert refused() == "no presence service can be reached now"
    presence(core)
    assert [session.tell(0.0, op="act", kind="play", id=next(reasons)) for _ in range(2)] == [None, None]
    assert refused() == "too many requests are waiting for an answer"
    core.tick(5.0, 0.25)
    assert [message["reason"] for message in session.messages[-2:]] == ["no answer within 5 s"] * 2
    session.tell(6.0, op="act", kind="play")
    core.calls.node_down("presence", "p1")
    assert session.messages[-1]["reason"] == "the presence service went away before it answered"
    assert refused() == "no presence service can be reached now"


def test_nobody_who_has_left_gets_the_answer_of_a_service() -> None:
    core = make_core()
    outlet, session = presence(core), welcomed(core)
    session.tell(op="act", kind="play")
    core.leave(session, "lost")
    core.calls.reply("p1", Reply(call(outlet).n, "", "", b""))
    assert len(session.messages) == 1


# Inboxes.

WITH_NOTIFICATION: dict[str, Any] = {"services": {"notification": ["n1"]}}


def install(core: AccessPointCore, link: Outlet, sites: dict[str, int]) -> None:
    """Says on `link` that the aggregator has done everything so far, and each of `sites` so much less."""
    n = link[-1].n  # type: ignore[attr-defined]
    core.announcer.applied("a1", n, {site: n - less for site, less in sites.items()})
    core.subscriptions.advance(0.1)


def test_a_session_gets_its_own_inbox_and_one_pull_when_that_is_installed_everywhere() -> None:
    """SB-11: what is stored before is pulled, what is stored after comes live, and nothing falls between the two."""
    core = make_core(**WITH_NOTIFICATION)
    link, outlet, session = linked(core), presence(core, "notification"), welcomed(core)
    assert [frame.topics for frame in link if isinstance(frame, Subscribe)] == [[b"Ieve"]]
    install(core, link, {"sto": 0, "lon": 1})
    assert outlet == []
    install(core, link, {"sto": 0, "lon": 0})
    assert [(asked.user, asked.client, asked.op) for asked in outlet if isinstance(asked, Call)] == [("eve", "c1", "pull")]
    core.calls.reply("p1", Reply(call(outlet).n, "", "", b'{"op":"notifications","id":null,"items":[]}'))
    assert session.messages[-1] == {"op": "notifications", "id": None, "items": []}
    core.leave(session, "lost")
    assert [frame.topics for frame in link if isinstance(frame, Unsubscribe)] == [[b"Ieve"]]


def test_the_first_pull_is_not_put_off_for_ever_and_nobody_who_has_left_gets_one() -> None:
    core = make_core(**WITH_NOTIFICATION, install_s=2.0)
    outlet, session, gone = presence(core, "notification"), welcomed(core), welcomed(core, "ann")
    core.leave(gone, "lost")
    core.tick(1.9, 0.25)
    assert outlet == []
    core.tick(2.0, 0.25)
    assert [asked.user for asked in outlet if isinstance(asked, Call)] == [session.user]


def test_the_service_has_as_long_for_the_first_pull_as_for_any_call_however_long_the_inbox_took() -> None:
    core = make_core(**WITH_NOTIFICATION, install_s=60.0, call_s=5.0)
    link, outlet, session = linked(core), presence(core, "notification"), welcomed(core)
    core.announcer.applied("a1", link[-1].n, {"sto": link[-1].n})  # type: ignore[attr-defined]
    core.subscriptions.advance(50.0)
    assert call(outlet).op == "pull"
    session.tell(50.1, op="seen", mark=1, id=7)
    core.tick(54.9, 0.25)
    core.calls.reply("p1", Reply(call(outlet).n - 1, "", "", b'{"op":"notifications","id":null,"items":[]}'))
    assert session.messages[-1] == {"op": "notifications", "id": None, "items": []}
    core.tick(55.2, 0.25)
    assert (session.messages[-1]["code"], session.messages[-1]["id"]) == ("unavailable", 7)


def test_a_client_has_so_many_requests_open_and_no_more_however_slow_the_service_is() -> None:
    """DPS-26: the room for open calls is everybody's."""
    core = make_core(max_calls_per_client=3, services={"presence": ["p1"]})
    outlet = Outlet()
    core.calls.node_up("presence", "p1", outlet)
    eve, dan = welcomed(core, "eve"), welcomed(core, "dan")
    for n in range(5):
        eve.tell(op="act", kind="play", id=n)
    refused = [(message["id"], message["code"]) for message in eve.messages[1:]]
    assert refused == [(3, "rate-limited"), (4, "rate-limited")]
    assert core.refusals == {"rate-limited": 2}
    dan.tell(op="act", kind="play")
    core.calls.reply("p1", Reply(call(outlet).n, "", "", b""))
    assert dan.messages[-1]["op"] == "ok"
    core.tick(OPTIONS.call_s + 1, 0.25)  # nobody has answered
    assert [message["code"] for message in eve.messages[-3:]] == ["unavailable"] * 3
    eve.tell(now_s=10.0, op="act", kind="play", id=5)
    assert call(outlet).user == "eve"
    assert eve.open_calls == 1


def test_without_a_notification_service_there_are_no_inboxes_and_an_absent_one_is_not_asked() -> None:
    core = make_core()
    linked(core)
    assert welcomed(core).handles.tolist() == []
    core = make_core(**WITH_NOTIFICATION)
    session = welcomed(core)
    core.tick(9.0, 0.25)
    assert [message["op"] for message in session.messages] == ["welcome"]


def test_no_client_follows_or_leaves_an_inbox_not_even_its_own_and_it_does_not_count_against_its_limit() -> None:
    core = make_core(**WITH_NOTIFICATION, max_topics=3)
    link, session = linked(core), welcomed(core)
    inboxes = ["hm://notifications/inbox/eve/", "hm://notifications/inbox/bob/"]
    session.tell(op="subscribe", topics=[inboxes[0], *FEEDS[:2], inboxes[1]], id=1)
    install(core, link, {"sto": 0})
    assert [(each["topic"], each["code"]) for each in session.messages[-1]["rejected"]] == [(uri, "forbidden") for uri in inboxes]
    error = session.tell(op="unsubscribe", topics=[FEEDS[0], inboxes[0]], id=2)
    assert error is not None
    assert (error["code"], error["id"]) == ("forbidden", 2)
    assert core.hub.subscriptions == 3
    session.tell(op="subscribe", topics=FEEDS[1:3], id=3)
    install(core, link, {"sto": 0})
    assert session.messages[-1]["rejected"] == []
    session.tell(op="subscribe", topics=[FEEDS[2], FEEDS[3]], id=4)
    install(core, link, {"sto": 0})
    assert [(each["topic"], each["code"]) for each in session.messages[-1]["rejected"]] == [(FEEDS[3], "too-many-topics")]


# Durable following.

PLAYLISTS = [f"hm://playlist/user/dan/playlist/p{n}/" for n in range(3)]
ARTIST, SOCIAL = "hm://notifications/feed/a1%new-album/", "hm://notifications/feed/eve%friend-joined/"
WITH_SERVICES: dict[str, Any] = {"services": {name: [name] for name in ("playlist", "artist", "social")}}


@pytest.mark.parametrize(("said", "told"), [("subscribe", "follow"), ("unsubscribe", "unfollow")])
def test_each_service_hears_once_of_the_topics_of_a_message_that_are_its_own_and_none_of_users(said: str, told: str) -> None:
    """SB-12: social, artist and playlist topics reach their service as well as the engine; user topics the engine only."""
    core = make_core(**WITH_SERVICES)
    link, session = linked(core), welcomed(core)
    outlets = {name: presence(core, name) for name in ("playlist", "artist", "social")}
    topics = [*PLAYLISTS, ARTIST, SOCIAL, FEEDS[0]]
    session.tell(op="subscribe", topics=topics, id=1)
    assert [len(frame.topics) for frame in link if isinstance(frame, Subscribe)] == [6]
    for outlet in outlets.values():
        assert [asked.op for asked in outlet if isinstance(asked, Call)] == ["follow"]
        outlet.clear()
    session.tell(op=said, topics=topics, id=2)
    for service, own in (("playlist", PLAYLISTS), ("artist", [ARTIST]), ("social", [SOCIAL])):
        (asked,) = outlets[service]
        assert isinstance(asked, Call)
        assert (asked.user, asked.op, json.loads(asked.body)) == ("eve", told, {"topics": own})
        core.calls.reply("p1", Reply(asked.n, "", "", b""))
    assert [message["op"] for message in session.messages if message["op"] in ("ok", "error")] == []


def test_a_disconnect_unfollows_nothing() -> None:
    """Following a playlist lasts; only the engine forgets (path B of the spec)."""
    core = make_core(**WITH_SERVICES)
    link, outlet, session = linked(core), presence(core, "playlist"), welcomed(core)
    session.tell(op="subscribe", topics=PLAYLISTS, id=1)
    core.leave(session, "lost")
    assert [asked.op for asked in outlet if isinstance(asked, Call)] == ["follow"]
    assert [len(frame.topics) for frame in link if isinstance(frame, Unsubscribe)] == [3]


def test_a_service_that_refuses_or_is_away_is_one_error_without_an_id_and_the_engine_delivers_all_the_same() -> None:
    core = make_core(**WITH_SERVICES)
    link, outlet, session = linked(core), presence(core, "playlist"), welcomed(core)
    session.tell(op="subscribe", topics=[*PLAYLISTS, ARTIST, FEEDS[0]], id=5)
    core.calls.reply("p1", Reply(call(outlet).n, "not-found", "there is no playlist p1", b""))
    errors = [(message["id"], message["code"]) for message in session.messages if message["op"] == "error"]
    assert errors == [(None, "unavailable"), (None, "not-found")]
    assert core.hub.subscriptions == 5
    install(core, link, {"sto": 0})
    assert (session.messages[-1]["op"], session.messages[-1]["rejected"]) == ("subscribed", [])


def test_a_service_that_is_not_configured_is_not_missed_and_what_is_rejected_is_not_followed() -> None:
    core = make_core(services={"playlist": ["p"]})
    linked(core)
    outlet, session = presence(core, "playlist"), welcomed(core)
    session.tell(op="subscribe", topics=[ARTIST, SOCIAL, "hm://nowhere/", PLAYLISTS[0]], id=1)
    assert json.loads(call(outlet).body) == {"topics": PLAYLISTS[:1]}
    assert [message["op"] for message in session.messages] == ["welcome"]


# Attendance.


def test_presence_is_told_of_each_client_that_said_hello_and_of_its_end() -> None:
    core = make_core()
    outlet = Outlet()
    core.attendance.node_up("p1", outlet)
    phone = RecordingSession(core)
    RecordingSession(core)  # never says hello
    phone.tell(op="hello", token="ann", client="phone", device="mobile")
    desktop = welcomed(core, "bob")
    core.attendance.report()
    assert outlet == [Here(["ann", "bob"], ["phone", "c1"], [2, 1])]
    phone.end(Refused("slow-consumer"))
    core.leave(desktop, "lost")
    core.leave(desktop, "lost")
    core.attendance.report()
    assert outlet[1:] == [Gone(["ann", "bob"], ["phone", "c1"])]
    assert len(core.attendance) == 0


# Slowness, silence, leaving.


def test_one_that_is_slow_for_too_long_or_by_too_much_is_sent_away() -> None:
    core = make_core(stalled_s=10.0, outbox_bytes=100)
    late, fat, fine = (welcomed(core, user) for user in ("late", "fat", "fine"))
    for session in (late, fat):
        session.chunks, session.outbox = None, Outbox(20.0, 100)
        core.stopped(session)
    for session in (late, fat, fine):
        core.check_slow(session, 30.0)
        assert session.ending is None
    assert fat.outbox is not None
    fat.outbox.add(1, False, [b"x" * 101])
    for session in (late, fat, fine):
        core.check_slow(session, 30.1)
    assert (late.ending, fat.ending, fine.ending) == (("slow-consumer", None), ("slow-consumer", None), None)
    assert (core.evictions, core.paused) == (2, 0)


def test_all_sessions_are_looked_at_within_half_the_ping_time_and_pinged_or_ended() -> None:
    core = make_core(ping_s=30.0, silent_s=75.0)
    sessions = [welcomed(core, f"u{n}") for n in range(1000)]
    stranger = RecordingSession(core, -1000.0)  # hello has a time limit of its own
    for session, heard_s in zip(sessions, [*[25.0] * 400, *[-20.0] * 400, *[-50.0] * 200], strict=True):
        session.heard_s = heard_s
    ticks = int(30.0 / 2 / 0.25) + 2
    most = 0
    for _ in range(ticks):
        before = sum(session.pings for session in sessions)
        core.tick(26.0, 0.25)
        most = max(most, sum(session.pings for session in sessions) - before)
    assert [sum(session.pings > 0 for session in part) for part in (sessions[:400], sessions[400:800], sessions[800:])] == [0, 400, 0]
    assert {session.ending for session in sessions[800:]} == {("heartbeat-timeout", None)}
    assert len(core.sessions) == 801
    assert stranger in core.sessions
    assert most < 50  # a share in every tick, not all in one


def test_farewell_spreads_the_return_over_the_time_that_was_chosen() -> None:
    core = make_core(reconnect_within_ms=1000)
    hints = []
    for _ in range(200):
        session = welcomed(core)
        core.farewell(session)
        assert session.ending is not None
        hints.append(session.ending[1] or 0)
    assert (min(hints) >= 0, max(hints) <= 1000) == (True, True)
    assert len({hint // 100 for hint in hints}) >= 10


# Fuzzing.

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8) | st.sampled_from(FEEDS),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=8,
)
VALID: list[dict[str, Any]] = [
    {"op": "hello", "token": "eve", "client": "c", "device": "mobile", "user": "eve"},
    {"op": "subscribe", "topics": FEEDS[:3], "id": 1, "wait": "all"},
    {"op": "unsubscribe", "topics": FEEDS[:3], "id": 2},
    {"op": "act", "kind": "play", "id": 3},
    {"op": "last", "topics": FEEDS[:3], "id": 3},
    {"op": "pull", "id": 4, "limit": 5, "since": 17},
    {"op": "seen", "id": 5, "mark": 17},
    {"op": "read", "id": 6, "mark": 17},
    {"op": "history", "id": 7, "topic": FEEDS[0], "before": "c"},
    {"op": "ping"},
]


@st.composite
def mutated(draw: st.DrawFn) -> dict[str, Any]:
    """Returns a valid message with some fields changed, renamed or left out."""
    message = dict(draw(st.sampled_from(VALID)))
    for name in draw(st.lists(st.sampled_from(sorted({name for each in VALID for name in each})), max_size=2)):
        change = draw(st.sampled_from(["drop", "change", "add"]))
        if change == "drop":
            message.pop(name, None)
        else:
            message[name if change == "change" else draw(st.text(max_size=4))] = draw(values)
    return message


def cut(text: bytes, at: int) -> bytes:
    return text[: at % (len(text) + 1)]


texts = (
    (values | mutated()).map(lambda value: json.dumps(value).encode())
    | st.builds(cut, mutated().map(lambda value: json.dumps(value).encode()), st.integers(0, 1000))
    | st.text().map(lambda text: text.encode(errors="replace"))
)


@given(st.lists(texts, max_size=6), st.booleans())
@settings(max_examples=200, deadline=None)
def test_whatever_a_client_says_it_is_answered_or_refused_with_a_documented_code(said: list[bytes], is_welcomed: bool) -> None:
    """One answer to each message, now or when the service or the aggregator has answered; never another exception."""
    core = make_core()
    linked(core)
    outlets = [presence(core), presence(core, "notification")]
    session = welcomed(core) if is_welcomed else RecordingSession(core)
    core.calls.tick(1e9)
    before = len(session.messages)
    for number, text in enumerate(said, 1):
        refused = refusal(session, text)
        if refused is not None:
            assert refused.code.fatal
            return
        for outlet in outlets:
            for asked in outlet:
                assert isinstance(asked, Call)
                msgspec.msgpack.encode(asked)
                core.calls.reply("p1", Reply(asked.n, "", "", b'{"op":"ok"}'))
            outlet.clear()
        core.tick(number * 10.0, 0.25)
        assert len(session.messages) - before == number
    assert set(core.said) <= messages.OPS


def refusal(session: RecordingSession, text: bytes) -> Refused | None:
    try:
        session.tell_text(text)
    except Refused as refused:
        return refused
    return None
