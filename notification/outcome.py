"""What came of handing a notification to a mail server or a push service: an answer for the worker, never an exception."""

from enum import StrEnum
from typing import Final

import msgspec

MAX_REASON_CHARS: Final = 300


class OutcomeState(StrEnum):
    """What the worker does next: nothing, try again, dead letter, or forget this push subscription."""

    DELIVERED = "delivered"
    RETRY = "retry"
    FAILED = "failed"
    GONE = "gone"


class Outcome(msgspec.Struct, frozen=True):
    """One attempt. `reason` is one bounded line for people; `retry_after_s` is how long the other side asked us to wait."""

    state: OutcomeState
    reason: str
    retry_after_s: float | None = None


def delivered(reason: str) -> Outcome:
    """The other side took it."""
    return Outcome(OutcomeState.DELIVERED, _one_line(reason))


def retry(reason: str, retry_after_s: float | None = None) -> Outcome:
    """Not now, but perhaps later."""
    return Outcome(OutcomeState.RETRY, _one_line(reason), retry_after_s)


def failed(reason: str) -> Outcome:
    """Never: it goes to the dead letters."""
    return Outcome(OutcomeState.FAILED, _one_line(reason))


def gone(reason: str) -> Outcome:
    """The push subscription does not exist any more."""
    return Outcome(OutcomeState.GONE, _one_line(reason))


def _one_line(text: str) -> str:
    """What a stranger's server said goes into logs and tables: no line breaks, no escape sequences, not more than a line or two."""
    plain = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return plain if len(plain) <= MAX_REASON_CHARS else plain[: MAX_REASON_CHARS - 1] + "…"
