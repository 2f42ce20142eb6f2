"""One plot: what its axes and marks look like."""

import re

from analytics.planning.report.chart import Axis, Series, chart
from analytics.report.plot import Key, Plot


def drawn(*series: Series, y: Axis) -> Plot:
    return chart("test", "test", Axis("x"), y, series)


def test_marks_at_the_edge_are_drawn_in_full() -> None:
    svg = drawn(Series("all of it", [(1, 1.0), (2, 1.0)]), y=Axis("ratio", most=1.0)).svg
    assert "<g clip-path" not in svg
    assert not [path for path in re.findall("<path[^>]*clip-path[^>]*>", svg) if "series-" in path]


def test_what_is_counted_has_whole_ticks() -> None:
    def ticks(*, is_whole: bool) -> set[str]:
        axis = Axis("", least=0, is_whole=is_whole)
        return set(re.findall(">([0-9.]+)</text>", chart("test", "test", axis, axis, [Series("", [(0, 0), (2, 2)])]).svg))

    assert "0.5" in ticks(is_whole=False)
    assert ticks(is_whole=True) == {"0", "1", "2"}


def test_a_logarithmic_axis_of_few_decades_names_more_than_those() -> None:
    def names(most: float) -> set[str]:
        return set(re.findall(">([0-9.]+)</text>", drawn(Series("", [(0, 3), (1, most)]), y=Axis("seconds", is_log=True)).svg))

    assert {"5", "10", "20"} <= names(30)
    assert "20" not in names(30_000)


def test_levels_are_named_at_their_lines_and_not_in_the_key() -> None:
    levels = [Series(f"limit of {height}", [(0, height)], mark="level") for height in (20, 30)]
    plot = drawn(Series("here", [(0, 1), (1, 2)]), *levels, y=Axis("seconds", is_log=True))
    assert plot.keys == (Key("here", 0, "line"),)
    assert all(f">limit of {height}<" in plot.svg for height in (20, 30))


def test_series_without_points_are_left_out() -> None:
    assert drawn(Series("none", []), Series("some", [(0, 1)]), y=Axis("y")).keys == (Key("some"),)


def test_wide_numbers_under_a_plot_do_not_meet() -> None:
    def labels(most: float) -> int:
        return len(re.findall(">[0-9,.]+</text>", drawn(Series("", [(0, 0), (most, 1)]), y=Axis("", ticks=(0.5,))).svg))

    assert labels(16_000) <= 7 < labels(1600)


def test_a_fifth_line_is_told_from_the_first_one_by_its_dashes() -> None:
    svg = drawn(*(Series(str(style), [(0, style), (1, style)], style) for style in range(5)), y=Axis("")).svg
    assert len([each for each in re.findall("<path[^>]*series-1[^>]*>", svg) if "dasharray" in each]) == 1


def test_long_names_under_a_plot_go_on_in_a_second_line() -> None:
    names = ("default", "one age for all", "priorities of their time", "sum of priorities", "ages of modules")
    svg = chart("test", "test", Axis("rule", names=names), Axis(""), [Series("", [(at, at) for at in range(5)])]).svg
    assert all(f">{part}<" in svg for part in ("default", "priorities of", "their time", "sum of", "priorities"))
