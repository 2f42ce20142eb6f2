"""The drill as a command, with rows that are short."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from infra.kernel.recent import RecentIds
from segue.cli.command_line import cli
from segue.drill import command, play
from segue.drill.ledger import DrillMeasured
from segue.drill.load import NO_WINDOW
from segue.drill.play import DrillOutcome
from segue.drill.rows import LOST_NOTHING, DrillRow, DrillStep

SHORT = DrillRow(
    "repeated",
    "a publisher repeats everything",
    (DrillStep("wait", seconds=0.3), DrillStep("mark"), DrillStep("repeat"), DrillStep("wait", seconds=0.3)),
    LOST_NOTHING,
)


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "ladder", lambda random_s: (SHORT,))
    monkeypatch.setattr(command, "configure", lambda *_: None)  # it is for a whole process, and other tests look at what is logged
    monkeypatch.setattr(play, "CALM_S", 0.3)


def test_a_row_is_played_and_its_promise_is_kept(tmp_path: Path) -> None:
    """DPS-32: promised beside measured, as a table and as JSON; exit code 0."""
    done = CliRunner().invoke(cli, ["drill", "--row", "repeated", "--json", str(tmp_path / "drill.json")])
    assert done.exit_code == 0, done.output
    assert "a publisher repeats everything" in done.output
    (row,) = json.loads((tmp_path / "drill.json").read_bytes())["rows"]
    for kind in row["kinds"].values():
        assert kind["measured"]["delivered"] > 25
        assert kind["measured"]["twice"] == kind["promised"]["twice"] == 0
        assert kind["broken"] == []


def test_a_promise_that_is_broken_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DPS-32: exit code 1 on a difference. Here a broker forgets which ids it has seen."""
    monkeypatch.setattr(RecentIds, "seen", lambda *_: False)
    done = CliRunner().invoke(cli, ["drill", "--row", "repeated", "--json", str(tmp_path / "drill.json")])
    assert done.exit_code == 1, done.output
    (row,) = json.loads((tmp_path / "drill.json").read_bytes())["rows"]
    for kind in row["kinds"].values():
        assert "twice" in kind["broken"]
        assert kind["measured"]["twice"] > 25


def test_a_row_that_cannot_be_played_so_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    off = (DrillStep("clock", "sto/b1", seconds=1.0),)
    monkeypatch.setattr(command, "ladder", lambda random_s: (SHORT._replace(steps=off),))
    done = CliRunner().invoke(cli, ["drill", "--row", "repeated", "--processes"])
    assert done.exit_code == 2
    assert "only without --processes" in done.output


def test_links_are_encrypted_between_processes_only() -> None:
    done = CliRunner().invoke(cli, ["drill", "--tls"])
    assert done.exit_code == 2
    assert "add --processes" in done.output


def test_rows_that_take_minutes_are_played_when_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """DPS-32: cuts of 100 and 300 s."""
    long = DrillRow("sites-cut-100", "long", (), LOST_NOTHING, is_long=True)
    played: list[str] = []

    async def note(row: DrillRow, *_: object) -> DrillOutcome:
        played.append(row.name)
        return DrillOutcome(row, {NO_WINDOW: DrillMeasured(1, 0, 1, 0, 0, 0, 0, 0, 0.0)}, 0.0)

    monkeypatch.setattr(command, "ladder", lambda random_s: (SHORT, long))
    monkeypatch.setattr(command, "play", note)
    for arguments in ([], ["--long"], ["--row", "sites-cut-100"]):
        assert CliRunner().invoke(cli, ["drill", *arguments]).exit_code == 0
    assert played == ["repeated", "repeated", "sites-cut-100", "sites-cut-100"]
