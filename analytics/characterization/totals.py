"""The scalars that one look at each of the two tables gives."""

from typing import TYPE_CHECKING, Final, NamedTuple

from pyspark.sql import functions as f

from analytics.errors import TraceError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

MOST_EVENTS: Final = 2**63 - 1
_NNR_LOW_PERCENT: Final = 0.001
# More pairs than that are not needed to know a share to four digits.
_MUTUAL_ROWS: Final = 20_000_000
# Thresholds on NNR hold for a trace with so many topics, and are scaled for another (A5).
_TOPICS_OF_SOURCE: Final = {"spotify": 1.1e6, "twitter": 8e6}


class TopicTotals(NamedTuple):
    """Totals of the table of topics.

    - `topics`: all. `followed`, `told`: those with subscribers, those with events.
    - `pairs`, `events`, `notifications`: sums over all topics.
    - `most_subscribers`, `most_events`: of one topic.
    - `followed_above_1e4`: topics with more than 10,000 subscribers; the others after it likewise.
    """

    topics: int
    followed: int
    told: int
    pairs: int
    events: int
    notifications: int
    most_subscribers: int
    most_events: int
    followed_above_1e4: int
    followed_above_1e6: int
    told_below_10: int
    told_above_1e3: int
    told_above_1e5: int


class SubscriberTotals(NamedTuple):
    """Totals of the table of subscribers.

    - `subscribers`: all. `receiving`: those who get at least one event.
    - `most_topics`, `least_received`, `most_received`: of one subscriber; the least is of those who get any.
    - `size_above_1e4`, `received_above_7000`: how many have more topics, or get more events.
    - `low`: those whose NNR is below the scaled threshold, also those who get nothing.
    """

    subscribers: int
    receiving: int
    most_topics: int
    least_received: int | None
    most_received: int
    size_above_1e4: int
    received_above_7000: int
    low: int


def topic_totals(topics: "DataFrame") -> TopicTotals:
    """Returns the totals of the table of topics. Raises TraceError where there are more events than 64 bits can hold."""
    subscribers, events = f.col("subscribers"), f.col("events")
    row = topics.agg(
        f.count("*"),
        _many(subscribers > 0),
        _many(events > 0),
        _sum(subscribers),
        # Null, and not an error of Spark, where 64 bits are not enough: ours is raised below.
        f.try_sum(events),
        # May exceed 64 bits where every topic is followed by everybody.
        f.coalesce(f.sum((subscribers * events.cast("decimal(20,0)")).cast("decimal(38,0)")), f.lit(0)),
        _most(subscribers),
        _most(events),
        _many(subscribers > 10_000),
        _many(subscribers > 1_000_000),
        _many((events > 0) & (events < 10)),
        _many(events > 1_000),
        _many(events > 100_000),
        _many(events.isNull()),
    ).first()
    assert row is not None
    # `beyond`: topics whose events are null, because their own sum was too large already (`topics_of`).
    *totals, beyond = row
    if beyond or (totals[0] and None in totals):
        raise TraceError(f"the counts add up to more than {MOST_EVENTS:,} events, which cannot be: correct the column events of counts")
    return TopicTotals(*(int(total or 0) for total in totals))


def subscriber_totals(subscribers: "DataFrame", totals: TopicTotals, profile: str | None) -> SubscriberTotals:
    """Returns the totals of the table of subscribers.

    `totals`: those of the topics. `profile`: the published trace that the thresholds are scaled from.
    """
    received = f.col("received")
    low = low_percent(totals.topics, profile) / 100 * totals.events
    row = subscribers.agg(
        f.count("*"),
        _many(received > 0),
        _most(f.col("size")),
        f.min(f.when(received > 0, received)),
        _most(received),
        _many(f.col("size") > 10_000),
        _many(received > 7_000),
        _many(received < low),
    ).first()
    assert row is not None
    return SubscriberTotals(*row)


def low_percent(topics: int, profile: str | None) -> float:
    """Returns the percentage below which an NNR is low in a trace of so many topics."""
    return _NNR_LOW_PERCENT * _TOPICS_OF_SOURCE[profile or "spotify"] / max(topics, 1)


def topic_measures(found: TopicTotals) -> dict[str, float | None]:
    """Returns by name the measures that need no events."""
    return {
        "topics": found.topics,
        "pairs": found.pairs,
        "mean_subscribers_per_topic": _ratio(found.pairs, found.followed),
        "popularity.max": found.most_subscribers,
        "popularity.count_above_10000": found.followed_above_1e4,
        "popularity.count_above_1000000": found.followed_above_1e6,
    }


def rate_measures(found: TopicTotals) -> dict[str, float | None]:
    """Returns by name the measures of events."""
    return {
        "events": found.events,
        "mean_events_per_topic": _ratio(found.events, found.told),
        "rate.share_below_10": _ratio(found.told_below_10, found.told),
        "rate.share_above_1000": _ratio(found.told_above_1e3, found.told),
        "rate.count_above_100000": found.told_above_1e5,
        "rate.max": found.most_events,
    }


def size_measures(found: SubscriberTotals, pairs: int) -> dict[str, float | None]:
    """Returns by name the measures of the sizes of subscriptions."""
    return {
        "subscribers": found.subscribers,
        "mean_topics_per_subscriber": _ratio(pairs, found.subscribers),
        "size.max": found.most_topics,
        "size.count_above_10000": found.size_above_1e4,
    }


def nnr_measures(found: SubscriberTotals, events: int) -> dict[str, float | None]:
    """Returns by name the measures of what subscribers get."""
    return {
        "nnr.share_low": _ratio(found.low, found.subscribers),
        "nnr.min_percent": None if found.least_received is None else _ratio(100 * found.least_received, events),
        "nnr.max_percent": _ratio(100 * found.most_received, events),
        "nnr.count_above_7000": found.received_above_7000,
    }


def mutual_share(all_pairs: "DataFrame", pairs: int) -> tuple[float | None, float]:
    """Returns (share of the pairs whose other direction is there too, share of the pairs that was looked at).

    Beyond `_MUTUAL_ROWS` pairs, a share of all pairs of users is looked at. It is chosen by hash: both directions or none.
    """
    # A pair and its other direction have the same least and greatest: grouped by these, two rows are mutual. A join would exchange twice.
    one, other = f.least("subscriber", "topic"), f.greatest("subscriber", "topic")
    parts = -(-pairs // _MUTUAL_ROWS)
    chosen = all_pairs.select(one.alias("one"), other.alias("other"))
    if parts > 1:
        chosen = chosen.where(f.pmod(f.xxhash64("one", "other"), f.lit(parts)) == 0)
    found = (
        chosen.groupBy("one", "other").agg(f.count("*").alias("n")).agg(_sum(f.col("n")), _sum(f.when(f.col("n") > 1, f.col("n")))).first()
    )
    assert found is not None
    return _ratio(found[1], found[0]), 1 / max(parts, 1)


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _many(condition: "Column") -> "Column":
    return f.count(f.when(condition, 1))


def _sum(column: "Column") -> "Column":
    return f.coalesce(f.sum(column), f.lit(0))


def _most(column: "Column") -> "Column":
    return f.coalesce(f.max(column), f.lit(0))
