"""The followers of the artist of the second act: which of them sleep, and how each can be reached. Its randomness is an argument."""

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from .dataset import Dataset

# One in so many followers stays online, has a mail address, or has a phone that takes pushes. One in so many of those who sleep comes
# back with two devices.
ONLINE_ONE_IN: Final = 5
ADDRESS_ONE_IN: Final = 4
PHONE_ONE_IN: Final = 12
SECOND_DEVICE_ONE_IN: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Fans:
    """The artist with the most listeners, and everybody who ever played the artist: they are the followers.

    - `artist_id`, `artist_name`: the artist.
    - `followers`: in the order of the data.
    - `awake`: the followers who stay online while the others sleep.
    - `addresses`: the mail addresses of some followers.
    - `phones`: the followers whose phone takes pushes.
    - `second_device`: the sleepers who come back with two devices.
    """

    artist_id: str
    artist_name: str
    followers: tuple[str, ...]
    awake: frozenset[str]
    addresses: Mapping[str, str]
    phones: frozenset[str]
    second_device: frozenset[str]

    @property
    def asleep(self) -> tuple[str, ...]:
        """The followers who are offline when the album comes out."""
        return tuple(user for user in self.followers if user not in self.awake)


def fans(dataset: Dataset, rng: random.Random) -> Fans:
    """Returns the fans of the data set. The same data set and state of `rng` give the same. Somebody must have played something."""
    listeners = Counter(artist for rows in dataset.plays.values() for artist, _ in rows)
    artist = min(listeners, key=lambda each: (-listeners[each], each))
    followers = tuple(user for user, rows in dataset.plays.items() if any(each == artist for each, _ in rows))
    awake = _some(followers, ONLINE_ONE_IN, rng)
    asleep = tuple(user for user in followers if user not in awake)
    return Fans(
        artist_id=f"lastfm-{artist}",
        artist_name=dataset.artists[artist],
        followers=followers,
        awake=awake,
        addresses={user: f"{user}@example.org" for user in sorted(_some(followers, ADDRESS_ONE_IN, rng))},
        phones=_some(followers, PHONE_ONE_IN, rng),
        second_device=_some(asleep, SECOND_DEVICE_ONE_IN, rng),
    )


def _some(users: tuple[str, ...], one_in: int, rng: random.Random) -> frozenset[str]:
    """Returns one in so many of `users`, rounded up."""
    return frozenset(rng.sample(users, -(-len(users) // one_in)))
