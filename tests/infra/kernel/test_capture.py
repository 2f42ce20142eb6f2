"""What numbers a trace has for users and topics."""

import pytest

from infra.kernel.capture import Numbers, is_subscription
from infra.kernel.pseudonym import pseudonym
from infra.kernel.topics import inbox_topic, parse_topic, user_topic

KEY = b"sixteen bytes at"


def test_a_user_has_one_number_as_a_subscriber_and_as_a_topic() -> None:
    numbers = Numbers(KEY)
    social = numbers.topic(parse_topic("hm://notifications/feed/bob%friend-joined/"))
    assert numbers.topic(user_topic("bob")) == ("presence", numbers.user("bob"))
    assert social == ("social", numbers.user("bob"))
    assert numbers.user("bob") == pseudonym(KEY, b"bob") != numbers.user("ann")


def test_a_playlist_and_an_artist_have_numbers_of_their_own() -> None:
    """Also where the artist is called like a user, and each of their feeds."""
    numbers = Numbers(KEY)
    uris = ["hm://playlist/user/bob/playlist/bob/", "hm://notifications/feed/bob%new-album/", "hm://notifications/feed/bob%new-track/"]
    found = [numbers.topic(parse_topic(uri)) for uri in uris]
    assert [each.service for each in found] == ["playlist", "artist", "artist"]
    assert len({numbers.user("bob"), *(each.number for each in found)}) == 4


@pytest.mark.parametrize("uri", ["hm://presence/user/bob/", "hm://notifications/feed/bob%friend-joined/"])
def test_nobody_follows_himself(uri: str) -> None:
    assert not is_subscription("bob", parse_topic(uri))
    assert is_subscription("ann", parse_topic(uri))


def test_one_may_follow_a_playlist_of_his_own_and_an_artist_of_his_name_but_no_inbox() -> None:
    assert is_subscription("bob", parse_topic("hm://playlist/user/bob/playlist/bob/"))
    assert is_subscription("bob", parse_topic("hm://notifications/feed/bob%new-album/"))
    assert not is_subscription("bob", inbox_topic("bob"))
    assert not is_subscription("bob", inbox_topic("ann"))
