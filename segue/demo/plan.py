"""The plan of a run of the demo."""

import random
from dataclasses import dataclass
from pathlib import Path

from infra.runtime.cassandra.options import CassandraOptions

from .store import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoPlan:
    """The plan of a run.

    - `data`: the folder of the data set.
    - `users`: how many users play; None takes all.
    - `sites`: how many sites there are.
    - `seconds`: how long they play; infinite plays until Ctrl-C.
    - `speed`, `rate_per_s`: `rate_per_s` is the rate of all plays at `speed` 1.
    - `seed`: of all randomness.
    - `has_processes`: each role gets a process of its own.
    - `store`, `cassandra`: where the second act stores, and the server for "cassandra"; with None one is started for the run.
    - `capture`: a folder for a trace; None captures nothing.
    """

    data: Path
    users: int | None
    sites: int
    seconds: float
    speed: float
    rate_per_s: float
    seed: int
    has_processes: bool
    store: Kind = "sqlite"
    cassandra: CassandraOptions | None = None
    capture: Path | None = None

    def rng(self, what: str) -> random.Random:
        """Returns the randomness of `what`: users, places, plays or roles. None of them depends on how much the others use."""
        return random.Random(f"{self.seed} {what}")
