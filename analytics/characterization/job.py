"""The job `characterize`: a trace in, a folder with its characterization out (docs/figures.md says what each figure is).

One Spark session does all. Tables that all figures share are written once, in the folder that becomes the result, and are removed at the
end. On a cluster that folder must be one that all its machines see.
"""

import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from analytics.building import building
from analytics.errors import NotSupported, TraceError
from analytics.report.page import write_page
from analytics.session import session
from analytics.summary import Filter, WorkloadSummary, write
from analytics.trace import Trace
from analytics.validation import quick_check

from .churn import draw_churn
from .curves import FOLDER
from .distribution import Population, distributions
from .distribution_figures import Samples, fit_tails, measure_shapes, write_curves
from .drawing import Drawing
from .grid import Grid, Series
from .options import Options
from .publications import draw_publications, filtered
from .relations import relate
from .results import Results, quiet
from .service_tables import ServiceTables, populations, tables_of
from .sessions import draw_sessions, lengths
from .workload import is_brief, settings_for

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SCRATCH: Final = "scratch"
# Publications first: the week of the log is compared with theirs.
_IN_TIME: Final = ("publications", "sessions", "subscription_log")


def characterize(path: Path, out: Path, options: Options, begun: Callable[[str], None] = quiet) -> WorkloadSummary:
    """Characterizes the trace at `path` in a session of its own and writes the folder `out`.

    `options`: what may be chosen. `begun`: is told the name of each step. Raises TraceError for what is no trace, a trace without rows, an
    `out` that exists, and a machine without Java; then there is no `out`.
    """
    trace = Trace.open(path)
    quick_check(trace)
    with building(out) as folder:
        begun("spark")
        with session(
            f"characterize {path.name}",
            master=options.master,
            memory_gb=options.memory_gb,
            scratch=options.scratch,
            brief=is_brief(_rows(trace)),
        ) as spark:
            summary = characterize_in(spark, trace, folder, options, begun)
        if options.report:
            begun("report")
            write_page(folder)
    return summary


def characterize_in(
    spark: "SparkSession", trace: Trace, folder: Path, options: Options, begun: Callable[[str], None] = quiet
) -> WorkloadSummary:
    """Characterizes `trace`, which has rows, in a session that runs, and writes the empty `folder`.

    `options`, `begun`: as in `characterize`. Raises TraceError.
    """
    results, scratch = Results(trace.manifest.limits, begun), folder / _SCRATCH
    grid = _grid(trace, options, results)
    (folder / FOLDER).mkdir()
    scratch.mkdir(exist_ok=True)
    with settings_for(spark, _rows(trace)):
        tables = tables_of(spark, trace, options, results, scratch)
        left_out = _draw_time(spark, trace, grid, options, results, folder)
        _draw_distributions(spark, trace, tables, options, results, folder)
    results.close()
    if not results.rows:
        reasons = "; ".join(dict.fromkeys(results.skipped.values()))
        raise TraceError(f"{trace.path}: there is nothing to characterize: {reasons}")
    shutil.rmtree(scratch)
    summary = _summary(trace, left_out, results, options)
    write(folder, summary)
    return summary


def _rows(trace: Trace) -> int:
    """Returns the rows of the largest table."""
    return max(info.rows for info in trace.manifest.tables.values())


def _draw_time(spark: "SparkSession", trace: Trace, grid: Grid | None, options: Options, results: Results, folder: Path) -> Filter:
    if grid is None:
        return filtered(spark, trace, options.diagnostic)
    drawing = Drawing(spark, trace, grid, options.diagnostic, results, folder)
    series: Series = {}
    left_out = Filter(kinds=options.diagnostic, dropped={}, rows=0)
    for table in _IN_TIME:
        if not trace.has(table):
            results.lacks(table)
            continue
        rows = trace.frame(spark, table)
        with results.step(table):
            if table == "publications":
                series, left_out = draw_publications(drawing, rows)
            elif table == "sessions":
                draw_sessions(drawing, rows)
            else:
                draw_churn(drawing, rows, series)
    return left_out


def _grid(trace: Trace, options: Options, results: Results) -> Grid | None:
    try:
        grid = Grid.of(trace.manifest, options.bin_minutes)
    except NotSupported as reason:
        for table in _IN_TIME:
            results.lacks(table, str(reason))
        results.skip("days", str(reason))
        return None
    results.measure("days", grid.days)
    return grid


def _draw_distributions(
    spark: "SparkSession", trace: Trace, tables: ServiceTables | None, options: Options, results: Results, folder: Path
) -> None:
    counted = [*(populations(tables) if tables else ()), *_lengths(spark, trace, results)]
    if not counted:
        return
    scratch = folder / _SCRATCH
    with results.step("distributions"):
        curves, exact = distributions(counted, scratch)
        if "session_length" in curves:
            results.measure("sessions.mean_length_s", curves["session_length"].mean)
        else:
            results.skip("session_length", "no session begins and ends in the period")
    if tables is not None:
        with results.step("samples"):
            samples = Samples(tables, options.seed)
        with results.step("means and correlations"):
            relate(tables, curves, exact, samples, results, folder, scratch)
    with results.step("shapes"):
        write_curves(curves, exact, results, folder)
        measure_shapes(spark, curves, folder, results)
    if tables is not None:
        with results.step("fits"):
            fit_tails(samples, options, results)


def _lengths(spark: "SparkSession", trace: Trace, results: Results) -> list[Population]:
    start_ms, end_ms = trace.manifest.start_ms, trace.manifest.end_ms
    if not results.wants("session_length") or start_ms is None or end_ms is None:
        return []
    return [lengths(trace.frame(spark, "sessions"), start_ms, end_ms)]


def _summary(trace: Trace, left_out: Filter, results: Results, options: Options) -> WorkloadSummary:
    return WorkloadSummary(
        manifest=trace.manifest,
        filter=left_out,
        measures=results.measures,
        fits=results.fits,
        rows=results.rows,
        skipped=results.skipped,
        binning=results.binning,
        settings=_settings(options),
        timings_s=results.timings_s,
    )


def _settings(options: Options) -> dict[str, Any]:
    """Returns the options that the figures depend on, and the machine, as they are read back."""
    chosen = asdict(options)
    del chosen["scratch"], chosen["report"]
    return chosen | {"diagnostic": list(options.diagnostic)}
