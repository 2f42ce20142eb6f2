"""The workload of a trace as a planning problem: its pairs and the events of each topic. It is read part by part, without Spark."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from numpy.typing import NDArray

from analytics.errors import NotSupported, TraceError
from analytics.trace import Trace
from infra.kernel.manifest import Manifest
from infra.kernel.trace import DIAGNOSTIC

from .errors import PlanError
from .instance import MOST_COST, Instance, Ints, counts, instance
from .tables import batches, dataset, matching

MS_PER_HOUR: Final = 3_600_000
_INT32: Final = 1 << 31
_DIAGNOSTIC: Final = pa.array(DIAGNOSTIC)


@dataclass(frozen=True, slots=True)
class Workload:
    """The pairs of one `service` of a trace, with the events of the whole period. `notes`: facts that a reader must know."""

    path: Path
    about: Manifest
    service: str
    instance: Instance
    notes: tuple[str, ...]

    @property
    def hours(self) -> float | None:
        """Returns the length of the period; None where the source has no times."""
        about = self.about
        if about.start_ms is None or about.end_ms is None:
            return None
        return (about.end_ms - about.start_ms) / MS_PER_HOUR


class Window(NamedTuple):
    """The topics that were active from `start_ms` on, with their events in that time."""

    start_ms: int
    instance: Instance


@dataclass(frozen=True, eq=False)
class _Counts:
    """`topics`, in rising order, and the `events` of each: 1 or more."""

    topics: Ints
    events: Ints

    def places(self, topics: Ints) -> NDArray[np.int32]:
        """Returns the place of each of `topics`, or -1."""
        if int(self.topics[-1]) - int(self.topics[0]) == len(self.topics) - 1:
            found = topics - self.topics[0]
            return np.where((found >= 0) & (found < len(self.topics)), found, -1).astype(np.int32)
        if self._table is None:
            found = np.searchsorted(self.topics, topics).clip(max=len(self.topics) - 1).astype(np.int32)
            return np.where(self.topics[found] == topics, found, np.int32(-1))
        if not len(topics) or 0 <= topics.min() <= topics.max() < len(self._table):
            return self._table[topics]
        within = (topics >= 0) & (topics < len(self._table))
        return np.where(within, self._table[np.where(within, topics, 0)], np.int32(-1))

    @cached_property
    def _table(self) -> NDArray[np.int32] | None:
        """Returns the place of each number, or -1; None where the numbers are too far apart for a table."""
        if not len(self.topics) or self.topics[0] < 0 or self.topics[-1] > 8 * len(self.topics) + 1024:
            return None
        table = np.full(self.topics[-1] + 1, -1, np.int32)
        table[self.topics] = np.arange(len(self.topics), dtype=np.int32)
        return table


def load(path: Path, service: str = "presence") -> Workload:
    """Returns the workload of the trace at `path`. It leaves out topics without events or subscribers, and whoever follows no other.

    It needs 8 bytes for each pair, and half as much again while the instance is made. Raises TraceError, which says what the trace lacks,
    and PlanError for numbers that make no sense.
    """
    trace = Trace.open(path)
    known = _counts(trace, service)
    if not len(known.topics):
        raise TraceError(f"{path}: no topic of {service} has an event; plan on another service (--service) or another trace")
    found = _instance(trace, service, known)
    if not len(found.topics_of):
        raise TraceError(f"{path}: nobody follows a topic of {service} that has events; plan on another service (--service)")
    return Workload(path, trace.manifest, service, replace(found, topic_ids=known.topics[found.topic_ids]), _notes(trace))


def windows(workload: Workload, count: int, hours: float = 1.0, begun: Callable[[str], None] = lambda _: None) -> Iterator[Window]:
    """Returns the first windows of the workload, one after the other. It leaves out those without an active topic.

    - `count`: how many windows there are at most. None begins after the period.
    - `hours`: the length of each.
    - `begun`: is called with the name of the next step. Publications are read once, for all windows.

    Where publications are a sample, the events are one too. Raises NotSupported if the trace has no publications or no period.
    """
    trace = Trace.open(workload.path)
    trace.info("publications")
    start_ms, end_ms = trace.manifest.start_ms, trace.manifest.end_ms
    if start_ms is None:
        raise NotSupported(f"{trace.path}: its publications have no times, so there are no windows")
    length_ms = round(hours * MS_PER_HOUR)
    last_ms = start_ms + count * length_ms
    time = ds.field("time_ms")
    within = (time >= start_ms) & (time < (last_ms if end_ms is None else min(last_ms, end_ms)))
    by = {"window": pc.divide(time - start_ms, length_ms), "topic": ds.field("topic")}
    begun("reading publications")
    active = _published(trace, (ds.field("service") == workload.service) & within, by)
    numbers = active["window"]
    for number in np.unique(numbers).tolist():
        begun(f"window {number + 1}")
        first, last = np.searchsorted(numbers, [number, number + 1])
        if found := _narrowed(workload.instance, _Counts(active["topic"][first:last], active["events"][first:last])):
            yield Window(start_ms + number * length_ms, found)


def _narrowed(whole: Instance, active: _Counts) -> Instance | None:
    """Returns `whole` with the events of the `active` topics alone; None if nobody follows any of them."""
    places = active.places(whole.topic_ids)
    events = np.where(places >= 0, active.events[places], 0)
    subscriber = np.repeat(np.arange(len(whole.topics_of), dtype=np.int32), whole.topics_of.lengths)
    found = instance(subscriber, whole.topics_of.values, events)
    ids = replace(found, topic_ids=whole.topic_ids[found.topic_ids], subscriber_ids=whole.subscriber_ids[found.subscriber_ids])
    return ids if len(found.events) else None


def _counts(trace: Trace, service: str) -> _Counts:
    of = ds.field("service") == service
    if trace.has("counts"):
        found = _summed(_checked(batches(dataset(trace, "counts"), ["topic", "events"], of)), ["topic"])
    elif trace.info("publications").fraction < 1:
        raise NotSupported(f"{trace.path}: publications are a sample and there are no counts, so events per topic are not known")
    else:
        found = _published(trace, of, {"topic": ds.field("topic")})
    some = found["events"] > 0
    return _Counts(found["topic"][some], found["events"][some])


def _checked(parts: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yields the same parts. Raises PlanError for events that are no counts, and for too many to be added up."""
    total = 0.0
    for part in parts:
        total += float(counts(part["events"].to_numpy()).sum(dtype=np.float64))
        if total > MOST_COST:
            raise PlanError("all events together are more than 2^60; plan on a shorter period")
        yield part


