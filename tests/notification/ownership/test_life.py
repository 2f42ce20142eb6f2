"""The name of one life of a node: kept in a file, and nobody else's while the node lives."""

from pathlib import Path

import pytest

from infra.kernel.errors import ConfigError
from notification.ownership.life import Life


def test_a_life_knows_the_one_before_it(tmp_path: Path) -> None:
    first = Life(tmp_path, "sto", "n1")
    first.close()
    second = Life(tmp_path, "sto", "n1")
    assert (first.former, second.former) == ("", first.name)
    assert second.name.startswith("sto/n1#")
    assert second.name != first.name
    second.close()


def test_a_life_that_is_renewed_is_another_one(tmp_path: Path) -> None:
    life = Life(tmp_path, "sto", "n1")
    before = life.name
    life.renew()
    life.close()
    assert (life.former, life.name != before) == (before, True)


def test_two_processes_under_one_name_are_refused(tmp_path: Path) -> None:
    life = Life(tmp_path, "sto", "n1")
    with pytest.raises(ConfigError, match=r"sto-n1\.life is in use"):
        Life(tmp_path, "sto", "n1")
    Life(tmp_path, "sto", "n2").close()
    life.close()
    Life(tmp_path, "sto", "n1").close()


def test_a_folder_that_is_none_is_refused_by_the_name_of_its_option(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=r"notification\.path: .* cannot be written"):
        Life(tmp_path / "file", "sto", "n1")


def test_the_folder_and_the_file_are_the_owners_alone_also_a_file_that_was_not(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    Life(folder, "sto", "n1").close()
    (file,) = folder.iterdir()
    assert [path.stat().st_mode & 0o777 for path in (folder, file)] == [0o700, 0o600]
    file.chmod(0o644)
    Life(folder, "sto", "n1").close()
    assert file.stat().st_mode & 0o777 == 0o600
