"""Curves read back."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from analytics.errors import TraceError
from analytics.figures import FIGURES
from analytics.report.curves import columns, exact, points, thinned
from tests.support.characterizations import make


def test_what_was_written_is_read(tmp_path: Path) -> None:
    folder = make(tmp_path / "a")

    for figure in FIGURES.values():
        curve, all_rows = thinned(folder, figure), exact(folder, figure, columns(figure))
        assert len(curve) == len(all_rows) > 0
        for name in columns(figure):
            if name != "series":
                assert np.allclose(curve[name], all_rows[name])
        assert curve.series == all_rows.series
        assert (points(folder, figure) is not None) == (figure.kind == "mean")


def test_a_line_is_its_rows_alone(tmp_path: Path) -> None:
    curve = thinned(make(tmp_path / "a"), FIGURES["publications"])

    assert curve.series == ["presence", "playlist", "social", "artist"]
    assert len(curve.of("artist")) == 240
    assert curve.of("artist").series == ["artist"]


def test_an_exact_curve_may_be_a_folder_of_parts_with_what_spark_leaves_there(tmp_path: Path) -> None:
    path = tmp_path / "curves" / "size.parquet"
    path.mkdir(parents=True)
    for part, values in enumerate(([1, 2], [3])):
        pa.parquet.write_table(pa.table({"value": values, "count": values}), path / f"part-{part}.parquet")
    (path / "_SUCCESS").touch()

    assert exact(tmp_path, FIGURES["size"], ("value", "count"))["value"].tolist() == [1, 2, 3]


def test_where_only_the_thinned_curve_was_kept_it_is_the_exact_one(tmp_path: Path) -> None:
    folder = make(tmp_path / "a")
    (folder / "curves" / "size.parquet").unlink()

    assert len(exact(folder, FIGURES["size"], ("value", "count"))) == len(thinned(folder, FIGURES["size"]))


def test_a_curve_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"size\.csv: is missing; characterize the trace again"):
        thinned(tmp_path, FIGURES["size"])


@pytest.mark.parametrize("text", ["", "value,percent\n1,2\n", "value,percent,count,ccdf\n1,2,x,4\n"])
def test_a_file_that_is_no_such_curve_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "curves").mkdir()
    (tmp_path / "curves" / "size.csv").write_text(text)

    with pytest.raises(TraceError, match=r"size\.csv: .*column"):
        thinned(tmp_path, FIGURES["size"])


def test_a_parquet_file_that_is_cut_short_is_named(tmp_path: Path) -> None:
    folder = make(tmp_path / "a")
    path = folder / "curves" / "size.parquet"
    path.write_bytes(path.read_bytes()[:-10])

    with pytest.raises(TraceError, match=r"size\.parquet: is no curve of size"):
        exact(folder, FIGURES["size"], ("value", "count"))
