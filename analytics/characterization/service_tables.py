"""Users and topics of one service: the two tables, what they add up to, and the values that are counted in figures."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as f

from analytics.trace import Trace
from infra.kernel.trace import SOCIAL_SERVICES

from .distribution import Population
from .options import Options
from .results import Results
from .totals import (
    SubscriberTotals,
    TopicTotals,
    mutual_share,
    nnr_measures,
    rate_measures,
    size_measures,
    subscriber_totals,
    topic_measures,
    topic_totals,
)
from .workload import counts_of, pairs_of, subscribers_of, topics_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_OF_PAIRS: Final = ("subscribers", "pairs", "mean_topics_per_subscriber", "mean_subscribers_per_topic", "mutual_share")
_OF_COUNTS: Final = ("events", "mean_events_per_topic")


@dataclass(frozen=True, slots=True)
class ServiceTables:
    """The two tables of a service, and their totals.

    - `topics`: topic, subscribers, events. `topic`: totals of it.
    - `subscribers`: subscriber, size, received; None where nobody follows anything. `subscriber`: totals of it.
    """

    topics: "DataFrame"
    topic: TopicTotals
    subscribers: "DataFrame | None"
    subscriber: SubscriberTotals | None


def tables_of(spark: "SparkSession", trace: Trace, options: Options, results: Results, scratch: Path) -> ServiceTables | None:
    """Writes the tables of `options.service` in `scratch` and returns them; None where the service has no rows.

    `spark`, `trace`: what to read them from. `results`: takes the scalars, and why some are missing.
    """
    pairs, counts = pairs_of(spark, trace, options.service, results), counts_of(spark, trace, options, results)
    with results.step("topics"):
        topics = topics_of(pairs, counts, scratch)
        found = None if topics is None else topic_totals(topics)
    _note_missing(results, options.service, found, has_pairs=pairs is not None, has_counts=counts is not None)
    if topics is None or found is None or not found.topics:
        results.skip("topics", f"there is no subscription and no event of the service {options.service}")
        return None
    results.measure_all(topic_measures(found))
    results.measure_all(rate_measures(found))
    if pairs is None or not found.pairs:
        return ServiceTables(topics, found, None, None)
    with results.step("subscribers"):
        subscribers = subscribers_of(pairs, topics, found.told, scratch)
        totals = subscriber_totals(subscribers, found, trace.manifest.profile)
    if not totals.receiving:
        for key in ("nnr", "size_nnr", "popularity_rate"):
            results.skip(key, "no topic with events has a subscriber")
    results.measure_all(size_measures(totals, found.pairs))
    results.measure_all({"notifications": float(found.notifications), **nnr_measures(totals, found.events)})
    _note_mutual(results, options.service, pairs, found.pairs)
    return ServiceTables(topics, found, subscribers, totals)


def populations(tables: ServiceTables) -> Iterator[Population]:
    """Yields what is counted for the CCDFs, and for the ranks of both rank correlations (named after the figure, a dot and the axis)."""
    subscribers, events = f.col("subscribers"), f.col("events")
    topic, both = tables.topic, tables.topics.where((subscribers > 0) & (events > 0))
    if topic.told:
        yield Population("rate", _values(tables.topics, "events"), topic.most_events, topic.events)
    if tables.subscribers is None or tables.subscriber is None:
        return
    totals = tables.subscriber
    yield Population("popularity", _values(tables.topics, "subscribers"), topic.most_subscribers, totals.subscribers)
    yield Population("size", _values(tables.subscribers, "size"), totals.most_topics, topic.topics)
    if totals.receiving:
        receiving = tables.subscribers.where(f.col("received") > 0)
        yield Population("nnr", _values(receiving, "received"), totals.most_received, topic.events)
        yield Population("size_nnr.x", _values(receiving, "size"), totals.most_topics, topic.topics)
        yield Population("popularity_rate.x", _values(both, "subscribers"), topic.most_subscribers, totals.subscribers)
        yield Population("popularity_rate.y", _values(both, "events"), topic.most_events, topic.events)


def _values(rows: "DataFrame", column: str) -> "DataFrame":
    return rows.where(f.col(column) > 0).select(f.col(column).alias("value"))


def _note_missing(results: Results, service: str, found: TopicTotals | None, *, has_pairs: bool, has_counts: bool) -> None:
    if found is not None and has_pairs and not found.pairs:
        results.lacks("subscriptions", f"there is no subscription of the service {service}")
    if found is not None and has_counts and not found.events:
        results.lacks("counts", f"there is no event of the service {service}")
    if reason := results.skipped.get("popularity"):
        for name in _OF_PAIRS:
            results.skip(name, reason)
    if reason := results.skipped.get("rate"):
        for name in _OF_COUNTS:
            results.skip(name, reason)
    if reason := results.skipped.get("nnr"):
        results.skip("notifications", reason)


def _note_mutual(results: Results, service: str, pairs: "DataFrame", n: int) -> None:
    if service not in SOCIAL_SERVICES:
        results.skip("mutual_share", f"topics of {service} are no users, so nobody can follow back")
        return
    with results.step("mutual share"):
        share, looked_at = mutual_share(pairs, n)
    results.measure("mutual_share", share)
    if looked_at < 1:
        results.note("mutual_share", f"Of {looked_at:.2%} of all pairs of users, chosen by hash.")
