"""Every valid trace, however odd, is characterized and compared: there is a page, or a sentence that says why there is none."""

import math
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from analytics.characterization.job import characterize_in
from analytics.characterization.options import Options
from analytics.characterization.workload import settings_for
from analytics.comparison import job as comparison
from analytics.errors import TraceError
from analytics.figures import FIGURES
from analytics.measures import MEASURES
from analytics.report.page import write_page
from analytics.summary import WorkloadSummary, read
from analytics.trace import Trace
from tests.support.characterizations import make
from tests.support.odd_traces import ODD_TRACES, OddTrace, odd_traces

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.timeout(300)
_SENTENCE = re.compile("there is nothing to characterize: |the counts add up to more than")
_NO_NUMBER = re.compile(r">[^<]*\b(nan|inf|None)\b[^<]*<")


def characterized(spark: "SparkSession", trace: OddTrace, folder: Path) -> Path | None:
    """Characterizes `trace` in `folder`, and returns the folder of the result; None if a sentence says why there is none.

    `spark`: the session. The summary and the page are checked.
    """
    out = folder / "report"
    out.mkdir()
    try:
        summary = characterize_in(spark, Trace.open(trace.write(folder / "trace")), out, Options(bootstraps=1))
    except TraceError as error:
        if _SENTENCE.search(str(error)):
            return None
        raise
    check_summary(summary, out)
    check_page(write_page(out).read_text(encoding="utf-8"), summary)
    return out


def check_summary(summary: WorkloadSummary, folder: Path) -> None:
    assert read(folder) == summary
    assert all(map(math.isfinite, summary.measures.values()))
    for name in (*FIGURES, *(name for name in MEASURES if "{" not in name)):
        assert (name in summary.measures or name in summary.rows) != (name in summary.skipped), name


def check_page(page: str, summary: WorkloadSummary) -> None:
    """Checks that each figure is drawn or says why it is not, and that nothing on the page is not a number."""
    for key in FIGURES:
        found = page.partition(f'<section id="{key}"')[2].partition("</section>")[0]
        assert ("<svg" in found) != ("Not drawn: " in found), key
        assert ("<svg" in found) <= (key in summary.rows), key
    assert not _NO_NUMBER.search(page)


def check_comparison(mine: Path, theirs: Path, out: Path) -> None:
    result = comparison.compare(mine, theirs, out)
    page = (out / comparison.PAGE).read_text(encoding="utf-8")
    assert not _NO_NUMBER.search(page)
    assert {score.figure for score in result.scores} | result.missing.keys() == FIGURES.keys()


@pytest.mark.parametrize("name", ODD_TRACES)
def test_a_trace_that_is_odd_has_a_page_and_is_compared_with_any_other(name: str, spark: "SparkSession", tmp_path: Path) -> None:
    found = characterized(spark, ODD_TRACES[name], tmp_path)
    if found is None:
        assert name in ("nothing but probes", "more events than can be counted")
        return
    check_comparison(make(tmp_path / "usual"), found, tmp_path / "compared")


@settings(max_examples=5, phases=(Phase.generate,), suppress_health_check=list(HealthCheck))
@given(trace=odd_traces())
def test_whatever_a_trace_holds_there_is_a_page_or_a_sentence(trace: OddTrace, spark: "SparkSession") -> None:
    with tempfile.TemporaryDirectory() as folder:
        if (found := characterized(spark, trace, Path(folder))) is not None:
            check_comparison(found, found, Path(folder) / "itself")


def test_few_rows_take_few_jobs(spark: "SparkSession", tmp_path: Path) -> None:
    """Each job costs some 50 ms before it does anything. When queries were planned anew at every exchange, there were 49 jobs."""
    context = spark.sparkContext
    context.setJobGroup("few rows", "counted")
    try:
        characterized(spark, ODD_TRACES["one pair"], tmp_path)
        jobs = context.statusTracker().getJobIdsForGroup("few rows")
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]  # as the JVM has it, to forget it
    assert 0 < len(jobs) <= 30


@pytest.mark.parametrize(("rows", "pieces", "adaptive"), [(200_000, 1, "false"), (200_001, None, "true"), (2_000_000_000, 1000, "true")])
def test_queries_are_run_as_suits_the_rows_and_then_as_before(spark: "SparkSession", rows: int, pieces: int | None, adaptive: str) -> None:
    keys = ("spark.sql.shuffle.partitions", "spark.sql.adaptive.enabled", "spark.sql.codegen.wholeStage", "spark.sql.codegen.factoryMode")
    usual = [spark.conf.get(key) for key in keys]
    with settings_for(spark, rows):
        assert spark.conf.get(keys[0]) == str(pieces or usual[0])
        assert spark.conf.get(keys[1]) == adaptive
    assert [spark.conf.get(key) for key in keys] == usual


def test_a_session_for_jobs_of_seconds_has_a_java_that_starts_fast(spark: "SparkSession") -> None:
    assert "-XX:TieredStopAtLevel=1" in spark.sparkContext.getConf().get("spark.driver.extraJavaOptions", "")
