"""Verdicts: what happens with one event for one follower."""

from enum import StrEnum
from typing import Final

import msgspec

# In the order in which they are shown: the engine (live), the list in the client, the phone, the mailbox, the program.
CHANNELS: Final = ("engine", "in-client", "push", "email", "webhook")


class Way(StrEnum):
    """The way of a push or a mail: not at all, now, when quiet hours end, or collected."""

    NO = "no"
    NOW = "now"
    AFTER_QUIET = "after-quiet"
    DIGEST = "digest"


class Verdict(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The verdict about one event for one follower.

    - `engine`: send it live.
    - `in_client`: write a row for the client's list (spec 4.2, `Notifications`).
    - `push`, `email`, `webhook`: which way each goes; a webhook goes now or not at all.
    - `reasons`: kept with the decision; answers "why did I (not) get this". First the rules that granted, then "-email:muted" for
      each channel that a rule took away, then "~push:quiet-hours" for each that a rule put off.
    """

    engine: bool
    in_client: bool
    push: Way
    email: Way
    webhook: Way = Way.NO
    reasons: tuple[str, ...]
