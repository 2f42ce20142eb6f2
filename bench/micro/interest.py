"""`python -m bench.micro.interest ROWS` measures the broker's core with so many rows in one process."""

import gc
import os
import random
import sys
import time
from typing import Final

import click
import msgspec

from broker.core import BrokerCore
from infra.kernel.announcer import BULK
from infra.kernel.events import Event, encode_tail
from infra.kernel.topics import Topic, user_topic

from ..meter import rss_bytes

LOOKUPS: Final = 1_000_000
MATCHES: Final = 200_000


class InterestFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of the broker's core. Bytes are resident memory."""

    bytes_per_row: float
    announced_per_s: float
    lookups_per_s: float
    matches_per_s: float

    def plain(self) -> dict[str, float]:
        """Returns the figures by name."""
        return msgspec.structs.asdict(self)


class _Link:
    """A subscribing link that leads nowhere."""

    def __init__(self) -> None:
        self.queued = 0

    def deliver(self, handle: int, body: bytes) -> None:
        self.queued += 1


def measure(rows: int) -> InterestFigures:
    """Announces `rows` topics, looks topics up, and matches events."""
    core = BrokerCore("sto", 1)
    empty = _rss()
    started_s = time.perf_counter()
    _announce(core, rows)
    announced_s = time.perf_counter() - started_s
    full = _rss()
    drawn = random.Random(1).choices(range(rows), k=LOOKUPS)
    return InterestFigures(
        bytes_per_row=(full - empty) / rows,
        announced_per_s=rows / announced_s,
        lookups_per_s=LOOKUPS / _look_up(core, [_topic(number) for number in drawn]),
        matches_per_s=MATCHES / _match(core, [_topic(number) for number in drawn[:MATCHES]]),
    )


def _announce(core: BrokerCore, rows: int) -> None:
    """Announces topics as an aggregator does: in bulks, under handles of its own."""
    bit = core.open(_Link(), far=False)
    for start in range(0, rows, BULK):
        numbers = range(start, min(start + BULK, rows))
        core.subscribe(bit, [_topic(number) for number in numbers], numbers)


def _topic(number: int) -> Topic:
    return user_topic(f"user{number}")


def _look_up(core: BrokerCore, topics: list[Topic]) -> float:
    """Returns the seconds of finding the mask of links of each topic."""
    rows, masks = core.interest.rows, core.interest.masks
    found = 0
    started_s = time.perf_counter()
    for topic in topics:
        row = rows.get(topic)
        if row is not None and masks[row]:
            found += 1
    seconds = time.perf_counter() - started_s
    assert found == len(topics)
    return seconds


def _match(core: BrokerCore, topics: list[Topic]) -> float:
    """Returns the seconds of matching, numbering and queueing an event on each topic."""
    tail = encode_tail("hm://presence/user/user1/", 1_700_000_000_000, "x-1", "play", b"{}")
    events = [Event(topic, b"", tail) for topic in topics]
    started_s = time.perf_counter()
    for event in events:
        core.publish(event)
    return time.perf_counter() - started_s


def _rss() -> int:
    gc.collect()
    return rss_bytes(os.getpid())


if __name__ == "__main__":
    click.echo(msgspec.json.encode(measure(int(sys.argv[1]))))
