"""`segue analyze import` and `segue analyze validate`: what they print and how they end."""

import gzip
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from analytics.errors import TraceError
from analytics.importers.formats import FORMATS
from segue.cli.analyze.importing import importing
from segue.cli.analyze.validate import validate

WIDE = {"COLUMNS": "300"}
LASTFM = Path(__file__).resolve().parents[4] / "examples" / "data" / "lastfm"


def run_import(*arguments: object) -> Result:
    return CliRunner().invoke(importing, list(map(str, arguments)), env=WIDE)


def run_validate(path: Path) -> Result:
    return CliRunner().invoke(validate, [str(path)], env=WIDE)


def test_a_set_is_imported_and_what_it_cannot_tell_is_said(tmp_path: Path) -> None:
    result = run_import("lastfm", LASTFM, tmp_path / "trace")
    assert result.exit_code == 0, result.output
    lines = [line.strip() for line in result.output.splitlines()]
    assert lines[0] == "25,434 subscriptions"
    assert "- no publications, daily, weekly, days: play counts have no times" in lines
    assert lines[-1] == f"Next: segue analyze characterize {tmp_path / 'trace'}"


def test_the_list_names_every_format() -> None:
    result = run_import("--list")
    assert result.exit_code == 0
    assert {line.split()[0] for line in result.output.splitlines() if line.strip()} >= FORMATS.keys()


def test_the_list_can_be_read_in_eighty_columns() -> None:
    lines = CliRunner().invoke(importing, ["--list"], env={"COLUMNS": "80"}).output.splitlines()
    assert max(map(len, lines)) <= 80
    assert not any("…" in line for line in lines)
    assert len(lines) < 12 * len(FORMATS)


def test_columns_of_an_edge_list_are_named_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "follows.csv").write_text("when,fan,star,plays\n7,1,2,30\n8,3,2,12\n")
    result = run_import("edges", tmp_path / "follows.csv", tmp_path / "trace", "--src", "fan", "--dst", "star", "--weight", "plays")
    assert result.exit_code == 0, result.output
    assert "- columns: src is column 2 (fan), dst is column 3 (star), weight is column 4 (plays), of 4" in result.output
    assert run_validate(tmp_path / "trace").output.strip() == "valid: 2 subscriptions, 1 counts (errors: 0, warnings: 0)"


def test_a_format_that_is_not_known_gets_the_nearest_one(tmp_path: Path) -> None:
    result = run_import("lastfn", LASTFM, tmp_path / "trace")
    assert result.exit_code == 2
    assert "there is no format 'lastfn'; did you mean lastfm?" in result.output


def test_undirected_edges_are_an_option(tmp_path: Path) -> None:
    (tmp_path / "graph.txt").write_bytes(gzip.compress(b"1 2\n"))
    result = run_import("edges", tmp_path / "graph.txt", tmp_path / "trace", "--undirected")
    assert result.output.split()[:2] == ["2", "subscriptions"]


def test_a_valid_trace_is_called_that(tmp_path: Path) -> None:
    run_import("lastfm", LASTFM, tmp_path / "trace")
    result = run_validate(tmp_path / "trace")
    assert result.exit_code == 0
    assert result.output.strip() == "valid: 25,434 subscriptions, 1,892 counts (errors: 0, warnings: 0)"


def test_errors_are_printed_and_end_with_2(tmp_path: Path) -> None:
    run_import("lastfm", LASTFM, tmp_path / "trace")
    file = tmp_path / "trace" / "counts" / "part-00000.parquet"
    table = pq.read_table(file)
    pq.write_table(table.slice(5).drop_columns(["events"]), file)
    result = run_validate(tmp_path / "trace")
    assert result.exit_code == 2
    assert f"error: {file}, column events: the column is missing; add it as int64: number of events, 0 or more" in result.output
    assert "not valid: 25,434 subscriptions (errors: 1, warnings: 0)" in result.output


def test_what_is_no_trace_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="is no trace"):
        CliRunner().invoke(validate, [str(tmp_path)], catch_exceptions=False)


def test_names_in_files_command_no_terminal(tmp_path: Path) -> None:
    """The columns of a list, and the files of a trace, may come from anybody."""
    (tmp_path / "follows.csv").write_text("fan\x1b[2J,star\x9b31m\n1,2\n")
    imported = run_import("edges", tmp_path / "follows.csv", tmp_path / "trace", "--src", "fan\x1b[2J", "--dst", "star\x9b31m")
    assert imported.exit_code == 0, imported.output
    assert "(fan\\u001b[2J)" in imported.output
    (part,) = (tmp_path / "trace" / "subscriptions").glob("*.parquet")
    part.with_name("part-\x1b]0;gone\x07.parquet").write_bytes(b"no parquet")
    validated = run_validate(tmp_path / "trace")
    assert "part-\\u001b]0;gone\\u0007.parquet" in validated.output
    assert [char for char in imported.output + validated.output if not (char.isprintable() or char == "\n")] == []
