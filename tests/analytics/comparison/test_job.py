"""Two characterizations compared with each other."""

import re
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from analytics.comparison.job import compare, ratios
from analytics.comparison.result import ComparisonResult, Ratio, in_words
from analytics.comparison.source import characterization
from analytics.errors import TraceError
from analytics.figures import FIGURES
from tests.support.characterizations import ABOUT, ccdf, make
from tests.support.traces import write as write_trace

FEW = ("size", "size_nnr", "publications", "weekly")
OTHERS = tuple(key for key in FIGURES if key not in FEW)


def test_equal_characterizations_are_nearly_the_same_in_every_figure(tmp_path: Path) -> None:
    a = make(tmp_path / "a", without=OTHERS)
    b = make(tmp_path / "b", without=OTHERS)

    result = compare(a, b, tmp_path / "out")

    assert {score.figure for score in result.scores} == set(FEW)
    assert all(score.distance == score.shape == 0 for score in result.scores)
    assert all(score.correlation in (None, pytest.approx(1.0)) for score in result.scores)
    assert (result.a, result.b) == ("made up (a)", "made up (b)")


def test_twice_the_numbers_have_the_same_shape(tmp_path: Path) -> None:
    a = make(tmp_path / "a", without=OTHERS)
    b = make(tmp_path / "b", without=OTHERS, factor=2, about=msgspec.structs.replace(ABOUT, name="<twice>"))

    result = compare(a, b, tmp_path / "out")

    of = {(score.figure, score.series): score for score in result.scores}
    assert of["size", ""].distance > 0.3
    assert of["size", ""].shape == pytest.approx(0, abs=1e-9)
    assert of["size", ""].decades == pytest.approx(0.30103, abs=1e-4)
    assert of["publications", "artist"].distance == pytest.approx(0.7, abs=0.1)
    assert of["publications", "artist"].shape == pytest.approx(0, abs=1e-9)
    assert [score.distance for score in result.scores] == sorted((score.distance for score in result.scores), reverse=True)
    assert set(result.missing) == set(OTHERS)


def test_the_folder_has_the_numbers_and_a_page_that_shows_both(tmp_path: Path) -> None:
    a = make(tmp_path / "a", without=OTHERS)
    b = make(tmp_path / "b", seed=2, without=OTHERS, about=msgspec.structs.replace(ABOUT, name="<other>"))

    result = compare(a, b, tmp_path / "out")

    assert msgspec.json.decode((tmp_path / "out" / "comparison.json").read_bytes(), type=ComparisonResult) == result
    text = (tmp_path / "out" / "compare.html").read_text(encoding="utf-8")
    assert "<other>" not in text
    assert "&lt;other&gt;" in text
    assert len(re.findall('<svg class="plot"', text)) == 2 + 1 + 4 + 4
    assert "http" not in text


def test_lines_are_held_against_each_other_by_the_clock_of_each(tmp_path: Path) -> None:
    a = make(tmp_path / "a", without=OTHERS)
    b = make(tmp_path / "b", without=OTHERS, about=msgspec.structs.replace(ABOUT, time_zone="Asia/Tokyo"))

    [presence] = [each for each in compare(a, b, tmp_path / "out").scores if (each.figure, each.series) == ("publications", "presence")]

    assert presence.correlation is not None
    assert presence.correlation < 0, "eight hours apart"


def test_what_one_of_them_lacks_is_told_with_the_reason(tmp_path: Path) -> None:
    a = make(tmp_path / "a", without=OTHERS)
    b = make(tmp_path / "b", without=(*OTHERS, "size"), about=msgspec.structs.replace(ABOUT, name="b"))

    missing = compare(a, b, tmp_path / "out").missing

    assert missing["size"] == "b: there are no times"
    assert missing["rate"] == "made up: there are no times; b: there are no times"


def test_a_name_is_no_formula(tmp_path: Path) -> None:
    a = make(tmp_path / "a", without=OTHERS)
    for name in ("publications.csv", "weekly.csv"):
        path = a / "curves" / name
        path.with_suffix(".parquet").unlink()
        path.write_text(path.read_text().replace("artist", "$x^$"))

    compare(a, a, tmp_path / "out")

    assert ">$x^$, over its mean<" in (tmp_path / "out" / "compare.html").read_text(encoding="utf-8")


def test_lines_without_a_common_series_are_not_compared(tmp_path: Path) -> None:
    a = make(tmp_path / "a", without=OTHERS)
    b = make(tmp_path / "b", without=OTHERS)
    path = b / "curves" / "publications.parquet"
    table = pyarrow.csv.read_csv(path.with_suffix(".csv"))
    pyarrow.parquet.write_table(table.set_column(1, "series", [["nobody"] * len(table)]), path)

    assert (
        compare(a, b, tmp_path / "out")
        .missing["publications"]
        .startswith("one of them has fewer than 5 values, or the two have too little in common")
    )


def test_a_place_that_is_taken_stays_as_it_is(tmp_path: Path) -> None:
    a = make(tmp_path / "a", without=OTHERS)

    with pytest.raises(TraceError, match="exists already"):
        compare(a, a, a)


def test_what_is_no_characterization_is_named(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="is no trace, because it has no manifest"):
        compare(tmp_path, tmp_path, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_measures_stand_side_by_side_with_their_ratio() -> None:
    assert ratios({"a": 2.0, "b": 0.0, "c": 1.0}, {"a": 3.0, "b": 1.0}) == {
        "a": Ratio(a=2.0, b=3.0, ratio=1.5),
        "b": Ratio(a=0.0, b=1.0, ratio=None),
    }


@pytest.mark.parametrize(
    ("distance", "words"),
    [(0.0, "nearly the same"), (0.049, "nearly the same"), (0.05, "similar"), (0.2, "different"), (2.0, "very different")],
)
def test_a_distance_is_told_in_words(distance: float, words: str) -> None:
    assert in_words(distance) == words


def test_a_characterization_is_compared_as_it_is_and_of_a_trace_the_one_beside_it(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "small")
    report = make(tmp_path / "small-report", without=OTHERS)
    steps: list[str] = []

    assert characterization(report, steps.append) == report
    assert characterization(trace, steps.append) == report
    assert steps == []


def test_a_folder_that_is_neither_is_named(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="is no trace"):
        characterization(tmp_path, lambda _: None)


def test_what_so_few_cannot_tell_is_not_compared(tmp_path: Path) -> None:
    """Four values are no distribution; in one bin of x any two clouds have the same shape."""
    a = make(tmp_path / "a", without=OTHERS)
    b = make(tmp_path / "b", without=OTHERS)
    curves = {"size": ccdf(np.arange(1, 5)), "size_nnr": {"value": np.array([3]), "n": np.array([40]), "mean": np.array([2.0])}}
    for key, columns in curves.items():
        pyarrow.parquet.write_table(pa.table(columns), b / "curves" / f"{key}.parquet")

    missing = compare(a, b, tmp_path / "out").missing

    assert all(missing[key].startswith("one of them has fewer than 5 values, or the two have too little in common") for key in curves)
