"""The feed as clients have it through an access point: pull, seen, read, history, live copies."""

import asyncio
import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from infra.kernel.frames import Deliver
from notification.feed import MAX_ANSWER_BYTES, MAX_CLIENTS, Feed, MarkMove, PullQuery
from notification.items import IN_CLIENT
from notification.stand import READ
from notification.store import Decision, Item
from notification.store_sqlite import SqliteStore
from tests.notification.test_core import NOW_MS, notice
from tests.support.clocked import ClockedCluster
from tests.support.stored import album, decided, stored
from tests.support.user import User


def marks_of(answer: dict[str, Any]) -> list[int]:
    return [item["mark"] for item in answer["items"]]


async def pull_all(user: User, since: int, limit: int) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    more = True
    while more:
        answer = await user.ask("pull", since=since, limit=limit)
        items += answer["items"]
        since, more = answer["next"], answer["more"]
    return items


async def test_a_pull_gives_all_and_only_what_is_later_than_the_mark_ascending(tmp_path: Path) -> None:
    """SB-48; and nothing of others."""
    async with stored(tmp_path) as c, c.user("ann") as ann:
        for n in range(7):
            await c.notify(album(n, "ann", "bob") if n % 2 else album(n, "ann"))
        await decided(c, 10)
        for since in range(8):
            answer = await ann.ask("pull", since=since)
            assert marks_of(answer) == list(range(since + 1, 8))
            assert (answer["next"], answer["more"]) == (7, False)
        answer = await ann.ask("pull", since=2, limit=3)
        assert (marks_of(answer), answer["next"], answer["more"]) == ([3, 4, 5], 5, True)


async def test_a_thousand_events_of_one_millisecond_survive_interrupted_pulls(tmp_path: Path) -> None:
    """SB-49: the wall clock stands still; pages of odd sizes, each connection breaks after one."""
    async with ClockedCluster(tmp_path) as c:
        c.clock.stop()
        await c.notify([album(n, "ann") for n in range(1000)])
        await decided(c, 1000)
        items: list[dict[str, Any]] = []
        sizes, rng = (1, 37, 50, 333), random.Random(3)
        while len(items) < 1000:
            async with c.user("ann") as ann:
                answer = await ann.ask("pull", since=items[-1]["mark"] if items else 0, limit=rng.choice(sizes))
                items += answer["items"]
                ann.kill()
        assert len({item["ts"] for item in items}) == 1
        assert [item["mark"] for item in items] == list(range(1, 1001))
        assert len({item["id"] for item in items}) == 1000


async def test_a_lost_live_copy_is_pulled_although_a_later_one_arrived(tmp_path: Path) -> None:
    """SB-69: the live copy of the first is lost, that of the second arrives with its mark: the gap shows, the pull closes it."""
    async with stored(tmp_path) as c, c.user("ann") as ann:
        c.plan.lose_if(lambda frame: isinstance(frame, Deliver) and any(b"bjork-1" in body for body in frame.bodies))
        await c.notify(album(1, "ann"))
        await c.until(lambda: c.plan.lost == 1)
        await c.notify(album(2, "ann"))
        await ann.heard(1)
        assert (ann.events[0]["id"], ann.events[0]["payload"]["mark"]) == ("bjork-2", 2)
        answer = await ann.ask("pull", since=0)
        assert [item["id"] for item in answer["items"]] == ["bjork-1", "bjork-2"]


async def test_one_written_later_with_an_older_time_has_the_later_mark(tmp_path: Path) -> None:
    """SB-69, second half: marks go by the order of writing; a clock that jumps back hides nothing."""
    async with ClockedCluster(tmp_path) as c, c.user("ann") as ann:
        await c.notify(album(2, "ann"))
        await decided(c, 1)
        c.clock.ahead_s -= 3600
        await c.notify(album(1, "ann"))
        await decided(c, 2)
        answer = await ann.ask("pull", since=1)
        assert [item["id"] for item in answer["items"]] == ["bjork-1"]
        assert answer["items"][0]["ts"] < (await ann.pull(since=0))["items"][0]["ts"]


async def test_read_on_one_device_is_read_on_all_and_the_count_agrees(tmp_path: Path) -> None:
    """SB-51: the other device is told at once, and its next pull says so too; a lower mark changes nothing."""
    async with stored(tmp_path) as c, c.user("ann", client="phone", device="mobile") as phone, c.user("ann", client="desk") as desk:
        for n in range(5):
            await c.notify(album(n, "ann"))
        await phone.heard(5)
        await desk.heard(5)
        answer = await phone.ask("read", mark=3)
        assert (answer["op"], answer["read"], answer["unread"]) == ("marks", 3, 2)
        await desk.heard(6)
        assert (desk.events[5]["kind"], desk.events[5]["payload"]) == ("marks", {"epoch": answer["epoch"], "read": 3, "unread": 2})
        pulled = await desk.ask("pull", since=0)
        assert [item["read"] for item in pulled["items"]] == [True, True, True, False, False]
        assert (pulled["read"], pulled["unread"]) == (3, 2)
        assert (await desk.ask("read", mark=1))["read"] == 3
        everything = await desk.ask("read")
        assert (everything["read"], everything["unread"]) == (5, 0)
        assert (await phone.ask("read", mark=10**9))["read"] == 5


