"""The data set: the published counts, defects with file and line, subsets that still have a graph, and the conversion."""

import gzip
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from segue.demo.dataset import CIRCLE_USERS, Dataset, checkout_folder, load
from segue.demo.table import DatasetError

FRIENDS = "user\tfriend\n1\t2\n2\t1\n"
PLAYS = "user\tartist\tplays\n1\t7\t30\n2\t7\t1\n"
ARTISTS = "artist\tname\n7\tBjörk\n"


def folder_of(folder: Path, *, friends: str = FRIENDS, plays: str = PLAYS, artists: str = ARTISTS) -> Path:
    for name, text in (("friends", friends), ("plays", plays), ("artists", artists)):
        (folder / f"{name}.tsv.gz").write_bytes(gzip.compress(text.encode()))
    return folder


def is_consistent(data: Dataset) -> bool:
    return (
        data.friends.keys() == data.plays.keys()
        and all(user in data.friends[friend] and user != friend for user, theirs in data.friends.items() for friend in theirs)
        and all(artist in data.artists and count > 0 for rows in data.plays.values() for artist, count in rows)
    )


def test_the_data_of_the_checkout_has_the_published_counts(lastfm: Dataset) -> None:
    assert len(lastfm.friends) == 1_892
    assert sum(map(len, lastfm.friends.values())) == 25_434
    assert sum(map(len, lastfm.plays.values())) == 92_834
    assert len(lastfm.artists) == 17_632
    assert sum(lastfm.total_plays().values()) == 69_183_975
    assert is_consistent(lastfm)


def test_user_names_are_valid_in_topics(lastfm: Dataset) -> None:
    assert all(re.fullmatch(r"lastfm-[0-9]+", user) for user in lastfm.friends)
    assert next(iter(lastfm.friends)) == "lastfm-2"


def test_small_tables_are_read_as_written(tmp_path: Path) -> None:
    data = load(folder_of(tmp_path))
    assert data.friends == {"lastfm-1": ("lastfm-2",), "lastfm-2": ("lastfm-1",)}
    assert data.plays == {"lastfm-1": ((7, 30),), "lastfm-2": ((7, 1),)}
    assert data.artists == {7: "Björk"}


def test_a_user_may_lack_friends_or_plays(tmp_path: Path) -> None:
    data = load(folder_of(tmp_path, plays="user\tartist\tplays\n3\t7\t1\n"))
    assert data.friends["lastfm-3"] == ()
    assert data.plays["lastfm-1"] == ()


@pytest.mark.parametrize(
    ("table", "text", "message"),
    [
        ("friends", "user\tfriend\n1\t1\n", "friends.tsv.gz, line 2: user 1 is listed as their own friend"),
        ("friends", "user\tfriend\n1\t2\n2\t1\n1\t2\n", "friends.tsv.gz, line 4: users 1 and 2 occur before"),
        ("friends", "user\tfriend\n1\t2\n", "without the row '2<tab>1'"),
        ("friends", "user\tfriend\n1\talice\n", "friends.tsv.gz, line 2: 'alice' is not a whole number"),
        ("plays", "user\tartist\tplays\n1\t7\t0\n", "plays.tsv.gz, line 2: '0' is not a whole number above 0"),
        ("plays", "user\tartist\tplays\n1\t8\t1\n", "plays.tsv.gz, line 2: artist 8 is not in artists.tsv.gz"),
        ("plays", "user\tartist\tplays\n1\t7\t1\n1\t7\t2\n", "plays.tsv.gz, line 3: user 1 and artist 7 occur before"),
        ("artists", "artist\tname\n7\ta\n7\tb\n", "artists.tsv.gz, line 3: artist 7 occurs before"),
        ("artists", "artist\tname\n7\t \n", "artists.tsv.gz, line 2: artist 7 has no name"),
    ],
)
def test_a_contradiction_is_named_by_file_and_line(tmp_path: Path, table: str, text: str, message: str) -> None:
    with pytest.raises(DatasetError, match=re.escape(message)):
        load(folder_of(tmp_path, **{table: text}))


def test_a_folder_without_tables_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="--data DIR"):
        load(tmp_path)


@pytest.mark.parametrize("users", [1, 2, CIRCLE_USERS, 300, 1_892])
def test_a_subset_has_the_number_of_users_and_only_what_concerns_them(lastfm: Dataset, users: int) -> None:
    subset = lastfm.subset(users, random.Random(users))
    assert len(subset.friends) == users
    assert is_consistent(subset)
    assert all(subset.plays[user] == lastfm.plays[user] for user in subset.plays)
    assert subset.artists.keys() == {artist for rows in subset.plays.values() for artist, _ in rows}


def test_a_subset_keeps_friends_together(lastfm: Dataset) -> None:
    subset = lastfm.subset(300, random.Random(3))
    lonely = sum(not theirs for theirs in subset.friends.values())
    assert sum(map(len, subset.friends.values())) > 300 * 3
    assert lonely < 300 * 0.02


def test_the_same_seed_takes_the_same_users_and_another_seed_others(lastfm: Dataset) -> None:
    first, again, other = (lastfm.subset(50, random.Random(seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.parametrize("users", [0, -1, 1_893])
def test_a_subset_of_an_impossible_size_is_refused(lastfm: Dataset, users: int) -> None:
    with pytest.raises(DatasetError, match="ask for 1 to 1892"):
        lastfm.subset(users, random.Random(1))


def converted(published: Path, out: Path) -> dict[str, bytes]:
    script = checkout_folder() / "convert.py"
    subprocess.run([sys.executable, script, published, "--out", out], check=True, capture_output=True, timeout=60)
    return {path.name: path.read_bytes() for path in out.iterdir()}


def test_the_conversion_is_reproducible_and_can_be_loaded(tmp_path: Path) -> None:
    published = tmp_path / "published"
    published.mkdir()
    (published / "user_friends.dat").write_bytes(b"userID\tfriendID\r\n10\t2\r\n2\t10\r\n")
    (published / "user_artists.dat.gz").write_bytes(gzip.compress(b"userID\tartistID\tweight\n2\t7\t5\n10\t7\t1\n"))
    (published / "artists.dat").write_bytes("id\tname\turl\tpictureURL\n7\tBjörk\thttp://x\thttp://y\n".encode())
    (published / "readme.txt").write_bytes("by Iván\n".encode("iso-8859-1"))

    first, again = converted(published, tmp_path / "first"), converted(published, tmp_path / "again")

    assert first == again
    assert first["readme.txt"].decode() == "by Iván\n"
    data = load(tmp_path / "first")
    assert data.plays == {"lastfm-2": ((7, 5),), "lastfm-10": ((7, 1),)}
    assert data.artists == {7: "Björk"}
