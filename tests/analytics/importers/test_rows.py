"""Files of rows: plain or gzip, and what is said about each kind of trouble in them."""

import gzip
from pathlib import Path

import pytest

from analytics.errors import TraceError
from analytics.importers.rows import Layout, find, find_one, read_rows

PAIR = Layout(("one", "other"))
HEADED = Layout(("one", "other"), ("one other", "a b"))
SMALL = Layout(("one", "other"), below={"other": 10})
WORDED = Layout(("one", "kind"), words=("RT", "MT"))


def file(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "rows.txt"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("content", [b"1 2\n3 4\n", b"1\t2\r\n3\t4\r\n", b"# about\n1  2\n\n 3 4", gzip.compress(b"1 2\n3 4\n", mtime=0)])
def test_blanks_tabs_line_ends_comments_and_gzip_make_no_difference(tmp_path: Path, content: bytes) -> None:
    found = read_rows(file(tmp_path, content), PAIR)
    assert {name: list(values) for name, values in found.items()} == {"one": [1, 3], "other": [2, 4]}


def test_a_header_may_have_any_of_its_known_names(tmp_path: Path) -> None:
    assert list(read_rows(file(tmp_path, b"a\tb\r\n5\t6\n"), HEADED)["other"]) == [6]


def test_words_become_their_places(tmp_path: Path) -> None:
    assert list(read_rows(file(tmp_path, b"7 MT\n7 RT\n"), WORDED)["kind"]) == [1, 0]


@pytest.mark.parametrize(
    ("layout", "content", "message"),
    [
        (PAIR, b"1 2\n1 2 3\n", r"line 2: must have 2 columns \(one, other\), not 3; mend or remove the line"),
        (PAIR, b"1 2\n# 1\nx 2\n", r"line 3: column one: 'x' is no whole number"),
        (PAIR, b"1 2.5\n", r"line 1: column other: '2.5' is no whole number"),
        (PAIR, b"1 -2\n", r"line 1: column other: '-2' is negative"),
        (PAIR, b"1 9223372036854775808\n", r"line 1: a number does not fit into 64 bits"),
        (PAIR, b"1 \xff\xfe" + b"x" * 100 + b"\n", r"line 1: column other: '.{40}' is no whole number"),
        (SMALL, b"# a\n1 9\n\n1 10\n1 11\n", r"line 4: column other: 10 is not below 10; mend or remove the line"),
        (HEADED, b"1 2\n", r"line 1: must be the header 'one other' or 'a b', not '1 2'"),
        (HEADED, b"", r"line 1: must be the header"),
        (HEADED, b"a b\n", r"has no rows; download it again"),
        (WORDED, b"1 RT\n2 XX\n", r"line 2: column kind: must be RT or MT, not 'XX'"),
        (WORDED, b"1 0\n", r"line 1: column kind: must be RT or MT, not '0'"),
        (WORDED, b"x RT\n", r"line 1: column one: 'x' is no whole number"),
        (PAIR, gzip.compress(b"1 2\n" * 5000, mtime=0)[:-20], r"ends early; download it again"),
        (PAIR, gzip.compress(b"1 2\n", mtime=0)[:-6] + b"\0" * 6, r"is damaged \(.*\); download it again"),
        (PAIR, b"\x1f\x8b\x08\0\0\0\0\0\0\0" + b"\xff" * 20, r"is damaged \(.*\); download it again"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_line_and_remedy(tmp_path: Path, layout: Layout, content: bytes, message: str) -> None:
    path = file(tmp_path, content)
    with pytest.raises(TraceError, match=rf"^{path}(, |: ){message}"):
        read_rows(path, layout)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="nothing: cannot be read: No such file"):
        read_rows(tmp_path / "nothing", PAIR)


def test_a_file_is_found_under_each_of_its_names(tmp_path: Path) -> None:
    packed = tmp_path / "b.txt.gz"
    packed.touch()
    assert find(tmp_path, "a.txt", "b.txt") == find_one(tmp_path, "b.txt") == find_one(packed, "other.txt") == packed
    with pytest.raises(TraceError, match=r"has no c.txt \(plain or .gz\); name the folder of the published files"):
        find(tmp_path, "c.txt")
    with pytest.raises(TraceError, match=r"must be the folder that holds b.txt"):
        find(packed, "b.txt")
