"""The parts of a trace, each written by a task of its own.

Tasks may run in any order, by any number of processes, and always write the same bytes.
"""

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final, Protocol

import numpy as np

from infra.kernel.trace import Service

from ..parts import write_part
from .columns import site_column, word
from .events import publications
from .pairs import Chunk, pairs
from .profile import Profile, rng
from .services import SubscriptionPairs, subscriptions, with_others
from .sessions import expected_log_ins, sample, sessions, stays, subscription_log
from .trace_plan import TracePlan

# Most rows of a part that has one row for each event of something: about a gigabyte while it is made.
ROWS_PER_PART: Final = 4_000_000
# Parts of the log that one chunk of subscribers may have.
_LOGS_PER_CHUNK: Final = 100


@dataclass(frozen=True, slots=True)
class Work:
    """The arguments that all tasks share.

    - `profile`: what is generated. `plan`: what was decided at once.
    - `folder`: where the parts are written.
    - `publications`, `sessions`: which fraction of all events, and of all users, is to be written.
    """

    profile: Profile
    folder: Path
    plan: TracePlan
    publications: float
    sessions: float


class TableTask(Protocol):
    """A task that writes its parts."""

    def run(self, work: Work) -> Counter[str]:
        """Writes the parts. Returns the rows by table, and beside them the pairs "repeated" and "dropped" (see `Pairs`).

        Raises OSError.
        """
        ...


@dataclass(frozen=True, slots=True)
class SubscribersTask:
    """The task of some users: what they follow, and the stays of a sample of them."""

    chunk: Chunk

    def run(self, work: Work) -> Counter[str]:
        profile, number = work.profile, self.chunk.number
        found = pairs(profile, work.plan.slots(), self.chunk)
        follows = with_others(profile, found.subscriber, found.topic, rng(profile.seed, "services", number))
        rows = write_part(work.folder, "subscriptions", number, subscriptions(profile, follows))
        done = Counter(subscriptions=rows, repeated=found.repeated, dropped=found.dropped)
        return done + self._log(work, sample(follows, work.sessions, rng(profile.seed, "sampled", number)))

    def _log(self, work: Work, follows: SubscriptionPairs) -> Counter[str]:
        done: Counter[str] = Counter()
        profile = work.profile
        for index, some in enumerate(_runs(follows, round(ROWS_PER_PART / (2 * expected_log_ins(profile))))):
            number = self.chunk.number * _LOGS_PER_CHUNK + index
            found = stays(profile, some, rng(profile.seed, "stays", number))
            done["sessions"] += write_part(work.folder, "sessions", number, sessions(profile, found))
            done["subscription_log"] += write_part(work.folder, "subscription_log", number, subscription_log(profile, found, some))
        return done


@dataclass(frozen=True, slots=True)
class EventsTask:
    """The task of the events of some topics of a service."""

    service: Service
    number: int
    topics: slice

    def run(self, work: Work) -> Counter[str]:
        profile, counts = work.profile, work.plan.counts(self.service)
        columns = publications(
            profile,
            self.service,
            counts.topic[self.topics],
            counts.events[self.topics],
            counts.site[self.topics],
            work.publications,
            rng(profile.seed, "publications", self.service, self.number),
        )
        return Counter(publications=write_part(work.folder, "publications", self.number, columns))


@dataclass(frozen=True, slots=True)
class TotalsTask:
    """The task of the counts: how many events each topic of a service had."""

    service: Service
    number: int

    def run(self, work: Work) -> Counter[str]:
        counts = work.plan.counts(self.service)
        columns = {
            "service": word(self.service, len(counts.topic)),
            "topic": counts.topic,
            **site_column(work.profile, counts.site),
            "events": counts.events,
        }
        return Counter(counts=write_part(work.folder, "counts", self.number, columns))


def _runs(follows: SubscriptionPairs, pairs_per_run: int) -> list[SubscriptionPairs]:
    """Cuts the pairs into runs of about `pairs_per_run`. All pairs of a user are in one run."""
    subscriber = follows.subscriber
    wanted = subscriber[::pairs_per_run][1:]
    bounds = [0, *np.unique(np.searchsorted(subscriber, wanted)).tolist(), len(subscriber)]
    pieces = [slice(first, last) for first, last in pairwise(bounds) if last > first]
    return [SubscriptionPairs(subscriber[piece], follows.service[piece], follows.topic[piece]) for piece in pieces]
