"""`python -m bench.micro.recording` measures what the window of the last events adds to an event in the broker's core.

Events are on topics that were not used for a while, as they are with many topics. With and without a window they go in turn, and the
least of all rounds counts, so that other work on the machine disturbs little. The unit is CPU.
"""

import random
import time
from typing import Final

import click
import msgspec

from broker.core import BrokerCore
from broker.window import EventWindow
from broker.window_bounds import DEFAULT_WINDOWS
from infra.kernel.events import Event, encode_tail
from infra.kernel.topics import Kind, Topic, format_topic, parse_topic, user_topic

TOPICS: Final = 20_000
EVENTS: Final = 20_000
ROUNDS: Final = 12
WINDOW_BYTES: Final = 64 << 20


class RecordingFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The microseconds of CPU that an event takes in the core, without a window and with one."""

    without_us: float
    with_us: float


class _Link:
    """A subscribing link that leads nowhere."""

    def deliver(self, handle: int, body: bytes) -> None:
        """Takes an event, and forgets it."""


def measure(kind: Kind, topics: int = TOPICS, events: int = EVENTS, rounds: int = ROUNDS) -> RecordingFigures:
    """Publishes `events` on `topics` of a kind in each of `rounds`."""
    named = [_topic(kind, number) for number in range(topics)]
    cores = [_core(None, named), _core(EventWindow(1, DEFAULT_WINDOWS, WINDOW_BYTES), named)]
    least = [float("inf")] * len(cores)
    rng = random.Random(1)
    for _ in range(rounds):
        published = [_event(rng.choice(named)) for _ in range(events)]
        least = [min(best, _cpu_s(core, published)) for best, core in zip(least, cores, strict=True)]
    without_s, with_s = least
    return RecordingFigures(without_us=without_s / events * 1e6, with_us=with_s / events * 1e6)


def _topic(kind: Kind, number: int) -> Topic:
    return user_topic(f"u{number}") if kind is Kind.USER else parse_topic(f"hm://playlist/user/u/playlist/p{number}/")


def _core(window: EventWindow | None, topics: list[Topic]) -> BrokerCore:
    core = BrokerCore("sto", 1, window=window)
    core.subscribe(core.open(_Link(), far=False), topics, range(len(topics)))
    return core


def _event(topic: Topic) -> Event:
    return Event(topic, b"", encode_tail(format_topic(topic), 1, "x", "play", b'{"artist":"Bjork","track":"Joga"}'))


def _cpu_s(core: BrokerCore, events: list[Event]) -> float:
    publish = core.publish
    begun_s = time.process_time()
    for event in events:
        publish(event)
    return time.process_time() - begun_s


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--rounds", type=click.IntRange(min=1), default=ROUNDS, show_default=True, help="So often everything is measured.")
def main(rounds: int) -> None:
    """Print what an event takes in the broker's core, with and without a window."""
    for kind in DEFAULT_WINDOWS:
        found = measure(kind, rounds=rounds)
        click.echo(f"{kind}: {found.without_us:.2f} us an event without a window, {found.with_us:.2f} us with one")


if __name__ == "__main__":
    main()
