"""Tables: rows come back as written, and every defect is named with its file and line."""

import gzip
from pathlib import Path

import pytest

from segue.demo.table import DatasetError, DatasetTable


def table(folder: Path, text: str) -> DatasetTable:
    path = folder / "pairs.tsv.gz"
    path.write_bytes(gzip.compress(text.encode()))
    return DatasetTable(path, "left", "right")


def test_rows_below_the_header_come_back_in_order(tmp_path: Path) -> None:
    assert list(table(tmp_path, "left\tright\n1\ta\n2\tb\n")) == [["1", "a"], ["2", "b"]]


def test_a_last_line_without_line_end_counts(tmp_path: Path) -> None:
    assert list(table(tmp_path, "left\tright\n1\ta")) == [["1", "a"]]


def test_only_newlines_end_a_line(tmp_path: Path) -> None:
    assert list(table(tmp_path, "left\tright\n1\ta\u2028b\x85c\n")) == [["1", "a\u2028b\x85c"]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the header is '' and must be left<tab>right"),
        ("right\tleft\n", "line 1: the header is"),
        ("left\tright\n1\ta\n2\n", "line 3: 1 cells instead of 2"),
        ("left\tright\n1\ta\tx\n", "line 2: 3 cells instead of 2"),
        ("left\tright\n\n", "line 2: 1 cells instead of 2"),
    ],
)
def test_a_row_of_the_wrong_form_is_named_by_file_and_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DatasetError, match=r"pairs\.tsv\.gz, line") as caught:
        list(table(tmp_path, text))
    assert message in str(caught.value)


@pytest.mark.parametrize("cell", ["0", "-1", "+1", "1.0", "1_0", " 1", "", "x", "\u0663", "9" * 16, "9" * 5000])
def test_what_is_not_a_number_above_zero_is_refused_with_its_line(tmp_path: Path, cell: str) -> None:
    rows = table(tmp_path, "left\tright\n1\ta\n")
    for _ in rows:
        with pytest.raises(DatasetError, match=r"line 2: .* is not a whole number above 0"):
            rows.number(cell)


def test_numbers_are_read(tmp_path: Path) -> None:
    assert table(tmp_path, "").number("0017632") == 17632


def test_a_missing_file_says_how_to_name_the_folder(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"nowhere\.tsv\.gz is missing; .*--data DIR"):
        list(DatasetTable(tmp_path / "nowhere.tsv.gz", "left"))


@pytest.mark.parametrize(
    "content",
    [
        b"left\tright\n",
        gzip.compress(b"left\tright\n1\t2\n", mtime=0)[:-9],
        gzip.compress(b"left\tright\n\xff\t2\n", mtime=0),
        gzip.compress(b"x", mtime=0)[:10] + b"\xff",
    ],
    ids=["plain text", "cut off", "not UTF-8", "broken inside"],
)
def test_a_file_that_is_not_text_under_gzip_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.tsv.gz"
    path.write_bytes(content)
    with pytest.raises(DatasetError, match=r"broken\.tsv\.gz cannot be read as UTF-8 text under gzip"):
        list(DatasetTable(path, "left", "right"))
