"""The demo of a capacity limit as a whole, small and real."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from segue.cli.command_line import cli
from segue.offload_demo import count as count_module
from segue.offload_demo.stage import Stage


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves the logs of the other tests as they are."""
    monkeypatch.setattr("segue.offload_demo.command.configure", lambda *_: None)


def demo(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["offload-demo", "--users", "40", "--events", "200", *arguments])


@pytest.mark.parametrize("metric", ["b3m", "fb3m"])
def test_what_is_counted_in_the_engine_is_what_was_predicted(tmp_path: Path, metric: str) -> None:
    """WA-29, SB-65: on real friendships at two sites, by both metrics; every user knows which topics are out."""
    file = tmp_path / "outcome.json"
    result = demo("--metric", metric, "--capacity", "30", "--json", str(file))
    assert (result.exit_code, result.exception) == (0, None), result.output
    found = json.loads(file.read_text(encoding="utf-8"))
    assert found["measured_cost"] == found["predicted_cost"] <= found["capacity"] < found["demand"]
    assert found["measured_value"] == pytest.approx(found["predicted_value"])
    assert 0 < found["cuckoo_value"] <= found["measured_value"] <= found["bound"]
    assert found["offloaded"] > 0
    steps = ["engine", "connect", "follow", "watch", "decide", "measure"]
    assert [line.split()[0] for line in result.output.splitlines() if line.startswith(tuple(f"{step} " for step in steps))] == steps
    assert "✓ What was measured is what was predicted, and within the capacity." in result.output


def test_a_run_that_does_not_come_out_as_predicted_ends_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    def fewer(self: count_module.Count, of: Stage) -> float:
        return -1.0

    monkeypatch.setattr(count_module.Count, "value", fewer)
    result = demo("--sites", "1")
    assert result.exit_code == 1
    assert "✗ The satisfaction that was counted is -1, and" in result.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--capacity", "101"], "101.0 is not in the range 0<=x<=100"),
        (["--capacity", "-1"], "-1.0 is not in the range 0<=x<=100"),
        (["--threshold", "0"], "0 is not in the range 1<=x<="),
        (["--threshold", str(10**20)], f"{10**20} is not in the range 1<=x<="),
        (["--metric", "best"], "'best' is not one of 'b3m', 'fb3m'"),
        (["--sites", "4"], "4 is not in the range 1<=x<=3"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_starts(arguments: list[str], said: str) -> None:
    result = demo(*arguments)
    assert result.exit_code == 2
    assert said in result.output
