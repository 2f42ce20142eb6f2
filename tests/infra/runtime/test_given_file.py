"""infra.runtime.given_file: what an operator names is read, and a secret that everybody may read is none."""

from pathlib import Path

import pytest

from infra.kernel.errors import ConfigError
from infra.runtime.given_file import check_closed, read_closed, read_given, read_password


def put(path: Path, content: bytes, mode: int = 0o600) -> Path:
    path.write_bytes(content)
    path.chmod(mode)
    return path


def test_what_is_in_a_file_is_returned_as_it_is(tmp_path: Path) -> None:
    path = put(tmp_path / "file", b" a\n\xff")
    assert read_given(path) == read_closed(path) == b" a\n\xff"


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    for read in (read_given, read_closed, check_closed):
        with pytest.raises(ConfigError, match="nowhere cannot be read: No such file"):
            read(tmp_path / "nowhere")


@pytest.mark.parametrize("mode", [0o604, 0o644, 0o601, 0o602])
def test_a_secret_that_everybody_may_read_or_change_is_refused_with_what_to_do(tmp_path: Path, mode: int) -> None:
    path = put(tmp_path / "secret", b"s", mode)
    assert read_given(path) == b"s"
    with pytest.raises(ConfigError, match=rf"mode {mode:o}\); run: chmod 600 {path}"):
        read_closed(path)


def test_the_group_of_its_owner_may_read_a_secret(tmp_path: Path) -> None:
    assert read_closed(put(tmp_path / "secret", b"s", 0o640)) == b"s"


def test_a_password_is_the_first_line_of_its_file(tmp_path: Path) -> None:
    for text in (b"pass word", b"pass word\n", b"pass word\r\nmore"):
        assert read_password("email.password_file", put(tmp_path / "f", text)) == "pass word"


@pytest.mark.parametrize(("content", "complaint"), [(b"", "is empty"), (b"\nx", "is empty"), (b"\xff", "is not UTF-8")])
def test_what_is_no_password_is_refused_and_its_option_is_named(tmp_path: Path, content: bytes, complaint: str) -> None:
    with pytest.raises(ConfigError, match=rf"email\.password_file: .*{complaint}"):
        read_password("email.password_file", put(tmp_path / "f", content))
    with pytest.raises(ConfigError, match=r"email\.password_file: .*cannot be read"):
        read_password("email.password_file", tmp_path / "nowhere")
