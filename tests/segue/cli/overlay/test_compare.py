"""`segue overlay compare`."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from overlay.simulator.errors import OverlayError
from segue.cli.overlay.command import overlay
from segue.cli.overlay.compare import PAGE

SMALL = ["--nodes", "200", "--settle", "10", "--events", "10", "--churn-cycles", "2", "--harm-cycles", "2", "--processes", "1"]


def test_two_systems_become_a_page_three_files_and_numbers(tmp_path: Path) -> None:
    out, numbers = tmp_path / "out", tmp_path / "numbers.json"
    some = ["--system", "scribe", "--system", "quasar"]
    done = CliRunner().invoke(overlay, ["compare", *SMALL, *some, "--out", str(out), "--json", str(numbers)], catch_exceptions=False)
    assert done.exit_code == 0
    assert "Hit ratios" in done.output
    assert sorted(each.name for each in out.iterdir()) == ["arrivals.csv", PAGE, "costs.csv", "hit-ratios.csv"]
    assert [each["system"] for each in json.loads(numbers.read_text())] == ["scribe", "quasar"]


def test_what_cannot_be_compared_on_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(OverlayError, match="there is no such file or folder"):
        CliRunner().invoke(overlay, ["compare", str(tmp_path / "none"), "--out", str(tmp_path / "out")], catch_exceptions=False)
    assert list(tmp_path.iterdir()) == []