def _published(trace: Trace, wanted: pc.Expression, by: dict[str, pc.Expression]) -> dict[str, Ints]:
    """Returns the events counted `by` these columns, as `_summed` does. It leaves out events that say nothing about people."""
    kind = ds.field("kind")
    wanted = wanted & (kind.is_null() | ~kind.isin(_DIAGNOSTIC))
    return _summed(batches(dataset(trace, "publications"), by | {"events": pc.scalar(1)}, wanted), list(by))


def _summed(parts: Iterable[pa.RecordBatch], by: list[str]) -> dict[str, Ints]:
    """Returns the `events` added up `by` these columns, and the columns in rising order."""
    none = pa.table({name: pa.array([], pa.int64()) for name in (*by, "events")})
    found = _grouped(pa.concat_tables([none, *(_grouped(pa.table(part.columns, part.schema.names), by) for part in parts)]), by)
    return {name: found[name].to_numpy() for name in found.column_names}


def _grouped(rows: pa.Table, by: list[str]) -> pa.Table:
    first = rows[by[0]].to_numpy()
    if (first[1:] > first[:-1]).all():  # as they nearly always are in counts
        return rows
    added = rows.group_by(by).aggregate([("events", "sum")]).rename_columns({"events_sum": "events"})
    return added.sort_by([(name, "ascending") for name in by])


def _instance(trace: Trace, service: str, known: _Counts) -> Instance:
    table, wanted = "subscriptions", {"service": service}
    if not trace.has(table):
        table, wanted = "subscription_log", wanted | {"action": "subscribe"}
    columns = _pairs(dataset(trace, table), wanted, known)
    if table == "subscription_log":
        columns = _once(columns)
    # Taken out of the list, so that nobody but the instance holds them.
    return instance(columns.pop(0), columns.pop(0), known.events)


def _pairs(found: ds.FileSystemDataset, wanted: dict[str, str], known: _Counts) -> list[NDArray[Any]]:
    """Returns the subscribers of all pairs whose topic has events, and the place of that topic among the `known`."""
    rows = found.count_rows()
    subscriber: NDArray[Any] = np.empty(rows, np.int32)
    topic = np.empty(rows, np.int32)
    filled = 0
    for batch in matching(found, ["subscriber", "topic"], wanted):
        who, places = batch["subscriber"].to_numpy(), known.places(batch["topic"].to_numpy())
        if subscriber.dtype == np.int32 and len(who) and not -_INT32 <= who.min() <= who.max() < _INT32:
            subscriber = subscriber.astype(np.int64)
        if len(who) and places.min() < 0:
            there = places >= 0
            who, places = who[there], places[there]
        end = filled + len(who)
        subscriber[filled:end], topic[filled:end] = who, places
        filled = end
    return [subscriber[:filled], topic[:filled]]


def _once(columns: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Yields each pair once: a user who leaves and comes back subscribes again."""
    found = pa.table(columns, names=["subscriber", "topic"]).group_by(["subscriber", "topic"]).aggregate([])
    return [found["subscriber"].to_numpy(), found["topic"].to_numpy()]


def _notes(trace: Trace) -> tuple[str, ...]:
    return tuple(
        f"{table} are a sample: {info.fraction:.3g} of all, by {info.sampled_by}"
        for table, info in trace.manifest.tables.items()
        if info.fraction < 1 and table in ("subscriptions", "publications")
    )
