"""Tasks: what a change of state has promised to others, and the port of the outbox where they wait. Pure; `outbox` performs them."""

from collections.abc import Sequence
from typing import Protocol

import msgspec


class OutboxTask(msgspec.Struct, frozen=True):
    """Something to do for others: `op` and `body` say what. `id` is what the receiver knows a repetition by; `key` orders, on one
    lane."""

    id: str
    key: str
    op: str
    body: bytes
    lane: str = ""


class Stored(msgspec.Struct, frozen=True):
    """A task with the number that the outbox gave it: rising in the order of writing."""

    n: int
    task: OutboxTask


class TaskOutbox(Protocol):
    """Where tasks wait. How they get there is the business of each store's adapter. Methods raise Unavailable."""

    async def undone(self, after: int, limit: int, lane: str = "") -> Sequence[Stored]:
        """Up to `limit` tasks of a lane with a number above `after`, rising."""

    async def done(self, stored: Stored) -> None:
        """Forget a task."""

    async def set_aside(self, stored: Stored, reason: str) -> None:
        """Keep a task that nobody will ever take out of the way, for an operator to look at."""
