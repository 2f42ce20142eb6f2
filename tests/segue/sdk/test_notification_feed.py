"""The client's notifications, against a server that plays a script and has a small notification module."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import segue
from segue.sdk.mark_file import MarkFile
from segue.sdk.notification_messages import Notification
from tests.support.inbox_model import ALBUM, INBOX, InboxModel
from tests.support.scripted_server import DEADLINE_S, TIME_MS, Message, ScriptedServer, error, event

BOB = "hm://presence/user/bob/"
FAST = segue.Backoff(base_s=0.001, cap_s=0.002)


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    async with ScriptedServer(InboxModel()) as running:
        yield running


def connect(server: ScriptedServer, client: str = "desktop", *, mark_file: MarkFile | None = None, **options: Any) -> segue.Client:
    settings = segue.ClientOptions(backoff=FAST, open_timeout_s=DEADLINE_S, **options)
    return segue.Client(server.url, "secret", client=client, mark_file=mark_file, options=settings)


async def take(client: segue.Client, count: int = 1) -> list[int]:
    """Returns the marks of the next `count` notifications."""
    return [item.mark for item in await items(client, count)]


async def items(client: segue.Client, count: int = 1) -> list[Notification]:
    async with asyncio.timeout(DEADLINE_S):
        return [await anext(client.notifications()) for _ in range(count)]


def stored(server: ScriptedServer, count: int) -> InboxModel:
    assert server.inbox is not None
    for _ in range(count):
        server.inbox.store()
    return server.inbox


async def test_what_was_stored_comes_at_connect_and_what_is_new_comes_live(server: ScriptedServer) -> None:
    stored(server, 2)
    async with connect(server) as client:
        first, _ = await items(client, 2)
        await server.publish()
        assert await take(client) == [3]
    assert (first.topic, first.kind, first.class_, first.id, first.read, first.rings) == (ALBUM, "album", "new-album", "ev-1", False, True)
    assert first.payload == {"artist": "Björk", "album": "No. 1"}


async def test_more_than_one_page_is_pulled_to_the_end(server: ScriptedServer) -> None:
    stored(server, 130)
    async with connect(server) as client:
        assert await take(client, 130) == list(range(1, 131))
        pulls = (await server.next_peer()).ops
    assert pulls.count("pull") == 2  # the first page came with the hello


async def test_a_lost_live_copy_is_pulled(server: ScriptedServer) -> None:
    """SB-69."""
    async with connect(server) as client:
        waiting = asyncio.create_task(take(client, 3))
        peer = await server.next_peer()
        stored(server, 2)
        await server.publish()
        assert await waiting == [1, 2, 3]
        assert (await peer.heard("pull"))["since"] == 0


async def test_what_came_live_is_not_shown_again_after_a_reconnect(server: ScriptedServer) -> None:
    """SB-50, SB-60."""
    async with connect(server) as client:
        peer = await server.next_peer()
        await server.publish()
        assert await take(client) == [1]
        peer.drop()
        stored(server, 1)
        await server.next_peer()
        assert await take(client) == [2]


async def test_the_notifications_of_a_user_do_not_mix_with_the_events_of_his_topics(server: ScriptedServer) -> None:
    async with connect(server) as client:
        peer = await server.next_peer()
        await server.publish()
        await peer.send(event(BOB, 1))
        async with asyncio.timeout(DEADLINE_S):
            assert (await anext(client)).topic == BOB
        assert await take(client) == [1]


async def test_who_does_not_want_notifications_asks_for_none_and_still_has_the_count(server: ScriptedServer) -> None:
    stored(server, 80)
    async with connect(server) as client:
        peer = await server.next_peer()
        assert await client.ping() == TIME_MS
        await server.publish()
        assert await client.ping() == TIME_MS
        assert client.unread == 80
    assert not {"pull", "seen"} & set(peer.ops)


async def test_items_that_find_the_queue_full_are_pulled_later(server: ScriptedServer) -> None:
    """Bounded, and nothing is lost."""
    async with connect(server, inbox_items=4) as client:
        for _ in range(20):
            await server.publish()
        assert await client.ping() == TIME_MS
        assert await take(client, 20) == list(range(1, 21))


async def test_what_was_taken_is_told_as_seen(server: ScriptedServer) -> None:
    stored(server, 3)
    async with connect(server) as client:
        peer = await server.next_peer()
        await take(client, 2)
        assert (await peer.heard("seen"))["mark"] in (1, 2)
        await take(client)
    assert server.inbox is not None
    assert server.inbox.seen_marks == {"desktop": 3}  # the last one is told when the client closes


async def test_a_device_without_a_mark_file_goes_on_where_the_server_says(server: ScriptedServer) -> None:
    stored(server, 3)
    async with connect(server) as client:
        await take(client, 2)
    async with connect(server) as client:
        assert await take(client) == [3]


async def test_a_device_with_a_mark_file_goes_on_where_it_stood(server: ScriptedServer, tmp_path: Path) -> None:
    inbox = stored(server, 4)
    mark_file = MarkFile(tmp_path / "mark")
    async with connect(server, mark_file=mark_file) as client:
        peer = await server.next_peer()
        await take(client, 2)
        assert mark_file.load() == (2, inbox.epoch)
        peer.drop()
    inbox.seen_marks["desktop"] = 4  # another device of this name is further on
    async with connect(server, mark_file=mark_file) as client:
        assert await take(client, 2) == [3, 4]


async def test_a_mark_that_cannot_be_kept_is_logged_and_stops_nothing(
    server: ScriptedServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    stored(server, 1)
    async with connect(server, mark_file=MarkFile(tmp_path / "nowhere" / "mark")) as client:
        assert await take(client) == [1]
    assert "the mark is not kept" in caplog.text


async def test_by_hand_the_application_says_what_is_seen(server: ScriptedServer) -> None:
    stored(server, 3)
    async with connect(server, seen_by_hand=True) as client:
        peer = await server.next_peer()
        await take(client, 3)
        client.seen(2)
        assert (await peer.heard("seen"))["mark"] == 2
    assert server.inbox is not None
    assert server.inbox.seen_marks == {"desktop": 2}


async def test_saying_what_is_seen_without_having_asked_for_it_is_refused(server: ScriptedServer) -> None:
    async with connect(server) as client:
        with pytest.raises(segue.Misuse, match="seen_by_hand=True"):
            client.seen(1)


async def test_what_is_read_on_one_device_is_read_on_the_other(server: ScriptedServer) -> None:
    """SB-51."""
    stored(server, 3)
    async with connect(server, "desktop") as desktop, connect(server, "phone") as phone:
        await take(desktop, 3)
        await take(phone, 3)
        assert (desktop.unread, phone.unread) == (3, 3)
        marks = await desktop.read(2)
        assert (marks.read, marks.unread, desktop.unread) == (2, 1, 1)
        await phone.ping()
        assert (phone.unread, phone.read_mark) == (1, 2)
        assert (await phone.read()).unread == 0
        await desktop.ping()
        assert (desktop.unread, desktop.read_mark) == (0, 3)


async def test_an_access_point_that_did_not_reach_the_module_at_hello_is_asked_again(server: ScriptedServer) -> None:
    stored(server, 1)
    server.pulls_at_hello = False
    async with connect(server, hello_pull_s=0.001) as client:
        assert await take(client) == [1]
        assert "since" not in await (await server.next_peer()).heard("pull")


async def test_a_module_that_is_away_is_asked_again_until_it_answers(server: ScriptedServer) -> None:
    refusals = iter(range(3))

    def refuse(message: Message) -> Message:
        if next(refusals, None) is None:
            del server.answers["pull"]
        return error("unavailable", 4300, id=message["id"])

    async with connect(server) as client:
        server.answers["pull"] = refuse
        stored(server, 1)
        await server.publish()
        assert await take(client, 2) == [1, 2]


async def test_a_live_copy_that_cannot_be_read_is_passed_over(server: ScriptedServer, caplog: pytest.LogCaptureFixture) -> None:
    async with connect(server) as client:
        await server.tell("notification", {"mark": "one"})
        await server.tell("marks", {"read": None})
        await server.tell("confetti", {})
        await server.publish()
        assert await take(client) == [1]
    assert "shows as a gap" in caplog.text


async def test_a_stored_item_that_python_cannot_hold_is_passed_over_and_blocks_nothing(server: ScriptedServer) -> None:
    assert server.inbox is not None
    for payload in ({"n": 1}, {"n": "1e999"}, {"n": 3}):
        server.inbox.store(payload=payload)
    server.pulls_at_hello = False
    async with connect(server) as client:
        page = json.dumps(server.inbox.pull("desktop", {})).replace('"1e999"', "1e999")
        await (await server.next_peer()).send(page)
        assert await take(client, 2) == [1, 3]
        await server.publish()
        assert await take(client) == [4]


async def test_the_history_of_a_topic_comes_in_pages(server: ScriptedServer) -> None:
    old: Message = {"topic": ALBUM, "kind": "album", "class": "new-album", "ts": 5, "id": "ev-1", "payload": {"album": "Debut"}}

    def page(message: Message) -> Message:
        return {"op": "history", "id": message["id"], "topic": ALBUM, "items": [old], "next": None if "before" in message else "c1"}

    server.answers["history"] = page
    async with connect(server) as client:
        first = await client.history(ALBUM, limit=1)
        asked = await (await server.next_peer()).heard("history")
        second = await client.history(ALBUM, before=first.next)
    assert (asked["topic"], asked["limit"], "before" in asked) == (ALBUM, 1, False)
    assert (first.next, second.next) == ("c1", None)
    assert [(item.class_, item.ts_ms, item.payload) for item in first.items] == [("new-album", 5, {"album": "Debut"})]


async def test_the_last_events_of_many_topics_are_asked_in_messages_that_the_server_takes(server: ScriptedServer) -> None:
    def last(message: Message) -> Message:
        events = [{"topic": topic, "ts": 5, "id": "e", "kind": "play", "payload": {}} for topic in message["topics"]]
        return {"op": "last", "id": message["id"], "events": events[:1]}

    server.answers["last"] = last
    topics = [f"hm://presence/user/u{number}/" for number in range(5)]
    async with connect(server) as client:
        found = await client.last(topics)
    assert [past.topic for past in found] == [topics[0], topics[3]]  # three topics fit into one message


async def test_a_refused_history_raises_its_code(server: ScriptedServer) -> None:
    server.answers["history"] = lambda message: error("forbidden", 4203, id=message["id"])
    async with connect(server) as client:
        with pytest.raises(segue.Refused, match="forbidden"):
            await client.history(ALBUM)


async def test_reading_while_away_fails_at_once(server: ScriptedServer) -> None:
    waiting = asyncio.Event()

    def hear(state: segue.State) -> None:
        if state.phase is segue.Phase.WAITING:
            waiting.set()

    slow = segue.ClientOptions(backoff=segue.Backoff(base_s=60, cap_s=60))
    async with segue.Client(server.url, "secret", options=slow, on_state=hear) as client:
        (await server.next_peer()).drop()
        async with asyncio.timeout(DEADLINE_S):
            await waiting.wait()
        with pytest.raises(segue.ConnectionLost, match="not connected at the moment"):
            await client.read(1)


async def test_closing_ends_the_iteration_after_what_has_arrived(server: ScriptedServer) -> None:
    stored(server, 2)
    async with connect(server) as client:
        assert await take(client) == [1]
        await client.close()
        assert [item.mark async for item in client.notifications()] == [2]


async def test_a_code_that_forbids_reconnecting_is_raised_to_who_waits(server: ScriptedServer) -> None:
    async with connect(server) as client:
        waiting = asyncio.create_task(take(client))
        await asyncio.sleep(0)
        await (await server.next_peer()).fail("bad-token", 4200)
        with pytest.raises(segue.Refused, match="bad-token"):
            await waiting


async def test_cancelling_takes_no_notification(server: ScriptedServer) -> None:
    async with connect(server) as client:
        waiting = asyncio.create_task(take(client))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
        await server.publish()
        assert await take(client) == [1]


async def test_a_second_reader_at_the_same_time_is_refused(server: ScriptedServer) -> None:
    async with connect(server) as client:
        waiting = asyncio.create_task(take(client))
        await asyncio.sleep(0)
        with pytest.raises(segue.Misuse, match="two tasks iterate"):
            await take(client)
        await server.publish()
        assert await waiting == [1]


async def test_a_client_outside_its_block_says_what_to_write(server: ScriptedServer) -> None:
    client = connect(server)
    for call in (take(client), client.read(), client.history(ALBUM), client.last(BOB)):
        with pytest.raises(segue.Misuse, match="async with"):
            await call


async def test_no_task_is_left_behind(server: ScriptedServer, caplog: pytest.LogCaptureFixture) -> None:
    before = asyncio.all_tasks()
    with caplog.at_level(logging.ERROR, "asyncio"):
        async with connect(server) as client:
            await server.publish()
            assert await take(client) == [1]
            peer = await server.next_peer()
        peer.drop()
        left = asyncio.all_tasks() - before
        assert not left or not (await asyncio.wait(left, timeout=DEADLINE_S))[1]  # the server's own
    assert caplog.text == ""


def test_the_inbox_of_a_user_is_known_by_its_topic() -> None:
    from infra.kernel.topics import format_topic, inbox_topic
    from segue.sdk.notification_feed import INBOXES

    assert format_topic(inbox_topic("alice")) == INBOX
    assert INBOX.startswith(INBOXES)
