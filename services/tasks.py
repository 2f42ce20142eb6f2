"""Tasks: what a change of state has promised to others, and the port of the outbox where they wait. Pure; `outbox` performs them."""

from collections.abc import Sequence
from typing import Protocol

import msgspec


class OutboxTask(msgspec.Struct, frozen=True):
    """A promise to another part of Segue.

    - `id`: the receiver knows a repetition by it.
    - `key`: tasks of one key are performed in their order.
    - `op`, `body`: what is to be done.
    - `lane`: tasks of different lanes do not wait for each other.
    """

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
    """The place where tasks wait. Each store writes them there in its own way. Methods raise Unavailable."""

    async def undone(self, after: int, limit: int, lane: str = "") -> Sequence[Stored]:
        """Returns up to `limit` tasks of a `lane` with a number above `after`, rising."""

    async def done(self, stored: Stored) -> None:
        """Forgets a task."""

    async def set_aside(self, stored: Stored, reason: str) -> None:
        """Puts a task that nobody will ever take out of the way, with the `reason`, for an operator to look at."""
