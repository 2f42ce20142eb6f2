"""The study of convergence: what it claims follows from its points."""

import pytest

from overlay.report.convergence import ConvergencePoint, ConvergenceStudy
from overlay.report.studies.convergence import CONVERGENCE, claims, plots
from tests.support.tiny_studies import tiny


def grown(name: str, incomplete: dict[int, float], missed: dict[int, float]) -> ConvergenceStudy:
    """Returns an overlay of these shares of incomplete rings and missed deliveries; after the last given cycle they stay as they are."""
    points = []
    for cycle in range(max(incomplete) + 1):
        rings = [share for at, share in incomplete.items() if at <= cycle][-1]
        lost = [share for at, share in missed.items() if at <= cycle][-1]
        points.append(
            ConvergencePoint(cycle=cycle, missing_links=rings, incomplete_rings=rings, missed_deliveries=lost, disconnected_topics=lost)
        )
    return ConvergenceStudy(name=name, nodes=10, topics=5, pairs=20, seed=1, fanout=2, points=points)


USUAL = grown("friends", {0: 1.0, 70: 0.01, 90: 0.0}, {0: 1.0, 60: 0.0005, 80: 0.0})


def test_claims_hold_where_rings_are_in_time_and_vicinity_is_worth_it() -> None:
    found = claims([USUAL, grown("without", {0: 1.0, 210: 0.01}, {0: 1.0})], is_full=True)
    assert [(each.requirement, each.holds) for each in found] == [("P2P-18", True), ("P2P-19", True), ("P2P-20", True)]
    assert "friends 70" in found[0].measured
    assert found[2].measured == "3.0 times (210 cycles)"


@pytest.mark.parametrize(
    ("usual", "without", "differs"),
    [
        (grown("friends", {0: 1.0, 81: 0.01, 90: 0.0}, {0: 1.0, 60: 0.0}), grown("w", {0: 1.0, 300: 0.0}, {0: 1.0}), "P2P-18"),
        (grown("friends", {0: 1.0, 70: 0.01, 90: 0.0}, {0: 1.0, 60: 0.01, 80: 0.0}), grown("w", {0: 1.0, 300: 0.0}, {0: 1.0}), "P2P-19"),
        (grown("friends", {0: 1.0, 70: 0.01, 90: 0.0}, {0: 1.0, 60: 0.0005, 90: 0.0}), grown("w", {0: 1.0, 300: 0.0}, {0: 1.0}), "P2P-19"),
        (USUAL, grown("w", {0: 1.0, 209: 0.0}, {0: 1.0}), "P2P-20"),
    ],
    ids=["late", "misses", "misses to the end", "no worse without"],
)
def test_each_claim_is_missed_alone(usual: ConvergenceStudy, without: ConvergenceStudy, differs: str) -> None:
    assert [each.requirement for each in claims([usual, without], is_full=True) if each.holds is False] == [differs]


def test_at_small_sizes_nothing_is_judged() -> None:
    never = grown("friends", {0: 1.0, 5: 1.0}, {0: 1.0})
    assert [each.holds for each in claims([never, never], is_full=False)] == [None, None, None]
    assert [each.holds for each in claims([never, never], is_full=True)] == [False, False, False]


def test_small_rings_grow_until_they_are_complete() -> None:
    result = tiny(CONVERGENCE)
    assert [each.name for each in result.tables] == ["summary", "friends", "without-vicinity"]
    assert result.table("friends").rows[-1][1:3] == (0, 0)
    assert [key.label for key in plots(result)[1].keys][:2] == ["missing links", "incomplete rings"]
