"""Helpers for tests of the stored path: a cluster with a notification module, and what services and users ask of it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from notification.core import Patience
from notification.options import NotificationOptions
from segue.cluster.process import RoleOptions
from tests.support.cluster import Cluster

AT_ONCE = Patience(email_s=0.0)


def album(number: int, *followers: str, artist: str = "bjork", **fields: Any) -> dict[str, Any]:
    """A notice about an artist's new album."""
    return {
        "id": f"{artist}-{number}",
        "topic": f"hm://notifications/feed/{artist}%new-album/",
        "kind": "album",
        "producer": artist,
        "payload": {"artist_name": artist, "album": f"Album {number}"},
        "followers": list(followers),
        **fields,
    }


def configured(**fields: Any) -> Callable[[RoleOptions], RoleOptions]:
    """A `change` for `Cluster`: options of the notification module."""
    fields = {"patience": AT_ONCE, **fields}
    return lambda options: msgspec.structs.replace(options, **fields) if isinstance(options, NotificationOptions) else options


async def me(c: Cluster, user: str, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    """What `user` asks at the HTTP door of the notification module; status and JSON."""
    return await c.request(user, method, "notification", f"/v1/me/{path}", body)


async def decided(c: Cluster, rows: int) -> None:
    """Wait until so many rows were decided, and what follows is stored."""
    await c.until(lambda: sum(role.counters().get("notification_decided_total", 0) for role in c.of("notification")) >= rows)


def stored(tmp_path: Path, **fields: Any) -> Cluster:
    """A small cluster with a notification module."""
    return Cluster(sites=1, state=tmp_path, change=configured(**fields))
