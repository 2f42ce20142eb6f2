"""The figures of graphs: their lines are the degrees and the triangles that were counted, made and real side by side."""

import numpy as np
import pytest

from overlay.report.studies.graphs import apart, ccdf, plots, run
from overlay.report.study import StudyResult
from overlay.simulator.graphs.followers import followers


@pytest.fixture(scope="module")
def result() -> StudyResult:
    """The figures of small graphs."""
    return run("tiny", 1, lambda _: None)


def test_a_ccdf_is_the_share_of_those_as_great_or_greater_in_units_of_the_mean() -> None:
    assert ccdf(np.array([0, 1, 1, 2, 4])) == [(0.5, 100.0), (1.0, 50.0), (2.0, 25.0)]


def test_a_long_ccdf_is_thinned_and_keeps_its_ends() -> None:
    degrees = np.arange(1, 5001)
    found = ccdf(degrees)
    assert len(found) <= 120
    assert [*found[0], *found[-1]] == pytest.approx([1 / 2500.5, 100.0, 5000 / 2500.5, 0.02])
    for value, percent in found:
        assert percent == pytest.approx(100 * (degrees >= value * 2500.5 - 1e-6).mean())


def test_two_distributions_of_one_shape_are_not_apart_whatever_their_means() -> None:
    assert apart(np.array([1, 2, 3, 0]), np.array([10, 20, 30])) == 0
    assert apart(np.array([1, 1, 1, 1]), np.array([1, 1, 1, 5])) == pytest.approx(0.75)


def test_each_figure_has_the_made_graph_a_sample_and_two_real_ones(result: StudyResult) -> None:
    drawn = plots(result)
    assert len(drawn) == 5
    for at, plot in enumerate(drawn):
        key, real = ("friends", {"Facebook, ten circles", "Last.fm"}) if at < 2 else ("followers", {"votes of Wikipedia", "Ciao"})
        made = {f"{key}, 1,000 users", f"sample of 1,000 of 10,000 {key}"}
        assert {each.label for each in plot.keys} == made | real


def test_the_numbers_behind_are_those_of_the_graphs(result: StudyResult) -> None:
    rows = {row[0]: row[1:] for row in result.table("graphs").rows}
    made = followers(1000, 1)
    assert rows["followers, 1,000 users"][:4] == (made.users, made.pairs, made.topics_of().max(), made.subscribers_of().max())
    assert rows["votes of Wikipedia"][:4] == (7115, 103_689, 893, 457)
    assert rows["votes of Wikipedia"][4:] == pytest.approx((0.141, 0.125), abs=0.001)


def test_the_same_seed_draws_the_same_bytes(result: StudyResult) -> None:
    """OV-2."""
    again, other = run("tiny", 1, lambda _: None), run("tiny", 2, lambda _: None)
    assert [each.svg for each in plots(again)] == [each.svg for each in plots(result)]
    assert plots(other)[0].svg != plots(result)[0].svg
