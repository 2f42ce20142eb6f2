"""Promises: what a service has put into its outbox, and does behind the answer."""

from collections.abc import Sequence

from services.tasks import TaskOutbox

from .eventually import eventually


async def kept(outbox: TaskOutbox, lanes: Sequence[str] = ("",)) -> None:
    """Waits until nothing is left to do in these lanes of `outbox`."""

    async def nothing_is_left() -> bool:
        return not [lane for lane in lanes if await outbox.undone(0, 1, lane)]

    await eventually(nothing_is_left, "promises are not kept")
