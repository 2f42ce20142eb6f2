"""Results that are kept: of the same code, size and seed, and of nothing else."""

from pathlib import Path

import pytest

from overlay.report import kept_results
from overlay.report.kept_results import code_digest, get, put
from tests.support.made_studies import COUNTING
from tests.support.tiny_studies import tiny

RESULT = tiny(COUNTING)


def test_a_result_comes_back_as_it_was_for_the_same_size_and_seed_alone(tmp_path: Path) -> None:
    put(COUNTING, "tiny", 1, RESULT, tmp_path)
    assert get(COUNTING, "tiny", 1, tmp_path) == RESULT
    assert get(COUNTING, "quick", 1, tmp_path) is None
    assert get(COUNTING, "tiny", 2, tmp_path) is None


def test_a_result_of_other_code_is_not_taken_and_goes_when_a_new_one_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(COUNTING, "tiny", 1, RESULT, tmp_path)
    monkeypatch.setattr(kept_results, "code_digest", lambda module: "f" * 64)
    assert get(COUNTING, "tiny", 1, tmp_path) is None
    put(COUNTING, "tiny", 1, RESULT, tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == [f"counting-tiny-1-{'f' * 24}.json"]


def test_a_file_that_is_torn_is_no_result(tmp_path: Path) -> None:
    put(COUNTING, "tiny", 1, RESULT, tmp_path)
    file = next(tmp_path.iterdir())
    file.write_bytes(file.read_bytes()[:-5])
    assert get(COUNTING, "tiny", 1, tmp_path) is None


def test_a_folder_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    put(COUNTING, "tiny", 1, RESULT, tmp_path / "file" / "folder")
    assert get(COUNTING, "tiny", 1, tmp_path / "file" / "folder") is None


def test_a_digest_is_of_all_modules_that_are_imported_however_that_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "digested"
    (package / "deep").mkdir(parents=True)
    files = {
        "__init__": "",
        "a": "from . import b\nimport digested.c\nimport json",
        "b": "from .deep.d import x",
        "c": "y = 1",
        "e": "",
        "deep/__init__": "",
        "deep/d": "x = 1",
    }
    for name, source in files.items():
        (package / f"{name}.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = code_digest("digested.a")
    (package / "e.py").write_text("unused = 1")
    assert code_digest("digested.a") == before
    for name in ("b", "c", "deep/d", "a"):
        (package / f"{name}.py").write_text(f"{files[name]}\nz = 2")
        assert code_digest("digested.a") != before
        (package / f"{name}.py").write_text(files[name])
    assert code_digest("digested.a") == before
