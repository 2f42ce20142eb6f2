"""The schedule of plays, drawn from the real play counts.

Everybody listens independently. So the arrivals of all users together are a Poisson process. Each play belongs to a user in proportion
to the user's real plays, and then to an artist in proportion to the user's real plays of the artist.
"""

import random
from collections.abc import Iterator
from itertools import accumulate
from typing import Final, NamedTuple

from .dataset import Dataset
from .table import DatasetError

# A play reaches about nineteen friends in the whole data set, so this is near 2,000 deliveries a second. It is about a
# dozen times what as many people who listen without a pause to tracks of four minutes would do.
RATE_PER_S: Final = 100.0
# The data count plays of artists, not of tracks; the number only makes the feed look like one.
TRACKS_PER_ARTIST: Final = 12


class Play(NamedTuple):
    """A play. `at_s` is the time since the start of the replay, already divided by its speed."""

    at_s: float
    user: str
    artist_id: int
    artist_name: str
    track_no: int


def schedule(
    dataset: Dataset, *, duration_s: float, rng: random.Random, speed: float = 1.0, rate_per_s: float = RATE_PER_S
) -> Iterator[Play]:
    """Yields plays of the users of `dataset` in order of time, none at or after `duration_s`.

    `rate_per_s` is the rate of all users together at `speed` 1. Each play is drawn when it is asked for, so memory does not grow with the
    duration. The same data set and state of `rng` give the same plays. Raises DatasetError when nobody ever played anything, and ValueError
    for a speed or rate that is not above 0.
    """
    if speed <= 0 or rate_per_s <= 0:
        raise ValueError(f"speed {speed:g} and rate {rate_per_s:g} per second must both be above 0")
    if not any(dataset.plays.values()):
        raise DatasetError("the data hold no plays, so there is nothing to replay")
    return _draw(dataset, duration_s, rate_per_s * speed, rng)


def _draw(dataset: Dataset, duration_s: float, rate_per_s: float, rng: random.Random) -> Iterator[Play]:
    users = list(dataset.plays)
    artists = {user: [artist for artist, _ in rows] for user, rows in dataset.plays.items()}
    # Cumulative, as random.choices() wants them to find its item by bisection.
    user_weights = list(accumulate(sum(count for _, count in rows) for rows in dataset.plays.values()))
    artist_weights = {user: list(accumulate(count for _, count in rows)) for user, rows in dataset.plays.items()}
    at_s = rng.expovariate(rate_per_s)
    while at_s < duration_s:
        (user,) = rng.choices(users, cum_weights=user_weights)
        (artist,) = rng.choices(artists[user], cum_weights=artist_weights[user])
        yield Play(at_s, user, artist, dataset.artists[artist], rng.randint(1, TRACKS_PER_ARTIST))
        at_s += rng.expovariate(rate_per_s)
