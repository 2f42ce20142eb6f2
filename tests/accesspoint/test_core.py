"""What an access point decides, without sockets or clocks."""

import json
from itertools import count
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accesspoint import messages
from infra.kernel.errors import ConfigError, Refused
from infra.kernel.frames import Call, Gone, Here, Reply, Subscribe, Unsubscribe
from infra.kernel.interest import MAX_LINKS
from tests.support.bare_core import FEEDS, OPTIONS, KeptFrames, install, last_call, linked, make_core, service_up, welcomed
from tests.support.recording_session import RecordingSession

# Hello.


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
        ("aggregators names 63", {"aggregators": ["a1"] * (MAX_LINKS + 1)}),
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


def test_an_action_goes_to_its_service_as_it_was_written_and_the_answer_comes_back_under_its_id() -> None:
    core = make_core()
    outlet, session = service_up(core), welcomed(core)
    text = b'{"kind":"play", "op":"act" ,"id":"x","track":1.50}'
    assert session.tell_text(text) is None
    asked = last_call(outlet)
    assert (asked.user, asked.client, asked.op, asked.body) == ("eve", "c1", "act", text)
    core.calls.reply("p1", Reply(asked.n, "", "", b""))
    assert session.messages[-1] == {"op": "ok", "id": "x"}
    core.calls.reply("p1", Reply(asked.n, "", "", b""))  # twice: nobody waits any more
    assert len(session.messages) == 2


def test_a_service_may_answer_with_a_body_of_its_own() -> None:
    core = make_core()
    outlet, session = service_up(core, "notification"), welcomed(core)
    for op, more in (
        ("pull", {"since": 17}),
        ("seen", {"mark": 18}),
        ("read", {}),
        ("list", {}),
        ("change", {"action": "archive", "marks": [1]}),
        ("history", {"topic": FEEDS[0], "before": "c"}),
    ):
        session.tell(op=op, id=1, **more)
        assert (last_call(outlet).op, json.loads(last_call(outlet).body)) == (op, {"op": op, "id": 1} | more)
    core.calls.reply("p1", Reply(last_call(outlet).n, "", "", b'{"op":"history","items":[]}'))
    assert session.messages[-1] == {"op": "history", "items": []}


def test_a_refusal_of_a_service_is_an_error_and_ends_the_connection_if_it_is_fatal() -> None:
    core = make_core()
    outlet, session = service_up(core), welcomed(core)
    session.tell(op="act", kind="play", id=1)
    core.calls.reply("p1", Reply(last_call(outlet).n, "bad-field", "no such kind", b""))
    error = session.messages[-1]
    assert (error["code"], error["reason"], error["id"], session.ending) == ("bad-field", "no such kind", 1, None)
    session.tell(op="act", kind="play", id=2)
    core.calls.reply("p1", Reply(last_call(outlet).n, "too-large", "an action of a megabyte", b""))
    assert session.ending == ("too-large", None)
    assert (core.refusals["bad-field"], core.refusals["too-large"]) == (1, 1)


@pytest.mark.parametrize("code", ["no-such-code", "", " "])
def test_a_code_that_nobody_knows_is_a_defect_of_that_one_call(code: str) -> None:
    """It broke the link to the service, and with it the calls of everybody."""
    core = make_core()
    outlet, session = service_up(core), welcomed(core)
    session.tell(op="act", kind="play", id=1)
    core.calls.reply("p1", Reply(last_call(outlet).n, code or "new\x1bcode", "of a newer version", b""))
    error = session.messages[-1]
    assert (error["code"], error["id"], session.ending, core.refusals) == ("internal-error", 1, None, {"internal-error": 1})
    assert "\x1b" not in error["reason"]
    assert "of a newer version" in error["reason"]


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
    service_up(core)
    assert [session.tell(0.0, op="act", kind="play", id=next(reasons)) for _ in range(2)] == [None, None]
    assert refused() == "too many requests are waiting for an answer"
    core.tick(5.0, 0.25)
    assert [message["reason"] for message in session.messages[-2:]] == ["no answer within 5 s"] * 2
    session.tell(6.0, op="act", kind="play")
    core.calls.node_down("presence", "p1")
    assert session.messages[-1]["reason"] == "the presence service went away before it answered"
    assert refused(7.0) == "no presence service can be reached now"


def test_a_user_has_one_rate_of_acts_however_many_connections_they_have() -> None:
    """DPS-26: one user with fifty connections had fifty times of it."""
    core = make_core(max_user_acts_per_s=2, services={"presence": ["p1"]})
    outlet, (one, other), dan = service_up(core), [welcomed(core) for _ in range(2)], welcomed(core, "dan")

    def acts(session: RecordingSession, now_s: float) -> list[object]:
        return [(session.tell(now_s, op="act", kind="play") or {}).get("code") for _ in range(3)]

    assert acts(one, 0.0) == [None] * 3
    assert acts(other, 0.0) == [None, "rate-limited", "rate-limited"]
    assert acts(dan, 0.0) == [None] * 3
    assert (len([each for each in outlet if isinstance(each, Call)]), core.refusals) == (7, {"rate-limited": 2})
    assert acts(other, 0.5) == [None, "rate-limited", "rate-limited"]
    assert "2 acts a second" in other.messages[-1]["reason"]


def test_changes_of_notifications_count_as_acts() -> None:
    """DPS-26: each is told to all devices of the user."""
    core = make_core(max_user_acts_per_s=2)
    service_up(core, "notification")
    session = welcomed(core)
    said = [session.tell(0.0, op="change", action="archive", marks=[1]) for _ in range(5)]
    assert [(each or {}).get("code") for each in said] == [None] * 4 + ["rate-limited"]


