"""Verdicts: what is to happen with one event for one follower."""

from enum import StrEnum
from typing import Final

import msgspec

# In the order in which they are shown: the engine (live), the list in the client, the phone, the mailbox.
CHANNELS: Final = ("engine", "in-client", "push", "email")


class Way(StrEnum):
    """How a push or a mail goes out."""

    NO = "no"
    NOW = "now"
    AFTER_QUIET = "after-quiet"
    DIGEST = "digest"


class Verdict(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """`engine`: send it live. `in_client`: write a row for the client's list (spec 4.2, `Notifications`).

    `reasons` is kept with the decision and answers "why did I (not) get this": the rules that granted, then
    "-email:muted" for each channel that a rule took away, then "~push:quiet-hours" for each that a rule put off.
    """

    engine: bool
    in_client: bool
    push: Way
    email: Way
    reasons: tuple[str, ...]
