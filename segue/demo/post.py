"""The post office of the second act: who got which mail and which push."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from .catalogue import RELEASES
from .mailbox import Mailbox
from .push_service import PushService
from .release_oracle import ReleaseLedger


class PostOffice:
    """The mail server and the push service, and the ledger once there is one. Mails and pushes before are nobody's."""

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
    """The item that is spoken of; "" for none of ours."""
    return next((release.id for release in RELEASES if release.title in words), "")


@asynccontextmanager
async def post() -> AsyncIterator[PostOffice]:
    """Serves mails and pushes while the block runs."""
    found = PostOffice()
    async with found.mailbox, found.pushes:
        yield found