async def test_seen_is_a_mark_of_one_client_and_the_first_pull_begins_there(tmp_path: Path) -> None:
    """Spec 4.3: what was seen on the phone is still pulled by the desktop."""
    async with stored(tmp_path) as c:
        for n in range(3):
            await c.notify(album(n, "ann"))
        await decided(c, 3)
        async with c.user("ann", client="phone") as phone:
            assert (await phone.ask("seen", mark=2))["seen"] == 2
        async with c.user("ann", client="phone") as phone, c.user("ann", client="desk") as desk:
            first = await phone.answer(lambda m: m["op"] == "notifications")
            assert (first["id"], marks_of(first), first["seen"]) == (None, [3], 2)
            first = await desk.answer(lambda m: m["op"] == "notifications")
            assert marks_of(first) == [1, 2, 3]


# A device: it shows two notifications that were stored before it came, and one that comes while it is there.
DEVICE = """
import asyncio, json, sys, time

skew_s, url, token = float(sys.argv[1]), *sys.argv[2:]
seconds, nanoseconds = time.time, time.time_ns
time.time = lambda: seconds() + skew_s
time.time_ns = lambda: nanoseconds() + int(skew_s * 1e9)

import segue

async def main():
    async with segue.Client(url, token, client=f"device {skew_s}") as client:
        shown = client.notifications()
        for _ in range(3):
            item = await anext(shown)
            print(json.dumps([item.mark, item.id, item.ts_ms, item.payload]), flush=True)
        print(json.dumps([await client.ping() / 1000 - seconds(), time.time() - seconds()]))

asyncio.run(main())
"""


@pytest.mark.slow
async def test_devices_whose_clocks_are_an_hour_off_show_what_one_with_the_right_time_does(tmp_path: Path) -> None:
    """SB-13: each is a process whose clock is wrong from its first moment; the time that it is told is the server's."""
    async with stored(tmp_path) as c:
        await c.notify([album(1, "ann"), album(2, "ann")])
        await decided(c, 2)
        url = f"ws://{c.of('accesspoint')[0].address}"
        devices = [
            await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", DEVICE, str(skew_s), url, c.token("ann")), stdout=asyncio.subprocess.PIPE
            )
            for skew_s in (-3600, 0, 3600)
        ]
        readers = [device.stdout for device in devices if device.stdout is not None]
        first = [[json.loads(await reader.readline()) for _ in range(2)] for reader in readers]
        await c.notify(album(3, "ann"))
        live = [json.loads(await reader.readline()) for reader in readers]
        clocks = [json.loads(await reader.readline()) for reader in readers]
        assert [await device.wait() for device in devices] == [0, 0, 0]
    assert [item[0] for item in first[0]] == [1, 2]
    assert first == [first[0]] * 3
    assert (live[0][0], live) == (3, [live[0]] * 3)
    for (told_s, own_s), skew_s in zip(clocks, (-3600, 0, 3600), strict=True):
        assert abs(told_s) < 600
        assert abs(own_s - skew_s) < 600


async def test_who_follows_only_now_finds_the_history(tmp_path: Path) -> None:
    """SB-52: newest first, in pages; presence and inboxes have none."""
    async with stored(tmp_path) as c, c.user("zoe") as zoe:
        for n in range(5):
            await c.notify(album(n, "ann"))
        topic = album(0)["topic"]
        page = await zoe.ask("history", topic=topic, limit=3)
        rest = await zoe.ask("history", topic=topic, limit=3, before=page["next"])
        assert sorted(item["id"] for item in page["items"] + rest["items"]) == [f"bjork-{n}" for n in range(5)]
        assert rest["next"] is None
        assert (await zoe.ask("history", topic="hm://presence/user/ann/"))["code"] == "forbidden"
        assert (await zoe.ask("history", topic="hm://notifications/inbox/ann/"))["code"] == "forbidden"
        assert (await zoe.ask("history", topic=topic, before="yesterday"))["code"] == "bad-field"


async def test_what_may_not_be_followed_has_no_history_either(tmp_path: Path) -> None:
    """One rule for both doors: who of a user's friends has joined is told to that user alone, live and stored."""
    topic = "hm://notifications/feed/bob%friend-joined/"
    joined = {"id": "j-1", "topic": topic, "kind": "friend-joined", "producer": "eve", "payload": {"user": "eve"}, "followers": ["bob"]}
    async with stored(tmp_path) as c, c.user("ann") as ann, c.user("bob") as bob:
        await c.notify(joined, service="social")
        for user, others in ((ann, True), (bob, False)):
            answer = await user.ask("subscribe", topics=[topic, "hm://presence/user/bob/"])
            assert [(each["topic"], each["code"]) for each in answer["rejected"]] == [(topic, "forbidden")] * others
            history = await user.ask("history", topic=topic)
            assert (history.get("code"), [item["id"] for item in history.get("items", ())]) == (
                ("forbidden", []) if others else (None, ["j-1"])
            )


