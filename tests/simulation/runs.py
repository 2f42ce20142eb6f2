"""Runs of seeds: each is a life, and one that is violated is made as short as it can be."""

import gc
import logging
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from os import devnull
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import structlog

from infra.runtime.logs import configure

from .defects import planted
from .life import SimulatedLife, StoryLine
from .operations import Operation, drawn
from .oracle import Violated

T = TypeVar("T")
# Two sites with two of everything, and one with three brokers: a view of two has no majority to speak of, one of three has.
SHAPES: Final[tuple[dict[str, int], ...]] = (
    {},
    {"sites": 1, "brokers": 3},
    {"sites": 3, "brokers": 1, "aggregators": 1},
    {"sites": 2, "brokers": 3, "aggregators": 1},
)
# After so many lives what they left behind is collected. Within a life it is not: that would take a tenth of the time.
COLLECTED: Final = 16
# So many attempts may go into making a list of operations shorter.
ATTEMPTS: Final = 150


class SimulationRun(NamedTuple):
    """A life that is over. `violation`: what was wrong, empty if nothing was; `looked_at`: how much was checked."""

    seed: int
    operations: list[Operation]
    violation: str
    story: list[StoryLine]
    digest: str
    looked_at: Counter[str]

    def table(self, lines: int) -> str:
        """Returns the end of the story: when, to whom, what."""
        return "\n".join(str(line)[:200] for line in self.story[-lines:])


def run(seed: int, number: int, operations: Sequence[Operation] | None = None) -> SimulationRun:
    """Returns the life of `seed`: `number` operations that are drawn from it, or those that are given."""
    life = SimulatedLife(seed, **SHAPES[seed % len(SHAPES)])
    played = list(operations) if operations is not None else drawn(life.world.stream("operations"), number)
    violation = ""
    try:
        life.play(played)
    except Violated as violated:
        violation = str(violated)
    return SimulationRun(seed, played, violation, life.story, life.digest, life.oracle.looked_at)


class SeedRange(NamedTuple):
    """Seeds for one process: every `step`-th from the `first` on, `number` of them, and then further ones until `seconds` are over."""

    first: int
    step: int
    number: int
    seconds: float = 0.0


class LivedSeeds(NamedTuple):
    """Lives that are over: how many, the seed of the one that was violated, and how much was checked."""

    seeds: int
    violated: int | None
    looked_at: Counter[str]


def lived(which: SeedRange, operations: int, defect: str | None = None) -> LivedSeeds:
    """Lives through seeds, each with so many `operations`, with a planted `defect` if one is named. A violation ends it."""
    looked_at, until_s = Counter[str](), time.monotonic() + which.seconds
    with told_nothing(), planted(defect), _collected_here():
        for n in count():
            if n % COLLECTED == 0:
                gc.collect()
            if n >= which.number and time.monotonic() >= until_s:
                return LivedSeeds(n, None, looked_at)
            found = run(which.first + n * which.step, operations)
            looked_at += found.looked_at
            if found.violation:
                return LivedSeeds(n + 1, found.seed, looked_at)
    raise AssertionError("seeds never end")


@contextmanager
def _collected_here() -> Iterator[None]:
    """Has garbage collected in the block only where it asks for that. What is imported stays, and is not looked through again and again."""
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()


@contextmanager
def told_nothing() -> Iterator[None]:
    """Has nothing logged while the block runs but errors, which a life listens to. Then logging is as it was found."""
    root, found = logging.getLogger(), structlog.get_config()
    handlers, level = root.handlers[:], root.level
    # `configure` closes the handlers that it finds, and these are still needed.
    root.handlers = []
    try:
        with Path(devnull).open("w") as nowhere:
            configure("console", "error", nowhere)
            yield
    finally:
        root.handlers = handlers
        root.setLevel(level)
        structlog.configure(**found)


def shrunk(found: SimulationRun, attempts: int = ATTEMPTS) -> SimulationRun:
    """Returns the same seed with as few operations as still violate the same (delta debugging, Zeller 2002), after so many attempts."""
    last = found

    def fails(operations: list[Operation]) -> bool:
        nonlocal last
        again = run(found.seed, 0, operations)
        if is_same := same_kind(again.violation, found.violation):
            last = again
        return is_same

    minimized(found.operations, fails, attempts)
    return last


def same_kind(one: str, other: str) -> bool:
    """Returns whether two violations say the same but for names and numbers."""
    return _kind(one) == _kind(other)


def _kind(violation: str) -> str:
    """Returns a violation without its names and numbers: a shorter list must not show another one."""
    return re.sub(r"\W*[\w'-]*\d[\w'-]*", "", violation)


def minimized(items: list[T], fails: Callable[[list[T]], bool], attempts: int) -> list[T]:
    """Returns a part of `items` of which `fails` is still true. Parts are left out, smaller and smaller ones."""
    parts = 2
    while len(items) >= 2 and attempts > 0:
        size = max(1, len(items) // parts)
        for start in range(0, len(items), size):
            left = items[:start] + items[start + size :]
            attempts -= 1
            if left and fails(left):
                items, parts = left, max(2, parts - 1)
                break
            if attempts <= 0:
                break
        else:
            if size == 1:
                break
            parts = min(len(items), 2 * parts)
    return items
