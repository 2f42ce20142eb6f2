"""The script of a replay: its steps in order, made from the tables of a trace for some of its users.

Times are seconds since the start, at speed 1.
"""

import heapq
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from numpy.typing import NDArray

from analytics.errors import NotSupported, TraceError
from analytics.trace import Trace

What = Literal["connect", "subscribe", "publish", "unsubscribe", "disconnect"]
# The order of steps of one moment: users who come are there before anything is published, and users who go still hear it.
_ORDER: Final[tuple[What, ...]] = ("connect", "subscribe", "publish", "unsubscribe", "disconnect")
_URIS: Final = {
    "presence": "hm://presence/user/u{0}/",
    "playlist": "hm://playlist/user/p{0}/playlist/p{0}/",
    "social": "hm://presence/user/u{0}/",  # the real feed of a user, who joined, can be followed by that user alone
    "artist": "hm://notifications/feed/a{0}%new-album/",
}
_KINDS: Final = {"presence": "play", "playlist": "edit", "social": "joined", "artist": "album"}


class ScriptStep(NamedTuple):
    """One step at `at_s`. `topics` are URIs. A publication has one of them, and a `kind`; the other steps have a `user`."""

    at_s: float
    what: What
    user: str = ""
    topics: tuple[str, ...] = ()
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Script:
    """The replay of a part of a trace.

    - `users`: the users who play.
    - `pairs`: how many pairs of a user and a topic there are.
    - `publications`: how many events are published.
    - `left_out`: how many are not played, because none of `users` follows their topic.
    - `seconds`: the length of the part.
    - `steps`: what users do, in order.
    - `said`: what is published, in order.
    """

    users: tuple[str, ...]
    pairs: int
    publications: int
    left_out: int
    seconds: float
    steps: Sequence[ScriptStep]
    said: "PublicationSteps"

    def __iter__(self) -> Iterator[ScriptStep]:
        """Returns an iterator over all steps in order of time."""
        return heapq.merge(self.steps, self.said, key=lambda step: (step.at_s, _ORDER.index(step.what)))


class PublicationSteps:
    """The publications of a script. They are kept as arrays, for there may be millions; iterating makes steps of them."""

    def __init__(self, service: str, at_ms: NDArray[np.int64], topics: NDArray[np.int64], kinds: pa.Array, start_ms: int) -> None:
        order = np.argsort(at_ms, kind="stable")
        self._service, self._start_ms = service, start_ms
        self._at_ms, self._topics, self._kinds = at_ms[order], topics[order], kinds.take(pa.array(order))

    def __len__(self) -> int:
        return len(self._at_ms)

    def __iter__(self) -> Iterator[ScriptStep]:
        for at_ms, topic, kind in zip(self._at_ms, self._topics, self._kinds, strict=True):
            at_s = (int(at_ms) - self._start_ms) / 1000
            yield ScriptStep(at_s, "publish", "", (uri(self._service, topic),), kind.as_py() or _KINDS[self._service])


def uri(service: str, topic: int) -> str:
    """Returns the URI on which `topic` of a trace is played; `service` is the service that it belongs to."""
    return _URIS[service].format(topic)


def script(trace: Trace, *, service: str, users: int, from_s: float, seconds: float | None, seed: int) -> Script:
    """Returns what `users` users of `trace` do, and what is published on the topics of `service` that they follow.

    `seed` chooses the users; `from_s` and `seconds` choose a part of the period. Where the trace has a subscription log, users come and
    go as in it; otherwise all are there from the start. Raises TraceError and NotSupported.
    """
    start_ms, end_ms = _period(trace)
    start_ms += int(from_s * 1000)
    end_ms = end_ms if seconds is None else min(end_ms, start_ms + int(seconds * 1000))
    if end_ms <= start_ms:
        raise TraceError(f"{trace.path}: there is nothing of it after {from_s:g} s; its period is shorter")
    has_log = trace.has("subscription_log")
    follows = _rows(trace, "subscription_log" if has_log else "subscriptions", pc.field("service") == service)
    if not len(follows):
        raise NotSupported(f"{trace.path}: nobody follows a topic of {service}; choose another --service")
    chosen = _choose(np.unique(follows["subscriber"].to_numpy()), users, seed)
    follows = follows.filter(pc.is_in(follows["subscriber"], pa.array(chosen)))
    steps = _comings_and_goings(follows, start_ms, end_ms, service) if has_log else _everybody(follows, service)
    said, left_out = _said(trace, service, follows, start_ms, end_ms)
    pairs = len(set(zip(follows["subscriber"].to_pylist(), follows["topic"].to_pylist(), strict=True)))
    return Script(tuple(map(_name, chosen)), pairs, len(said), left_out, (end_ms - start_ms) / 1000, steps, said)


