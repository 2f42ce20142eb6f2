"""The inbox of a client's user, against a server that has a small notification module."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

import segue
from tests.segue.sdk.test_notification_feed import connect, stored
from tests.support.inbox_model import InboxModel
from tests.support.scripted_server import DEADLINE_S, ScriptedServer, error


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    async with ScriptedServer(InboxModel()) as running:
        yield running


async def until(inbox: segue.NotificationInbox, condition: Callable[[], bool]) -> None:
    """Waits until `condition` holds, and looks again at each change."""
    async with asyncio.timeout(DEADLINE_S):
        while not condition():
            await inbox.changed()


def marks_of(inbox: segue.NotificationInbox, *, archived: bool = False) -> list[int]:
    return [item.mark for item in inbox.select(archived=archived)]


async def test_what_is_done_on_one_device_shows_on_the_other(server: ScriptedServer) -> None:
    """SB-51, for single notifications: archived, deleted, unread; and the count of both bells is right."""
    stored(server, 4)
    async with connect(server, "phone") as phone, connect(server, "desktop") as desktop:
        async with segue.NotificationInbox(phone) as here, segue.NotificationInbox(desktop) as there:
            await phone.read()
            assert (await here.archive(1, 4)).unread == 0
            assert (await here.mark_unread(2)).unread == 1
            assert [each.mark for each in (await here.delete(3, 9)).rejected] == [9]
            assert (marks_of(here), marks_of(here, archived=True)) == ([2], [4, 1])
            await until(there, lambda: len(there.items) == 3)
            assert (marks_of(there), marks_of(there, archived=True)) == ([2], [4, 1])
            assert [item.read for item in there.select(archived=None)] == [True, False, True]
            assert (phone.unread, desktop.unread) == (1, 1)
            await there.unarchive(4)
            await there.mark_read(2)
            await until(here, lambda: marks_of(here) == [4, 2] and here.items[1].read)
            assert (phone.unread, desktop.unread) == (0, 0)


async def test_what_comes_live_is_in_view_and_older_ones_are_loaded_by_page(server: ScriptedServer) -> None:
    stored(server, 5)
    async with connect(server) as client, segue.NotificationInbox(client, page=2) as inbox:
        assert (marks_of(inbox), inbox.has_more()) == ([5, 4], True)
        await server.publish()
        await until(inbox, lambda: marks_of(inbox) == [6, 5, 4])
        await inbox.more()
        await inbox.more()
        assert (marks_of(inbox), inbox.has_more()) == ([6, 5, 4, 3, 2, 1], False)
        await inbox.more()
        await inbox.archive(2)
        assert inbox.has_more(archived=True)
        await inbox.more(archived=True)
        assert (marks_of(inbox, archived=True), inbox.has_more(archived=True)) == ([2], False)


async def test_a_device_that_was_away_sees_what_was_done_meanwhile(server: ScriptedServer) -> None:
    """It shows as much as before, and the archive if it showed that."""
    inbox_model = stored(server, 5)
    async with connect(server) as client, segue.NotificationInbox(client, page=2) as inbox:
        await inbox.more()
        await inbox.more(archived=True)
        peer = await server.next_peer()
        peer.drop()
        inbox_model.change("phone", {"action": "archive", "marks": [5]})
        inbox_model.change("phone", {"action": "delete", "marks": [4]})
        inbox_model.news.clear()
        await until(inbox, lambda: (marks_of(inbox), marks_of(inbox, archived=True)) == ([3, 2, 1], [5]))


async def test_where_news_of_a_change_is_lost_it_loads_again_also_after_a_refusal(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("segue.sdk.notification_inbox.AGAIN_S", 0.001)
    inbox_model = stored(server, 3)
    async with connect(server) as client, segue.NotificationInbox(client) as inbox:
        inbox_model.change("phone", {"action": "archive", "marks": [3]})
        inbox_model.news.clear()
        refusals = [True]

        def refuse_once(message: dict[str, object]) -> dict[str, object]:
            return error("unavailable", 4300, id=message["id"]) if refusals and refusals.pop() else inbox_model.list("", message)

        server.answers["list"] = refuse_once
        inbox_model.change("phone", {"action": "archive", "marks": [2]})
        await server.tell_news()
        await until(inbox, lambda: marks_of(inbox) == [1])
        assert refusals == []


async def test_without_a_connection_it_says_so(server: ScriptedServer) -> None:
    server.answers["list"] = lambda message: error("unavailable", 4300, id=message["id"])
    async with connect(server) as client:
        with pytest.raises(segue.Refused, match="unavailable"):
            async with segue.NotificationInbox(client):
                pass
        assert client.feed.ears == []
