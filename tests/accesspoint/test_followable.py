"""What clients may follow, and which service remembers it."""

import json

import pytest

from accesspoint.followable import durable_requests, parse_followable
from infra.kernel.errors import Refused
from infra.kernel.topics import parse_topic

PLAYLIST = "hm://playlist/user/dan/playlist/p1/"
ARTIST = "hm://notifications/feed/a1%new-album/"
SOCIAL = "hm://notifications/feed/bob%friend-joined/"
USER = "hm://presence/user/bob/"


@pytest.mark.parametrize("uri", [PLAYLIST, ARTIST, SOCIAL, USER])
def test_each_of_the_four_kinds_can_be_followed(uri: str) -> None:
    assert parse_followable("bob", uri) == parse_topic(uri)


def test_what_the_user_may_not_see_and_what_is_no_topic_cannot() -> None:
    with pytest.raises(Refused, match="forbidden"):
        parse_followable("bob", "hm://notifications/inbox/ann/")
    with pytest.raises(Refused, match="forbidden"):
        parse_followable("ann", SOCIAL)
    with pytest.raises(Refused, match="bad-topic"):
        parse_followable("bob", "hm://presence/user/bob")


def test_requests_are_one_for_each_service_with_its_own_topics_as_they_were_named() -> None:
    """SB-12."""
    requests = durable_requests(map(parse_topic, [USER, PLAYLIST, ARTIST, USER, SOCIAL, ARTIST]))
    assert [(service, json.loads(body)["topics"]) for service, body in requests] == [
        ("playlist", [PLAYLIST]),
        ("artist", [ARTIST, ARTIST]),
        ("social", [SOCIAL]),
    ]
    assert list(durable_requests([parse_topic(USER)])) == []
