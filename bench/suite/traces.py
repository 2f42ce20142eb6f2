"""Traces: the cost of generating and characterizing them as they grow, and DuckDB's seconds for the same distributions."""

import shutil
import sys
from pathlib import Path
from typing import Final, Literal, NamedTuple

from analytics import summary
from analytics.trace import Trace

from ..micro.trace_duckdb import distributions
from ..runner import Record, Runner
from ..table import MarkdownTable
from ..whole import CommandCost, folder_bytes, whole

SPOTIFY: Final = (0.01, 0.0316, 0.1, 0.316, 1.0)
TWITTER: Final = (0.001, 0.01, 0.1)
_GB: Final = 1e9


class TraceCosts(NamedTuple):
    """The costs of a trace at one scale."""

    scale: float
    pairs: int
    generated: CommandCost
    trace_bytes: int
    characterized: CommandCost
    duckdb_s: float


def spotify(runner: Runner) -> list[MarkdownTable]:
    """Measures the Spotify profile from 1/100 to 1."""
    return _measure(runner, "spotify", SPOTIFY)


def twitter(runner: Runner) -> list[MarkdownTable]:
    """Measures the Twitter profile from 1/1000 to 1/10. Scale 1 takes an hour and is run by hand (bench/README.md)."""
    return _measure(runner, "twitter", TWITTER)


def _measure(runner: Runner, profile: Literal["spotify", "twitter"], scales: tuple[float, ...]) -> list[MarkdownTable]:
    found = [_row(runner, profile, scale) for scale in scales]
    head = ["scale", "pairs", "generate, s", "peak, GB", "trace, GB", "characterize, s", "peak, GB", "s per million pairs", "DuckDB, s"]
    rows = [
        [
            f"{row.scale:g}",
            f"{row.pairs:,}",
            f"{row.generated.seconds:.1f}",
            f"{row.generated.peak_bytes / _GB:.1f}",
            f"{row.trace_bytes / _GB:.2f}",
            f"{row.characterized.seconds:.1f}",
            f"{row.characterized.peak_bytes / _GB:.1f}",
            f"{(row.generated.seconds + row.characterized.seconds) / row.pairs * 1e6:.1f}",
            f"{row.duckdb_s:.1f}",
        ]
        for row in found
    ]
    note = (
        "DuckDB: the six distributions of presence alone; a characterization has the time courses, correlations, fits and a report besides."
    )
    return [MarkdownTable(f"Traces of the {profile} profile", head, rows, [note])]


def _row(runner: Runner, profile: str, scale: float) -> TraceCosts:
    trace, report = runner.setting.scratch / "trace", runner.setting.scratch / "report"
    segue = [sys.executable, "-m", "segue", "analyze"]
    try:
        runner.tell(f"traces: {profile}, scale {scale:g}: generating")
        generated = whole([*segue, "generate", str(trace), "--profile", profile, "--scale", str(scale), "--seed", "1"])
        runner.tell(f"traces: {profile}, scale {scale:g}: characterizing")
        characterized = whole([*segue, "characterize", str(trace), "--out", str(report)])
        runner.tell(f"traces: {profile}, scale {scale:g}: DuckDB")
        checked = distributions(trace)
        return _checked(
            runner, trace, report, TraceCosts(scale, checked.pairs, generated, folder_bytes(trace), characterized, checked.seconds)
        )
    finally:
        for folder in (trace, report):
            shutil.rmtree(folder, ignore_errors=True)


def _checked(runner: Runner, trace: Path, report: Path, row: TraceCosts) -> TraceCosts:
    """Checks that Spark and DuckDB counted the same pairs, keeps the figures and returns `row`. Else the comparison would be worthless."""
    ours = int(summary.read(report).measures["pairs"])
    assert ours == row.pairs, f"Spark counted {ours:,} pairs and DuckDB {row.pairs:,}"
    name = Trace.open(trace).manifest.profile or ""
    figures = {"pairs": float(row.pairs), "generate_s": row.generated.seconds, "characterize_s": row.characterized.seconds}
    figures |= {"generate_bytes": float(row.generated.peak_bytes), "characterize_bytes": float(row.characterized.peak_bytes)}
    runner.keep(Record(benchmark=f"traces of {name}", who=f"scale {row.scale:g}", run=0, figures=figures | {"duckdb_s": row.duckdb_s}))
    return row
