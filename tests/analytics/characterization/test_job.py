"""A characterization of a trace whose every metric is known by hand (`tests.support.small_world`), and of traces that have none."""

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from analytics.characterization.job import characterize, characterize_in
from analytics.characterization.options import Options
from analytics.errors import TraceError
from analytics.figures import FIGURES
from analytics.measures import MEASURES
from analytics.summary import read
from analytics.trace import Trace
from infra.kernel.manifest import Manifest, TableInfo
from tests.support.small_world import ABOUT, small_world
from tests.support.traces import BARE, write

from .conftest import Done

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.timeout(300)  # some test is the first to ask for a whole characterization, perhaps on a busy machine


def test_every_metric_of_users_and_topics_is_exact(small: Done) -> None:
    """WA-1."""
    expected = {
        "topics": 6,
        "subscribers": 6,
        "pairs": 9,
        "events": 100,
        "notifications": 10 * 4 + 5 + 20 * 2 + 1,
        "mean_topics_per_subscriber": 9 / 6,
        "mean_subscribers_per_topic": 9 / 5,
        "mean_events_per_topic": 100 / 5,
        "mutual_share": 6 / 9,
        "days": 2,
        "popularity.max": 4,
        "popularity.count_above_10000": 0,
        "popularity.count_above_1000000": 0,
        "size.max": 3,
        "size.count_above_10000": 0,
        "rate.share_below_10": 2 / 5,
        "rate.share_above_1000": 0,
        "rate.count_above_100000": 0,
        "rate.max": 64,
        "nnr.share_low": 1,
        "nnr.min_percent": 10,
        "nnr.max_percent": 30,
        "nnr.count_above_7000": 0,
        "size_nnr.spearman": 7 / 8,
    }
    found = small.summary.measures
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_what_so_few_cannot_tell_is_left_out_with_the_reason(small: Done) -> None:
    """A correlation of four topics, the shape of three sizes, the day of two requests and the week of two days are left out."""
    why = small.summary.skipped
    assert why["popularity_rate.spearman"] == "a correlation wants 5 pairs of values, and there are 4"
    assert why["size.r2"] == why["popularity.decades"] == "fewer than 5 different values have no shape"
    assert why["rate.knee_events"].startswith("there are fewer than 10 different values")
    assert why["churn.imbalance"] == why["churn.peak_hour"]
    assert why["churn.peak_hour"].startswith("there are too few requests")
    assert why["churn.weekly_difference"].startswith("there are too few requests or whole days")


def test_every_metric_of_time_is_exact(small: Done) -> None:
    """WA-1. Hours and days are those of Stockholm."""
    expected = {
        "publications.share.presence": 100 / 104,
        "publications.share.playlist": 4 / 104,
        "publications.peak_hour.presence": 18.5,
        "publications.trough_hour.presence": 0.5,
        "local_remote.ratio": (10 * 2 + 5 + 1) / (10 + 20),
        "live.variation": 1 / 2.5,
        "live.share.presence": (188 + 4 * 2 / 3) / 192,
        "live.share.playlist": 4 / 3 / 192,
        "sessions.mean_length_s": (600 + 1800) / 2,
        "sessions.per_user_day": 3 / 3 / 2,
    }
    found = small.summary.measures
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_every_ccdf_is_exact(small: Done) -> None:
    """WA-1: value, percent of what the source divides by, how many have it, P(X >= value)."""
    expected: dict[str, list[tuple[float, ...]]] = {
        "popularity": [(1, 100 / 6, 3, 1), (2, 200 / 6, 1, 2 / 5), (4, 400 / 6, 1, 1 / 5)],
        "size": [(1, 100 / 6, 4, 1), (2, 200 / 6, 1, 2 / 6), (3, 50, 1, 1 / 6)],
        "rate": [(1, 1, 1, 1), (5, 5, 1, 0.8), (10, 10, 1, 0.6), (20, 20, 1, 0.4), (64, 64, 1, 0.2)],
        "nnr": [(10, 10, 3, 1), (26, 26, 1, 0.4), (30, 30, 1, 0.2)],
        "session_length": [(600, 600 / 1728, 1, 1), (1800, 1800 / 1728, 1, 0.5)],
    }
    for key, rows in expected.items():
        assert small.curve(key) == [pytest.approx(row) for row in rows], key
        assert [list(map(float, row)) for row in small.csv(key)[1:]] == [pytest.approx(row) for row in rows], key


