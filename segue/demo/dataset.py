"""The listening data of the demo: friendships of users, and how often each user played each artist.

`examples/data/lastfm/README.md` describes the files. Any folder with tables of the same form will do.
"""

import random
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .table import DatasetError, DatasetTable

# Numbers from 1 to 50 were tried. Larger circles are hard to place (more crosses); smaller ones leave users with too few friends.
CIRCLE_USERS: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Friendships and play counts of the same users.

    - `friends`: the friends of every user. A friendship stands at both ends; nobody is their own friend.
    - `plays`: for every user, rows of (artist id, play count > 0).
    - `artists`: the name of every artist in `plays`, and perhaps of others.
    """

    friends: Mapping[str, tuple[str, ...]]
    plays: Mapping[str, tuple[tuple[int, int], ...]]
    artists: Mapping[int, str]

    def total_plays(self) -> dict[str, int]:
        """Returns how often each user played anything."""
        return {user: sum(count for _, count in rows) for user, rows in self.plays.items()}

    def subset(self, users: int, rng: random.Random) -> "Dataset":
        """Returns the data of `users` users. They are circles of friends, each a user chosen by `rng` and the users nearest to them.

        One large circle would be the dense middle of the graph, where nobody can be placed without many friends elsewhere. Single users
        would hardly know each other. Raises DatasetError when there are not that many users.
        """
        if not 0 < users <= len(self.friends):
            raise DatasetError(f"cannot take {users} users of the {len(self.friends)} in the data; ask for 1 to {len(self.friends)}")
        chosen: set[str] = set()
        for seed in rng.sample(list(self.friends), len(self.friends)):
            chosen.update(self._circle(seed, chosen, min(CIRCLE_USERS, users - len(chosen))))
        return self._restricted(chosen)

    def _circle(self, seed: str, taken: Collection[str], most: int) -> list[str]:
        """Returns `seed` and the users nearest to them who are not `taken`, at most `most` in all."""
        circle = [] if seed in taken else [seed]
        for user in circle:
            if len(circle) >= most:
                break
            circle += [friend for friend in self.friends[user] if friend not in taken and friend not in circle]
        return circle[:most]

    def _restricted(self, chosen: Collection[str]) -> "Dataset":
        """Returns the data of the `chosen` users only: the friendships among them and the artists that they play, in this order."""
        plays = {user: rows for user, rows in self.plays.items() if user in chosen}
        played = {artist for rows in plays.values() for artist, _ in rows}
        return Dataset(
            friends={user: tuple(friend for friend in self.friends[user] if friend in chosen) for user in plays},
            plays=plays,
            artists={artist: name for artist, name in self.artists.items() if artist in played},
        )


def checkout_folder() -> Path:
    """Returns the folder of the tables in a checkout. An installed package has no such folder."""
    return Path(__file__).resolve().parents[2] / "examples" / "data" / "lastfm"


def load(folder: Path) -> Dataset:
    """Reads `friends.tsv.gz`, `plays.tsv.gz` and `artists.tsv.gz` of `folder`. Returns them as a data set.

    Users are named `lastfm-<number>` and come in ascending order of the number. Raises DatasetError where a table is missing or cannot be
    read, where a row has the wrong form (with file and line), and where the tables contradict each other.
    """
    friends = _read_friends(DatasetTable(folder / "friends.tsv.gz", "user", "friend"))
    artists = _read_artists(DatasetTable(folder / "artists.tsv.gz", "artist", "name"))
    plays = _read_plays(DatasetTable(folder / "plays.tsv.gz", "user", "artist", "plays"), artists)
    users = sorted(friends.keys() | plays.keys())
    return Dataset(
        friends={_user_name(user): tuple(map(_user_name, sorted(friends.get(user, ())))) for user in users},
        plays={_user_name(user): tuple(sorted(plays.get(user, {}).items())) for user in users},
        artists=artists,
    )


def _user_name(number: int) -> str:
    return f"lastfm-{number}"


def _read_friends(table: DatasetTable) -> dict[int, set[int]]:
    friends: defaultdict[int, set[int]] = defaultdict(set)
    for row in table:
        user, friend = map(table.number, row)
        if user == friend:
            raise table.error(f"user {user} is listed as their own friend; remove the row")
        if friend in friends[user]:
            raise table.error(f"users {user} and {friend} occur before in this order; remove the row")
        friends[user].add(friend)
    for user, friend in ((user, friend) for user, theirs in friends.items() for friend in theirs):
        if user not in friends.get(friend, ()):
            raise table.error(f"the table ends without the row '{friend}<tab>{user}', though it has '{user}<tab>{friend}'")
    return friends


def _read_artists(table: DatasetTable) -> dict[int, str]:
    artists: dict[int, str] = {}
    for number, name in table:
        artist = table.number(number)
        if artist in artists:
            raise table.error(f"artist {artist} occurs before; remove the row")
        if not name.strip():
            raise table.error(f"artist {artist} has no name")
        artists[artist] = name
    return artists


def _read_plays(table: DatasetTable, artists: Mapping[int, str]) -> dict[int, dict[int, int]]:
    plays: defaultdict[int, dict[int, int]] = defaultdict(dict)
    for row in table:
        user, artist, count = map(table.number, row)
        if artist not in artists:
            raise table.error(f"artist {artist} is not in artists.tsv.gz")
        if artist in plays[user]:
            raise table.error(f"user {user} and artist {artist} occur before; add the plays up in one row")
        plays[user][artist] = count
    return plays
