"""The workload of a trace as a planning problem: its pairs and its events by topic, read part by part, without Spark."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import and_
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from numpy.typing import NDArray
from pyarrow.parquet import RowGroupMetaData

from analytics.errors import NotSupported, TraceError
from analytics.trace import Trace
from infra.kernel.manifest import Manifest
from infra.kernel.trace import DIAGNOSTIC

from .instance import Instance, Ints, instance

MS_PER_HOUR: Final = 3_600_000
_INT32: Final = 1 << 31
_ROWS: Final = 1 << 20
# Parts are read ahead while one is worked on; the default of 16 batches of 4 files holds gigabytes.
_AHEAD: Final = 4
_DIAGNOSTIC: Final = pa.array(DIAGNOSTIC)


@dataclass(frozen=True, slots=True)
class Workload:
    """Who follows what in one `service` of a trace, with the events of the whole period. `notes`: what a reader must know."""

    path: Path
    about: Manifest
    service: str
    instance: Instance
    notes: tuple[str, ...]

    @property
    def hours(self) -> float | None:
        """How long the period is; None where the source has no times."""
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
    """`topics`, rising, and the `events` of each: 1 or more."""

    topics: Ints
    events: Ints

    def places(self, topics: Ints) -> NDArray[np.int32]:
        """Where each of `topics` stands, or -1."""
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
        """The place of each number, or -1; None where they are too far apart."""
        if not len(self.topics) or self.topics[0] < 0 or self.topics[-1] > 8 * len(self.topics) + 1024:
            return None
        table = np.full(self.topics[-1] + 1, -1, np.int32)
        table[self.topics] = np.arange(len(self.topics), dtype=np.int32)
        return table


def load(path: Path, service: str = "presence") -> Workload:
    """The workload of the trace at `path`. Topics without events or without subscribers are left out, and so is who follows no other.

    It needs 8 bytes for each pair, and half as much again while the instance is made. Raises TraceError that says what the trace lacks,
    PlanError for numbers that cannot be meant.
    """
    trace = Trace.open(path)
    counts = _counts(trace, service)
    if not len(counts.topics):
        raise TraceError(f"{path}: no topic of {service} has an event; plan on another service (--service) or another trace")
    found = _instance(trace, service, counts)
    if not len(found.topics_of):
        raise TraceError(f"{path}: nobody follows a topic of {service} that has events; plan on another service (--service)")
    return Workload(path, trace.manifest, service, replace(found, topic_ids=counts.topics[found.topic_ids]), _notes(trace))


def windows(workload: Workload, count: int, hours: float = 1.0) -> Iterator[Window]:
    """The first `count` windows of so many hours, one after the other; those without an active topic are left out.

    Where publications are a sample, so are the events. Raises NotSupported if the trace has no publications or no period.
    """
    trace = Trace.open(workload.path)
    trace.info("publications")
    start_ms = trace.manifest.start_ms
    if start_ms is None:
        raise NotSupported(f"{trace.path}: its publications have no times, so there are no windows")
    length_ms = round(hours * MS_PER_HOUR)
    for begin_ms in range(start_ms, start_ms + count * length_ms, length_ms):
        time = ds.field("time_ms")
        within = (time >= begin_ms) & (time < begin_ms + length_ms)
        active = _published(trace, (ds.field("service") == workload.service) & within)
        if found := _narrowed(workload.instance, active):
            yield Window(begin_ms, found)


def _narrowed(whole: Instance, active: _Counts) -> Instance | None:
    """`whole` with the events of the `active` topics alone; None if none of them is followed."""
    if not len(active.topics):
        return None
    places = active.places(whole.topic_ids)
    events = np.where(places >= 0, active.events[places], 0)
    subscriber = np.repeat(np.arange(len(whole.topics_of), dtype=np.int32), whole.topics_of.lengths)
    found = instance(subscriber, whole.topics_of.values, events)
    ids = replace(found, topic_ids=whole.topic_ids[found.topic_ids], subscriber_ids=whole.subscriber_ids[found.subscriber_ids])
    return ids if len(found.events) else None


def _counts(trace: Trace, service: str) -> _Counts:
    if trace.has("counts"):
        rows = _dataset(trace, "counts").to_table(columns=["topic", "events"], filter=ds.field("service") == service)
        return _summed(rows)
    if trace.info("publications").fraction < 1:
        raise NotSupported(f"{trace.path}: publications are a sample and there are no counts, so events per topic are not known")
    return _published(trace, ds.field("service") == service)


def _published(trace: Trace, wanted: pc.Expression) -> _Counts:
    """Events by topic, counted; those that say nothing about people are left out."""
    kind = ds.field("kind")
    wanted = wanted & (kind.is_null() | ~kind.isin(_DIAGNOSTIC))
    ones = {"topic": ds.field("topic"), "events": pc.scalar(1)}
    found = [_summed(pa.Table.from_batches([batch])) for batch in _batches(_dataset(trace, "publications"), ones, wanted)]
    if not found:
        return _Counts(np.empty(0, np.int64), np.empty(0, np.int64))
    topics, events = (np.concatenate([getattr(each, column) for each in found]) for column in ("topics", "events"))
    return _summed(pa.table({"topic": topics, "events": events}))


def _summed(rows: pa.Table) -> _Counts:
    topics = rows["topic"].to_numpy()
    if (topics[1:] <= topics[:-1]).any():
        rows = rows.group_by("topic").aggregate([("events", "sum")]).rename_columns({"events_sum": "events"}).sort_by("topic")
    topics, events = rows["topic"].to_numpy(), rows["events"].to_numpy().astype(np.int64)
    return _Counts(topics[events != 0], events[events != 0])


def _instance(trace: Trace, service: str, counts: _Counts) -> Instance:
    table, wanted = "subscriptions", {"service": service}
    if not trace.has(table):
        table, wanted = "subscription_log", wanted | {"action": "subscribe"}
    dataset = _dataset(trace, table)
    columns = _pairs(dataset, wanted, counts)
    if table == "subscription_log":
        columns = _once(columns)
    # Taken out of the list, so that nobody but the instance holds them.
    return instance(columns.pop(0), columns.pop(0), counts.events)


def _pairs(dataset: ds.FileSystemDataset, wanted: dict[str, str], counts: _Counts) -> list[NDArray[Any]]:
    """The subscribers of all pairs whose topic has events, and where that topic stands among `counts`."""
    rows = dataset.count_rows()
    subscriber: NDArray[Any] = np.empty(rows, np.int32)
    topic = np.empty(rows, np.int32)
    filled = 0
    for batch in _matching(dataset, ["subscriber", "topic"], wanted):
        who, places = batch["subscriber"].to_numpy(), counts.places(batch["topic"].to_numpy())
        if subscriber.dtype == np.int32 and len(who) and not -_INT32 <= who.min() <= who.max() < _INT32:
            subscriber = subscriber.astype(np.int64)
        if len(who) and places.min() < 0:
            there = places >= 0
            who, places = who[there], places[there]
        end = filled + len(who)
        subscriber[filled:end], topic[filled:end] = who, places
        filled = end
    return [subscriber[:filled], topic[:filled]]


def _matching(dataset: ds.FileSystemDataset, columns: list[str], wanted: dict[str, str]) -> Iterator[pa.RecordBatch]:
    """The rows with the `wanted` values, in any order; values are not looked at where statistics say that all are the same."""
    compared = reduce(and_, (ds.field(column) == value for column, value in wanted.items()))
    codes = ds.ParquetFileFormat(dictionary_columns=set(wanted))  # codes are faster to compare than strings
    sure: list[ds.ParquetFileFragment] = []
    others: list[ds.ParquetFileFragment] = []
    for fragment in dataset.get_fragments():
        for part in fragment.split_by_row_group(compared):
            [group] = part.row_groups
            if _all_match(group.metadata, wanted):
                sure.append(part)
            else:
                others.append(codes.make_fragment(part.path, part.filesystem, row_groups=[group.id]))
    yield from _batches(ds.FileSystemDataset(sure, dataset.schema, dataset.format), columns, None)
    if others:
        yield from _batches(ds.FileSystemDataset(others, others[0].physical_schema, codes), columns, compared)


def _all_match(group: RowGroupMetaData, wanted: dict[str, str]) -> bool:
    """Whether statistics show that each row has the `wanted` values. Bounds may be cut short, but not if both are the value."""
    known = {each.path_in_schema: each.statistics for each in map(group.column, range(group.num_columns))}
    found = [(known.get(column), value) for column, value in wanted.items()]
    return all(each and each.has_min_max and each.null_count == 0 and each.min == each.max == value for each, value in found)


def _once(columns: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Each pair once: whoever comes and goes subscribes again and again."""
    found = pa.table(columns, names=["subscriber", "topic"]).group_by(["subscriber", "topic"]).aggregate([])
    return [found["subscriber"].to_numpy(), found["topic"].to_numpy()]


def _batches(dataset: ds.Dataset, columns: Any, wanted: pc.Expression | None) -> Iterator[pa.RecordBatch]:
    yield from dataset.to_batches(columns=columns, filter=wanted, batch_size=_ROWS, batch_readahead=_AHEAD, fragment_readahead=1)


def _dataset(trace: Trace, table: str) -> ds.FileSystemDataset:
    """Raises NotSupported if there are no rows, TraceError if their files are gone."""
    trace.info(table)
    files = trace.files(table)
    if not files:
        raise TraceError(f"{trace.path / table}: the manifest says that there are {table}, but there is no *.parquet file")
    return ds.dataset(files, format="parquet")


def _notes(trace: Trace) -> tuple[str, ...]:
    return tuple(
        f"{table} are a sample: {info.fraction:.3g} of all, by {info.sampled_by}"
        for table, info in trace.manifest.tables.items()
        if info.fraction < 1 and table in ("subscriptions", "publications")
    )
