"""A file is written whole or not at all."""

import os
import stat
import threading
from pathlib import Path

import pytest

from infra.runtime.whole_file import append_whole, write_new, write_whole
from tests.support.full_disk import room_until


def test_a_file_is_written_and_written_again(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    write_whole(path, b"first")
    write_whole(path, b"second")
    assert path.read_bytes() == b"second"
    assert list(tmp_path.iterdir()) == [path]


def test_what_fails_leaves_the_file_as_it_was_and_nothing_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(b"before")

    def full(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="no space left"):
        write_whole(path, b"after")
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_to_a_file_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_whole(tmp_path / "link", b"content")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"content"


def test_a_pipe_gets_the_content_as_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_whole(pipe, b"content")
    reader.join()
    assert read == [b"content"]


def test_a_new_file_is_for_its_owner_only_and_replaces_nothing(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "secret"
    write_new(path, b"first")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(FileExistsError):
        write_new(path, b"second")
    assert path.read_bytes() == b"first"
    assert list(path.parent.iterdir()) == [path]


def test_what_is_added_is_added_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    with path.open("ab", buffering=0) as file:
        append_whole(file.fileno(), b"first\n")
        with room_until(9), pytest.raises(OSError, match="No space left"):
            append_whole(file.fileno(), b"second\n")
        append_whole(file.fileno(), b"third\n")
    assert path.read_bytes() == b"first\nthird\n"
