"""The plan of a trace: everything that must be decided at once. It lies in files that all processes map into their memory."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from infra.kernel.trace import Service

from . import spotify, twitter
from .friends import friendships
from .pairs import Slots, match
from .profile import Profile, Sequences, rng, site_of
from .services import Counts, counts, others


@dataclass(frozen=True, slots=True)
class TracePlan:
    """The arrays in `folder`. What is read is mapped, not loaded."""

    folder: Path

    def slots(self) -> Slots:
        """Returns which topic is matched with each slot of each subscriber."""
        return Slots(self._read("slots"), self._read("offsets"), self._read("friends"))

    def counts(self, service: Service) -> Counts:
        """Returns how many events each topic of the service has, and where."""
        return Counts(*(self._read(f"{service}-{field}") for field in ("topic", "events", "site")))

    def write(self, profile: Profile) -> None:
        """Draws the degrees, matches them, and counts the events."""
        sequences = _sequences(profile)
        friends = friendships(profile, sequences) if profile.name == "spotify" else np.empty(0, np.int64)
        self._write_counts("presence", _presence(profile, sequences))
        for service in others(profile):
            self._write_counts(service, counts(profile, service, rng(profile.seed, "counts", service)))
        slots = match(profile, sequences.popularity, sequences.size, friends)
        self._write("slots", slots.topics)
        self._write("offsets", slots.offsets)
        self._write("friends", slots.friends)

    def _write_counts(self, service: Service, found: Counts) -> None:
        for field in ("topic", "events", "site"):
            self._write(f"{service}-{field}", getattr(found, field))

    def _write(self, name: str, array: NDArray[Any]) -> None:
        np.save(self.folder / f"{name}.npy", array)

    def _read(self, name: str) -> NDArray[Any]:
        found: NDArray[Any] = np.load(self.folder / f"{name}.npy", mmap_mode="r")
        return found


def _sequences(profile: Profile) -> Sequences:
    return spotify.sequences(profile) if profile.name == "spotify" else twitter.sequences(profile)


def _presence(profile: Profile, sequences: Sequences) -> Counts:
    topics = np.arange(profile.topics, dtype=np.int64)
    return Counts(topics, sequences.events, site_of(profile, topics))
