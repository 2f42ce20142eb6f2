"""A trace of seven users over two days. It is so small that every metric can be worked out by hand.

who follows whom (presence)   site     who says how much          site
1 -> 2, 3, 4                  sto      1: 10, Thursday 18:00      sto
2 -> 1, 3                     sto      2:  5, Friday 19:00        lon    (and 10 diagnostic messages)
3 -> 1                        lon      3: 20, Friday 18:00        sto
4 -> 1                        lon      4:  1, Thursday 02:00      lon
5 -> 1                        ash      7: 64, half Thursday 18:00, half Friday 12:00, ash
6 -> 5                        unknown  playlist 100: 4, Thursday 09:00, followed by 6
"""

from datetime import datetime
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

from infra.kernel.manifest import Manifest

from .traces import write

_ZONE: Final = "Europe/Stockholm"
_DAY: Final = 24 * 60
_START_MS: Final = int(datetime(2013, 1, 10, tzinfo=ZoneInfo(_ZONE)).timestamp()) * 1000
ABOUT: Final = Manifest(
    name="small world",
    origin="generated",
    source="a test",
    pseudonymisation="none",
    profile="spotify",
    start_ms=_START_MS,
    end_ms=_START_MS + 2 * _DAY * 60_000,
    time_zone=_ZONE,
    sites=("ash", "lon", "sto"),
)
_FOLLOWS: Final = {1: (2, 3, 4), 2: (1, 3), 3: (1,), 4: (1,), 5: (1,), 6: (5,)}
_SITE: Final = {1: "sto", 2: "sto", 3: "lon", 4: "lon", 5: "ash", 6: None, 7: "ash"}
# Minute of the period, service, topic, site, kind, how often.
_SAID: Final = (
    (2 * 60, "presence", 4, "lon", "play", 1),
    (9 * 60, "playlist", 100, "sto", "edit", 4),
    (18 * 60, "presence", 1, "sto", "play", 10),
    (18 * 60, "presence", 7, "ash", None, 32),
    (_DAY + 12 * 60, "presence", 7, "ash", "pause", 32),
    (_DAY + 18 * 60, "presence", 3, "sto", "play", 20),
    (_DAY + 19 * 60, "presence", 2, "lon", "play", 5),
    (_DAY + 19 * 60, "presence", 2, "lon", "ping", 7),
    (_DAY + 19 * 60, "presence", 2, "lon", "heartbeat", 3),
)
# Minute, subscriber, service, topic, action.
_LOG: Final = (
    (0, 1, "presence", 2, "subscribe"),
    (0, 1, "presence", 3, "subscribe"),
    (10 * 60, 2, "presence", 1, "subscribe"),
    (12 * 60, 1, "presence", 2, "unsubscribe"),
    (_DAY + 10 * 60, 6, "playlist", 100, "subscribe"),
    (_DAY + 11 * 60, 6, "playlist", 100, "unsubscribe"),
)
# Minute, user, device, action.
_SESSIONS: Final = (
    (0, 1, "desktop", "join"),
    (10 * 60, 2, "desktop", "join"),
    (10 * 60 + 10, 2, "mobile", "join"),
    (10 * 60 + 20, 2, "mobile", "leave"),
    (10 * 60 + 30, 2, "desktop", "leave"),
    (12 * 60, 1, "desktop", "leave"),
    (_DAY + 10 * 60, 3, "desktop", "join"),
)


def small_world(path: Path) -> Path:
    """Writes the trace and returns `path`."""
    pairs = [(user, "presence", topic, _SITE[user]) for user, topics in _FOLLOWS.items() for topic in topics]
    said = [(at, service, topic, site, kind) for at, service, topic, site, kind, times in _SAID for _ in range(times)]
    return write(
        path,
        ABOUT,
        subscriptions=_columns(("subscriber", "service", "topic", "site"), [*pairs, (6, "playlist", 100, None)]),
        publications=_columns(("time_ms", "service", "topic", "site", "kind"), said),
        subscription_log=_columns(("time_ms", "subscriber", "service", "topic", "action"), list(_LOG)),
        sessions=_columns(("time_ms", "user", "device", "action"), list(_SESSIONS)),
    )


def _columns(names: tuple[str, ...], rows: list[tuple[Any, ...]]) -> dict[str, list[Any]]:
    columns = {name: list(values) for name, values in zip(names, zip(*rows, strict=True), strict=True)}
    if "time_ms" in columns:
        columns["time_ms"] = [_START_MS + minute * 60_000 for minute in columns["time_ms"]]
    return columns
