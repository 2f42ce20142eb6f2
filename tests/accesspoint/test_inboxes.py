"""accesspoint.inboxes: a session follows its own, and gets what nobody could tell it live."""

from typing import Any

from infra.kernel.frames import Call, Reply, Subscribe, Unsubscribe
from tests.support.bare_core import FEEDS, install, last_call, linked, make_core, service_up, welcomed

WITH_NOTIFICATION: dict[str, Any] = {"services": {"notification": ["n1"]}}


def test_a_session_gets_its_own_inbox_and_one_pull_when_that_is_installed_everywhere() -> None:
    """SB-11: what is stored before is pulled, what is stored after comes live, and nothing falls between the two."""
    core = make_core(**WITH_NOTIFICATION)
    link, outlet, session = linked(core), service_up(core, "notification"), welcomed(core)
    assert [frame.topics for frame in link if isinstance(frame, Subscribe)] == [[b"Ieve"]]
    install(core, link, {"sto": 0, "lon": 1})
    assert outlet == []
    install(core, link, {"sto": 0, "lon": 0})
    assert [(asked.user, asked.client, asked.op) for asked in outlet if isinstance(asked, Call)] == [("eve", "c1", "pull")]
    core.calls.reply("p1", Reply(last_call(outlet).n, "", "", b'{"op":"notifications","id":null,"items":[]}'))
    assert session.messages[-1] == {"op": "notifications", "id": None, "items": []}
    core.leave(session, "lost")
    assert [frame.topics for frame in link if isinstance(frame, Unsubscribe)] == [[b"Ieve"]]


def test_the_first_pull_is_not_put_off_for_ever_and_nobody_who_has_left_gets_one() -> None:
    core = make_core(**WITH_NOTIFICATION, install_s=2.0)
    outlet, session, gone = service_up(core, "notification"), welcomed(core), welcomed(core, "ann")
    core.leave(gone, "lost")
    core.tick(1.9, 0.25)
    assert outlet == []
    core.tick(2.0, 0.25)
    assert [asked.user for asked in outlet if isinstance(asked, Call)] == [session.user]


def test_the_service_has_as_long_for_the_first_pull_as_for_any_call_however_long_the_inbox_took() -> None:
    core = make_core(**WITH_NOTIFICATION, install_s=60.0, call_s=5.0)
    link, outlet, session = linked(core), service_up(core, "notification"), welcomed(core)
    core.announcer.applied("a1", link[-1].n, {"sto": link[-1].n})  # type: ignore[attr-defined]
    core.subscriptions.advance(50.0)
    assert last_call(outlet).op == "pull"
    session.tell(50.1, op="seen", mark=1, id=7)
    core.tick(54.9, 0.25)
    core.calls.reply("p1", Reply(last_call(outlet).n - 1, "", "", b'{"op":"notifications","id":null,"items":[]}'))
    assert session.messages[-1] == {"op": "notifications", "id": None, "items": []}
    core.tick(55.2, 0.25)
    assert (session.messages[-1]["code"], session.messages[-1]["id"]) == ("unavailable", 7)


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
