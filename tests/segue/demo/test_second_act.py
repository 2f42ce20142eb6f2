"""The second act as a whole, small and real: a store, mails, pushes, devices that sleep and come back."""

import asyncio
import io
import json
import os
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from infra.kernel.errors import ConfigError
from infra.runtime.cassandra.options import CassandraOptions
from segue.cassandra import Server
from segue.demo.dataset import Dataset, checkout_folder
from segue.demo.plan import DemoPlan
from segue.demo.run import run
from segue.demo.show import Show
from segue.demo.store import Kind, temporary

DEADLINE_S = 90.0


def plan(store: Kind = "sqlite", cassandra: CassandraOptions | None = None) -> DemoPlan:
    """Returns a plan: thirty users who hardly play, at two sites."""
    return DemoPlan(
        data=checkout_folder(),
        users=30,
        sites=2,
        seconds=0.1,
        speed=1.0,
        rate_per_s=20.0,
        seed=1,
        has_processes=False,
        store=store,
        cassandra=cassandra,
    )


def silent() -> tuple[Show, io.StringIO]:
    """Returns a show that tells a file."""
    told = io.StringIO()
    return Show(Console(file=told, width=200)), told


def listeners_by_hand(dataset: Dataset, of: DemoPlan) -> int:
    """Returns how many of the users who take part listen to the most popular artist among them."""
    here = dataset.subset(of.users or 0, of.rng("users"))
    return Counter(artist for rows in here.plays.values() for artist, _ in rows).most_common(1)[0][1]


async def played(of: DemoPlan) -> tuple[dict[str, Any], str]:
    """Returns what became of the second act, and what was told."""
    show, told = silent()
    async with asyncio.timeout(DEADLINE_S):
        outcome = await run(of, show)
    assert list(outcome.problems()) == []
    return outcome.document()["release"], told.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("store", ["sqlite", "cassandra"])
async def test_an_album_released_while_most_sleep_reaches_every_follower_once(
    store: Kind, lastfm: Dataset, request: pytest.FixtureRequest
) -> None:
    """SB-35, SB-37, SB-41, SB-48: one row for each follower, a live copy for who is there, a mail or a push for who can be reached so,
    and every item once on each device, also where the live copy was lost on the way."""
    server = request.getfixturevalue("cassandra_server") if store == "cassandra" else None
    of = plan(store, CassandraOptions(port=server.port, keyspace=f"demo_{uuid.uuid4().hex[:12]}") if server else None)
    followers = listeners_by_hand(lastfm, of)
    document, told = await played(of)
    awake = -(-followers // 5)
    asleep = followers - awake
    second = -(-asleep // 10)
    assert (document["followers"], document["awake"], document["rows_written"]) == (followers, awake, 2 * followers)
    assert document["shown"] == 2 * (followers + second) == document["live"] + document["pulled"] + document["repaired"]
    assert (document["pulled"], document["repaired"], document["read_elsewhere"]) == (asleep + second, 2, second)
    assert 0 < document["mailed"] <= -(-followers // 4)
    assert document["pushed"] > 0
    assert {document[name] for name in ("lost", "shown_twice", "mails_to_awake", "unread_wrong")} == {0}
    assert f"{asleep} are back, {second} of them on two devices" in told
    json.dumps(document)


async def test_what_cassandra_lacks_is_said_before_anything_runs_and_no_folder_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(_: object) -> str:
        raise ConfigError("Cassandra needs Java 17. Install one")

    monkeypatch.setattr("segue.cassandra.server.find_java", none)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(ConfigError, match="needs Java 17"):
        async with temporary("cassandra", None, silent()[0]):
            pass
    assert os.listdir(tmp_path) == []


async def test_who_is_interrupted_while_the_server_starts_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The start goes on in a thread: it is waited for, and then the server is ended."""
    loop, said = asyncio.get_running_loop(), []
    begun, may_end = asyncio.Event(), asyncio.Event()

    def start(server: Server, timeout_s: float = 0.0) -> Server:
        loop.call_soon_threadsafe(begun.set)
        asyncio.run_coroutine_threadsafe(may_end.wait(), loop).result(DEADLINE_S)
        said.append("started")
        return server

    monkeypatch.setattr(Server, "start", start)
    monkeypatch.setattr(Server, "kill", lambda server: said.append("killed"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    async def use() -> None:
        async with temporary("cassandra", None, silent()[0]):
            said.append("used")

    task = asyncio.create_task(use())
    await begun.wait()
    task.cancel()
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert said == ["started", "killed"]
    assert os.listdir(tmp_path) == []
