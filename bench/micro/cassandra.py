"""`python -m bench.micro.cassandra [ROWS]` compares the writes a second through our bridge and through the bare driver.

There is one real server with one table. Both write the same rows, turn by turn in the same minute. The bridge runs on asyncio's own
loop and on uvloop, which is the loop of the roles.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import click
import uvloop
from cassandra.concurrent import execute_concurrent_with_args

from infra.runtime.cassandra.client import Cassandra, CassandraOptions
from infra.runtime.cassandra.driver import Connected, connect
from segue.cassandra import Server

ROUNDS: Final = 7
INSERT: Final = "INSERT INTO written (follower, seq, body) VALUES (?, ?, ?)"
TABLE: Final = "CREATE TABLE IF NOT EXISTS written (follower int, seq int, body blob, PRIMARY KEY (follower, seq))"
BODY: Final = bytes(200)


def rows(count: int) -> Iterator[tuple[int, int, bytes]]:
    """Yields `count` rows, each of its own partition."""
    return ((number, 0, BODY) for number in range(count))


def bare(connected: Connected, count: int, concurrency: int) -> None:
    """Writes `count` rows with what the driver itself offers for many rows, `concurrency` at a time, on `connected`."""
    execute_concurrent_with_args(connected.session, connected.session.prepare(INSERT), rows(count), concurrency=concurrency)


async def bridged(options: CassandraOptions, count: int) -> float:
    """Returns the seconds of `many`. Each round opens a connection of its own, so that it is no warmer than the bare driver's."""
    store = await Cassandra.open(options)
    try:
        await store.change_schema(TABLE)
        await store.prepare(INSERT)
        begun_s = time.perf_counter()
        await store.many(INSERT, rows(count))
        return time.perf_counter() - begun_s
    finally:
        await store.close()


def seconds(run: Callable[[], None]) -> float:
    """Returns the seconds of one call."""
    begun_s = time.perf_counter()
    run()
    return time.perf_counter() - begun_s


@click.command()
@click.argument("count", default=20_000)
def main(count: int) -> None:
    """Prints the table."""
    with tempfile.TemporaryDirectory(prefix="segue-cassandra-") as folder, Server(Path(folder)) as server:
        options = CassandraOptions(port=server.port)
        asyncio.run(bridged(options, count))
        connected = connect(options)
        found: dict[str, list[float]] = {"bare driver": [], "bridge, asyncio": [], "bridge, uvloop": []}
        for _ in range(ROUNDS):
            found["bare driver"].append(count / seconds(lambda: bare(connected, count, options.concurrency // 2)))
            found["bridge, asyncio"].append(count / asyncio.run(bridged(options, count)))
            found["bridge, uvloop"].append(count / uvloop.run(bridged(options, count)))
        connected.cluster.shutdown()
    click.echo(
        f"{count} writes, {ROUNDS} rounds\n\n| | writes/s, median (least to most) | to the bare driver in the same round |\n|---|---|---|"
    )
    for name, rates in found.items():
        ratio = statistics.median(rate / base for rate, base in zip(rates, found["bare driver"], strict=True))
        click.echo(f"| {name} | {statistics.median(rates):,.0f} ({min(rates):,.0f} to {max(rates):,.0f}) | {ratio:.2f} |")


if __name__ == "__main__":
    main()