def _name(user: int) -> str:
    return f"u{user}"


def _period(trace: Trace) -> tuple[int, int]:
    about = trace.manifest
    if about.start_ms is None or about.end_ms is None or not trace.has("publications"):
        raise NotSupported(f"{trace.path}: has no publications with times, so there is nothing to replay")
    return about.start_ms, about.end_ms


def _rows(trace: Trace, table: str, condition: pc.Expression) -> pa.Table:
    trace.info(table)
    return ds.dataset(trace.files(table), format="parquet").to_table(filter=condition)


def _choose(found: NDArray[np.int64], users: int, seed: int) -> list[int]:
    numbers = sorted(map(int, found))
    return numbers if len(numbers) <= users else sorted(random.Random(f"{seed} users").sample(numbers, users))


def _everybody(follows: pa.Table, service: str) -> list[ScriptStep]:
    """Returns the steps where all users are there from the start to the end."""
    rows = sorted(zip(follows["subscriber"].to_pylist(), follows["topic"].to_pylist(), strict=True))
    steps = []
    for user, group in groupby(rows, key=lambda row: row[0]):
        topics = tuple(dict.fromkeys(uri(service, topic) for _, topic in group))
        steps += [ScriptStep(0.0, "connect", _name(user)), ScriptStep(0.0, "subscribe", _name(user), topics)]
    return sorted(steps, key=lambda step: _ORDER.index(step.what))


def _comings_and_goings(follows: pa.Table, start_ms: int, end_ms: int, service: str) -> list[ScriptStep]:
    """Returns the steps of the log: a user connects with the first topic, and disconnects when they unsubscribe the last one."""
    columns = (follows[name].to_pylist() for name in ("time_ms", "subscriber", "action", "topic"))
    rows = sorted((row for row in zip(*columns, strict=True) if row[0] < end_ms), key=lambda row: (row[0], row[2], row[1]))
    held: dict[int, set[int]] = {}
    steps: list[ScriptStep] = []
    for (time_ms, action, user), group in groupby(rows, key=lambda row: (row[0], row[2], row[1])):
        topics = [topic for *_, topic in group]
        at_s = max(0.0, (time_ms - start_ms) / 1000)
        steps += _change(held.setdefault(user, set()), at_s, action, user, topics, service)
    return sorted(_settled(steps), key=lambda step: (step.at_s, _ORDER.index(step.what)))


def _change(held: set[int], at_s: float, action: str, user: int, topics: list[int], service: str) -> Iterator[ScriptStep]:
    name, uris = _name(user), tuple(uri(service, topic) for topic in dict.fromkeys(topics))
    if action == "subscribe":
        if not held:
            yield ScriptStep(at_s, "connect", name)
        held.update(topics)
        yield ScriptStep(at_s, "subscribe", name, uris)
    elif held:
        held.difference_update(topics)
        yield ScriptStep(at_s, "unsubscribe", name, uris)
        if not held:
            yield ScriptStep(at_s, "disconnect", name)


def _settled(steps: list[ScriptStep]) -> Iterator[ScriptStep]:
    """Yields the steps, where all that happened before the start (at second 0 now) is replaced by its result."""
    standing: dict[str, dict[str, None]] = {}
    for step in steps:
        if step.at_s > 0:
            continue
        topics = standing.setdefault(step.user, {})
        if step.what == "subscribe":
            topics.update(dict.fromkeys(step.topics))
        elif step.what == "unsubscribe":
            for topic in step.topics:
                topics.pop(topic, None)
    for user, topics in standing.items():
        if topics:
            yield ScriptStep(0.0, "connect", user)
            yield ScriptStep(0.0, "subscribe", user, tuple(topics))
    yield from (step for step in steps if step.at_s > 0)


def _said(trace: Trace, service: str, follows: pa.Table, start_ms: int, end_ms: int) -> tuple[PublicationSteps, int]:
    time: Any = pc.field("time_ms")
    found = _rows(trace, "publications", (pc.field("service") == service) & (time >= start_ms) & (time < end_ms))
    kept = found.filter(pc.is_in(found["topic"], follows["topic"].combine_chunks().unique()))
    columns = (kept[name].combine_chunks() for name in ("time_ms", "topic", "kind"))
    at_ms, topics, kinds = columns
    return PublicationSteps(service, at_ms.to_numpy(), topics.to_numpy(), kinds, start_ms), len(found) - len(kept)
