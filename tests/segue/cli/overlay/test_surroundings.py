"""Files of churn and of round trips as options of `segue overlay simulate` and `compare`."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from infra.kernel.errors import SegueError
from overlay.simulator.errors import OverlayError
from segue.cli.overlay.command import overlay

SHORT = {
    "simulate": ["--cycles", "4", "--events", "10"],
    "compare": ["--system", "scribe", "--settle", "3", "--events", "10", "--churn-cycles", "3", "--harm-cycles", "2", "--processes", "1"],
}
CHURN = "time_ms\tnode\ton\n" + "".join(f"0\t{node}\t1\n" for node in range(150)) + "60000\t150\t1\n120000\t3\t0\n"
TRIPS = "".join(" ".join(str(0 if row == column else 30 + 10 * (row + column)) for column in range(4)) + "\n" for row in range(4))


def run(command: str, tmp_path: Path, *arguments: str) -> Result:
    more = ["--nodes", "200", "--out", str(tmp_path / "out"), "--json", str(tmp_path / "numbers.json")]
    return CliRunner().invoke(overlay, [command, *SHORT[command], *arguments, *more], catch_exceptions=False)


def written(tmp_path: Path, text: str) -> str:
    """Writes a file, and returns its path."""
    (tmp_path / "given").write_text(text)
    return str(tmp_path / "given")


def test_nodes_come_and_leave_as_the_file_says(tmp_path: Path) -> None:
    assert run("simulate", tmp_path, "--churn", written(tmp_path, CHURN)).exit_code == 0
    cycles = json.loads((tmp_path / "numbers.json").read_text())["cycles"]
    assert [each["present"] for each in cycles] == [150, 151, 150, 150, 150]
    assert cycles[0]["median_ms"] is None


def test_messages_take_half_of_the_round_trips_of_the_file(tmp_path: Path) -> None:
    trips = written(tmp_path, TRIPS)
    assert run("simulate", tmp_path, "--round-trips", trips).exit_code == 0
    last = json.loads((tmp_path / "numbers.json").read_text())["cycles"][-1]
    # One hop takes 20 to 40 ms, and an event goes over several.
    assert 20 <= last["median_ms"] <= last["p99_ms"] < 1000
    assert last["present"] is None
    assert "median ms" in (tmp_path / "out" / "cycles.csv").read_text()


def test_a_comparison_takes_both_from_files_in_place_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "trips").write_text(TRIPS)
    done = run("compare", tmp_path, "--churn", written(tmp_path, CHURN), "--round-trips", str(tmp_path / "trips"))
    assert done.exit_code == 0
    [found] = json.loads((tmp_path / "numbers.json").read_text())
    assert list(found["arrivals_ms"]) == ["trips"]
    # A second without a network is a hop of the file's at least.
    assert found["arrivals_ms"]["trips"][50] >= 20


@pytest.mark.parametrize("command", SHORT)
@pytest.mark.parametrize(
    ("option", "text", "told"),
    [
        ("--round-trips", "0 1\n1 0\n2 3\n", "given: has 3 rows of 2 numbers; give a square"),
        ("--round-trips", "0 5\n5\n", "given, line 2: has 1 numbers, and line 1 has 2; give each row as many"),
        ("--round-trips", "0 nan\n5 0\n", "given, line 1, column 2: is nan, so no round trip is known; fill it in"),
        ("--round-trips", "0 5\n-5 0\n", "given, line 2, column 1: -5 is negative, which no round trip is; fill it in"),
        ("--round-trips", "0 9 9\n9 0 0\n9 9 0\n", "given, line 2, column 3: a round trip of 0 between two hosts; fill it in"),
        ("--round-trips", "0 0.1\n0.1 0\n", "given: the median round trip would be 0.1 ms, so the numbers are hardly milliseconds; .*: s"),
        ("--churn", "time_ms\tnode\ton\n5\t0\t1\n4\t1\t1\n", "given, line 3: time 4 comes after 5; put the rows in order of time"),
        ("--churn", "time_ms\tnode\ton\n5\t7\t0\n", "given, line 2: node 7 leaves, and has never come; give it a row"),
        ("--churn", "time_ms\tnode\ton\n0\t1\t1\n0\t200\t1\n", "given, line 3: node 200, and the overlay has nodes 0 to 199; take such"),
    ],
    ids=["no square", "short row", "nan", "negative", "zero", "seconds", "out of order", "never born", "not of the overlay"],
)
def test_a_file_that_cannot_be_used_is_told_by_its_row_and_leaves_no_folder(
    command: str, option: str, text: str, told: str, tmp_path: Path
) -> None:
    given = written(tmp_path, text)
    with pytest.raises(OverlayError, match=told) as raised:
        run(command, tmp_path, option, given)
    assert str(raised.value).startswith(given)
    assert [each.name for each in tmp_path.iterdir()] == ["given"]


@pytest.mark.parametrize("option", ["--churn", "--round-trips"])
def test_a_file_that_is_not_there_is_named(option: str, tmp_path: Path) -> None:
    with pytest.raises(SegueError, match="nothing"):
        run("simulate", tmp_path, option, str(tmp_path / "nothing"))
    assert list(tmp_path.iterdir()) == []


def test_zeros_and_seconds_are_read_where_that_is_said(tmp_path: Path) -> None:
    trips = written(tmp_path, "0 0.1 0\n0.1 0 0.2\n0.2 0.2 0\n")
    assert run("simulate", tmp_path, "--round-trips", trips, "--unit", "s", "--fill-zeros").exit_code == 0
    assert json.loads((tmp_path / "numbers.json").read_text())["cycles"][-1]["median_ms"] >= 50


def test_a_unit_without_round_trips_is_refused(tmp_path: Path) -> None:
    done = run("simulate", tmp_path, "--unit", "s")
    assert done.exit_code == 2
    assert "name their file with --round-trips" in done.output
    assert list(tmp_path.iterdir()) == []
