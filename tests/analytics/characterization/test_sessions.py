"""Lengths of sessions."""

from typing import TYPE_CHECKING

from analytics.characterization.sessions import lengths

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_session_is_a_join_and_the_leave_that_follows_on_the_same_device(spark: "SparkSession") -> None:
    """A session does not count if it began before the period, does not end, or lacks its leave. A user who reconnects at once has two."""
    rows = [
        (0, 1, "sto", "desktop", "join"),
        (5_000, 1, "sto", "desktop", "leave"),
        (10_000, 2, "sto", "mobile", "join"),
        (11_000, 2, "sto", None, "join"),
        (15_000, 2, "sto", "mobile", "leave"),
        (15_000, 2, "sto", "mobile", "join"),
        (15_200, 2, "sto", "mobile", "leave"),
        (18_000, 2, "sto", None, "leave"),
        (20_000, 3, "lon", None, "join"),
        (30_000, 3, "lon", None, "join"),
        (42_400, 3, "lon", None, "leave"),
        (50_000, 4, None, None, "join"),
    ]
    frame = spark.createDataFrame(rows, "time_ms long, user long, site string, device string, action string")
    found = lengths(frame, 0, 60_000)
    assert sorted(row["value"] for row in found.values.collect()) == [1, 5, 7, 12]
    assert (found.largest, found.total) == (61, 60)
