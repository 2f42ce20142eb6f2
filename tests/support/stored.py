"""Helpers for tests of the stored path: a cluster with a notification module, and what services and users ask of it."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from infra.kernel.roles import NOTIFICATION
from infra.runtime.context import Context
from infra.runtime.logs import Logger, get_logger
from infra.runtime.loops import Loops
from infra.runtime.wire.memory import MemoryNetwork
from notification.core import Patience
from notification.module_context import ModuleContext
from notification.options import NotificationOptions
from notification.store import Store
from segue.cluster.role_spec import RoleOptions
from tests.support.cluster import Cluster

AT_ONCE = Patience(email_s=0.0)


def module_context(store: Store, wall: Callable[[], float], log: Logger | None = None) -> ModuleContext:
    """Returns the context of a part of the module that is tested by itself, on `store` at the time of `wall`, with `log` or some log."""
    log = log or get_logger(NOTIFICATION, "n1", "sto")
    context = Context(network=MemoryNetwork(), log=log, rng=random.Random(1), wall=wall)
    return ModuleContext(store=store, context=context, loops=Loops(log))


def album(number: int, *followers: str, artist: str = "bjork", **fields: Any) -> dict[str, Any]:
    """Returns a notice about an artist's new album."""
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
    """Returns a `change` for `Cluster`: options of the notification module."""
    fields = {"patience": AT_ONCE, **fields}
    return lambda options: msgspec.structs.replace(options, **fields) if isinstance(options, NotificationOptions) else options


async def me(c: Cluster, user: str, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    """Asks the notification module by HTTP as `user`; returns status and JSON."""
    return await c.request(user, method, "notification", f"/v1/me/{path}", body)


async def decided(c: Cluster, rows: int) -> None:
    """Waits until so many rows were decided, and what follows is stored."""
    await c.until(lambda: sum(role.counters().get("notification_decided_total", 0) for role in c.of("notification")) >= rows)


def stored(tmp_path: Path, **fields: Any) -> Cluster:
    """Returns a small cluster with a notification module."""
    return Cluster(sites=1, state=tmp_path, change=configured(**fields))
