"""`/v1/stats`: the same numbers as `/metrics`, as one JSON document for people, scripts and `segue top`."""

import os
import socket
import time
from collections.abc import Callable, Mapping, Sequence

import msgspec
from prometheus_client import ProcessCollector

from .metrics import Observed, Value


class ProcessStats(msgspec.Struct, frozen=True, kw_only=True):
    """One process of the operating system. `id` tells processes apart, also after a restart. None: this platform does not tell."""

    id: str
    cpu_s: float
    uptime_s: float
    loop_lag_s: float
    rss_bytes: float | None
    open_fds: float | None


class RoleStats(msgspec.Struct, frozen=True, kw_only=True):
    """One role object. `not_ready` says why it is not ready, None when it is."""

    role: str
    node: str
    site: str
    not_ready: str | None
    counters: dict[str, float | dict[str, float]]


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """The document of one process: itself, and its roles."""

    process: ProcessStats
    roles: list[RoleStats]


class StatsReader:
    """The maker of this process's document. `lag_s` tells the lag of the loop; `uptime_s` counts from here."""

    def __init__(self, roles: Sequence[Observed], lag_s: Callable[[], float]) -> None:
        self._roles = roles
        self._lag_s = lag_s
        self._started_s = time.monotonic()
        self._platform = ProcessCollector(registry=None)

    def read(self) -> Stats:
        """Returns the numbers of this moment."""
        return Stats(process=self._process(), roles=[_role(role) for role in self._roles])

    def _process(self) -> ProcessStats:
        platform = {family.name: family.samples[0].value for family in self._platform.collect()}
        # A process id returns after a restart, and every container has a 1: the start time makes it unique.
        started_s = platform.get("process_start_time_seconds", 0.0)
        return ProcessStats(
            id=f"{socket.gethostname()}/{os.getpid()}/{started_s:.2f}",
            cpu_s=time.process_time(),
            uptime_s=time.monotonic() - self._started_s,
            loop_lag_s=self._lag_s(),
            rss_bytes=platform.get("process_resident_memory_bytes"),
            open_fds=platform.get("process_open_fds"),
        )


def _role(role: Observed) -> RoleStats:
    counters = {name: _plain(value) for name, value in role.counters().items()}
    return RoleStats(role=role.role, node=role.node, site=role.site, not_ready=role.ready(), counters=counters)


def _plain(value: Value) -> float | dict[str, float]:
    return dict(value) if isinstance(value, Mapping) else value
