"""Who follows the artist of the second act."""

import random

from segue.demo.dataset import Dataset
from segue.demo.fans import fans


def small() -> Dataset:
    """Returns thirty users; all but three played artist 7, and all of those but one played artist 9, too."""
    users = [f"u{n}" for n in range(30)]
    plays = {user: ((7, 5), (9, 100)) if n < 26 else ((7, 1),) if n < 27 else ((8, 1),) for n, user in enumerate(users)}
    return Dataset(friends=dict.fromkeys(users, ()), plays=plays, artists={7: "Seven", 8: "Eight", 9: "Nine"})


def test_everybody_who_played_the_artist_with_the_most_listeners_follows() -> None:
    found = fans(small(), random.Random(1))
    assert (found.artist_id, found.artist_name) == ("lastfm-7", "Seven")
    assert found.followers == tuple(f"u{n}" for n in range(27))


def test_some_stay_awake_and_each_kind_of_reach_is_there() -> None:
    found = fans(small(), random.Random(1))
    followers = set(found.followers)
    assert (len(found.awake), len(found.asleep), len(found.addresses), len(found.phones), len(found.second_device)) == (6, 21, 7, 3, 3)
    assert found.awake | set(found.asleep) == followers
    assert found.addresses.keys() | found.phones <= followers
    assert found.second_device <= set(found.asleep)


def test_the_same_chance_gives_the_same() -> None:
    assert fans(small(), random.Random(2)) == fans(small(), random.Random(2)) != fans(small(), random.Random(3))


def test_a_single_listener_stays_awake() -> None:
    lonely = Dataset(friends={"ann": ()}, plays={"ann": ((1, 1),)}, artists={1: "One"})
    found = fans(lonely, random.Random(1))
    assert found.awake == {"ann"}
    assert not found.asleep
    assert not found.second_device


def test_in_the_real_data_it_is_lady_gaga_with_611_followers(lastfm: Dataset) -> None:
    found = fans(lastfm, random.Random(1))
    assert (found.artist_name, len(found.followers)) == ("Lady Gaga", 611)
