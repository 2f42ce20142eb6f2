"""Lives of pure cores: those of today's engine, with and without peers that lie, and those in which a defect was planted."""

import random
from typing import ClassVar

import pytest

from ..defects import DEFECTS, planted
from ..oracle import Violated
from ..runs import SeedRange
from .core_life import CoreLife, drawn_for
from .runs import LIVES, lived_cores, operations_of, run_core, shrunk_core, violated_in

SEEDS = 100
# Defects that show in lives of cores, each within so many seeds.
SHOWN = {
    "reused-at-once": 60,
    "gap-for-all": 20,
    "receipts-lie": 5,
    "told-installed": 5,
    "not-moved": 5,
    "half-announced": 20,
    "never-parts": 5,
    "not-announced": 5,
    "joins-at-once": 20,
    "point-too-far": 30,
    "one-event-less": 5,
    "never-too-old": 5,
}


@pytest.mark.parametrize("kind", LIVES)
def test_what_cores_decide_holds_whatever_peers_say(kind: str) -> None:
    """DPS-31: in lives of each kind, of which two of five have peers that lie. When they are gone all is well."""
    looked_at = 0
    for seed in range(1, SEEDS):
        found = run_core(seed, kind)
        assert not found.violation, f"seed {seed}: {found.violation}\n{found.operations}"
        looked_at += found.looked_at.total()
    assert looked_at > SEEDS


def test_what_somebody_got_behind_their_point_counts_as_missed() -> None:
    """They said a point that was older than what they had, so the owner took more for missed than it keeps. The life took that for lazy."""
    found = run_core(7101421, "recovery", 100)
    assert not found.violation
    assert found.looked_at["too-much"] == 1


def test_what_is_on_its_way_when_nobody_has_to_be_asked_comes_behind_the_answer() -> None:
    """DPS-6: an access point knew from an answer that nothing had come, and the next event was not there yet. The life took it for lost."""
    assert not run_core(12410619, "recovery", 100).violation


@pytest.mark.parametrize("seed", [7500653, 7500831])
def test_an_event_that_somebody_has_made_up_may_be_no_message(seed: int) -> None:
    """An aggregator that lied had an access point give clients an empty text, and the life broke."""
    assert not run_core(seed, "recovery", 100).violation


@pytest.mark.parametrize("name", SHOWN)
def test_a_planted_defect_shows_in_cores(name: str) -> None:
    """DPS-30"""
    with planted(name):
        found = next((each for each in map(violated_in, range(1, SHOWN[name] + 1)) if each.violation), None)
    assert found is not None, f"{name} ({DEFECTS[name].told}) shows in none of {SHOWN[name]} seeds"


@pytest.mark.parametrize("seed", [1678, 2358], ids=["a latest kind", "a playlist"])
def test_it_shows_that_what_stands_before_a_hole_is_given_to_who_comes_back_by_numbers(seed: int) -> None:
    """DPS-5, DPS-30: what 35001388 of whole lives showed; one of 1,000 seeds does."""
    assert not run_core(seed, "sites").violation
    with planted("holes-hidden"):
        assert "nothing is missing" in run_core(seed, "sites").violation


@pytest.mark.parametrize(("name", "seed"), [("one-number-less", 1), ("no-anchor", 45), ("numbers-again", 79)])
def test_a_life_at_several_sites_shows_that_numbers_hide_a_loss(name: str, seed: int) -> None:
    """DPS-30"""
    with planted(name):
        assert run_core(seed, "sites").violation


def test_a_life_of_cores_repeats() -> None:
    """DPS-29"""
    for kind in LIVES:
        one, again, other = run_core(3, kind), run_core(3, kind), run_core(4, kind)
        assert (one.operations, one.looked_at) == (again.operations, again.looked_at)
        assert one.operations != other.operations


def test_seeds_of_cores_are_shared_and_a_violation_ends_them_and_is_made_short() -> None:
    part = lived_cores(SeedRange(1, 2, 3), 20)
    assert (part.seeds, part.violations, operations_of(20)) == (3, {}, 20 * len(LIVES))
    part = lived_cores(SeedRange(1, 1, 60), defect="never-parts")
    (violated,) = part.violations
    with planted("never-parts"):
        found = violated_in(violated)
        short = shrunk_core(found, attempts=20)
    assert short.violation
    assert len(short.operations) < len(found.operations)


class FailingLife(CoreLife):
    """A life in which production raises an error that is no answer."""

    KINDS: ClassVar[dict[str, int]] = {"fail": 1}

    def _fail(self, *_: int) -> None:
        raise KeyError("nothing")

    def check(self) -> None:
        pass

    def settle(self) -> None:
        pass


def test_an_error_that_nobody_expects_is_a_violation() -> None:
    rng = random.Random(1)
    with pytest.raises(Violated, match=r"fail raises KeyError\('nothing'\)"):
        FailingLife(rng).play(drawn_for(FailingLife, rng, 1))
