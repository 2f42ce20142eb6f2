"""Outcomes: what came of handing a notification to a mail server or a push service. An answer for the worker, never an exception."""

from enum import StrEnum
from typing import Final

import msgspec

MAX_REASON_CHARS: Final = 300


class OutcomeState(StrEnum):
    """The next step of the worker: nothing, try again, dead letter, or forget this push subscription."""

    DELIVERED = "delivered"
    RETRY = "retry"
    FAILED = "failed"
    GONE = "gone"


class Outcome(msgspec.Struct, frozen=True):
    """The outcome of one attempt. `reason` is one bounded line for people; `retry_after_s`: how long the other side asked us to wait."""

    state: OutcomeState
    reason: str
    retry_after_s: float | None = None


def delivered(reason: str) -> Outcome:
    """Returns the outcome of what the other side took."""
    return Outcome(OutcomeState.DELIVERED, _one_line(reason))


def retry(reason: str, retry_after_s: float | None = None) -> Outcome:
    """Returns the outcome of what may go later. `retry_after_s`: see `Outcome`."""
    return Outcome(OutcomeState.RETRY, _one_line(reason), retry_after_s)


def failed(reason: str) -> Outcome:
    """Returns the outcome of what never goes: it is a dead letter."""
    return Outcome(OutcomeState.FAILED, _one_line(reason))


def gone(reason: str) -> Outcome:
    """Returns the outcome where the push subscription does not exist any more."""
    return Outcome(OutcomeState.GONE, _one_line(reason))


def _one_line(text: str) -> str:
    """Returns `text` as one bounded line without line breaks and escape sequences.

    A stranger's server said it, and it goes into logs and tables.
    """
    plain = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return plain if len(plain) <= MAX_REASON_CHARS else plain[: MAX_REASON_CHARS - 1] + "…"
