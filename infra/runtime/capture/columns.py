"""Rows as roles tell them -> columns of a trace. Each name is hashed once for a segment. What is done for every row, Arrow does.

It imports pyarrow, so it is imported by nothing but an open capture.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from infra.kernel.capture import Change, Numbers, Publications, Visit
from infra.kernel.trace import TABLES

_TYPES: Final = {"int64": pa.int64(), "string": pa.string()}


def publications(rows: Publications, numbers: Numbers, site: str) -> pa.Table:
    """Returns events at `site`, in order of time."""
    services, subjects = _subjects(rows.topics, numbers)
    return _table("publications", rows.times, services, subjects, pa.repeat(site, len(rows)), _kinds(rows.kinds))


def sessions(rows: Sequence[Visit], numbers: Numbers, site: str) -> pa.Table:
    """Returns connections at `site` that begin and end, in order of time."""
    times, users, mobile, actions = zip(*rows, strict=True)
    devices = pc.if_else(pa.array(mobile), "mobile", "desktop")
    return _table("sessions", times, _users(users, numbers), pa.repeat(site, len(rows)), devices, actions)


def subscription_log(rows: Sequence[Change], numbers: Numbers, site: str) -> pa.Table:
    """Returns changes, in order of time. Each row has a site of its own."""
    times, users, topics, sites, actions = zip(*rows, strict=True)
    services, subjects = _subjects(topics, numbers)
    return _table("subscription_log", times, _users(users, numbers), services, subjects, sites, actions)


MAKERS: Final[dict[str, Callable[[Any, Numbers, str], pa.Table]]] = {
    "publications": publications,
    "sessions": sessions,
    "subscription_log": subscription_log,
}


def _table(name: str, times: Sequence[float], *columns: Any) -> pa.Table:
    fields = [pa.field(each.name, _TYPES[each.type], nullable=each.may_be_null) for each in TABLES[name].columns]
    times_ms = pc.cast(pc.multiply(pa.array(times, pa.float64()), 1000.0), pa.int64(), safe=False)
    arrays = [_array(column, field.type) for column, field in zip((times_ms, *columns), fields, strict=True)]
    table = pa.Table.from_arrays(arrays, schema=pa.schema(fields))
    rises = pc.all(pc.greater_equal(times_ms[1:], times_ms[:-1])).as_py()
    return table if rises else table.sort_by("time_ms")  # a clock may have been set back


def _array(column: Any, type_: pa.DataType) -> pa.Array:
    return column.cast(type_) if isinstance(column, pa.Array) else pa.array(column, type_)


def _subjects(topics: Sequence[bytes], numbers: Numbers) -> tuple[pa.Array, pa.Array]:
    """Returns the services and the numbers of `topics`."""
    coded = pa.array(topics, pa.binary()).dictionary_encode()
    found = [numbers.topic(topic) for topic in coded.dictionary.to_pylist()]
    services, subjects = zip(*found, strict=True)
    return pa.array(services, pa.string()).take(coded.indices), pa.array(subjects, pa.int64()).take(coded.indices)


def _kinds(kinds: Sequence[bytes]) -> pa.Array:
    """Returns the kinds, null where there is none."""
    coded = pa.array(kinds, pa.binary()).dictionary_encode()
    return pa.array([kind.decode(errors="replace") or None for kind in coded.dictionary.to_pylist()], pa.string()).take(coded.indices)


def _users(names: Sequence[str], numbers: Numbers) -> pa.Array:
    coded = pa.array(names, pa.string()).dictionary_encode()
    return pa.array([numbers.user(name) for name in coded.dictionary.to_pylist()], pa.int64()).take(coded.indices)
