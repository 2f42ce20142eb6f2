"""The options of overload: what is done when a link to another site has more to do than it can."""

import msgspec

from infra.kernel.option_checks import check_at_least, check_numbers

from .held_presence import EVENT_BYTES
from .window_bounds import ENVELOPE_BYTES


class OverloadOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of a broker for presence that a link to another site has no time for.

    - `enabled`: whether presence is held then. Without it, presence is dropped first when the link is full.
    - `queue_bytes`: what waits on a link at a load of 1.
    - `late_s`: how late the loop is at a load of 1.
    - `held_bytes`: how much is held for each link at most.
    - `max_age_s`: an event that has waited for so long goes first, however few follow its topic.
    """

    enabled: bool = False
    queue_bytes: int = 4 << 20
    late_s: float = 0.25
    held_bytes: int = 16 << 20
    max_age_s: float = 10.0

    def check_in_broker(self, max_link_queue_bytes: int, max_payload_bytes: int) -> None:
        """Raises ConfigError where these cannot be meant.

        - `max_link_queue_bytes`: when a link is full.
        - `max_payload_bytes`: the longest payload that a broker takes.
        """
        check_numbers("broker.overload", self)
        key, other = "broker.max_link_queue_bytes", "broker.overload.queue_bytes"
        check_at_least(key, max_link_queue_bytes, other, self.queue_bytes, "presence would be dropped before any is held")
        longest = max_payload_bytes + ENVELOPE_BYTES + EVENT_BYTES
        why = "an event with the largest payload would never be held"
        least = f"broker.max_payload_bytes + {ENVELOPE_BYTES + EVENT_BYTES}"
        check_at_least("broker.overload.held_bytes", self.held_bytes, least, longest, why)
