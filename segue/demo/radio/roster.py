"""Who and what is on the air: the users who may be logged in as, and the artists that most of them play."""

from collections import Counter
from typing import Any, Final

from segue.demo.dataset import Dataset

MOST_ARTISTS: Final = 1000


def artist_key(number: int) -> str:
    """Returns the id under which the artist service knows an artist of the data."""
    return f"lastfm-{number}"


def roster(dataset: Dataset) -> dict[str, Any]:
    """Returns the users with their numbers of friends, most friends first, and the artists with the most listeners, as JSON has them."""
    listeners = Counter(artist for rows in dataset.plays.values() for artist, _ in rows)
    artists = sorted(listeners, key=lambda artist: (-listeners[artist], artist))[:MOST_ARTISTS]
    users = sorted(dataset.friends, key=lambda user: (-len(dataset.friends[user]), user))
    return {
        "users": [{"user": user, "friends": len(dataset.friends[user])} for user in users],
        "artists": [{"id": artist_key(artist), "name": dataset.artists[artist], "listeners": listeners[artist]} for artist in artists],
    }