def test_nobody_who_has_left_gets_the_answer_of_a_service() -> None:
    core = make_core()
    outlet, session = service_up(core), welcomed(core)
    session.tell(op="act", kind="play")
    core.leave(session, "lost")
    core.calls.reply("p1", Reply(last_call(outlet).n, "", "", b""))
    assert len(session.messages) == 1


def test_a_client_has_so_many_requests_open_and_no_more_however_slow_the_service_is() -> None:
    """DPS-26: the room for open calls is everybody's."""
    core = make_core(max_calls_per_client=3, services={"presence": ["p1"]})
    outlet = KeptFrames()
    core.calls.node_up("presence", "p1", outlet)
    eve, dan = welcomed(core, "eve"), welcomed(core, "dan")
    for n in range(5):
        eve.tell(op="act", kind="play", id=n)
    refused = [(message["id"], message["code"]) for message in eve.messages[1:]]
    assert refused == [(3, "rate-limited"), (4, "rate-limited")]
    assert core.refusals == {"rate-limited": 2}
    dan.tell(op="act", kind="play")
    core.calls.reply("p1", Reply(last_call(outlet).n, "", "", b""))
    assert dan.messages[-1]["op"] == "ok"
    core.tick(OPTIONS.call_s + 1, 0.25)  # nobody has answered
    assert [message["code"] for message in eve.messages[-3:]] == ["unavailable"] * 3
    eve.tell(now_s=10.0, op="act", kind="play", id=5)
    assert last_call(outlet).user == "eve"
    assert eve.open_calls == 1


# Durable following.

PLAYLISTS = [f"hm://playlist/user/dan/playlist/p{n}/" for n in range(3)]
ARTIST, SOCIAL = "hm://notifications/feed/a1%new-album/", "hm://notifications/feed/eve%friend-joined/"
WITH_SERVICES: dict[str, Any] = {"services": {name: [name] for name in ("playlist", "artist", "social")}}


@pytest.mark.parametrize(("said", "told"), [("subscribe", "follow"), ("unsubscribe", "unfollow")])
def test_each_service_hears_once_of_the_topics_of_a_message_that_are_its_own_and_none_of_users(said: str, told: str) -> None:
    """SB-12: social, artist and playlist topics reach their service as well as the engine; user topics the engine only."""
    core = make_core(**WITH_SERVICES)
    link, session = linked(core), welcomed(core)
    outlets = {name: service_up(core, name) for name in ("playlist", "artist", "social")}
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
    link, outlet, session = linked(core), service_up(core, "playlist"), welcomed(core)
    session.tell(op="subscribe", topics=PLAYLISTS, id=1)
    core.leave(session, "lost")
    assert [asked.op for asked in outlet if isinstance(asked, Call)] == ["follow"]
    assert [len(frame.topics) for frame in link if isinstance(frame, Unsubscribe)] == [3]


def test_a_service_that_refuses_or_is_away_is_one_error_without_an_id_and_the_engine_delivers_all_the_same() -> None:
    core = make_core(**WITH_SERVICES)
    link, outlet, session = linked(core), service_up(core, "playlist"), welcomed(core)
    session.tell(op="subscribe", topics=[*PLAYLISTS, ARTIST, FEEDS[0]], id=5)
    core.calls.reply("p1", Reply(last_call(outlet).n, "not-found", "there is no playlist p1", b""))
    errors = [(message["id"], message["code"]) for message in session.messages if message["op"] == "error"]
    assert errors == [(None, "unavailable"), (None, "not-found")]
    assert core.hub.subscriptions == 5
    install(core, link, {"sto": 0})
    assert (session.messages[-1]["op"], session.messages[-1]["rejected"]) == ("subscribed", [])


def test_what_follows_from_a_subscribe_counts_among_the_open_requests_of_a_client() -> None:
    """DPS-26: each subscribe to a playlist, an artist or a profile is a call, too."""
    core = make_core(max_calls_per_client=2, **WITH_SERVICES)
    link, outlets, session = linked(core), [service_up(core, name) for name in ("playlist", "artist")], welcomed(core)
    for n in range(3):
        session.tell(op="subscribe", topics=[PLAYLISTS[n], ARTIST], id=n)
    assert [len([each for each in outlet if isinstance(each, Call)]) for outlet in outlets] == [1, 1]
    errors = [(message["id"], message["code"]) for message in session.messages if message["op"] == "error"]
    assert (errors, core.refusals) == ([(None, "rate-limited")] * 4, {"rate-limited": 4})
    assert "no lasting follow" in session.messages[-1]["reason"]
    install(core, link, {"sto": 0})
    assert [message["id"] for message in session.messages if message["op"] == "subscribed"] == [0, 1, 2]


def test_a_service_that_is_not_configured_is_not_missed_and_what_is_rejected_is_not_followed() -> None:
    core = make_core(services={"playlist": ["p"]})
    linked(core)
    outlet, session = service_up(core, "playlist"), welcomed(core)
    session.tell(op="subscribe", topics=[ARTIST, SOCIAL, "hm://nowhere/", PLAYLISTS[0]], id=1)
    assert json.loads(last_call(outlet).body) == {"topics": PLAYLISTS[:1]}
    assert [message["op"] for message in session.messages] == ["welcome"]


# Attendance.


def test_presence_is_told_of_each_client_that_said_hello_and_of_its_end() -> None:
    core = make_core()
    outlet = KeptFrames()
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


# Silence, leaving.


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
@settings(max_examples=200)
def test_whatever_a_client_says_it_is_answered_or_refused_with_a_documented_code(said: list[bytes], is_welcomed: bool) -> None:
    """One answer to each message, now or when the service or the aggregator has answered; never another exception."""
    core = make_core()
    linked(core)
    outlets = [service_up(core), service_up(core, "notification")]
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
