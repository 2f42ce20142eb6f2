"""The two tables that all figures of users and topics come from: one row per topic, one row per subscriber.

`topics`: topic, subscribers, events. `subscribers`: subscriber, size, received (the events of all their topics). 0 where there are none.
They are written once, because what they are made of may be a hundred times bigger. Pairs are read twice: once counted by topic, once by
subscriber with the events of each topic beside them. Files usually hold a subscriber's pairs side by side, so that counting by
subscriber shrinks them before anything is exchanged.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
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
# Half a second of a core: below that, making Java of a query and exchanging its rows in pieces takes longer than the query.
_BRIEF_ROWS: Final = 200_000
_BRIEFLY: Final = {
    _PARTITIONS: "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
# Of a topic and its events in the hash table that a broadcast makes of them, copies while it grows included.
_BYTES_PER_TOPIC: Final = 160


def pairs_of(spark: "SparkSession", trace: Trace, service: str, results: Results) -> "DataFrame | None":
    """Reads subscriber and topic of each pair of `service` in `trace`.

    None, and said in `results`, where the trace has no pairs at all. `spark`: reads them.
    """
    if not trace.has("subscriptions") and not trace.has("subscription_log"):
        results.lacks("subscriptions")
        return None
    return trace.subscriptions(spark).where(f.col("service") == service).select("subscriber", "topic")


def counts_of(spark: "SparkSession", trace: Trace, options: Options, results: Results) -> "DataFrame | None":
    """Reads topic and events of `options.service` in `trace`. Topics without events are left out.

    None, and said in `results`, where events are not known. `spark`: reads them.
    """
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
    """Returns topic, subscribers, events, of `pairs` and `counts`; None without both. The table is written in `scratch`."""
    none, one = f.lit(0).cast("long"), f.lit(1).cast("long")
    followed = pairs and pairs.select("topic", one.alias("subscribers"), none.alias("events"))
    told = counts and counts.select("topic", none.alias("subscribers"), "events")
    # One grouping of both costs one exchange; two groupings and a join of them would cost four.
    both = followed.unionAll(told) if followed and told else followed or told
    if both is None:
        return None
    return keep(
        both.groupBy("topic").agg(f.sum("subscribers").alias("subscribers"), f.try_sum("events").alias("events")), scratch / "topics"
    )


def subscribers_of(pairs: "DataFrame", topics: "DataFrame", with_events: int, scratch: Path) -> "DataFrame":
    """Returns subscriber, size, received, of `pairs` and the events in `topics`. The table is written in `scratch`.

    `with_events`: how many topics have events.
    """
    told = topics.where(f.col("events") > 0).select("topic", "events")
    # Where the topics with events fit in memory, pairs stay where they are and are not exchanged by topic.
    if with_events * _BYTES_PER_TOPIC < _memory_bytes(pairs.sparkSession) // 4:
        told = f.broadcast(told)
    received = f.sum(f.coalesce("events", f.lit(0).cast("long")))
    found = pairs.join(told, "topic", "left").groupBy("subscriber")
    return keep(found.agg(f.count("*").alias("size"), received.alias("received")), scratch / "subscribers")


def is_brief(rows: int) -> bool:
    """Returns whether a job on tables of at most `rows` rows is over before what Spark does for large ones has paid for itself."""
    return rows <= _BRIEF_ROWS


@contextmanager
def settings_for(spark: "SparkSession", rows: int) -> Iterator[None]:
    """Sets, within the block, what suits queries on tables of at most `rows` rows.

    Pieces of an exchange then fit in memory, and adaptive execution joins those that turn out small. Few rows are one piece, and their
    queries are neither compiled nor planned anew on the way.
    """
    wanted = _BRIEFLY if is_brief(rows) else {_PARTITIONS: str(max(int(_setting(spark, _PARTITIONS)), rows // _ROWS_PER_PARTITION))}
    usual = {key: _setting(spark, key) for key in wanted}
    _set(spark, wanted)
    try:
        yield
    except Exception:
        with suppress(Exception):  # Java may have ended: then the first error is the one to raise
            _set(spark, usual)
        raise
    # Not in a `finally`: when a signal ends the block, the session ends with it, and its Java may have ended already.
    _set(spark, usual)


def _setting(spark: "SparkSession", key: str) -> str:
    found = spark.conf.get(key)
    assert found is not None
    return found


def _set(spark: "SparkSession", settings: Mapping[str, str]) -> None:
    for key, value in settings.items():
        spark.conf.set(key, value)


def _memory_bytes(spark: "SparkSession") -> int:
    """Returns the memory of the JVM that a broadcast is built in; on a cluster that does not say, what this machine would be given."""
    said = spark.sparkContext.getConf().get("spark.driver.memory") or ""
    return (int(said[:-1]) if said.endswith("g") and said[:-1].isdigit() else default_memory_gb()) << 30
