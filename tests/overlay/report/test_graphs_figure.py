"""The figures of graphs: their lines are the degrees and the triangles that were counted, made and real side by side."""

import numpy as np
import pytest

from analytics.planning.report.figure import FigureSection
from overlay.report.graphs_figure import ccdf, graph_figures
from overlay.simulator.graphs.followers import followers


@pytest.fixture(scope="module")
def figures() -> dict[str, FigureSection]:
    """The figures of small graphs."""
    return {each.key: each for each in graph_figures(1, users=1000)}


def test_a_ccdf_is_the_share_of_those_as_great_or_greater_in_units_of_the_mean() -> None:
    assert ccdf(np.array([0, 1, 1, 2, 4])) == [(0.5, 100.0), (1.0, 50.0), (2.0, 25.0)]


def test_a_long_ccdf_is_thinned_and_keeps_its_ends() -> None:
    degrees = np.arange(1, 5001)
    found = ccdf(degrees)
    assert len(found) <= 120
    assert [*found[0], *found[-1]] == pytest.approx([1 / 2500.5, 100.0, 5000 / 2500.5, 0.02])
    for value, percent in found:
        assert percent == pytest.approx(100 * (degrees >= value * 2500.5 - 1e-6).mean())


def test_each_figure_has_the_made_graph_a_sample_and_two_real_ones(figures: dict[str, FigureSection]) -> None:
    for key, real in (("friends", {"Facebook, ten circles", "Last.fm"}), ("followers", {"votes of Wikipedia", "Ciao"})):
        made = {f"{key}, 1,000 users", f"sample of 1,000 of 10,000 {key}"}
        for plot in figures[key].plots:
            assert {each.label for each in plot.keys} == made | real
    assert [len(each.plots) for each in figures.values()] == [2, 3]


def test_the_numbers_behind_are_those_of_the_graphs(figures: dict[str, FigureSection]) -> None:
    sheet = figures["followers"].sheet
    assert sheet
    rows = {row[0]: row[1:] for row in sheet.rows}
    made = followers(1000, 1)
    most = (str(made.topics_of().max()), str(made.subscribers_of().max()))
    assert rows["followers, 1,000 users"][:4] == ("1,000", "16,000", *most)
    assert rows["votes of Wikipedia"] == ("7,115", "103,689", "893", "457", "0.141", "0.125")


def test_the_same_seed_draws_the_same_bytes(figures: dict[str, FigureSection]) -> None:
    """OV-2."""
    assert [each.html() for each in graph_figures(1, users=1000)] == [each.html() for each in figures.values()]
    assert graph_figures(2, users=1000)[0].html() != figures["friends"].html()
