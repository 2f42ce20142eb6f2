"""Lives of roles without servers: those of today's engine, those in which a defect was planted, and what they excuse."""

import random
from collections import Counter

import pytest

from ..defects import DEFECTS, planted
from ..operations import Operation
from ..oracle import SimulationOracle, Violated
from ..runs import SeedRange
from .faults import RoleFaults
from .life import CALM, SHAKY, WILD, RoleLife, RoleShape
from .role_node import bare_roles
from .runs import lived_roles, run_roles, shrunk_roles
from .troubles import RoleTroubles
from .world import RoleWorld

# Seeds of each sort of life: what happens, how many sites, how many copies.
SEEDS = (1, 2, 3, 4, 6, 20, 29)
# Defects that show in lives of roles: the first seed that is lived, and how many are at most.
# Whole clusters show `no-tenure` only in lives made for it.
SHOWN = {"no-handover": (5, 12), "gap-untold": (3, 12), "no-tenure": (11, 20), "place-forgotten": (10, 20)}


@pytest.mark.parametrize("seed", SEEDS)
def test_roles_without_servers_lose_nothing_of_which_nobody_hears(seed: int) -> None:
    """DPS-31: in lives of each kind, at one site and at two, with copies and without."""
    found = run_roles(seed, 20)
    assert not found.violation, f"{found.violation}\n{found.operations}"
    assert found.looked_at["events"] > 100
    assert found.looked_at["recovered"] + found.looked_at["whole"] > 20


def test_these_seeds_are_lives_of_each_kind() -> None:
    shapes = [RoleShape.drawn(random.Random(f"{seed} shape")) for seed in SEEDS]
    assert {len(shape.kinds) for shape in shapes} == {len(WILD), len(SHAKY), len(CALM)}
    assert {(shape.sites, shape.copies) for shape in shapes} == {(1, 0), (1, 1), (2, 0), (2, 1)}


@pytest.mark.parametrize("name", SHOWN)
def test_a_planted_defect_shows_in_roles(name: str) -> None:
    """DPS-30"""
    first, number = SHOWN[name]
    with planted(name):
        found = any(run_roles(seed).violation for seed in range(first, first + number))
    assert found, f"{name} ({DEFECTS[name].told}) shows in none of {number} seeds from {first} on"


def test_a_life_of_roles_repeats() -> None:
    """DPS-29"""
    one, again, other = run_roles(3, 5), run_roles(3, 5), run_roles(4, 5)
    assert (one.operations, one.story) == (again.operations, again.story)
    assert one.operations != other.operations


def test_seeds_of_roles_are_shared_and_a_violation_ends_them_and_is_made_short() -> None:
    part = lived_roles(SeedRange(1, 2, 2), 5)
    assert (part.seeds, part.violations) == (2, {})
    part = lived_roles(SeedRange(1, 1, 3), 10, defect="given-twice")
    (violated,) = part.violations
    with planted("given-twice"):
        found = run_roles(violated, 10)
        short = shrunk_roles(found, attempts=8)
    assert short.violation
    assert len(short.operations) < len(found.operations)


def test_an_error_that_nobody_expects_violates_a_life_of_roles() -> None:
    world = RoleWorld(1, 1, 1)
    life = RoleLife(world)
    with bare_roles(life.note_out), pytest.raises(Violated, match="nobody expects AttributeError"):
        life.play([Operation("wake_the_dead", 0.0, (0, 0, 0, 0))])


def test_where_no_broker_is_there_any_more_none_is_cut_off() -> None:
    """The last one may have been asked to stop while it waited for another one."""
    world = RoleWorld(1, 1, 1)
    RoleFaults(world, SimulationOracle(), RoleTroubles(lambda: world.now_s, world.unsettled)).cut(1, 2, 0, 0)
    assert not world.cuts


class TroubledSite:
    """A site of which a test says what is the matter, and how late it is."""

    def __init__(self) -> None:
        self.now_s, self.why = 0.0, ""
        self.troubles = RoleTroubles(lambda: self.now_s, lambda: self.why)
        self.troubles.begin()

    def live(self, seconds: float) -> None:
        """Looks whether all is well, ten times a second."""
        for _ in range(round(10 * seconds)):
            self.now_s += 0.1
            self.troubles.look()


def test_a_single_trouble_excuses_nothing_and_a_second_one_before_it_is_over_does() -> None:
    site = TroubledSite()
    site.live(5.0)
    site.troubles.add("kill b1")
    assert not site.troubles.was_grave_since(0.0)
    site.troubles.add("kill b2")
    assert site.troubles.was_grave_since(5.0)
    site.live(5.0)
    assert not site.troubles.open
    assert not site.troubles.was_grave_since(8.0)
    assert site.troubles.was_grave_since(5.5)


def test_what_happens_while_nodes_do_not_agree_is_grave_and_what_costs_nothing_is_not() -> None:
    site = TroubledSite()
    site.why = "topics move"
    site.live(2.0)
    site.troubles.mention()
    assert not site.troubles.was_grave_since(0.0)
    site.troubles.add("kill b1")
    site.live(5.0)
    assert site.troubles.open == ["kill b1"]
    assert site.troubles.was_grave_since(6.9)
    site.why = ""
    site.live(5.0)
    assert not site.troubles.was_grave_since(9.0)
    assert Counter(site.troubles.open) == Counter()


def test_only_brokers_of_one_site_that_are_cut_off_explain_a_split() -> None:
    site = TroubledSite()
    site.troubles.add("cut b1 a1")
    site.live(3.0)
    assert site.troubles.apart_s < 0.0
    site.troubles.add("cut b1 b2", is_apart=True)
    site.live(0.5)
    assert site.troubles.apart_s == site.now_s
    site.live(5.0)
    assert site.troubles.apart_s < site.now_s
