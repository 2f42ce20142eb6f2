"""The letters in a mailbox: the newest mails, as a page shows them."""

from collections import deque
from collections.abc import Callable, Sequence
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP
from typing import Final

import msgspec

MOST_LETTERS: Final = 100
MAX_ADDRESSES: Final = 20


class LetterSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A letter in a list. `id` counts from 1; `ts` is when it was taken in, in milliseconds of Unix time."""

    id: int
    to: list[str]
    subject: str
    ts: int


class Letter(LetterSummary, frozen=True, kw_only=True):
    """A letter as a whole.

    - `sender`: whom its header names.
    - `text`, `html`: its two forms; empty where it has none.
    - `unsubscribe`: the link in its header; empty without.
    - `source`: as it was sent.
    """

    sender: str
    text: str
    html: str
    unsubscribe: str
    source: str


class Letters:
    """The newest `most` letters; older ones are forgotten. `wall`: Unix time in seconds."""

    def __init__(self, wall: Callable[[], float], most: int = MOST_LETTERS) -> None:
        self._wall = wall
        self._kept: deque[Letter] = deque(maxlen=most)
        self._count = 0

    def take(self, addresses: Sequence[str], mail: bytes) -> None:
        """Keeps a mail that was sent to `addresses`. What is no mail is kept, too: its source shows what it is."""
        self._count += 1
        message = message_from_bytes(mail, EmailMessage, policy=SMTP)
        self._kept.appendleft(
            Letter(
                id=self._count,
                to=list(addresses)[:MAX_ADDRESSES],
                subject=_header(message, "Subject"),
                ts=int(self._wall() * 1000),
                sender=_header(message, "From"),
                text=_form(message, "plain"),
                html=_form(message, "html"),
                unsubscribe=_header(message, "List-Unsubscribe").strip("<> "),
                source=mail.decode(errors="replace"),
            )
        )

    def summaries(self) -> list[LetterSummary]:
        """Returns what a list shows, the newest first."""
        return [LetterSummary(id=each.id, to=each.to, subject=each.subject, ts=each.ts) for each in self._kept]

    def get(self, id_: int) -> Letter | None:
        """Returns a letter; None for one that is not kept."""
        return next((each for each in self._kept if each.id == id_), None)


def _header(message: EmailMessage, name: str) -> str:
    """Returns a header, or "" where it is missing or cannot be read."""
    try:
        return str(message[name] or "")
    except (ValueError, IndexError, AttributeError):  # what the email package raises for some that are broken
        return ""


def _form(message: EmailMessage, kind: str) -> str:
    """Returns the part of `kind`, or "" where it is missing or cannot be read."""
    try:
        part = message.get_body((kind,))
        return str(part.get_content()) if part is not None else ""
    except (ValueError, LookupError, AttributeError):
        return ""
