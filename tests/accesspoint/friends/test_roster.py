"""accesspoint.friends.roster: who is a friend, and which playlists count."""

from accesspoint.friends.roster import Roster
from infra.kernel.roles import PLAYLIST, SOCIAL
from infra.kernel.topics import parse_topic, user_topic

BOB, CYD = user_topic("bob"), user_topic("cyd")
MIX, OTHER, OWN = (parse_topic(f"hm://playlist/user/{place}/") for place in ("bob/playlist/mix", "eve/playlist/x", "ann/playlist/mine"))


def roster() -> Roster:
    """Returns the roster of ann, who follows bob and cyd, and a playlist each of bob, of eve and of ann."""
    found = Roster("ann")
    found.read(SOCIAL, None, [BOB, CYD])
    found.read(PLAYLIST, None, [MIX, OTHER, OWN])
    return found


def test_feeds_come_first_and_playlists_count_only_if_their_owners_are_friends() -> None:
    """SB-6."""
    assert roster().topics() == [BOB, CYD, MIX]
    assert [roster().has(topic) for topic in (BOB, MIX, OTHER, OWN, user_topic("ann"))] == [True, True, False, False, False]


def test_what_is_told_of_some_owners_replaces_what_was_known_of_them_and_of_nobody_else() -> None:
    found = roster()
    found.read(SOCIAL, ["bob", "eve"], [user_topic("eve")])
    assert found.topics() == [CYD, user_topic("eve"), OTHER]
    assert (found.is_friend("bob"), found.topics(["bob", "eve"])) == (False, [user_topic("eve"), OTHER])
    found.read(PLAYLIST, ["eve"], [])
    assert found.topics() == [CYD, user_topic("eve")]


def test_a_playlist_is_there_again_when_its_owner_is_a_friend_again() -> None:
    found = roster()
    found.read(SOCIAL, ["bob"], [])
    assert not found.has(MIX)
    found.read(SOCIAL, ["bob"], [BOB])
    assert found.has(MIX)
