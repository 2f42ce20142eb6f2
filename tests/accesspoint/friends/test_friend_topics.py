"""accesspoint.friends.friend_topics: a topic is followed as long as there is a reason for it."""

from accesspoint.friends.friend_topics import FriendTopics
from infra.kernel.topics import user_topic

BOB, CYD, DAN = map(user_topic, ("bob", "cyd", "dan"))


def test_what_nobody_named_ends_with_the_friend() -> None:
    topics = FriendTopics()
    topics.begin(BOB, is_named=False)
    topics.begin(CYD, is_named=True)
    topics.gained |= {BOB: None, CYD: None}
    assert topics.forget([BOB, CYD, DAN]) == [BOB]
    assert (topics.topics, topics.gained) == ({}, {})


def test_what_is_named_later_stays_and_what_is_unnamed_stays_as_long_as_it_is_of_a_friend() -> None:
    topics = FriendTopics()
    for topic in (BOB, CYD):
        topics.begin(topic, is_named=False)
    topics.name([BOB, DAN])
    assert topics.unname([CYD, DAN]) == {CYD}
    assert topics.forget([BOB, CYD]) == [CYD]


def test_what_begins_twice_is_named_as_it_was_the_first_time() -> None:
    topics = FriendTopics()
    topics.begin(BOB, is_named=False)
    topics.begin(BOB, is_named=True)
    assert topics.forget([BOB]) == [BOB]
