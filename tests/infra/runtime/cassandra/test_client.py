"""The bridge to Cassandra, on a real server."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import cassandra
import pytest

from infra.kernel.errors import ConfigError
from infra.runtime.cassandra.client import Cassandra, CassandraOptions, Row, Unavailable
from segue.cassandra import Server
from segue.cassandra.settings import free_ports
from tests.support.cassandra import fresh_keyspace

TABLE = "CREATE TABLE IF NOT EXISTS inbox (follower int, seq int, body text, PRIMARY KEY (follower, seq))"
INSERT = "INSERT INTO inbox (follower, seq, body) VALUES (?, ?, ?)"
ALL_OF_ONE = "SELECT seq, body FROM inbox WHERE follower = ?"


@pytest.fixture
async def store(cassandra_store: Cassandra) -> Cassandra:
    """Yields a store with a table."""
    await cassandra_store.change_schema(TABLE)
    return cassandra_store


async def count(store: Cassandra, follower: int) -> int:
    rows = await store.execute("SELECT count(*) FROM inbox WHERE follower = ?", follower)
    return int(rows[0][0])


async def test_rows_come_back_as_tuples_in_clustering_order(store: Cassandra) -> None:
    assert await store.execute(INSERT, 1, 2, "second") == []
    assert await store.execute(INSERT, 1, 1, "first") == []
    assert await store.execute(ALL_OF_ONE, 1) == [(1, "first"), (2, "second")]


async def test_more_than_five_thousand_rows_come_in_pages_each_once_and_execute_refuses_to_cut_them_off(store: Cassandra) -> None:
    await store.many(INSERT, ((7, seq, "x") for seq in range(5_001)))
    pages = [page async for page in store.pages("SELECT seq FROM inbox WHERE follower = ?", 7, page_size=500)]
    assert max(map(len, pages)) == 500
    assert [seq for page in pages for (seq,) in page] == list(range(5_001))
    with pytest.raises(ValueError, match="pages"):
        await store.execute(ALL_OF_ONE, 7)


async def test_pages_are_left_early_without_trouble_and_an_empty_answer_has_none(store: Cassandra) -> None:
    await store.many(INSERT, ((8, seq, "x") for seq in range(100)))
    async for page in store.pages(ALL_OF_ONE, 8, page_size=10):
        assert page[0] == (0, "x")
        break
    assert [page async for page in store.pages(ALL_OF_ONE, 9)] == []


async def test_a_conditional_write_is_applied_once_also_among_many_at_once(store: Cassandra) -> None:
    claim = "INSERT INTO inbox (follower, seq, body) VALUES (?, ?, ?) IF NOT EXISTS"
    assert sorted(await asyncio.gather(*(store.swap(claim, 1, 1, f"by {number}") for number in range(8)))) == [False] * 7 + [True]
    assert await store.swap("UPDATE inbox SET body = ? WHERE follower = ? AND seq = ? IF body = ?", "new", 1, 1, "nobody's") is False


async def test_a_batch_is_all_or_none(store: Cassandra) -> None:
    await store.batch([(INSERT, (1, 1, "a")), (INSERT, (1, 2, "b")), ("DELETE FROM inbox WHERE follower = ? AND seq = ?", (1, 1))])
    too_large = "x" * (17 << 20)  # more than half of a segment of the commit log
    with pytest.raises((cassandra.InvalidRequest, Unavailable)):
        await store.batch([(INSERT, (2, 1, "a")), (INSERT, (2, 2, too_large))])
    assert await count(store, 2) == 0
    await store.batch([(INSERT, (3, 1, "a")), (INSERT, (4, 1, "b"))], logged=True)
    assert [await count(store, follower) for follower in (3, 4)] == [1, 1]


async def test_a_row_with_a_time_to_live_tells_how_long_it_will_and_goes(store: Cassandra) -> None:
    await store.execute(f"{INSERT} USING TTL ?", 1, 1, "for 90 days", 90 * 86_400)
    await store.execute(f"{INSERT} USING TTL ?", 1, 2, "for a second", 1)
    [(left_s,)] = await store.execute("SELECT TTL(body) FROM inbox WHERE follower = ? AND seq = ?", 1, 1)
    assert 90 * 86_400 - 60 < left_s <= 90 * 86_400
    async with asyncio.timeout(30):
        while await count(store, 1) > 1:
            pass
    assert await store.execute(ALL_OF_ONE, 1) == [(1, "for 90 days")]


async def test_no_more_requests_are_in_flight_than_allowed_and_bulk_writes_leave_half_for_others(cassandra_server: Server) -> None:
    async with fresh_keyspace(cassandra_server, concurrency=8) as store:
        await store.change_schema(TABLE)
        most = 0

        def rows(follower: int) -> Iterator[Row]:
            nonlocal most
            for seq in range(300):
                most = max(most, store.in_flight)
                yield follower, seq, "x"

        async def bulk(*followers: int) -> None:
            await asyncio.gather(*(store.many(INSERT, rows(follower)) for follower in followers))

        await bulk(0, 1, 2)
        assert 2 <= most <= 4
        reads, _ = await asyncio.gather(asyncio.gather(*(store.execute(ALL_OF_ONE, 99) for _ in range(300))), bulk(3, 4))
        assert reads == [[]] * 300
        assert most <= 8
        assert [await count(store, follower) for follower in range(5)] == [300] * 5
        assert store.in_flight == 0


async def test_many_raises_the_first_error_when_those_begun_have_ended(store: Cassandra) -> None:
    drawn = 0

    def rows() -> Iterator[Row]:
        nonlocal drawn
        for seq in range(100_000):
            drawn += 1
            yield 1, seq if seq != 200 else "not a number", "x"

    with pytest.raises(TypeError, match="int"):
        await store.many(INSERT, rows())
    assert drawn < 1_000
    assert store.in_flight == 0
    assert await count(store, 1) >= 100


async def test_cancelling_gives_the_slots_back_and_disturbs_nobody(cassandra_server: Server) -> None:
    async with fresh_keyspace(cassandra_server, concurrency=4) as store:
        await store.change_schema(TABLE)
        await store.prepare(INSERT)
        calls = [asyncio.create_task(store.execute(INSERT, 1, seq, "x")) for seq in range(200)]
        bulk = asyncio.create_task(store.many(INSERT, ((2, seq, "x") for seq in range(100_000))))
        await asyncio.sleep(0)
        await calls[0]
        for call in calls[1::2]:
            call.cancel()
        bulk.cancel()
        results = await asyncio.gather(*calls, bulk, return_exceptions=True)
        assert results[0:200:2] == [[]] * 100
        assert all(isinstance(result, asyncio.CancelledError) or result == [] for result in results)
        await asyncio.gather(*(store.execute(INSERT, 3, seq, "x") for seq in range(8)))
        assert await count(store, 3) == 8


async def test_wrong_cql_is_told_as_it_is_and_at_once(store: Cassandra) -> None:
    begun_s = time.monotonic()
    with pytest.raises(cassandra.InvalidRequest, match="nowhere"):
        await store.execute("SELECT x FROM nowhere")
    with pytest.raises(ValueError, match="arguments"):
        await store.execute(ALL_OF_ONE, 1, 2, 3)
    assert time.monotonic() - begun_s < store.options.timeout_s


async def test_a_statement_is_prepared_once(store: Cassandra) -> None:
    first, *others = await asyncio.gather(*(store.prepare(ALL_OF_ONE) for _ in range(10)))
    assert all(other is first for other in others)


async def test_closing_ends_what_is_in_flight_and_what_comes_later(cassandra_server: Server) -> None:
    async with fresh_keyspace(cassandra_server) as owner:
        await owner.change_schema(TABLE)
        store = await Cassandra.open(owner.options)
        bulk = asyncio.create_task(store.many(INSERT, ((1, seq, "x") for seq in range(1_000_000))))
        await owner.prepare(ALL_OF_ONE)
        async with asyncio.timeout(30):
            while not await owner.execute(ALL_OF_ONE, 1):
                pass
            await store.close()
            with pytest.raises(Unavailable):
                await bulk
            with pytest.raises(Unavailable, match="closed"):
                await store.execute(ALL_OF_ONE, 1)
            await store.close()
        assert store.in_flight == 0


async def test_opening_where_nobody_listens_says_what_to_do() -> None:
    [port] = free_ports(1)
    with pytest.raises(Unavailable, match=rf"127.0.0.1:{port}.*segue cassandra start"):
        await Cassandra.open(CassandraOptions(port=port))


async def test_an_unknown_data_centre_is_refused_with_the_known_ones(cassandra_server: Server) -> None:
    with pytest.raises(ConfigError, match="'sto' is not one of this cluster's: datacenter1"):
        await Cassandra.open(CassandraOptions(port=cassandra_server.port, datacenter="sto"))


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"hosts": []}, "hosts"),
        ({"keyspace": "a; DROP"}, "keyspace"),
        ({"datacenter": "'"}, "datacenter"),
        ({"replication": 0}, "replication"),
        ({"concurrency": 1}, "concurrency"),
        ({"username": "segue"}, "password_file"),
    ],
)
def test_options_that_do_not_fit_are_refused(wrong: dict[str, object], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        CassandraOptions(**wrong).check()  # type: ignore[arg-type]


def test_the_password_is_the_first_line_of_its_file_which_others_may_not_read(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.touch(mode=0o600)
    file.write_text("secret\n")
    assert CassandraOptions(username="segue", password_file=file).password() == "secret"
    with pytest.raises(ConfigError, match="nowhere"):
        CassandraOptions(username="segue", password_file=tmp_path / "nowhere").password()
    file.chmod(0o644)
    with pytest.raises(ConfigError, match="chmod 600"):
        CassandraOptions(username="segue", password_file=file).password()
