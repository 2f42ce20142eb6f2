"""The notification module killed with -9: nobody is skipped, nothing is doubled."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

import segue
from infra.kernel.backoff import Backoff
from tests.support.cluster import Cluster
from tests.support.stored import album, decided, stored
from tests.support.victim import Scene, Victim, scene

DEADLINE_S = 60.0
FOLLOWERS = 20_000
PAGE = 500
QUICK = segue.ClientOptions(backoff=Backoff(base_s=0.01, cap_s=0.1), hello_pull_s=0.3)


def client_of(c: Cluster, user: str) -> segue.Client:
    (point,) = c.of("accesspoint")
    return segue.Client(f"ws://{point.address}", c.token(user), options=QUICK)


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.parametrize("fault", ["untold", "unkept"])
async def test_a_module_that_dies_around_its_second_output_is_made_up_for_after_a_restart(tmp_path: Path, fault: str) -> None:
    """SB-62, SB-50: it dies with the item stored and nobody told, or with both done and no memory of it. Ann stays online and is
    shown each album once; a repeated live copy bears the same id and mark; bob, who is away, has one item each."""
    async with scene(tmp_path) as s, s.cluster.user("ann", client="raw") as ann, client_of(s.cluster, "ann") as client:
        async with s.victim(fault) as first:
            assert (await s.post(first, album(1, "ann", "bob")))[0] == 202
            if fault == "unkept":
                await ann.heard(1)
                await first.kill()
            assert await first.process.wait() == -9
        assert s.rows("SELECT count(*) FROM items") > [(0,)]
        assert len(ann.events) == (fault == "unkept")
        async with s.victim() as second:
            await s.linked()
            await ann.heard(1)  # the second output is there too, without anything new happening
            assert ann.events[0]["id"] == "bjork-1"
            assert (await s.post(second, album(2, "ann", "bob")))[0] == 202
            assert [(item.mark, item.id) for item in await _shown(client, 2)] == [(1, "bjork-1"), (2, "bjork-2")]
            await ann.until(lambda: ann.events[-1:] != [] and ann.events[-1]["id"] == "bjork-2")
            assert {(event["payload"]["mark"], event["id"]) for event in ann.events} <= {(1, "bjork-1"), (2, "bjork-2")}
            await s.cluster.until(lambda: s.rows("SELECT count(*) FROM decisions") == [(4,)])
            assert s.rows("SELECT mark, event FROM items WHERE user = 'bob' ORDER BY mark") == [(1, "bjork-1"), (2, "bjork-2")]


async def _shown(client: segue.Client, number: int) -> list[segue.Notification]:
    shown: list[segue.Notification] = []
    async with asyncio.timeout(DEADLINE_S):
        async for item in client.notifications():
            shown.append(item)
            if len(shown) == number:
                break
    return shown


@pytest.mark.slow
@pytest.mark.e2e
async def test_nobody_is_skipped_or_doubled_when_the_module_is_killed_mid_fan_out(tmp_path: Path) -> None:
    """SB-37, SB-39: 20 000 followers, streamed; the publisher repeats the whole stream under the same id."""
    async with scene(tmp_path) as s:
        async with s.victim() as first:
            with pytest.raises(aiohttp.ClientError):
                await s.post(first, _killed_after(first, s, 12), **{"Content-Type": "application/x-ndjson"})
        before = s.rows("SELECT count(*) FROM events")[0][0]
        assert 0 < before < FOLLOWERS
        async with s.victim() as second:
            status, answer = await _repeated(s, second)
            assert (status, answer["accepted"]) == (202, FOLLOWERS)
            assert (await s.post(second, album(2, *map(_name, range(FOLLOWERS)))))[0] == 202
            await s.cluster.until(lambda: s.rows("SELECT count(*) FROM decisions")[0][0] >= 2 * FOLLOWERS)
    assert s.rows("SELECT count(*), count(DISTINCT user), count(DISTINCT event) FROM items") == [(2 * FOLLOWERS, FOLLOWERS, 2)]
    assert s.rows("SELECT count(*), min(mark), max(mark) FROM items GROUP BY user HAVING count(DISTINCT mark) <> 2") == []
    assert s.rows("SELECT min(mark), max(mark) FROM items") == [(1, 2)]


async def _repeated(s: Scene, victim: Victim) -> tuple[int, Any]:
    while (answer := await s.post(victim, _stream(), **{"Content-Type": "application/x-ndjson"}))[0] == 503:
        pass
    return answer


async def _stream() -> AsyncIterator[bytes]:
    header = album(1)
    del header["followers"]
    yield _line(header)
    for start in range(0, FOLLOWERS, PAGE):
        yield _line({"followers": [_name(n) for n in range(start, start + PAGE)]})


async def _killed_after(victim: Victim, s: Scene, pages: int) -> AsyncIterator[bytes]:
    """Gives the stream. Its reader is killed when what it was sent so far is being stored, and what was stored is being decided."""
    sent = 0
    async for line in _stream():
        yield line
        sent += 1
        if sent == pages:
            await s.cluster.until(lambda: any(n > 500 for (n,) in s.rows("SELECT count(*) FROM decisions")))
            await victim.kill()


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"


def _name(n: int) -> str:
    return f"u{n}"


async def test_two_deliveries_of_a_request_leave_one_row_for_each_follower(tmp_path: Path) -> None:
    """SB-37: at once, and one after the other."""
    users = [_name(n) for n in range(700)]
    async with stored(tmp_path) as c:
        answers = await asyncio.gather(*(c.notify(album(1, *users)) for _ in range(4)))
        answers.append(await c.notify(album(1, *users)))
        assert [(status, answer["accepted"]) for status, answer in answers] == [(202, 700)] * 5
        assert sorted(answer["duplicate"] for _, answer in answers) == [False, True, True, True, True]
        await decided(c, 700)
        store = c.of("notification")[0].stored.store
        assert (await store._all("SELECT count(*), count(DISTINCT user) FROM events", ())) == [(700, 700)]
        assert (await store._all("SELECT count(*), min(mark), max(mark) FROM items", ())) == [(700, 1, 1)]
