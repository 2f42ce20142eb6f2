"""A mark is kept in a file, or there is none."""

from pathlib import Path

import pytest

from segue.sdk.errors import Misuse
from segue.sdk.mark_file import MarkFile, Place


def test_a_place_that_was_saved_is_loaded_by_the_next_process(tmp_path: Path) -> None:
    path = tmp_path / "alice.mark"
    assert MarkFile(path).load() is None
    for place in (Place(7, None), Place(1 << 40, 1 << 52), Place(3, 5)):
        MarkFile(path).save(place)
        assert MarkFile(str(path)).load() == place
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("text", [b"", b"seven", b"-1", b"\xff\xfe", b"1.5", b"1 2 3"])
def test_a_file_that_holds_something_else_is_named(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "alice.mark"
    path.write_bytes(text)
    with pytest.raises(Misuse, match=r"alice\.mark holds no mark; give another path"):
        MarkFile(path).load()


def test_a_folder_that_is_not_there_is_told_at_the_first_save(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        MarkFile(tmp_path / "nowhere" / "alice.mark").save(Place(1, 1))
