"""`segue overlay report`."""

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from overlay.report import page
from overlay.report.studies import registry
from segue.cli.overlay.command import overlay
from tests.support.made_studies import COUNTING, FAILING


@pytest.fixture(autouse=True)
def two_studies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The report has two studies, of which one fails; results are kept in a folder of this test."""
    monkeypatch.setattr(registry, "STUDIES", (COUNTING, FAILING))
    monkeypatch.setattr("overlay.report.kept_results.own_places", lambda _: [tmp_path / "kept"])


def report(*arguments: str) -> Result:
    return CliRunner().invoke(overlay, ["report", "--processes", "1", *arguments], catch_exceptions=False)


def test_a_report_is_a_page_a_file_for_each_table_and_its_numbers(tmp_path: Path) -> None:
    done = report("--quick", "--study", "counting", "--out", str(tmp_path / "out"), "--json", str(tmp_path / "numbers.json"))
    assert done.exit_code == 0
    assert "Of 3 claims, 1 agree" in done.output
    assert "Counting & more: done" in done.output
    assert (tmp_path / "out" / page.PAGE).exists()
    assert (tmp_path / "out" / "counting" / "some-counts.csv").exists()
    assert json.loads((tmp_path / "numbers.json").read_text())["counting"]["claims"][2]["measured"] == "at quick"


def test_a_resumed_report_has_the_same_bytes(tmp_path: Path) -> None:
    report("--quick", "--study", "counting", "--out", str(tmp_path / "one"))
    done = report("--quick", "--study", "counting", "--resume", "--out", str(tmp_path / "two"))
    assert "counting" not in done.output
    assert (tmp_path / "one" / page.PAGE).read_bytes() == (tmp_path / "two" / page.PAGE).read_bytes()


def test_a_study_that_fails_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nothing can be found"):
        report("--quick", "--out", str(tmp_path / "out"))
    assert [each.name for each in tmp_path.iterdir()] == ["kept"]


def test_a_study_that_is_none_is_refused_with_one_that_is(tmp_path: Path) -> None:
    done = CliRunner().invoke(overlay, ["report", "--study", "countin", "--out", str(tmp_path / "out")])
    assert done.exit_code == click.UsageError.exit_code
    assert "counting" in done.output
    assert not (tmp_path / "out").exists()
