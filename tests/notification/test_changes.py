"""Changes of single items, as all devices of a user have them through an access point."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from notification import changes, feed
from notification.core import LIVE
from notification.email import EmailOptions
from notification.item_state import ACTIONS, MAX_CHANGED
from notification.shards import shard_of
from notification.stand import DELETED
from notification.store import Task
from tests.support.clocked import ClockedCluster
from tests.support.cluster import Cluster
from tests.support.smtp import ScriptedSmtp
from tests.support.stored import album, decided, me, stored
from tests.support.user import User


def marks_of(answer: dict[str, Any]) -> list[int]:
    return [item["mark"] for item in answer["items"]]


async def three_albums(c: Cluster) -> None:
    for number in (1, 2, 3):
        await c.notify(album(number, "ann"))
    await decided(c, 3)


async def told(device: User, number: int) -> dict[str, Any]:
    """Returns the payload of the change that comes to `device` as its event of this number, from 1 on."""
    event = (await device.heard(number))[number - 1]
    assert (event["kind"], event["topic"]) == ("marks", "hm://notifications/inbox/ann/")
    return dict(event["payload"])


async def test_what_is_archived_on_one_device_is_archived_on_all(tmp_path: Path) -> None:
    """SB-51: the other device is told at once, with the number that is left; both lists and both pulls agree."""
    async with stored(tmp_path) as c:
        await three_albums(c)
        async with c.user("ann", client="phone") as phone, c.user("ann", client="desk") as desk:
            answer = await phone.ask("change", action="archive", marks=[1, 3])
            assert (answer["op"], answer["unread"], answer["read"], answer["rejected"]) == ("marks", 1, 0, [])
            news = await told(desk, 1)
            common = {"epoch": answer["epoch"], "read": 0, "unread": 1, "changed": answer["changed"], "after": 0}
            assert news == {**common, "action": "archive", "marks": [1, 3]}
            assert await told(phone, 1) == news
            assert marks_of(await desk.ask("list")) == [2]
            archived = await desk.ask("list", archived=True)
            assert (marks_of(archived), archived["items"][0]["archived"], archived["changed"]) == ([3, 1], True, answer["changed"])
            pulled = await desk.ask("pull", since=0)
            assert [(item["mark"], item.get("archived")) for item in pulled["items"]] == [(1, True), (2, None), (3, True)]
            assert pulled["unread"] == 1
            back = await desk.ask("change", action="unarchive", marks=[3])
            assert (back["unread"], (await told(phone, 2))["after"]) == (2, answer["changed"])
            assert marks_of(await phone.ask("list")) == [3, 2]


async def test_one_that_was_read_is_marked_unread_and_the_read_mark_stays(tmp_path: Path) -> None:
    async with stored(tmp_path) as c, c.user("ann") as ann:
        await three_albums(c)
        await ann.ask("read", mark=2)
        answer = await ann.ask("change", action="unread", marks=[1])
        assert (answer["read"], answer["unread"]) == (2, 2)
        listed = await ann.ask("list")
        assert [(item["mark"], item["read"]) for item in listed["items"]] == [(3, False), (2, True), (1, False)]
        assert (await ann.ask("change", action="read", marks=[3]))["unread"] == 1
        assert (await ann.ask("change", action="read", marks=[1]))["unread"] == 0


async def test_all_is_read_also_what_was_marked_unread(tmp_path: Path) -> None:
    """The read mark cannot rise any more, and yet all devices are told."""
    async with stored(tmp_path) as c:
        await three_albums(c)
        async with c.user("ann", client="phone") as phone, c.user("ann", client="desk") as desk:
            await phone.ask("read")
            await phone.ask("change", action="unread", marks=[1, 2])
            await desk.heard(2)
            assert (await phone.ask("read", mark=1))["unread"] == 1
            news = await told(desk, 3)
            assert (news["read"], news["unread"], news["action"], news["up_to"], news.get("marks")) == (3, 1, "read", 1, None)
            assert (await desk.ask("read"))["unread"] == 0
            assert [item["read"] for item in (await phone.ask("list"))["items"]] == [True] * 3


async def test_what_is_deleted_is_told_nowhere_again(tmp_path: Path) -> None:
    """Neither by a pull, a list, nor the history of its topic. Others have it as before, and marks have no other gap."""
    async with stored(tmp_path) as c, c.user("ann") as ann, c.user("bob") as bob:
        for number in (1, 2, 3):
            await c.notify(album(number, "ann", "bob"))
        await decided(c, 6)
        assert (await ann.ask("change", action="delete", marks=[2]))["unread"] == 2
        pulled = await ann.ask("pull", since=0)
        assert (marks_of(pulled), pulled["next"], pulled["more"]) == ([1, 3], 3, False)
        paged = await ann.ask("pull", since=1, limit=1)
        assert (marks_of(paged), paged["next"], paged["more"]) == ([], 2, True)
        assert marks_of(await ann.ask("list")) == [3, 1]
        topic = album(1)["topic"]
        assert sorted(item["id"] for item in (await ann.ask("history", topic=topic))["items"]) == ["bjork-1", "bjork-3"]
        assert len((await bob.ask("history", topic=topic))["items"]) == 3
        assert marks_of(await bob.ask("pull", since=0)) == [1, 2, 3]


async def test_a_mail_about_what_was_deleted_meanwhile_is_not_sent(tmp_path: Path) -> None:
    """The first attempt is refused for now, then one of two is deleted. `why` says what became of it, and the other is sent."""
    async with ScriptedSmtp() as smtp:
        smtp.to_recipient[:] = ["451 later"] * 2
        options = EmailOptions(host="127.0.0.1", port=smtp.port, sender="n@example.org", starttls="never")
        async with ClockedCluster(tmp_path, email=options) as c:
            await me(c, "ann", "PUT", "preferences", {"email": "ann@example.org"})
            await c.notify(album(1, "ann"))
            await c.notify(album(2, "ann", artist="sigur"))
            await c.ended(retried=2)
            await c.module.stored.store.change_items("ann", [1], ACTIONS["delete"], 1)
            c.clock.ahead_s += 120
            await c.ended(dropped=1, delivered=1)
            _, why = await me(c, "ann", "GET", "why/bjork-1")
            assert [(each["state"], each["reason"]) for each in why["sent"]] == [("dropped", "the user has deleted it")]
        assert ["sigur" in mail["Subject"] for _, mail in smtp.mails] == [True]


async def test_a_live_copy_of_what_was_deleted_meanwhile_does_not_go_again(tmp_path: Path) -> None:
    async with stored(tmp_path) as c, c.user("ann") as ann:
        await c.notify(album(1, "ann"))
        await ann.heard(1)
        await ann.ask("change", action="delete", marks=[1])
        await ann.heard(2)
        (module,) = c.of("notification")
        store, now_ms = module.stored.store, int(time.time() * 1000)
        await module.stored.owned.agenda.add([Task(shard_of("ann"), now_ms, "ann", LIVE, "bjork-1", 1, now_ms)])
        key = ("ann", "bjork-1", LIVE)
        await c.until(lambda: module.stored.dispatch.ended["dropped"] == 1)
        sent = (await store.sent([key]))[key]
        assert (sent.state, sent.reason) == ("dropped", DELETED)
        await ann.fence()
        assert [event["kind"] for event in ann.events] == ["notification", "marks"]


async def test_what_is_not_there_is_named_with_its_code_and_the_rest_is_done(tmp_path: Path) -> None:
    """A repeated delete is no error: the answer to the first may have been lost. Nobody reaches the items of others."""
    async with stored(tmp_path) as c, c.user("ann") as ann, c.user("eve") as eve:
        await three_albums(c)
        await ann.ask("change", action="delete", marks=[2])
        for action, left in (("archive", [2, 9]), ("delete", [9])):
            answer = await ann.ask("change", action=action, marks=[1, 2, 9])
            assert [(each["mark"], each["code"], each["number"]) for each in answer["rejected"]] == [
                (mark, "unknown-mark", 4117) for mark in left
            ]
        assert marks_of(await ann.ask("list")) == [3]
        assert [each["mark"] for each in (await eve.ask("change", action="delete", marks=[1, 3]))["rejected"]] == [1, 3]
        other = await ann.ask("change", action="delete", marks=[3], epoch=1)
        assert [(each["mark"], each["code"]) for each in other["rejected"]] == [(3, "unknown-mark")]
        assert marks_of(await ann.ask("list")) == [3]


async def test_what_is_asked_wrongly_or_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing of it is done. What was changed once may be changed again where no further item may."""
    monkeypatch.setattr(changes, "MAX_STATES", 2)
    async with stored(tmp_path) as c, c.user("ann") as ann:
        await three_albums(c)
        for fields in (
            {"action": "burn", "marks": [1]},
            {"action": "read", "marks": []},
            {"action": "read", "marks": [-1]},
            {"marks": [1]},
        ):
            assert (await ann.ask("change", **fields))["code"] == "bad-field", fields
        assert (await ann.ask("change", action="read", marks=list(range(MAX_CHANGED + 1))))["code"] == "too-many-items"
        assert (await ann.ask("change", action="archive", marks=[1, 2, 3]))["code"] == "too-many-items"
        assert (await ann.ask("change", action="archive", marks=[1, 2]))["unread"] == 1
        assert (await ann.ask("change", action="archive", marks=[2, 3]))["code"] == "too-many-items"
        assert (await ann.ask("change", action="delete", marks=[1, 2]))["unread"] == 1
        assert (await ann.ask("list", limit=0))["code"] == "bad-field"


