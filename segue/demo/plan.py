"""What a run of the demo is to be like."""

import random
from dataclasses import dataclass
from pathlib import Path

from infra.runtime.cassandra.options import CassandraOptions

from .store import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoPlan:
    """What to run. `users` None takes all; `seconds` infinite plays until Ctrl-C; `rate_per_s` is of all plays at `speed` 1.
    `cassandra` is a server to use for `store` "cassandra"; with None one is started for the run. `capture` is a folder for a trace."""

    data: Path
    users: int | None
    sites: int
    seconds: float
    speed: float
    rate_per_s: float
    seed: int
    has_processes: bool
    has_page: bool
    store: Kind = "sqlite"
    cassandra: CassandraOptions | None = None
    capture: Path | None = None

    def rng(self, what: str) -> random.Random:
        """The chance that decides `what`: users, places, plays or roles. One does not depend on how much the others take."""
        return random.Random(f"{self.seed} {what}")
