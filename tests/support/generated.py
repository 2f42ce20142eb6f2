"""The pairs of presence as arrays, as the generator draws them before it writes anything."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analytics.generator import spotify, twitter
from analytics.generator.friends import friendships
from analytics.generator.pairs import chunks, match, pairs
from analytics.generator.profile import Name, Profile, Sequences, profile


class Drawn(NamedTuple):
    """The pairs of a profile, and the sequences that they were to have.

    - `subscriber`, `topic`: one entry a pair.
    - `dropped`: how many pairs found no new topic for their subscriber.
    """

    profile: Profile
    sequences: Sequences
    subscriber: NDArray[np.int64]
    topic: NDArray[np.int64]
    dropped: int

    @property
    def events(self) -> NDArray[np.int64]:
        return self.sequences.events

    @property
    def popularity(self) -> NDArray[np.int64]:
        return np.bincount(self.topic, minlength=self.profile.topics)

    @property
    def size(self) -> NDArray[np.int64]:
        return np.bincount(self.subscriber, minlength=self.profile.subscribers)

    @property
    def received(self) -> NDArray[np.float64]:
        """The events that each subscriber gets."""
        return np.bincount(self.subscriber, self.events[self.topic], self.profile.subscribers).astype(np.float64)


def drawn(name: Name, scale: float, seed: int, pairs_per_chunk: int = 4_000_000) -> Drawn:
    """Returns what the generator draws for the profile `name` at `scale` with `seed`. `pairs_per_chunk` is the size of its chunks."""
    wanted = profile(name, scale, seed)
    sequences = (spotify if name == "spotify" else twitter).sequences(wanted)
    friends = friendships(wanted, sequences) if name == "spotify" else np.empty(0, np.int64)
    slots = match(wanted, sequences.popularity, sequences.size, friends)
    found = [pairs(wanted, slots, chunk) for chunk in chunks(wanted, pairs_per_chunk)]
    subscriber, topic = (np.concatenate([getattr(each, field) for each in found]) for field in ("subscriber", "topic"))
    return Drawn(wanted, sequences, subscriber, topic, sum(each.dropped for each in found))
