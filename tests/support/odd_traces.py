"""Small traces that are odd and valid: those that have a name, and those that hypothesis makes up.

Everything that reads traces must have a page or a sentence for each of them.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from hypothesis import strategies as st

from infra.kernel.manifest import Manifest, TableInfo
from infra.kernel.trace import SERVICES, SOCIAL_SERVICES

from .traces import write

HOUR_MS: Final = 3_600_000
DAY_MS: Final = 24 * HOUR_MS
YEAR_MS: Final = 31_556_952_000
LARGEST: Final = 2**63 - 1
_START_MS: Final = 1_699_999_200_000
_TEN_DAYS: Final = Manifest(
    name="odd",
    origin="imported",
    source="a test",
    start_ms=_START_MS,
    end_ms=_START_MS + 10 * DAY_MS,
    time_zone="Europe/Stockholm",
    pseudonymisation="none",
)
_TIMELESS: Final = msgspec.structs.replace(_TEN_DAYS, start_ms=None, end_ms=None)
_SITES: Final = ("lon", "sto")
Columns = dict[str, list[Any]]


class OddTrace(NamedTuple):
    """A trace to write: columns by table, and a manifest whose `tables` only tell which of them are samples."""

    about: Manifest
    tables: Mapping[str, Columns]

    def write(self, path: Path) -> Path:
        """Writes the trace and returns `path`."""
        return write(path, self.about, **self.tables)


def _lasting(period_ms: int, start_ms: int = _START_MS) -> Manifest:
    return msgspec.structs.replace(_TEN_DAYS, start_ms=start_ms, end_ms=start_ms + period_ms)


def _pairs(*pairs: tuple[int, int], service: str = "presence", site: str | None = None) -> Columns:
    return {
        "subscriber": [subscriber for subscriber, _ in pairs],
        "service": [service] * len(pairs),
        "topic": [topic for _, topic in pairs],
        "site": [site] * len(pairs),
    }


def _said(*said: tuple[int, int], service: str = "presence", site: str | None = None, kind: str | None = "play") -> Columns:
    return {
        "time_ms": [time_ms for time_ms, _ in said],
        "service": [service] * len(said),
        "topic": [topic for _, topic in said],
        "site": [site] * len(said),
        "kind": [kind] * len(said),
    }


def _counted(*counted: tuple[int, int]) -> Columns:
    return {
        "service": ["presence"] * len(counted),
        "topic": [topic for topic, _ in counted],
        "events": [events for _, events in counted],
    }


def _gone(*gone: tuple[int, int, str]) -> Columns:
    return {"time_ms": [at for at, _, _ in gone], "user": [user for _, user, _ in gone], "action": [action for _, _, action in gone]}


def _log(*asked: tuple[int, int, int, str]) -> Columns:
    return {
        "time_ms": [at for at, _, _, _ in asked],
        "subscriber": [subscriber for _, subscriber, _, _ in asked],
        "service": ["presence"] * len(asked),
        "topic": [topic for _, _, topic, _ in asked],
        "action": [action for _, _, _, action in asked],
    }


def _ring(users: int) -> Columns:
    return _pairs(*((user, (user + 1) % users) for user in range(users)))


_LATER_MS: Final = _START_MS + HOUR_MS
ODD_TRACES: Final[Mapping[str, OddTrace]] = {
    "one user": OddTrace(
        _TEN_DAYS,
        {"publications": _said((_LATER_MS, 1)), "sessions": _gone((_START_MS, 1, "join"), (_LATER_MS, 1, "leave"))},
    ),
    "one pair": OddTrace(_TEN_DAYS, {"subscriptions": _pairs((1, 2)), "publications": _said((_LATER_MS, 2))}),
    "no events": OddTrace(_TEN_DAYS, {"subscriptions": _pairs((1, 2), (2, 1), (2, 3))}),
    "one event": OddTrace(_TEN_DAYS, {"publications": _said((_LATER_MS, 7))}),
    "all equal": OddTrace(_TIMELESS, {"subscriptions": _ring(60), "counts": _counted(*((user, 5) for user in range(60)))}),
    "one site": OddTrace(
        msgspec.structs.replace(_TEN_DAYS, sites=("sto",)),
        {
            "subscriptions": _pairs((1, 2), (2, 1), site="sto"),
            "publications": _said(*((_START_MS + day * DAY_MS, 1) for day in range(10)), site="sto"),
        },
    ),
    "a thousand years": OddTrace(
        _lasting(1000 * YEAR_MS, start_ms=-500 * YEAR_MS),
        {
            "subscriptions": _pairs((1, 2)),
            "publications": _said((-500 * YEAR_MS, 2), (0, 2), (500 * YEAR_MS - 1, 2)),
            "sessions": _gone((-1, 1, "join"), (499 * YEAR_MS, 1, "leave")),
            "subscription_log": _log((0, 1, 2, "subscribe")),
        },
    ),
    "a millisecond": OddTrace(
        _lasting(1),
        {
            "publications": _said((_START_MS, 1), (_START_MS, 2)),
            "sessions": _gone((_START_MS, 1, "join")),
            "subscription_log": _log((_START_MS, 1, 2, "subscribe")),
        },
    ),
    "a few seconds": OddTrace(
        _lasting(2_500),
        {
            "publications": _said((_START_MS + 5, 1), (_START_MS + 2_499, 2)),
            "sessions": _gone((_START_MS + 1, 1, "join"), (_START_MS + 1, 1, "leave")),
            "subscription_log": _log((_START_MS + 3, 1, 2, "subscribe"), (_START_MS + 4, 1, 2, "unsubscribe")),
        },
    ),
    "nothing counted": OddTrace(_TIMELESS, {"subscriptions": _pairs((1, 2)), "counts": _counted((2, 0))}),
    "nothing but probes": OddTrace(_TEN_DAYS, {"publications": _said((_LATER_MS, 1), kind="ping")}),
    "events that nobody follows": OddTrace(
        _TEN_DAYS, {"subscriptions": _pairs((1, 2), (3, 2)), "publications": _said((_LATER_MS, 1), (_LATER_MS, 3))}
    ),
    "the largest numbers": OddTrace(
        _TIMELESS,
        {"subscriptions": _pairs((LARGEST, 1), (1, LARGEST)), "counts": _counted((1, LARGEST))},
    ),
    "more events than can be counted": OddTrace(
        _TIMELESS, {"subscriptions": _pairs((1, 2)), "counts": _counted((1, LARGEST), (2, LARGEST))}
    ),
    "all who leave": OddTrace(
        _TEN_DAYS,
        {"sessions": _gone((_LATER_MS, 1, "leave")), "subscription_log": _log((_LATER_MS, 1, 2, "unsubscribe"))},
    ),
    "everything at the start": OddTrace(
        _TEN_DAYS,
        {
            "publications": _said((_START_MS, 1)),
            "sessions": _gone((_START_MS, 1, "join")),
            "subscription_log": _log((_START_MS, 1, 2, "subscribe")),
        },
    ),
    "nothing of presence": OddTrace(
        _TEN_DAYS,
        {"subscriptions": _pairs((1, 1), service="artist"), "publications": _said((_LATER_MS, 1), service="artist")},
    ),
    "a sample": OddTrace(
        msgspec.structs.replace(_TEN_DAYS, tables={"publications": TableInfo(rows=0, fraction=1e-9)}),
        {"subscriptions": _pairs((1, 2)), "publications": _said((_LATER_MS, 2))},
    ),
}

_PERIODS_MS: Final = (1, 999, 60_000, HOUR_MS, DAY_MS - 1, DAY_MS, 8 * DAY_MS, 400 * DAY_MS, 1000 * YEAR_MS)
_STARTS_MS: Final = (-500 * YEAR_MS, -1, 0, _START_MS)
_ZONES: Final = ("UTC", "Europe/Stockholm", "Asia/Kathmandu", "Pacific/Apia")
_NUMBERS: Final = st.sampled_from((0, 1, 2, 3, LARGEST))
_SITE: Final = st.sampled_from((None, *_SITES))
_SERVICE: Final = st.sampled_from(SERVICES)
_MOST_ROWS: Final = 6


@st.composite
def odd_traces(draw: st.DrawFn) -> OddTrace:
    """Draws any valid trace of a few rows: at least one row, in any tables, of any period or none."""
    timed = draw(st.booleans())
    about = msgspec.structs.replace(
        _lasting(draw(st.sampled_from(_PERIODS_MS)), draw(st.sampled_from(_STARTS_MS))) if timed else _TIMELESS,
        time_zone=draw(st.sampled_from(_ZONES)),
        profile=draw(st.sampled_from((None, "spotify", "twitter"))),
        sites=draw(st.sampled_from(((), _SITES))),
    )
    makers = {"subscriptions": _follows(), "counts": _counts()} | (_in_time(about) if timed else {})
    wanted = draw(st.sets(st.sampled_from(sorted(makers)), min_size=1))
    # Counts beside publications would have to add up to them. So a trace with publications has none.
    tables = {name: draw(makers[name]) for name in sorted(wanted) if name != "counts" or "publications" not in wanted}
    samples = {name: TableInfo(rows=0, fraction=0.5, sampled_by="user") for name in tables if draw(st.booleans())}
    return OddTrace(msgspec.structs.replace(about, tables=samples), tables)


def _in_time(about: Manifest) -> dict[str, st.SearchStrategy[Columns]]:
    assert about.start_ms is not None
    assert about.end_ms is not None
    times = st.integers(about.start_ms, about.end_ms - 1)
    kinds = st.sampled_from((None, "play", "ping"))
    said = st.tuples(times, _SERVICE, _NUMBERS, _SITE, kinds)
    gone = st.tuples(times, _NUMBERS, _SITE, st.sampled_from((None, "desktop", "mobile")), st.sampled_from(("join", "leave")))
    asked = st.tuples(times, _NUMBERS, _SERVICE, _NUMBERS, _SITE, st.sampled_from(("subscribe", "unsubscribe")))
    return {
        "publications": _rows(said, ("time_ms", "service", "topic", "site", "kind")),
        "sessions": _rows(gone, ("time_ms", "user", "site", "device", "action")),
        "subscription_log": _rows(
            asked.filter(lambda row: _others(*row[1:4])), ("time_ms", "subscriber", "service", "topic", "site", "action")
        ),
    }


def _follows() -> st.SearchStrategy[Columns]:
    pairs = st.tuples(_NUMBERS, _SERVICE, _NUMBERS, _SITE).filter(lambda row: _others(*row[:3]))
    return _rows(pairs, ("subscriber", "service", "topic", "site"), key=3)


def _counts() -> st.SearchStrategy[Columns]:
    return _rows(
        st.tuples(_SERVICE, _NUMBERS, _SITE, st.sampled_from((0, 1, 7, 10**6, LARGEST))), ("service", "topic", "site", "events"), key=3
    )


def _rows(row: st.SearchStrategy[tuple[Any, ...]], names: tuple[str, ...], key: int | None = None) -> st.SearchStrategy[Columns]:
    """Draws columns of a few rows, ordered by time where they have times. The first `key` values of a row are in no other row."""
    found = st.lists(row, min_size=1, max_size=_MOST_ROWS, unique_by=(lambda each: each[:key]) if key else None)
    if names[0] == "time_ms":
        found = found.map(lambda rows: sorted(rows, key=lambda each: each[0]))
    return found.map(lambda rows: {name: list(values) for name, values in zip(names, zip(*rows, strict=True), strict=True)})


def _others(subscriber: int, service: str, topic: int) -> bool:
    """Returns whether a subscriber follows another user: nobody follows themselves."""
    return service not in SOCIAL_SERVICES or subscriber != topic
