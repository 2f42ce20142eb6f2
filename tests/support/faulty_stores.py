"""Stores with a fault, for the seam at which production opens its store (`notification.stores`)."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import Any

from infra.kernel.errors import Unavailable
from notification.notice import Notice
from notification.options import NotificationOptions
from notification.ownership.core import Claims, FencingToken, NodeRecord
from notification.store import Decision
from notification.store_sqlite import SqliteStore


class LeaseStore(SqliteStore):
    """A store on which the lease cannot be kept while `is_cut_off`. Everything else goes on."""

    is_cut_off = False

    async def beat(self, member: NodeRecord, last: int) -> bool:
        """See `Store`."""
        self._check()
        return await super().beat(member, last)

    async def claims(self) -> Claims:
        """See `Store`."""
        self._check()
        return await super().claims()

    def _check(self) -> None:
        if self.is_cut_off:
            raise Unavailable("cut off")


class MuteStore(SqliteStore):
    """A store that keeps decisions, and does not say so while `is_mute`: whoever decided never gets to tell anybody."""

    is_mute = False

    async def decide(self, decided: Sequence[tuple[Decision, Notice]], fence: FencingToken | None = None) -> None:
        """See `Store`."""
        await super().decide(decided, fence)
        if self.is_mute:
            await asyncio.Event().wait()


class ForgetfulStore(SqliteStore):
    """A store that says what is due, and does not find what it is about. It counts how often it was asked."""

    asked = 0

    async def notices(self, events: Collection[str]) -> dict[str, Notice]:
        """See `Store`."""
        self.asked += 1
        raise Unavailable("forgotten")


async def open_forgetful_store(options: NotificationOptions, wall: Callable[[], float]) -> Any:
    """Returns a `ForgetfulStore`; see `open_store`."""
    return await ForgetfulStore.open(options.path, options.retention_s, wall)


async def open_lease_store(options: NotificationOptions, wall: Callable[[], float]) -> Any:
    """Returns a `LeaseStore`; see `open_store`."""
    return await LeaseStore.open(options.path, options.retention_s, wall)


async def open_mute_store(options: NotificationOptions, wall: Callable[[], float]) -> Any:
    """Returns a `MuteStore`; see `open_store`."""
    return await MuteStore.open(options.path, options.retention_s, wall)
