"""`python -m bench.micro.cassandra [ROWS]`: writes per second through our bridge and through the bare driver.

One real server, one table, the same rows, turn by turn in the same minute; a second loop, uvloop, is what the roles run on.
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
    """Returns rows of as many partitions."""
    return ((number, 0, BODY) for number in range(count))


def bare(connected: Connected, count: int, concurrency: int) -> None:
    """Inserts `count` rows by what the driver itself offers for many: on the session `connected`, `concurrency` at a time."""
    execute_concurrent_with_args(connected.session, connected.session.prepare(INSERT), rows(count), concurrency=concurrency)


async def bridged(options: CassandraOptions, count: int) -> float:
    """Returns the seconds of `many`. A round of its own warms nothing that the bare driver does not have."""
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
    """Returns how long `run` takes."""
    begun_s = time.perf_counter()
    run()
    return time.perf_counter() - begun_s


@click.command()
@click.argument("count", default=20_000)
def main(count: int) -> None:
    """Print the table."""
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
