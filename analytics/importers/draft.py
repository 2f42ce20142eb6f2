"""A trace in the making: what an importer found, put into the tables of a trace."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from infra.kernel.trace import SOCIAL_SERVICES, Service

SECOND_MS: Final = 1000
DAY_MS: Final = 86_400_000

Numbers = NDArray[np.int64]


class Draft:
    """The tables of one service. Known faults of a source are dropped here and counted in `notes`.

    - `service`: whose tables they are.
    - `unit_ms`: how exact the times are. `period_ms` goes from the beginning of the first unit that has a row to the end of the last; it is
      None without times.
    """

    def __init__(self, service: Service = "presence", unit_ms: int = SECOND_MS) -> None:
        self.tables: dict[str, Mapping[str, Any]] = {}
        self.notes: list[str] = []
        self.period_ms: tuple[int, int] | None = None
        # Replaces the limits of the form where this source has others.
        self.limits: Mapping[str, str] | None = None
        self._service = service
        self._unit_ms = unit_ms

    def follow(self, subscriber: Numbers, topic: Numbers, *, mutual: bool = False, repeats: str = "repeated pairs") -> None:
        """Adds subscriptions, once each.

        `subscriber`, `topic`: of each pair. `mutual`: adds them the other way round, too. `repeats`: what pairs that come again are called.
        """
        pairs = pd.DataFrame({"subscriber": subscriber, "topic": topic})
        if self._service in SOCIAL_SERVICES:
            pairs = self._fewer(pairs, pairs[pairs.subscriber != pairs.topic], "rows of a user who follows the same user")
        pairs = self._fewer(pairs, pairs.drop_duplicates(), repeats)
        if mutual:
            turned = pairs.rename(columns={"subscriber": "topic", "topic": "subscriber"})
            pairs = pd.concat([pairs, turned[pairs.columns]]).drop_duplicates()
        self._add("subscriptions", pairs.sort_values(["subscriber", "topic"]))

    def publish(self, time_ms: Numbers, topic: Numbers, *, kind: pa.Array | None = None, once: str = "") -> None:
        """Adds publications in order of time, and their counts.

        `time_ms`, `topic`, `kind`: of each. `once`: rows with equal time and topic are one event, and are called that in `notes`.
        """
        events = pd.DataFrame({"time_ms": time_ms, "topic": topic})
        if once:
            events = self._fewer(events, events.drop_duplicates(), once)
        # Stable: rows of the same moment stay as the source has them, so the same file gives the same trace.
        order = np.argsort(events["time_ms"].to_numpy(), kind="stable")
        events = events.iloc[order]
        self._add("publications", events, {} if kind is None else {"kind": kind.take(pa.array(order))})
        self._cover(events["time_ms"].to_numpy())
        topics, counts = np.unique(events["topic"].to_numpy(), return_counts=True)
        self.total(topics, counts)

    def total(self, topic: Numbers, events: Numbers) -> None:
        """Adds the events of each topic. Several rows of one topic are added up."""
        sums = pd.DataFrame({"topic": topic, "events": events}).groupby("topic", as_index=False).sum()
        self._add("counts", sums)

    def begin(self, time_ms: Numbers, subscriber: Numbers, topic: Numbers) -> None:
        """Adds the times at which subscriptions began, and the subscriptions themselves.

        `time_ms`, `subscriber`, `topic`: of each row. A pair that comes again began the first time.
        """
        rows = pd.DataFrame({"time_ms": time_ms, "subscriber": subscriber, "topic": topic}).sort_values("time_ms", kind="stable")
        if self._service in SOCIAL_SERVICES:
            rows = rows[rows.subscriber != rows.topic]
        rows = rows.drop_duplicates(["subscriber", "topic"])
        self._add("subscription_log", rows, {"action": pa.repeat("subscribe", len(rows))})
        self._cover(rows["time_ms"].to_numpy())
        self.follow(subscriber, topic)

    def _fewer(self, rows: pd.DataFrame, kept: pd.DataFrame, what: str) -> pd.DataFrame:
        if dropped := len(rows) - len(kept):
            self.notes.append(f"dropped: {dropped:,} {what}")
        return kept

    def _add(self, table: str, rows: pd.DataFrame, more: Mapping[str, Any] | None = None) -> None:
        columns = {str(name): rows[name].to_numpy() for name in rows.columns}
        self.tables[table] = columns | {"service": pa.repeat(self._service, len(rows))} | dict(more or {})

    def _cover(self, time_ms: Numbers) -> None:
        if not len(time_ms):
            return
        unit = self._unit_ms
        start, end = int(time_ms.min()) // unit * unit, (int(time_ms.max()) // unit + 1) * unit
        if self.period_ms is not None:
            start, end = min(start, self.period_ms[0]), max(end, self.period_ms[1])
        self.period_ms = start, end
