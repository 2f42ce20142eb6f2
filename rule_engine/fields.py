"""The fields of preferences, checked in what their types do not say. Each check raises `Refused("bad-field")` for what is wrong."""

import re
from typing import Final, Literal, get_args

from infra.kernel.errors import Refused
from infra.kernel.suggestion import suggest
from infra.kernel.topics import MAX_ID

from .facts import CLASSES
from .local_time import zone_named

Channel = Literal["in-client", "push", "email", "webhook"]
CHOICES: Final[tuple[str, ...]] = get_args(Channel)
MAX_MUTED: Final = 1000
MAX_EMAIL: Final = 254

_ID: Final = rf"[A-Za-z0-9._-]{{1,{MAX_ID}}}"
_MUTABLE: Final = re.compile(rf"(?:artist|user):{_ID}|playlist:{_ID}/{_ID}")
_TIME: Final = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9]")
# What mail servers take unquoted. No blanks and no commas: an address ends up in a header.
_EMAIL: Final = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?")
_ZONE: Final = re.compile(r"[A-Za-z0-9_+-]{1,32}(?:/[A-Za-z0-9_+-]{1,32}){0,2}")


def check_email(email: str | None) -> None:
    """Checks that `email` is None or an address."""
    if email is not None and (len(email) > MAX_EMAIL or not _EMAIL.fullmatch(email)):
        raise Refused("bad-field", f"email must be an address such as ann@example.org, ASCII and at most {MAX_EMAIL} characters")


def check_channels(channels: dict[str, dict[str, bool]]) -> None:
    """Checks the names in class -> channel -> allowed."""
    for cls, allowed in channels.items():
        if cls not in CLASSES:
            raise Refused("bad-field", f"channels: no such class: {cls[:MAX_ID]}; {suggest(cls, CLASSES)}")
        for channel in allowed:
            if channel not in CHOICES:
                raise Refused("bad-field", f"channels.{cls}: no such channel: {channel[:MAX_ID]}; {suggest(channel, CHOICES)}")


def check_muted(muted: tuple[str, ...]) -> None:
    """Checks the names of what a user wants to hear nothing of."""
    if len(muted) > MAX_MUTED:
        raise Refused("bad-field", f"muted has {len(muted)} entries; at most {MAX_MUTED} are taken")
    for name in muted:
        if not _MUTABLE.fullmatch(name):
            shown = name[:MAX_ID]
            raise Refused("bad-field", f"muted: {shown!r} must be artist:<id>, user:<name> or playlist:<owner>/<id>")


def check_zone(name: str) -> None:
    """Checks that `name` is a time zone."""
    try:
        if not _ZONE.fullmatch(name):
            raise ValueError
        zone_named(name)
    except (KeyError, ValueError, OSError):
        raise Refused("bad-field", "tz must be a name of the IANA time zone database, such as Europe/Stockholm or UTC") from None


def check_choice(field: str, word: str, choices: tuple[str, ...]) -> None:
    """Checks that `word` is one of `choices`; `field` is its name in complaints."""
    if word not in choices:
        raise Refused("bad-field", f"{field} must be one of {', '.join(choices)}")


def check_time(field: str, text: str) -> None:
    """Checks that `text` is a time of day; `field` is its name in complaints."""
    if not _TIME.fullmatch(text):
        raise Refused("bad-field", f"{field} must be a time of day such as 22:00, from 00:00 to 23:59")
