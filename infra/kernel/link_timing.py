"""The timing of links: how long they wait for a heartbeat, for a greeting, and before they are dialled again."""

import msgspec

from .option_checks import check_at_least, check_numbers


class LinkTiming(msgspec.Struct, frozen=True, kw_only=True):
    """Times in seconds.

    - `heartbeat_s`: between two heartbeats.
    - `silent_s`: after so long without a frame a peer is dead; several heartbeats.
    - `hello_s`: how long a peer may take to greet.
    - `redial_base_s`, `redial_cap_s`: the pauses before a lost link is dialled again are drawn from nothing to a limit, which grows
      from the first to the second.
    """

    heartbeat_s: float = 0.5
    silent_s: float = 2.5
    hello_s: float = 5.0
    redial_base_s: float = 0.05
    redial_cap_s: float = 2.0

    def check_in(self, role: str) -> None:
        """Raises ConfigError when fields of the table `[<role>.link]` contradict each other."""
        table = f"{role}.link"
        check_numbers(table, self)
        late = "one heartbeat that is late would end a link"
        check_at_least(f"{table}.silent_s", self.silent_s, f"{table}.heartbeat_s", self.heartbeat_s, late, times=2)
        growing = "pauses between two calls grow from the one to the other"
        check_at_least(f"{table}.redial_cap_s", self.redial_cap_s, f"{table}.redial_base_s", self.redial_base_s, growing)
