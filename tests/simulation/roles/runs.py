"""Runs of seeds of roles: each seed is one life, and one that is violated is made as short as it can be."""

import random
from collections.abc import Callable, Sequence
from typing import Final

import click

from ..births import hashed_by_birth
from ..defects import planted
from ..knobs import turned
from ..operations import Operation
from ..oracle import Violated
from ..runs import ATTEMPTS, LivedSeeds, SeedOutcome, SeedRange, lived_through, minimized, same_kind
from .life import RoleLife, RoleShape, drawn_for_roles
from .role_node import bare_roles
from .world import TURNS_S, RoleWorld

# So many operations each life has.
OPERATIONS: Final = 40


class RoleRun:
    """A life that is over: of which `seed`, with which `operations`. `violation`: what was wrong, empty if nothing was."""

    def __init__(self, seed: int, operations: list[Operation], violation: str, life: RoleLife) -> None:
        self.seed, self.operations, self.violation = seed, operations, violation
        self.story, self.looked_at = life.world.story, life.oracle.looked_at


def run_roles(seed: int, number: int = OPERATIONS, operations: Sequence[Operation] | None = None) -> RoleRun:
    """Returns the life of `seed`: `number` operations that are drawn from it, or those that are given."""
    shape = RoleShape.drawn(random.Random(f"{seed} shape"))
    world = RoleWorld(seed, shape.sites, shape.copies)
    drawn = drawn_for_roles(shape, world.stream("operations"), number)
    played = drawn if operations is None else list(operations)
    life, violation = RoleLife(world), ""
    # Where turns take long, as much is done in one as ever: with less, what moves would hardly ever have moved.
    knobs = world.stream("knobs") if world.turn_s < TURNS_S[-1] else None
    try:
        with hashed_by_birth(), turned(knobs), bare_roles(life.note_out):
            life.play(played)
    except Violated as violated:
        violation = str(violated)
    return RoleRun(seed, played, violation, life)


def lived_roles(
    which: SeedRange, number: int = OPERATIONS, defect: str | None = None, tell: Callable[[str], None] = click.echo
) -> LivedSeeds:
    """Lives through seeds, with a planted `defect` if one is named; see `lived_through`."""

    def live(seed: int) -> SeedOutcome:
        found = run_roles(seed, number)
        return SeedOutcome(found.violation, found.looked_at)

    with planted(defect):
        return lived_through(which, live, tell)


def shrunk_roles(found: RoleRun, attempts: int = ATTEMPTS) -> RoleRun:
    """Returns the same life with as few operations as still violate the same."""
    last = found

    def fails(operations: list[Operation]) -> bool:
        nonlocal last
        again = run_roles(found.seed, operations=operations)
        if is_same := same_kind(again.violation, found.violation):
            last = again
        return is_same

    minimized(found.operations, fails, attempts)
    return last