async def test_a_list_comes_in_pages_over_what_is_archived_or_deleted(tmp_path: Path) -> None:
    async with stored(tmp_path) as c, c.user("ann") as ann:
        await c.notify([album(number, "ann") for number in range(12)])
        await decided(c, 12)
        await ann.ask("change", action="archive", marks=[12, 11, 8, 7, 6])
        await ann.ask("change", action="delete", marks=[5, 6])
        first = await ann.ask("list", limit=2)
        assert (marks_of(first), first["next"]) == ([10, 9], 9)
        second = await ann.ask("list", limit=2, before=first["next"], epoch=first["epoch"])
        assert (marks_of(second), second["next"]) == ([4, 3], 3)
        last = await ann.ask("list", limit=2, before=3)
        assert (marks_of(last), last["next"]) == ([2, 1], None)
        old = await ann.ask("list", archived=True, limit=3)
        assert (marks_of(old), old["next"]) == ([12, 11, 8], 8)
        rest = await ann.ask("list", archived=True, limit=3, before=8)
        assert (marks_of(rest), rest["next"]) == ([7], None)
        anew = await ann.ask("list", limit=2, before=3, epoch=1)
        assert (marks_of(anew), anew["reset"]) == ([10, 9], True)


async def test_a_page_looks_at_a_bounded_number_of_items(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And says where to go on."""
    monkeypatch.setattr(feed, "MAX_LOOKED_AT", 4)
    async with stored(tmp_path) as c, c.user("ann") as ann:
        await c.notify([album(number, "ann") for number in range(8)])
        await decided(c, 8)
        await ann.ask("change", action="archive", marks=[8, 7, 6, 5, 4])
        first = await ann.ask("list", limit=2)
        assert (marks_of(first), first["next"]) == ([], 5)
        second = await ann.ask("list", limit=2, before=5)
        assert (marks_of(second), second["next"]) == ([3, 2], 2)


async def test_changes_of_one_user_are_a_chain_also_where_they_come_at_once(tmp_path: Path) -> None:
    """A device that is told of a change whose `after` it does not know has missed one."""
    async with stored(tmp_path) as c, c.user("ann", client="phone") as phone, c.user("ann", client="desk") as desk:
        await c.notify([album(number, "ann") for number in range(8)])
        await decided(c, 8)
        await desk.heard(8)
        await asyncio.gather(*(phone.ask("change", action="archive", marks=[mark]) for mark in range(1, 9)))
        told = sorted((event["payload"] for event in (await desk.heard(16))[8:]), key=lambda each: each["changed"])
        assert [each["after"] for each in told] == [0, *(each["changed"] for each in told[:-1])]
        assert [each["unread"] for each in told] == list(range(7, -1, -1))
        assert (await desk.ask("pull"))["changed"] == told[-1]["changed"]
