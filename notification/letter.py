"""A mail about one notification, or a digest of many. Pure: the same arguments make the same mail."""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, tzinfo
from email.headerregistry import Address, BaseHeader, HeaderRegistry, UnstructuredHeader
from email.message import EmailMessage
from email.policy import SMTP, Policy
from email.utils import format_datetime, parseaddr
from hashlib import blake2b
from typing import Any, Final

import msgspec

from .templates.page import MailItem, render
from .templates.words import Words, clean, words

MAX_LINES: Final = 20
MAX_SUBJECT_CHARS: Final = 150
MAX_ADDRESS_CHARS: Final = 254

_ATOMS: Final = r'[^\s<>\[\]",;:()\\@.]+(?:\.[^\s<>\[\]",;:()\\@.]+)*'
_ADDRESS: Final = re.compile(f"{_ATOMS}@{_ATOMS}")


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A notification in a mail: the topic's URI, its class and kind, when it happened (ms since 1970, UTC), and what it says."""

    topic: str
    cls: str
    kind: str
    ts_ms: int
    id: str
    payload: dict[str, Any] = {}

    def words(self) -> Words:
        """Returns what to call it. Raises `Refused("bad-topic")`."""
        return words(self.topic, self.cls, self.kind, self.payload)


class _Unfolded(UnstructuredHeader, BaseHeader):
    """A header that stays on one line: a URL has no place to fold, and the standard fold would encode it into uselessness."""

    def fold(self, *, policy: Policy) -> str:
        return f"{self.name}: {self}{policy.linesep}"


def _registry() -> HeaderRegistry:
    registry = HeaderRegistry()
    registry.map_to_type("list-unsubscribe", _Unfolded)
    return registry


_POLICY: Final = SMTP.clone(header_factory=_registry())


def is_address(text: str) -> bool:
    """Returns whether `text` is one bare mail address, safe in headers and SMTP commands.

    That is RFC 5321 without quoted names and address literals.
    """
    return len(text) <= MAX_ADDRESS_CHARS and text.isprintable() and _ADDRESS.fullmatch(text) is not None


def stable_message_id(user: str, sender: str, ids: Iterable[str]) -> str:
    """Returns the Message-ID of the mail to `user` about the notifications `ids`, in any order.

    It is always the same. So a mail that went out twice, because the process died before it could note the first time, can be
    told from two mails.
    """
    digest = blake2b("\0".join([user, *sorted(ids)]).encode(), digest_size=18).hexdigest()
    return f"<{digest}@{parseaddr(sender)[1].rpartition('@')[2] or 'localhost'}>"


def compose(
    user: str,
    address: str,
    sender: str,
    lines: Sequence[Line],
    unsubscribe_url: str,
    message_id: str,
    date_ms: int,
    zone: tzinfo = UTC,
) -> EmailMessage:
    """Returns the mail to `user` at `address`, as text and as HTML, newest notification first.

    - `sender`: `notify@example.org` or `Name <notify@example.org>`; the name heads the page.
    - `lines`: at least one; of more than `MAX_LINES` the newest are shown, and the others are counted.
    - `unsubscribe_url`: takes one POST without login (RFC 8058).
    - `message_id`: see `stable_message_id`.
    - `date_ms`: ms since 1970, UTC.
    - `zone`: in which the times in the text are told.

    Raises ValueError without lines, and for an address or URL that would break out of its header.
    """
    if not lines:
        raise ValueError("a mail is about at least one notification")
    newest = sorted(lines, key=lambda line: (line.ts_ms, line.id), reverse=True)
    items = [_item(line, zone) for line in newest[:MAX_LINES]]
    left = len(lines) - len(items)
    brand = clean(parseaddr(sender)[0]) or "Notifications"
    subject = _subject(newest)
    more = f"and {left} more" if left else ""
    because = f"You get this mail, {user}, because you follow what it is about and were offline."
    mail = _addressed(user, address, sender, unsubscribe_url)
    mail["Subject"] = subject
    mail["Message-ID"] = message_id
    mail["Date"] = format_datetime(datetime.fromtimestamp(date_ms / 1000, UTC))
    mail.set_content(_text(items, more, because, unsubscribe_url), cte="quoted-printable")
    mail.add_alternative(render(subject, brand, items, more, because, unsubscribe_url), subtype="html", cte="quoted-printable")
    # Left alone it would be random. Quoted-printable cannot hold `=_`, so no part can hold it.
    mail.set_boundary(f"=_{blake2b(message_id.encode(), digest_size=12).hexdigest()}")
    return mail


def _addressed(user: str, address: str, sender: str, unsubscribe_url: str) -> EmailMessage:
    if not is_address(address):
        raise ValueError(f"{address!r} is no mail address")
    if not unsubscribe_url.isascii() or any(char.isspace() or char in "<>" for char in unsubscribe_url):
        raise ValueError(f"the unsubscribe URL must be percent-encoded ASCII, got {unsubscribe_url!r}")
    mail = EmailMessage(policy=_POLICY)
    mail["From"] = sender
    local, _, domain = address.rpartition("@")
    mail["To"] = Address(user, local, domain)
    mail["List-Unsubscribe"] = f"<{unsubscribe_url}>"
    mail["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    mail["Auto-Submitted"] = "auto-generated"
    return mail


def _subject(newest: Sequence[Line]) -> str:
    others = f" (and {len(newest) - 1} more)" if len(newest) > 1 else ""
    return clean(str(newest[0].words()), MAX_SUBJECT_CHARS - len(others)) + others


def _item(line: Line, zone: tzinfo) -> MailItem:
    headline, detail = line.words()
    return MailItem(headline, detail, datetime.fromtimestamp(line.ts_ms / 1000, zone).strftime("%-d %b %Y, %H:%M %Z"))


def _text(items: Sequence[MailItem], more: str, because: str, unsubscribe_url: str) -> str:
    paragraphs = ["\n".join(filter(None, item)) for item in items]
    footer = f"-- \n{because}\nUnsubscribe: {unsubscribe_url}"
    return "\n\n".join([*paragraphs, *filter(None, [more]), footer]) + "\n"
