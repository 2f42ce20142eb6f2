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

import click
import structlog

from infra.runtime.logs import configure

from .course import StoryLine
from .defects import planted
from .life import SimulatedLife
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
# After so many operations what lives left behind is collected. Within a life it is not: that would take a tenth of the time.
COLLECTED: Final = 1000
# Whoever goes on after violations tells how far it is, so often.
TELLS_S: Final = 60.0
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


def run(seed: int, number: int, operations: Sequence[Operation] | None = None, *, is_varied: bool = True) -> SimulationRun:
    """Returns the life of `seed`: `number` operations that are drawn from it, or those that are given.

    `is_varied`: see `SimulatedWorld`.
    """
    life = SimulatedLife(seed, is_varied=is_varied, **SHAPES[seed % len(SHAPES)])
    played = list(operations) if operations is not None else drawn(life.world.stream("operations"), number)
    violation = ""
    try:
        life.play(played)
    except Violated as violated:
        violation = str(violated)
    return SimulationRun(seed, played, violation, life.story, life.digest, life.oracle.looked_at)


class SeedRange(NamedTuple):
    """Seeds for one process: every `step`-th from the `first` on, `number` of them, and then further ones until `seconds` are over.

    `goes_on`: a violation does not end them. It is told at once, and how far they are from time to time.
    """

    first: int
    step: int
    number: int
    seconds: float = 0.0
    goes_on: bool = False


class LivedSeeds(NamedTuple):
    """Lives that are over: how many, what was wrong in those that were violated, by their seeds, and how much was checked."""

    seeds: int
    violations: dict[int, str]
    looked_at: Counter[str]


class SeedOutcome(NamedTuple):
    """The outcome of one seed: see `SimulationRun`."""

    violation: str
    looked_at: Counter[str]


def lived(which: SeedRange, operations: int, defect: str | None = None, tell: Callable[[str], None] = click.echo) -> LivedSeeds:
    """Lives through seeds, each with so many `operations`, with a planted `defect` if one is named; see `lived_through`."""
    uncollected = COLLECTED

    def live(seed: int) -> SeedOutcome:
        nonlocal uncollected
        if uncollected >= COLLECTED:
            gc.collect()
            uncollected = 0
        uncollected += operations
        found = run(seed, operations)
        return SeedOutcome(found.violation, found.looked_at)

    with told_nothing(), planted(defect), _collected_here():
        return lived_through(which, live, tell)


def lived_through(which: SeedRange, live: Callable[[int], SeedOutcome], tell: Callable[[str], None]) -> LivedSeeds:
    """Lives through seeds: `live` does so with one. A violation ends it, unless they go on; then whoever listens by `tell` hears of it."""
    began_s = told_s = time.monotonic()
    violations: dict[int, str] = {}
    looked_at = Counter[str]()
    for n in count():
        now_s = time.monotonic()
        if n >= which.number and now_s >= began_s + which.seconds:
            return LivedSeeds(n, violations, looked_at)
        if which.goes_on and now_s >= told_s + TELLS_S:
            told_s = now_s
            tell(f"{n:,} seeds from {which.first} in {now_s - began_s:.0f} s, {len(violations)} violated")
        seed = which.first + n * which.step
        found = live(seed)
        looked_at += found.looked_at
        if found.violation:
            violations[seed] = found.violation
            if not which.goes_on:
                return LivedSeeds(n + 1, violations, looked_at)
            tell(f"seed {seed}: {found.violation}")
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
