"""Capture: a role writes down what it sees of the workload, as a trace for analytics (docs/capture.md). Off by default.

The role appends what it sees to lists and never waits. A thread of the capture makes Parquet files of them, segment by segment. When it
cannot keep up, or cannot write at all, rows are dropped and counted, and the engine goes on: a trace is worth less than an event.
"""

import asyncio
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Final, Literal

from infra.kernel.capture import INBOX_TAG, Change, Numbers, Publications, Rows, Site, Visit, is_subscription, kind_in
from infra.kernel.capture_options import CaptureOptions
from infra.kernel.errors import ConfigError
from infra.kernel.events import Event
from infra.kernel.topics import Topic
from infra.runtime.logs import Logger

from ..metrics import Metric
from ..secret_file import create_secret, read_secret
from .segments import Segments

METRICS: Final = (
    Metric("capture_rows_total", "counter", "Rows of a trace that were written, by table.", "rows", "table"),
    Metric("capture_dropped_total", "counter", "Rows of a trace that were not, because of a full queue or disk.", "rows", "table"),
)


class Capture:
    """The capture of one node; a `Recorder`. `open` makes one, `close` ends it. All but its thread runs on the loop."""

    def __init__(self, options: CaptureOptions, segments: Segments, wall: Callable[[], float], log: Logger) -> None:
        self.rows: Counter[str] = Counter()
        self.dropped: Counter[str] = Counter()
        self._segments, self._wall, self._log = segments, wall, log
        self._loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, "capture")
        self._segment_rows, self._segment_s = options.segment_rows, options.segment_s
        self._room = options.queue_rows
        self._publications = Publications()
        self._sessions: list[Visit] = []
        self._changes: list[Change] = []
        self._is_open, self._is_closed = True, False
        self._writing: set[asyncio.Future[None]] = set()
        self._hand_over()  # a manifest, so that a folder that cannot be written is known now
        self._timer = self._loop.call_later(self._segment_s, self._grow_old)

    @classmethod
    def open(cls, options: CaptureOptions, role: str, site: str, node: str, *, wall: Callable[[], float], log: Logger) -> "Capture | None":
        """Returns the capture of the node `node` of `role` at `site`; None when `options` set no path.

        `wall` is Unix time in seconds; `log` is told what cannot be written. Raises ConfigError when pyarrow is missing, or the folder
        or the key cannot be used.
        """
        if not options.path:
            return None
        options.check()
        path, key_file = Path(options.path), Path(options.key_file)
        if key_file.resolve().is_relative_to(path.resolve()):
            raise ConfigError(f"capture.key_file: {key_file} lies in the trace, which is to be given away; keep the key elsewhere")
        segments = Segments(path, f"{role}-{site}-{node}", site, Numbers(_key_in(key_file)), int(wall() * 1000))
        return cls(options, segments, wall, log)

    # What roles tell, as they have it: this stands on the way of every event.

    def event(self, event: Event) -> None:
        """Records an event that was published here."""
        self._add(event.topic, kind_in(event.tail))

    def publication(self, topic: Topic, kind: str) -> None:
        """Records that something of this `kind` was published on `topic` here, other than by an event."""
        self._add(topic, kind.encode())

    def _add(self, topic: Topic, kind: bytes) -> None:
        rows = self._publications
        if topic[0] != INBOX_TAG:
            rows.add(self._wall(), topic, kind)
            if len(rows.times) >= self._segment_rows:
                self._full("publications", rows)

    def session(self, user: str, mobile: bool, action: Literal["join", "leave"]) -> None:
        """See `Recorder`."""
        rows = self._sessions
        rows.append((self._wall(), user, mobile, action))
        if len(rows) >= self._segment_rows:
            self._full("sessions", rows)

    def subscription(self, user: str, topic: Topic, action: Literal["subscribe", "unsubscribe"], site: Site) -> None:
        """See `Recorder`."""
        rows = self._changes
        if is_subscription(user, topic):
            rows.append((self._wall(), user, topic, site, action))
            if len(rows) >= self._segment_rows:
                self._full("subscription_log", rows)

    # Segments.

    def _full(self, table: str, rows: Rows) -> None:
        """Begins a new segment, because `rows` are as many as one may have. If too much waits, the newest row is dropped."""
        if not self._is_open or not self._hand_over():
            rows.pop()
            self.dropped[table] += 1

    def _grow_old(self) -> None:
        self._timer = self._loop.call_later(self._segment_s, self._grow_old)
        if self._publications or self._sessions or self._changes:
            self._hand_over()

    def _hand_over(self) -> bool:
        """Gives all that was told to the thread. Returns False, and does nothing, if too much waits for it."""
        rows = {table: some for table, some in self._told().items() if some}
        counts = {table: len(some) for table, some in rows.items()}
        if sum(counts.values()) > self._room:
            return False
        self._room -= sum(counts.values())
        self._publications, self._sessions, self._changes = Publications(), [], []
        write = partial(self._segments.write, rows, self.dropped.copy(), int(self._wall() * 1000) + 1)
        writing = self._loop.run_in_executor(self._thread, write)
        self._writing.add(writing)
        writing.add_done_callback(partial(self._written, counts, rows))
        return True

    def _told(self) -> dict[str, Rows]:
        """Returns what was told since the last segment."""
        return {"publications": self._publications, "sessions": self._sessions, "subscription_log": self._changes}

    def _written(self, counts: dict[str, int], left: dict[str, Rows], writing: "asyncio.Future[None]") -> None:
        """Counts the rows of a segment that the thread is done with: `counts` by table, of which `left` could not be written."""
        self._writing.discard(writing)
        self._room += sum(counts.values())
        for table, number in counts.items():
            (self.dropped if table in left else self.rows)[table] += number
        if (trouble := writing.exception()) is not None and self._is_open:
            self._log.error("capture stopped", reason=str(trouble))
            self._stop()

    def _stop(self) -> None:
        """Takes no rows any more. Each is dropped, and so are those that wait."""
        self._is_open, self._segment_rows = False, 0
        self._timer.cancel()
        for table, rows in self._told().items():
            if rows:
                self.dropped[table] += len(rows)
                rows.clear()

    async def close(self) -> None:
        """Writes everything that was told so far, then nothing more. May be called twice. Cancelling leaves it to its thread."""
        if not self._is_closed:
            self._is_closed = True
            self._room = sys.maxsize  # whatever still waits
            self._hand_over()  # the manifest in any case: it tells what was dropped
            self._stop()
        if self._writing:
            await asyncio.wait(self._writing)
        self._thread.shutdown(wait=False)

    def counters(self) -> dict[str, dict[str, int]]:
        """Returns the figures of `METRICS`."""
        return {"capture_rows_total": dict(self.rows), "capture_dropped_total": dict(self.dropped)}


def _key_in(path: Path) -> bytes:
    """Returns the key that the secret in `path` makes. A secret is made where there is none. Raises ConfigError."""
    try:
        create_secret(path)
    except OSError as error:
        raise ConfigError(f"capture.key_file: {path} cannot be made: {error.strerror}") from None
    return blake2b(read_secret(path), digest_size=32).digest()
