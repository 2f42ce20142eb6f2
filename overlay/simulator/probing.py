"""Events that are published to see what an overlay is worth at the moment. Only the world looks at what comes of them."""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .counters import CONTROL, KINDS, UNWANTED
from .draws import Draws, Stream
from .latency.latency import MessageLatency
from .systems import WatchedSystem


class ProbeCounts(NamedTuple):
    """The outcome of some events.

    - `events`: how many were published; `missed_events` did not reach everybody.
    - `wanted`: live subscribers besides the publishers; `reached` of them got the event, over so many `hops` together.
    - `copies`: received by anybody, also on the way to where an event begins to spread; `unwanted` of them as relays.
    - `arrivals_us`: when each first copy came; none where messages took no time.
    """

    events: int
    missed_events: int
    wanted: int
    reached: int
    hops: int
    copies: int
    unwanted: int
    arrivals_us: NDArray[np.int64]

    @property
    def hit_ratio(self) -> float:
        """The share of the wanted deliveries that were made; 1 where nobody wanted anything."""
        return self.reached / self.wanted if self.wanted else 1.0

    @property
    def mean_hops(self) -> float:
        """The hops of a delivery, in the mean; 0 without any."""
        return self.hops / max(1, self.reached)

    @property
    def copies_per_delivery(self) -> float:
        """The copies received by anybody for each delivery; 0 without any."""
        return self.copies / max(1, self.reached)

    @property
    def unwanted_share(self) -> float:
        """The share of the copies that came to nodes which do not subscribe."""
        return self.unwanted / max(1, self.copies)

    def plus(self, other: Self) -> "ProbeCounts":
        """Returns both together."""
        return ProbeCounts(
            self.events + other.events,
            self.missed_events + other.missed_events,
            self.wanted + other.wanted,
            self.reached + other.reached,
            self.hops + other.hops,
            self.copies + other.copies,
            self.unwanted + other.unwanted,
            np.concatenate([self.arrivals_us, other.arrivals_us]),
        )


NOTHING = ProbeCounts(0, 0, 0, 0, 0, 0, 0, np.zeros(0, np.int64))


class EventProbe:
    """Events on random topics by random live subscribers. Two probes of one seed choose alike, as long as the same nodes are there."""

    def __init__(self, topics: int, seed: int) -> None:
        self._draws, self._topics = Draws(seed, Stream.PROBES), topics

    def publish(self, system: WatchedSystem, events: int, latency: MessageLatency | None = None) -> ProbeCounts:
        """Publishes on so many topics, or on all if there are fewer, and returns what came of it.

        `latency`: how long messages take. Topics with fewer than two live subscribers are passed over.
        """
        found, before = NOTHING, _received(system)
        places = self._draws.uniform(events)
        for topic, place in zip(self._draws.order(self._topics)[:events].tolist(), places.tolist(), strict=False):
            members = np.array(system.members(topic), np.int64)
            if len(members) > 1:
                found = found.plus(_outcome(system, topic, members, int(place * len(members)), latency))
        received = _received(system) - before
        return found._replace(copies=int(received.sum()), unwanted=int(received[UNWANTED]))


def _received(system: WatchedSystem) -> NDArray[np.int64]:
    """Returns how many copies of events all nodes have received, by kind; control messages count as none."""
    found: NDArray[np.int64] = np.asarray(system.messages, np.int64).reshape(-1, KINDS).sum(0)
    found[CONTROL] = 0
    return found


def _outcome(system: WatchedSystem, topic: int, members: NDArray[np.int64], publisher: int, latency: MessageLatency | None) -> ProbeCounts:
    done = system.publish(topic, int(members[publisher]), latency)
    others = np.delete(members, publisher)
    hops = done.hops[others]
    there = hops >= 0
    return NOTHING._replace(
        events=1,
        missed_events=int(not there.all()),
        wanted=len(others),
        reached=int(there.sum()),
        hops=int(hops[there].sum()),
        arrivals_us=done.arrival_us[others][there] if done.arrival_us is not None else NOTHING.arrivals_us,
    )
