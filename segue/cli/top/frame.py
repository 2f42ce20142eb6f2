"""One frame of `segue top`: two snapshots of admin doors in, the figures of each site out.

A rate comes from the counters of one role in both snapshots, so a role that came or went between them adds nothing. A counter that
fell has started again from 0. Where there is nothing to compare, a figure is None, not 0. Memory and CPU belong to processes: where one
process serves several sites, only the total has them.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from infra.kernel.printable import printable
from infra.runtime.stats import ProcessStats, RoleStats, Stats

MAX_SHOWN_CHARS: Final = 300


@dataclass(frozen=True, slots=True)
class Unreachable:
    """An admin door that did not answer, and why."""

    reason: str


Snapshot: TypeAlias = Mapping[str, Stats | Unreachable]
"""The answers of admin doors by their address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopRow:
    """The figures of one site, or of all sites. Rates are per second; `drops` counts since the roles started."""

    site: str
    roles: int
    connections: float
    topics: float
    subscriptions: float
    events_per_s: float | None
    deliveries_per_s: float | None
    site_copies_per_s: float | None
    queue_bytes: float
    drops: float
    drops_per_s: float | None
    rss_bytes: float | None
    cpu_percent: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopView:
    """All that one frame shows. `not_ready` and `unreachable` hold pairs: who, and why."""

    rows: tuple[TopRow, ...]
    total: TopRow
    processes: int
    loop_lag_s: float
    not_ready: tuple[tuple[str, str], ...]
    unreachable: tuple[tuple[str, str], ...]


def frame(previous: Snapshot, current: Snapshot, dt_s: float) -> TopView:
    """Returns the figures of `current`, with rates over the `dt_s` seconds since `previous` (empty before the first one)."""
    before, now = _read(previous), _read(current)
    rows = tuple(_row(site, {key for key in now.roles if key.site == site}, before, now, dt_s) for site in now.sites())
    return TopView(
        rows=rows,
        total=_row("total", now.roles.keys(), before, now, dt_s),
        processes=len(now.processes),
        loop_lag_s=max((process.loop_lag_s for process in now.processes.values()), default=0.0),
        not_ready=tuple((f"{key.site} {key.role} {key.node}", _shown(role.not_ready)) for key, role in now.roles.items() if role.not_ready),
        unreachable=tuple((address, _shown(said.reason)) for address, said in current.items() if isinstance(said, Unreachable)),
    )


class _Key(NamedTuple):
    site: str
    role: str
    node: str


@dataclass(frozen=True, slots=True)
class _Reading:
    """A snapshot by role and by process. Each is there once, however many doors showed it."""

    roles: dict[_Key, RoleStats]
    processes: dict[str, ProcessStats]
    homes: dict[_Key, str]
    """The id of the process of each role."""

    def sites(self) -> list[str]:
        return sorted({key.site for key in self.roles})


def _read(snapshot: Snapshot) -> _Reading:
    reading = _Reading({}, {}, {})
    for said in snapshot.values():
        if isinstance(said, Stats):
            reading.processes[said.process.id] = said.process
            for role in said.roles:
                key = _Key(_shown(role.site), _shown(role.role), _shown(role.node))
                reading.roles[key] = role
                reading.homes[key] = said.process.id
    return reading


def _shown(text: str) -> str:
    """Returns what an admin door has said as it may stand on a terminal."""
    return printable(text[:MAX_SHOWN_CHARS])


_QUEUES: Final = ("broker_link_queue_bytes", "aggregator_link_queue_bytes", "accesspoint_outbox_bytes")
_DROPS: Final = ("broker_link_drops_total", "aggregator_link_drops_total", "accesspoint_shed_total")


def _row(site: str, keys: Collection[_Key], before: _Reading, now: _Reading, dt_s: float) -> TopRow:
    roles = [now.roles[key] for key in keys]
    pairs = [(before.roles[key], now.roles[key]) for key in keys if key in before.roles]
    own = _own_processes(keys, now)
    return TopRow(
        site=site,
        roles=len(roles),
        connections=_level(roles, "accesspoint_connections"),
        topics=_level(roles, "accesspoint_topics"),
        subscriptions=_level(roles, "accesspoint_subscriptions"),
        events_per_s=_rate(pairs, dt_s, "broker_events_accepted_total"),
        deliveries_per_s=_rate(pairs, dt_s, "accesspoint_deliveries_total"),
        site_copies_per_s=_rate(pairs, dt_s, "broker_site_copies_total"),
        queue_bytes=_level(roles, *_QUEUES),
        drops=_level(roles, *_DROPS),
        drops_per_s=_rate(pairs, dt_s, *_DROPS),
        rss_bytes=_rss_bytes(own),
        cpu_percent=_cpu_percent(before.processes, own, dt_s),
    )


def _level(roles: Iterable[RoleStats], *names: str) -> float:
    return sum(_number(role, name) for role in roles for name in names)


def _rate(pairs: Iterable[tuple[RoleStats, RoleStats]], dt_s: float, *names: str) -> float | None:
    counted = [(_number(old, name), _number(new, name)) for old, new in pairs for name in names if name in new.counters]
    grown = sum(new - old if new >= old else new for old, new in counted)
    return grown / dt_s if counted and dt_s > 0 else None


def _number(role: RoleStats, name: str) -> float:
    value = role.counters.get(name, 0.0)
    return sum(value.values()) if isinstance(value, dict) else value


def _own_processes(keys: Collection[_Key], now: _Reading) -> list[ProcessStats] | None:
    """Returns the processes that run roles of `keys`; None when one of them runs other roles, too."""
    ids = {now.homes[key] for key in keys}
    if any(home in ids and key not in keys for key, home in now.homes.items()):
        return None
    return [now.processes[id_] for id_ in sorted(ids)]


def _rss_bytes(processes: list[ProcessStats] | None) -> float | None:
    known = [process.rss_bytes for process in processes or () if process.rss_bytes is not None]
    return sum(known) if known else None


def _cpu_percent(before: Mapping[str, ProcessStats], processes: list[ProcessStats] | None, dt_s: float) -> float | None:
    spent_s = [process.cpu_s - before[process.id].cpu_s for process in processes or () if process.id in before]
    return 100.0 * sum(spent_s) / dt_s if spent_s and dt_s > 0 else None
