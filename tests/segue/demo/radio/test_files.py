"""The files of Segue Radio, and what is said where they are missing."""

from pathlib import Path

import pytest

from segue.demo.radio.files import FOLDER, TYPES, RadioError, need_built


def test_a_checkout_has_what_is_not_built() -> None:
    assert [name for name in TYPES if not name.startswith("dist/") and not (FOLDER / name).exists()] == []


def test_an_installed_package_has_no_radio(tmp_path: Path) -> None:
    with pytest.raises(RadioError, match="part of a checkout"):
        need_built(tmp_path)


def test_who_has_not_built_it_is_told_the_command(tmp_path: Path) -> None:
    for name in TYPES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert need_built(tmp_path) == tmp_path
    (tmp_path / "dist" / "worker.js").unlink()
    with pytest.raises(RadioError, match="`make js`, which needs node"):
        need_built(tmp_path)