class BusyStore(SqliteStore):
    """A store in which two more items of ann come, and are read, while a pull asks for items for the first time."""

    is_asked = False

    async def items(self, user: str, after: int, limit: int) -> list[Item]:
        if not self.is_asked:
            self.is_asked = True
            await decide(self, 2, 3)
            await self.move("ann", READ, 3)
        return await super().items(user, after, limit)


async def decide(store: SqliteStore, *marks: int) -> None:
    """Stores items of ann."""
    for mark in marks:
        each = notice(number=mark)
        await store.begin(each)
        await store.decide([(Decision("ann", each.id, mark, mark, (IN_CLIENT,), (), NOW_MS), each)])


async def test_an_answer_is_as_of_one_moment_whatever_is_decided_while_it_is_made(tmp_path: Path) -> None:
    """`next` is never below an item of the same answer: a client that goes on there would show it twice or count it wrongly."""
    store = await BusyStore.open(tmp_path, 86_400.0, lambda: NOW_MS / 1000)
    feed = Feed(store, lambda event: None, lambda: NOW_MS / 1000, lambda: 1)
    try:
        await decide(store, 1)
        answer = json.loads(await feed.pull("ann", "desk", PullQuery(since=0)))
        assert (marks_of(answer), answer["next"], answer["more"], answer["unread"]) == ([1], 1, False, 1)
        again = json.loads(await feed.pull("ann", "desk", PullQuery(since=answer["next"])))
        assert (marks_of(again), again["next"], again["unread"]) == ([2, 3], 3, 0)
    finally:
        await store.close()


async def test_an_answer_is_bounded_in_bytes_and_all_of_it_comes_in_several(tmp_path: Path) -> None:
    """500 items of 16 KiB would be more than a link carries in one frame."""
    async with stored(tmp_path) as c, c.user("ann") as ann:
        large = {"text": "x" * 16_000}
        for start in range(0, 150, 30):
            await c.notify([album(n, "ann", payload=large) for n in range(start, start + 30)])
        await decided(c, 150)
        first = await ann.ask("pull", since=0, limit=500)
        assert 0 < len(first["items"]) * 16_000 <= MAX_ANSWER_BYTES
        assert (first["more"], first["next"]) == (True, len(first["items"]))
        assert [item["mark"] for item in await pull_all(ann, 0, 500)] == list(range(1, 151))
        topic, seen, before = "hm://notifications/feed/bjork%new-album/", [], None
        while True:
            page = await ann.ask("history", topic=topic, limit=500, **({"before": before} if before else {}))
            assert 0 < len(page["items"]) * 16_000 <= MAX_ANSWER_BYTES
            seen += [item["id"] for item in page["items"]]
            if (before := page["next"]) is None:
                break
        assert len(seen) == len(set(seen)) == 150


async def test_the_marks_of_a_bounded_number_of_clients_are_kept(tmp_path: Path) -> None:
    """Client names are free: 1,500 of them must not leave 1,500 rows. Those that have seen the least go."""
    store = await SqliteStore.open(tmp_path, 86_400.0, lambda: NOW_MS / 1000)
    feed = Feed(store, lambda event: None, lambda: NOW_MS / 1000, lambda: 1)
    try:
        await decide(store, *range(1, MAX_CLIENTS + 11))
        await store.move("ann", READ, 3)
        for n in range(1, MAX_CLIENTS + 11):
            await feed.seen("ann", f"client-{n}", MarkMove(mark=n))
        assert await store.marks("ann") == {READ: 3} | {f"client-{n}": n for n in range(11, MAX_CLIENTS + 11)}
    finally:
        await store.close()


async def test_what_is_asked_wrongly_is_answered_with_what_is_wrong(tmp_path: Path) -> None:
    """And the connection goes on."""
    async with stored(tmp_path) as c, c.user("ann") as ann:
        for op, fields in (
            ("pull", {"since": -1}),
            ("pull", {"limit": 0}),
            ("pull", {"limit": 501}),
            ("read", {"mark": "x"}),
            ("seen", {"mark": 1.5}),
        ):
            assert (await ann.ask(op, **fields))["code"] == "bad-field", (op, fields)
        empty = await ann.ask("pull", since=0)
        assert (empty["items"], empty["next"], empty["unread"]) == ([], 0, 0)


async def test_a_mark_beyond_the_last_one_begins_anew(tmp_path: Path) -> None:
    """A device that remembers more than the store does gets everything, and is told so."""
    async with stored(tmp_path) as c, c.user("ann") as ann:
        await c.notify(album(1, "ann"))
        await decided(c, 1)
        answer = await ann.ask("pull", since=40)
        assert (marks_of(answer), answer["next"], answer["reset"]) == ([1], 1, True)
