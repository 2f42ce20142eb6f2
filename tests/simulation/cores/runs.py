"""Runs of seeds of pure cores: each seed is one life of each kind, and one that is violated is made as short as it can be."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import click

from ..defects import planted
from ..knobs import turned
from ..operations import Operation
from ..oracle import Violated
from ..runs import ATTEMPTS, LivedSeeds, SeedOutcome, SeedRange, lived_through, minimized, same_kind
from .broker_life import BrokerLife
from .core_life import CoreLife, drawn_for
from .feeding_life import FeedingLife
from .membership_life import MembershipLife
from .moves_life import MovesLife
from .recovery_life import RecoveryLife
from .sites_life import SitesLife

LIVES: Final[dict[str, type[CoreLife]]] = {
    "broker": BrokerLife,
    "feeding": FeedingLife,
    "membership": MembershipLife,
    "moves": MovesLife,
    "recovery": RecoveryLife,
    "sites": SitesLife,
}
# So many operations each life has.
OPERATIONS: Final = 100


def operations_of(number: int) -> int:
    """Returns how many operations a seed has, where each of its lives has so many."""
    return len(LIVES) * number


class CoreRun(NamedTuple):
    """A life that is over: of which `seed` and `kind`, with which `operations`. `violation`: what was wrong, empty if nothing was."""

    seed: int
    kind: str
    operations: list[Operation]
    violation: str
    looked_at: Counter[str]


def run_core(seed: int, kind: str, number: int = OPERATIONS, operations: Sequence[Operation] | None = None) -> CoreRun:
    """Returns the life of `kind` and `seed`: `number` operations that are drawn from it, or those that are given."""
    rng = random.Random(f"{seed} {kind}")  # a text, unlike its hash, gives the same stream in every process
    life = LIVES[kind](rng)
    drawn = drawn_for(LIVES[kind], rng, number)
    played = drawn if operations is None else list(operations)
    violation = ""
    try:
        with turned(random.Random(f"{seed} {kind} knobs")):
            life.play(played)
    except Violated as violated:
        violation = str(violated)
    return CoreRun(seed, kind, played, violation, life.looked_at)


def lived_cores(
    which: SeedRange, number: int = OPERATIONS, defect: str | None = None, tell: Callable[[str], None] = click.echo
) -> LivedSeeds:
    """Lives through seeds, each with a life of every kind, with a planted `defect` if one is named; see `lived_through`."""

    def live(seed: int) -> SeedOutcome:
        looked_at = Counter[str]()
        for kind in LIVES:
            found = run_core(seed, kind, number)
            looked_at += found.looked_at
            if found.violation:
                return SeedOutcome(f"{kind}: {found.violation}", looked_at)
        return SeedOutcome("", looked_at)

    with planted(defect):
        return lived_through(which, live, tell)


def violated_in(seed: int, number: int = OPERATIONS) -> CoreRun:
    """Returns the first life of `seed` in which something is wrong; the last one where nothing is."""
    for kind in LIVES:
        found = run_core(seed, kind, number)
        if found.violation:
            return found
    return found


def shrunk_core(found: CoreRun, attempts: int = ATTEMPTS) -> CoreRun:
    """Returns the same life with as few operations as still violate the same."""
    last = found

    def fails(operations: list[Operation]) -> bool:
        nonlocal last
        again = run_core(found.seed, found.kind, operations=operations)
        if is_same := same_kind(again.violation, found.violation):
            last = again
        return is_same

    minimized(found.operations, fails, attempts)
    return last
