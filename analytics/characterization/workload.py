"""The two tables that all figures of users and topics come from: one row per topic, one row per subscriber.

`topics`: topic, subscribers, events; `subscribers`: subscriber, size, received (the events of all its topics); 0 where there are none.
They are written once, for what they are made of may be a hundred times bigger. Pairs are read twice: once counted by topic,
once by subscriber with the events of each topic beside them. Files usually hold a subscriber's pairs side by side, so that
counting by subscriber shrinks them before anything is exchanged.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as f

from analytics.errors import NotSupported
from analytics.session import default_memory_gb
from analytics.trace import Trace

from .curves import keep
from .options import Options
from .results import Results

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# More rows than this in a piece of an exchange make its sorting spill.
_ROWS_PER_PARTITION: Final = 2_000_000
_PARTITIONS: Final = "spark.sql.shuffle.partitions"
# Of a topic and its events in the hash table that a broadcast makes of them, copies while it grows included.
_BYTES_PER_TOPIC: Final = 160


def pairs_of(spark: "SparkSession", trace: Trace, service: str, results: Results) -> "DataFrame | None":
    """subscriber, topic of the service; None, and said in `results`, where the trace has no pairs at all."""
    if not trace.has("subscriptions") and not trace.has("subscription_log"):
        results.lacks("subscriptions")
        return None
    return trace.subscriptions(spark).where(f.col("service") == service).select("subscriber", "topic")


def counts_of(spark: "SparkSession", trace: Trace, options: Options, results: Results) -> "DataFrame | None":
    """topic, events of the service, topics without events left out; None, and said in `results`, where events are not known."""
    if not trace.has("counts") and not trace.has("publications"):
        results.lacks("counts")
        return None
    try:
        found = trace.counts(spark, options.diagnostic)
    except NotSupported as reason:
        results.lacks("counts", str(reason))
        return None
    return found.where((f.col("service") == options.service) & (f.col("events") > 0)).select("topic", "events")


def topics_of(pairs: "DataFrame | None", counts: "DataFrame | None", scratch: Path) -> "DataFrame | None":
    """topic, subscribers, events."""
    none, one = f.lit(0).cast("long"), f.lit(1).cast("long")
    followed = pairs and pairs.select("topic", one.alias("subscribers"), none.alias("events"))
    told = counts and counts.select("topic", none.alias("subscribers"), "events")
    # One grouping of both costs one exchange; two groupings and a join of them would cost four.
    both = followed.unionAll(told) if followed and told else followed or told
    if both is None:
        return None
    return keep(both.groupBy("topic").agg(f.sum("subscribers").alias("subscribers"), f.sum("events").alias("events")), scratch / "topics")


def subscribers_of(pairs: "DataFrame", topics: "DataFrame", with_events: int, scratch: Path) -> "DataFrame":
    """subscriber, size, received. `with_events`: how many topics have events."""
    told = topics.where(f.col("events") > 0).select("topic", "events")
    if with_events * _BYTES_PER_TOPIC < _memory_bytes(pairs.sparkSession) // 4:
        told = f.broadcast(told)
    received = f.sum(f.coalesce("events", f.lit(0).cast("long")))
    found = pairs.join(told, "topic", "left").groupBy("subscriber")
    return keep(found.agg(f.count("*").alias("size"), received.alias("received")), scratch / "subscribers")


@contextmanager
def partitions_for(spark: "SparkSession", rows: int) -> Iterator[None]:
    """Within the block exchanges of `rows` rows have pieces that fit in memory; adaptive execution joins those that turn out small."""
    usual = spark.conf.get(_PARTITIONS)
    assert usual is not None
    spark.conf.set(_PARTITIONS, max(int(usual), rows // _ROWS_PER_PARTITION))
    try:
        yield
    finally:
        spark.conf.set(_PARTITIONS, usual)


def _memory_bytes(spark: "SparkSession") -> int:
    """Of the JVM that a broadcast is built in; on a cluster that does not say, what this machine would be given."""
    said = spark.sparkContext.getConf().get("spark.driver.memory") or ""
    return (int(said[:-1]) if said.endswith("g") and said[:-1].isdigit() else default_memory_gb()) << 30
