"""Quasar's figures 3 and 4: small forms of them, and the whole where it is asked for."""

import numpy as np
import pytest

from overlay.simulator.quasar.runs import KINDS, SIZES, CoverageRun, GroupKind, coverage_runs, group_sizes

SMALL = (1024, 4096)
RUNS = 20


def runs_of(kind: GroupKind, sizes: tuple[int, ...], count: int) -> dict[int, list[CoverageRun]]:
    return {nodes: list(coverage_runs(nodes, kind, count, 11)) for nodes in sizes}


def check_coverage(kind: GroupKind, sizes: tuple[int, ...], count: int) -> None:
    """Checks coverage, and that it hardly depends on the size of the system."""
    means = {nodes: np.mean([run.coverage for run in runs]) for nodes, runs in runs_of(kind, sizes, count).items()}
    assert min(means.values()) >= 0.95, means
    assert max(means.values()) - min(means.values()) <= 0.03, means


@pytest.mark.parametrize("kind", KINDS)
def test_most_members_are_reached(kind: GroupKind) -> None:
    """P2P-38, P2P-39."""
    check_coverage(kind, SMALL, RUNS)


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_most_members_are_reached_in_systems_of_every_published_size(kind: GroupKind) -> None:
    """P2P-38, P2P-39."""
    check_coverage(kind, SIZES, 100)


def test_coverage_differs_less_between_runs_of_larger_groups() -> None:
    """P2P-39."""
    spreads = [np.std([run.coverage for run in coverage_runs(nodes, "2%", 30, 4)]) for nodes in (1024, 8192)]
    assert spreads[1] < spreads[0]


def check_distance(sizes: tuple[int, ...], count: int) -> None:
    farthest = {nodes: np.mean([run.farthest for run in runs]) for nodes, runs in runs_of("100", sizes, count).items()}
    assert all(9 <= each <= 30 for each in farthest.values()), farthest
    steps = np.diff(list(farthest.values())) / np.diff(np.log2(list(farthest)))
    assert (steps > 0).all()
    if len(steps) > 1:
        line = np.polyfit(np.log2(list(farthest)), list(farthest.values()), 1)
        assert np.allclose(np.polyval(line, np.log2(list(farthest))), list(farthest.values()), atol=1.5), farthest


def test_the_farthest_member_is_some_hops_away() -> None:
    """P2P-40."""
    check_distance(SMALL, RUNS)


@pytest.mark.full
def test_the_farthest_member_is_farther_by_the_same_for_each_doubling() -> None:
    """P2P-40: linear in the logarithm of the number of nodes."""
    check_distance(SIZES, 100)


def test_hardly_any_trail_is_false_and_no_message_is_lost_for_it() -> None:
    """P2P-43, for groups of 100 in a system whose filters hold about as many ids as the paper's."""
    runs = list(coverage_runs(4096, "100", RUNS, 6))
    assert sum(run.false_trails for run in runs) <= 0.005 * sum(run.trails for run in runs)
    assert sum(run.false_lost for run in runs) == 0


def test_fewer_neighbours_fill_filters_less() -> None:
    """P2P-43: the load is told beside the false steps; 512 bytes were made for 370 ids, which set 30 % of the bits."""
    fills = [next(coverage_runs(1024, "100", 1, 6, degree=degree)).fill for degree in (4, 6, 8)]
    assert fills == sorted(set(fills))
    assert fills[0] < 0.15 < 0.3 < fills[-1] < 0.4


def test_sizes_of_groups_are_those_of_the_paper() -> None:
    """P2P-38: 2 to 1055 members, 100, and 2 %."""
    drawn = group_sizes("myspace", 32_768, 3000, 1)
    assert (min(drawn), max(drawn) > 800, max(drawn) <= 1055) == (2, True, True)
    assert group_sizes("100", 1024, 2, 1) == [100, 100]
    assert group_sizes("2%", 32_768, 1, 1) == [655]
    assert max(group_sizes("myspace", 512, 3000, 1)) <= 512
