"""The post office of the second act. It knows which user got which mail and which push."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from .catalogue import RELEASES
from .mailbox import Mailbox
from .push_service import PushService
from .release_oracle import ReleaseLedger


class PostOffice:
    """The mail server and the push service, which tell the `ledger` as soon as there is one."""

    def __init__(self) -> None:
        self.ledger: ReleaseLedger | None = None
        self.mailbox = Mailbox(self._mailed)
        self.pushes = PushService(self._pushed)

    def _mailed(self, address: str, subject: str) -> None:
        if self.ledger is not None:
            self.ledger.mailed(address.partition("@")[0], _item(subject))

    def _pushed(self, user: str, push: dict[str, Any]) -> None:
        if self.ledger is not None:
            self.ledger.pushed(user, _item(str(push.get("body"))))


def _item(words: str) -> str:
    """Returns the item of which `words` speak; "" for none of ours."""
    return next((release.id for release in RELEASES if release.title in words), "")


@asynccontextmanager
async def post() -> AsyncIterator[PostOffice]:
    """Serves mails and pushes while the block runs."""
    found = PostOffice()
    async with found.mailbox, found.pushes:
        yield found
