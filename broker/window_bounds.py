"""The bounds of the window of events: how much is kept of the topics of one kind, and for how long."""

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from infra.kernel.errors import ConfigError
from infra.kernel.option_checks import check_at_least, check_numbers
from infra.kernel.topics import Kind

# The text of an event around its payload, numbers and the longest topic included.
ENVELOPE_BYTES: Final = 1024


class WindowBounds(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The bounds of one kind of topics.

    - `keep`: all events of a topic, or the latest one.
    - `events`, `bytes`: so much is kept of one topic.
    - `seconds`: so long an event is kept. For so long a topic is recorded after the last one has left it.
    - `copies`: with 1, another broker has an event before anybody gets it, and goes on with it if this one dies (DPS-18).
    """

    keep: Literal["all", "latest"] = "all"
    events: int = 100
    bytes: int = 64 << 10
    seconds: float = 120.0
    copies: Literal[0, 1] = 0


Windows = Mapping[Kind, WindowBounds]

# Points of clients have room for what as many brokers say that give copies to each other.
MOST_COPYING: Final = 7

# Inboxes have marks, and nothing is published on artist and social.
DEFAULT_WINDOWS: Final = {Kind.PLAYLIST: WindowBounds(), Kind.USER: WindowBounds(keep="latest")}


def check_windows(table: str, windows: Windows, window_bytes: int, max_payload_bytes: int, slots: int) -> None:
    """Raises ConfigError where the bounds of some kind cannot be meant, or leave no room for an event.

    - `table`: the name of the role's table in the file, for the message.
    - `window_bytes`: the bound of all kinds together.
    - `max_payload_bytes`: the longest payload that a broker takes.
    - `slots`: how many brokers the site has.
    """
    for kind, bounds in windows.items():
        name = f"{table}.window.{kind}"
        check_numbers(name, bounds, ("copies",))
        longest = max_payload_bytes + ENVELOPE_BYTES
        why = "an event with the largest payload would never be kept"
        check_at_least(f"{name}.bytes", bounds.bytes, f"{table}.max_payload_bytes + {ENVELOPE_BYTES}", longest, why)
        if bounds.copies and slots > MOST_COPYING:
            raise ConfigError(f"{name}.copies is 1, and the site has {slots} brokers: with copies, name {MOST_COPYING} or fewer")
        check_at_least(f"{table}.window_bytes", window_bytes, f"{name}.bytes", bounds.bytes, "no topic could have as much as it may")


def copied(windows: Windows) -> frozenset[Kind]:
    """Returns the kinds whose events another broker has before anybody gets them."""
    return frozenset(kind for kind, bounds in windows.items() if bounds.copies)
