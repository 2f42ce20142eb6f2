"""Positions are kept in a file, and a file that holds anything else says so."""

import json
from pathlib import Path
from typing import Any

import pytest

from segue.sdk.cursor import MAX_TOPICS, Number, Position
from segue.sdk.errors import Misuse
from segue.sdk.position_file import MAX_FILE_BYTES, MAX_POINTS, PositionFile

WHOLE = {"version": 1, "user": "ann", "points": ["p"], "topics": {"t": [0, {"sto": [[1, 2]]}]}}


def test_positions_that_were_saved_are_loaded_by_the_next_process(tmp_path: Path) -> None:
    path = tmp_path / "ann.positions"
    assert PositionFile(path).load() == ("", {})
    positions = {
        "t": Position("p", {"sto": (Number(1 << 52, 3), Number(7, 1)), "lon": (Number(2, 2),)}),
        "u": Position("p", {}),
        "v": Position(None, {"sto": (Number(1, 1),)}),
    }
    for saved in (positions, {}, positions):
        PositionFile(path).save("ann", saved)
        assert PositionFile(str(path)).load() == ("ann", saved)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"seven",
        b"\xff\xfe",
        b"[" * 100_000,
        json.dumps(WHOLE).encode()[:-9],
        *(
            json.dumps(WHOLE | change).encode()
            for change in (
                {"version": "1"},
                {"user": 7},
                {"points": [""]},
                {"points": ["p" * 1025]},
                {"points": ["p"] * (MAX_POINTS + 1)},
                {"topics": {"t": [1, {}]}},
                {"topics": {"t": [-1, {}]}},
                {"topics": {"t": [0, {"sto": []}]}},
                {"topics": {"t": [0, {"sto": [[1, -2]]}]}},
                {"topics": {"t": [0, {"sto": [[1, 1 << 63]]}]}},
                {"topics": {"t": [0, {f"s{n}": [[1, 1]] for n in range(65)}]}},
                {"topics": {f"t{n}": [0, {}] for n in range(MAX_TOPICS + 1)}},
                {"more": 1},
            )
        ),
    ],
)
def test_a_file_that_holds_something_else_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "ann.positions"
    path.write_bytes(content)
    with pytest.raises(Misuse, match=r"ann\.positions holds no positions .*; give another path, or delete it"):
        PositionFile(path).load()


def test_more_than_any_positions_take_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "ann.positions"
    path.write_bytes(json.dumps(WHOLE).encode() + b" " * MAX_FILE_BYTES)
    with pytest.raises(Misuse, match="more than 16777216 bytes"):
        PositionFile(path).load()


def test_a_file_of_a_newer_version_is_told_from_a_broken_one(tmp_path: Path) -> None:
    path = tmp_path / "ann.positions"
    path.write_text(json.dumps({"version": 2, "what": "nobody knows yet"}))
    with pytest.raises(Misuse, match="newer version of Segue"):
        PositionFile(path).load()


def test_a_folder_that_is_not_there_is_told_at_the_beginning(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match=r"there is no folder .*nowhere; make it"):
        PositionFile(tmp_path / "nowhere" / "ann.positions").load()


def test_a_file_that_cannot_be_read_says_what_to_do(tmp_path: Path) -> None:
    """A folder, and a file of somebody else: docs/recovery.md."""
    with pytest.raises(Misuse, match=r"cannot be read .*; give another path"):
        PositionFile(tmp_path).load()


def test_what_is_saved_is_bounded_and_can_be_read(tmp_path: Path) -> None:
    file = PositionFile(tmp_path / "ann.positions")
    file.save("ann", {f"t{n}": Position(f"p{n}", {}) for n in range(MAX_TOPICS + 3)})
    _, positions = file.load()
    assert (len(positions), next(iter(positions))) == (MAX_TOPICS, "t3")
    assert sum(position.point is not None for position in positions.values()) == MAX_POINTS


def test_a_file_that_would_not_be_read_again_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "ann.positions"
    sites: dict[str, Any] = {f"{n}" + "s" * 300: (Number(1, 1),) for n in range(60)}
    with pytest.raises(OSError, match="is the most that is read again"):
        PositionFile(path).save("ann", {f"t{n}": Position(None, sites) for n in range(1000)})
    assert not path.exists()