def test_means_and_points_are_exact(small: Done) -> None:
    """WA-1: mean NNR by size, mean events by popularity. The sample of so few points is all of them."""
    assert small.curve("size_nnr") == [(1, 3, 10), (2, 1, 30), (3, 1, 26)]
    assert small.curve("popularity_rate") == [(1, 2, 3), (2, 1, 20), (4, 1, 10)]
    assert sorted(small.csv("size_nnr_points")[1:]) == [["1", "10"]] * 3 + [["2", "30"], ["3", "26"]]
    assert sorted(small.csv("popularity_rate_points")[1:]) == [["1", "1"], ["1", "5"], ["2", "20"], ["4", "10"]]


def test_lines_are_rates_per_hour_in_bins_of_local_time(small: Done) -> None:
    """WA-1."""

    def at(key: str) -> dict[tuple[str, int], float]:
        hour_ms = 3_600_000
        start_ms = small.summary.manifest.start_ms or 0
        rows = small.curve(key)
        return {(str(series), (int(str(time)) - start_ms) // hour_ms): float(str(value)) for time, series, value in rows if value}

    assert at("publications") == {
        ("presence", 2): 1,
        ("presence", 18): 42,
        ("presence", 36): 32,
        ("presence", 42): 20,
        ("presence", 43): 5,
        ("playlist", 9): 4,
    }
    assert at("local_remote") == {("local", 18): 10, ("local", 42): 20, ("remote", 2): 1, ("remote", 18): 20, ("remote", 43): 5}
    assert at("churn") == {("subscribe", 10): 1, ("subscribe", 34): 1, ("unsubscribe", 12): 1, ("unsubscribe", 35): 1}
    assert at("online") == {("join", 10): 2, ("join", 34): 1, ("leave", 10): 2, ("leave", 12): 1}
    assert at("live") == {("presence", hour): 30 if hour in (10, 11) else 20 for hour in range(48)} | {("playlist", 34): 10}


def test_cycles_are_of_whole_local_days(small: Done) -> None:
    """WA-1."""
    daily = {(row[0], row[1]): row[2] for row in small.curve("daily") if row[2]}
    assert daily == pytest.approx(
        {(2, "presence"): 0.01, (12, "presence"): 0.32, (18, "presence"): 0.62, (19, "presence"): 0.05, (9, "playlist"): 1}
    )
    assert small.curve("weekly") == [(3, "presence", 43), (4, "presence", 57), (3, "playlist", 4), (4, "playlist", 0)]


def test_there_is_a_curve_for_each_figure(small: Done) -> None:
    """WA-2, profile spotify."""
    assert set(small.summary.rows) == set(FIGURES)
    for key, rows in small.summary.rows.items():
        assert len(small.curve(key)) == rows > 0
        assert len(small.csv(key)) > 1
        assert key in small.summary.binning


def test_there_is_a_curve_for_each_figure_that_twitter_has(random: Done) -> None:
    """WA-2, profile twitter: its time courses could not be obtained."""
    assert set(random.summary.rows) == {figure.key for figure in FIGURES.values() if figure.twitter}
    assert {figure.key for figure in FIGURES.values()} <= random.summary.rows.keys() | random.summary.skipped.keys()


def test_diagnostic_messages_are_left_out_before_anything_is_counted_and_reported(small: Done) -> None:
    """WA-3. Topic 2 has 5 events of its own, and 10 that only ask whether it is there."""
    found = small.summary.filter
    assert found.dropped == {"heartbeat": 3, "ping": 7}
    assert found.rows == 100 + 4 + 10
    assert (5, 5, 1, 0.8) in small.curve("rate")


def test_what_is_not_there_has_a_reason(small: Done, random: Done) -> None:
    for done in (small, random):
        for name in MEASURES:
            if "{service}" not in name:
                assert name in done.summary.measures or name in done.summary.skipped, name
    assert "there is no publication of the service artist" in small.summary.skipped["publications.share.artist"]
    assert random.summary.skipped["daily"] == "the source has no times"


def test_the_folder_holds_the_summary_and_the_curves_and_nothing_else(small: Done) -> None:
    assert sorted(path.name for path in small.folder.iterdir()) == ["curves", "summary.json"]
    assert read(small.folder) == small.summary
    assert not [path for path in small.folder.rglob("*") if path.name.startswith((".", "_"))]


def test_what_the_manifest_rules_out_is_not_computed(spark: "SparkSession", tmp_path: Path) -> None:
    """WA-2. Without a period of a whole day there is no day to draw either."""
    about = msgspec.structs.replace(
        ABOUT, end_ms=(ABOUT.start_ms or 0) + 20 * 3_600_000, limits={"publications": "made up", "churn": "half"}
    )
    path = write(
        tmp_path / "t",
        about,
        publications={"time_ms": [ABOUT.start_ms] * 3, "service": ["presence"] * 3, "topic": [1, 1, 2]},
        counts={"service": ["presence"], "topic": [1], "events": [70]},
    )
    tmp_path.joinpath("out").mkdir()
    found = characterize_in(spark, Trace.open(path), tmp_path / "out", Options(bootstraps=0))
    assert set(found.rows) == {"rate"}
    assert found.skipped["publications"] == found.skipped["publications.share.presence"] == "made up"
    assert found.skipped["daily"] == "the period of 20.0 hours has no whole day from midnight to midnight"
    assert "has no subscriptions" in found.skipped["popularity"]
    assert "has no subscriptions" in found.skipped["pairs"]
    assert found.measures["events"] == 70


def test_a_service_that_the_trace_has_not_is_told(spark: "SparkSession", tmp_path: Path) -> None:
    path = write(tmp_path / "t", subscriptions={"subscriber": [1], "service": ["presence"], "topic": [2]})
    tmp_path.joinpath("out").mkdir()
    with pytest.raises(TraceError, match=r"nothing to characterize: .*there is no subscription of the service artist"):
        characterize_in(spark, Trace.open(path), tmp_path / "out", Options(service="artist"))


def test_a_trace_without_rows_is_refused_before_anything_starts(tmp_path: Path) -> None:
    path = write(tmp_path / "t", BARE)
    with pytest.raises(TraceError, match="the trace is empty"):
        characterize(path, tmp_path / "out", Options())
    assert not tmp_path.joinpath("out").exists()


@pytest.mark.parametrize(
    ("wrong", "message"), [({"time_zone": "Mars/Olympus"}, "there is no such zone"), ({"end_ms": 0}, "not after its start")]
)
def test_a_period_that_makes_no_sense_is_told(spark: "SparkSession", tmp_path: Path, wrong: dict[str, object], message: str) -> None:
    path = small_world(tmp_path / "t")
    trace = Trace.open(path)
    broken = Trace(path, Manifest(**(msgspec.structs.asdict(trace.manifest) | wrong)))
    tmp_path.joinpath("out").mkdir()
    with pytest.raises(TraceError, match=message):
        characterize_in(spark, broken, tmp_path / "out", Options())


def test_counts_of_a_sample_are_scaled_up_and_the_curve_says_so(spark: "SparkSession", tmp_path: Path) -> None:
    """Events per topic are not computed from a sample."""
    said = {"time_ms": [ABOUT.start_ms] * 3, "service": ["presence"] * 3, "topic": [1, 1, 2], "kind": ["play", "play", "ping"]}
    log = {"time_ms": [ABOUT.start_ms, (ABOUT.start_ms or 0) + 1], "subscriber": [1, 2], "service": ["presence"] * 2, "topic": [3, 3]}
    path = write(tmp_path / "t", ABOUT, publications=said, subscription_log=log | {"action": ["subscribe"] * 2})
    sampled = {"publications": TableInfo(rows=3, fraction=0.25), "subscription_log": TableInfo(rows=2, fraction=0.5, sampled_by="user")}
    tmp_path.joinpath("out").mkdir()
    trace = Trace(path, msgspec.structs.replace(ABOUT, tables=sampled))
    done = Done(path, tmp_path / "out", characterize_in(spark, trace, tmp_path / "out", Options(bootstraps=0)))
    assert done.curve("publications")[0] == (ABOUT.start_ms, "presence", 8)
    assert done.curve("weekly") == [(3, "presence", 8), (4, "presence", 0)]
    assert "a sample of 25 % of all rows" in done.summary.binning["publications"]
    assert done.curve("churn")[0] == (ABOUT.start_ms, "subscribe", 2)
    assert {row[2] for row in done.curve("live")} == {100}
    assert "a sample of 50 % of all users" in done.summary.binning["churn"]
    assert "publications are a sample and there are no counts" in done.summary.skipped["rate"]
    assert done.summary.filter.dropped == {"ping": 1}
    assert set(done.summary.rows) == {"popularity", "size", "publications", "daily", "weekly", "churn", "live"}
