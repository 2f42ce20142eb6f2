"""Who may be logged in as, and which artists there are."""

from segue.demo.dataset import Dataset
from segue.demo.radio.roster import artist_key, roster


def test_those_with_the_most_friends_and_listeners_come_first() -> None:
    data = Dataset(
        friends={"a": ("b",), "b": ("a", "c"), "c": ("b",)},
        plays={"a": ((7, 3),), "b": ((8, 1), (7, 1)), "c": ()},
        artists={7: "Björk", 8: "Air", 9: "Nobody"},
    )
    found = roster(data)
    assert found["users"] == [{"user": "b", "friends": 2}, {"user": "a", "friends": 1}, {"user": "c", "friends": 1}]
    assert found["artists"] == [
        {"id": artist_key(7), "name": "Björk", "listeners": 2},
        {"id": artist_key(8), "name": "Air", "listeners": 1},
    ]
