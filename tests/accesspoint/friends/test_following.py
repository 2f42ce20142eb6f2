"""accesspoint.friends.following: which topics of friends sessions follow, what they are told of it, and in which order."""

from typing import Any

import msgspec

from infra.kernel.access import Listening
from infra.kernel.frames import Barred, Call, Reply
from infra.kernel.roles import PLAYLIST, SOCIAL
from infra.kernel.topics import Topic, parse_topic
from tests.support.guarded_core import GuardedCore
from tests.support.recording_session import RecordingSession
from tests.support.social_twin import SocialTwin
from tests.support.user import feed

MIX, HITS = "hm://playlist/user/bob/playlist/mix/", "hm://playlist/user/cyd/playlist/hits/"
INSTALL_S, CALL_S = 2.0, 5.0


class FriendlyCore(GuardedCore):
    """An access point for ann, whose friends the twin knows. `playlists` are those that ann follows."""

    def __init__(self, *friends: str, playlists: tuple[str, ...] = (), **options: Any) -> None:
        super().__init__(SocialTwin(), **options)
        for friend in friends:
            self.twin.befriend("ann", friend)
        self.playlists = [*playlists]

    def answer(self, replies: list[Reply] | None = None) -> None:
        """Lets the playlist service answer, too."""
        super().answer(replies)
        if replies is None:
            self._answer_of_playlists()

    def _answer_of_playlists(self) -> None:
        asked = [frame for frame in self.playlist if isinstance(frame, Call) and frame.op == "followed"]
        self.playlist.clear()
        for call in asked:
            self.core.calls.reply("l1", Reply(call.n, "", "", msgspec.msgpack.encode((list(map(parse_topic, self.playlists)), None))))
        self.turn()
        if asked or self.outlet.calls:
            self.answer()

    def tell(self, frame: Barred, service: str = SOCIAL) -> None:
        """Lets a service say that something has changed, and answers what is asked then; waits until it is installed."""
        if service == SOCIAL:
            self.core.gatekeeper.barred(frame, self.now_s)
        self.core.friends.barred(service, frame, self.now_s)
        self.answer()
        self.tick(INSTALL_S)

    def follow(self, session: RecordingSession, **fields: Any) -> None:
        """Has `session` follow friends, and waits until that is answered and installed."""
        session.tell(self.now_s, op="subscribe", id=1, follow="friends", **({"topics": []} | fields))
        self.answer()
        self.tick(INSTALL_S)

    def follower(self, **fields: Any) -> RecordingSession:
        """Returns a session of ann that follows friends."""
        ann = self.client("ann")
        self.follow(ann, **fields)
        return ann


def told(session: RecordingSession, since: int = 0) -> list[tuple[set[str], set[str]]]:
    """Returns what the session was told of topics that came and that left, but for the first `since` messages."""
    followed = [message for message in session.messages if message["op"] == "followed"]
    return [({*each["topics"]}, {*each["left"]}) for each in followed[since:]]


def news(session: RecordingSession) -> dict[str, Any]:
    """Returns the last message about friends."""
    return [message for message in session.messages if message["op"] == "followed"][-1]


def answer_of(session: RecordingSession, op: str = "subscribed") -> dict[str, Any]:
    """Returns the last answer to a call of the session."""
    return [message for message in session.messages if message["op"] == op][-1]


def held(*topics: str) -> list[Topic]:
    return sorted(map(parse_topic, topics))


def test_all_friends_and_their_playlists_are_followed_and_told_before_the_answer() -> None:
    """SB-4, SB-6: the playlist of somebody who is no friend is not among them."""
    world = FriendlyCore("bob", "cyd", playlists=(MIX, "hm://playlist/user/eve/playlist/x/"))
    ann = world.follower()
    assert world.holds(ann) == held(feed("bob"), feed("cyd"), MIX)
    assert [message["op"] for message in ann.messages if message["op"] in ("followed", "subscribed")] == ["followed", "subscribed"]
    assert (told(ann), news(ann)["whole"], news(ann)["beyond"]) == ([({feed("bob"), feed("cyd"), MIX}, set())], True, 0)


def test_who_has_no_friends_is_told_so_once() -> None:
    world = FriendlyCore()
    ann = world.follower()
    assert (told(ann), answer_of(ann)["rejected"]) == ([(set(), set())], [])
    world.tell(world.twin.befriend("dan", "eve"))
    assert len(told(ann)) == 1


def test_a_friend_who_comes_is_followed_and_one_who_goes_is_heard_no_more() -> None:
    """SB-4, SB-5, SB-6: the way on which it came makes no difference, and every session of the user is told."""
    world = FriendlyCore("bob", playlists=(MIX, HITS))
    sessions = [world.follower(), world.follower()]
    world.tell(world.twin.befriend("ann", "cyd"))
    for ann in sessions:
        assert told(ann, 1) == [({feed("cyd"), HITS}, set())]
    world.tell(world.twin.unfollow("ann", "bob"))
    for ann in sessions:
        assert told(ann, 2) == [(set(), {feed("bob"), MIX})]
        assert world.holds(ann) == held(feed("cyd"), HITS)


def test_a_playlist_that_is_followed_later_comes_and_goes_with_its_service() -> None:
    """SB-6."""
    world = FriendlyCore("bob")
    ann = world.follower()
    world.playlists = [MIX]
    world.tell(Barred(["bob"], ["ann"]), PLAYLIST)
    assert told(ann, 1) == [({MIX}, set())]
    world.playlists = []
    world.tell(Barred(["bob"], ["ann"]), PLAYLIST)
    assert (told(ann, 2), world.holds(ann)) == ([(set(), {MIX})], held(feed("bob")))


def test_who_does_not_ask_is_told_nothing_and_costs_no_question() -> None:
    world = FriendlyCore("bob")
    ann = world.client("ann")
    world.tell(world.twin.befriend("ann", "cyd"))
    assert (told(ann), world.holds(ann), world.core.friends.rosters.asked) == ([], [], 0)


def test_what_the_client_names_as_well_ends_with_the_last_reason() -> None:
    world = FriendlyCore("bob", "cyd")
    ann = world.follower()
    ann.tell(world.now_s, op="subscribe", id=2, topics=[feed("bob")])
    world.twin.listening["bob"] = Listening.EVERYONE
    world.tell(world.twin.unfollow("ann", "bob"))
    assert (told(ann, 1), world.holds(ann)) == ([(set(), {feed("bob")})], held(feed("bob"), feed("cyd")))
    ann.tell(world.now_s, op="subscribe", id=3, topics=[feed("cyd")])
    ann.tell(world.now_s, op="unsubscribe", id=4, topics=[feed("bob"), feed("cyd")])
    assert world.holds(ann) == held(feed("cyd"))


def test_what_was_named_before_friends_were_followed_stays_when_they_are_not() -> None:
    world = FriendlyCore("bob", "cyd")
    ann = world.client("ann")
    ann.tell(world.now_s, op="subscribe", id=1, topics=[feed("bob")])
    world.answer()
    world.follow(ann)
    assert world.holds(ann) == held(feed("bob"), feed("cyd"))
    ann.tell(world.now_s, op="unsubscribe", id=2, topics=[], follow="friends")
    assert (world.holds(ann), len(world.core.friends.rosters)) == (held(feed("bob")), 0)
    world.tell(world.twin.befriend("ann", "dan"))
    assert told(ann, 1) == []


def test_what_a_friend_hides_is_not_followed_until_they_show_it() -> None:
    """AUTH-5."""
    world = FriendlyCore("bob", "cyd")
    world.twin.show("bob", Listening.NOBODY)
    ann = world.follower()
    assert (world.holds(ann), told(ann)) == (held(feed("cyd")), [({feed("cyd")}, set())])
    world.tell(world.twin.show("bob", Listening.FRIENDS))
    assert (world.holds(ann), told(ann, 1)) == (held(feed("bob"), feed("cyd")), [({feed("bob")}, set())])


def test_a_block_ends_it_and_is_told_as_a_friend_who_left() -> None:
    """AUTH-4."""
    world = FriendlyCore("bob", "cyd")
    ann = world.follower()
    world.tell(world.twin.block("bob", "ann"))
    assert world.holds(ann) == held(feed("cyd"))
    assert (set(), {feed("bob")}) in told(ann, 1)


def test_those_for_whom_there_is_no_room_are_counted_and_come_when_there_is() -> None:
    """DPS-26: a connection follows no more than it may."""
    world = FriendlyCore("bob", "cyd", "dan", max_topics=2)
    ann = world.follower()
    assert (world.holds(ann), news(ann)["beyond"], world.core.friends.count()) == (held(feed("bob"), feed("cyd")), 1, (2, 1))
    world.tell(world.twin.unfollow("ann", "bob"))
    assert (world.holds(ann), news(ann)["beyond"], world.core.friends.count()) == (held(feed("cyd"), feed("dan")), 0, (2, 0))


def test_one_who_may_not_be_seen_takes_the_room_of_nobody() -> None:
    """DPS-26, AUTH-5."""
    world = FriendlyCore("bob", "cyd", "dan", max_topics=2)
    world.twin.show("bob", Listening.NOBODY)
    ann = world.follower()
    assert (world.holds(ann), news(ann)["beyond"]) == (held(feed("cyd"), feed("dan")), 0)


def test_no_message_has_more_topics_than_one_may_have() -> None:
    friends = [f"f{n}" for n in range(5)]
    world = FriendlyCore(*friends, max_topics_per_message=2)
    ann = world.follower()
    assert ([len(came) for came, _ in told(ann)], len(world.holds(ann))) == ([2, 2, 1], 5)
    world.twin.follows.clear()
    world.tell(Barred(friends, ["ann"] * 5))
    assert ([len(left) for _, left in told(ann, 3)], world.holds(ann)) == ([2, 2, 1], [])


def test_of_named_topics_those_of_friends_are_followed_and_the_others_are_no_friends() -> None:
    """A client that comes back names where it was: what is not of friends any more it hears of."""
    world = FriendlyCore("bob", playlists=(MIX,))
    ann = world.follower(topics=[feed("bob"), feed("eve"), MIX])
    assert world.holds(ann) == held(feed("bob"), MIX)
    assert [(each["topic"], each["code"]) for each in answer_of(ann)["rejected"]] == [(feed("eve"), "forbidden")]
    world.tell(world.twin.befriend("ann", "cyd"))  # it has named some, and follows those alone
    assert world.holds(ann) == held(feed("bob"), MIX)
    world.tell(world.twin.unfollow("ann", "bob"))
    assert (world.holds(ann), told(ann)[-1]) == ([], (set(), {feed("bob"), MIX}))


def test_a_topic_that_was_named_before_it_was_named_as_of_a_friend_stays() -> None:
    world = FriendlyCore("bob")
    world.twin.show("bob", Listening.EVERYONE)
    ann = world.client("ann")
    ann.tell(world.now_s, op="subscribe", id=1, topics=[feed("bob")])
    world.answer()
    world.follow(ann, topics=[feed("bob")])
    world.tell(world.twin.unfollow("ann", "bob"))
    assert (world.holds(ann), told(ann)[-1]) == (held(feed("bob")), (set(), {feed("bob")}))


def test_while_nobody_knows_who_is_a_friend_it_is_said_and_asked_again() -> None:
    """AUTH-10: nothing is taken for strange that nobody was asked about."""
    world = FriendlyCore("bob", is_linked=False)
    ann = world.follower(topics=[feed("bob")])
    assert [each["code"] for each in answer_of(ann)["rejected"]] == ["unavailable"]
    world.follow(ann)
    assert (world.holds(ann), news(ann)["whole"]) == ([], False)
    world.link()
    world.core.friends.rosters.node_up(SOCIAL, world.now_s)
    world.answer()
    world.tick(INSTALL_S)
    assert (world.holds(ann), news(ann)["whole"], told(ann)[-1]) == (held(feed("bob")), True, ({feed("bob")}, set()))


def test_a_friend_of_whom_nobody_can_say_whether_they_may_be_seen_is_asked_about_again() -> None:
    """AUTH-10."""
    world = FriendlyCore("bob")
    ann = world.client("ann")
    ann.tell(world.now_s, op="subscribe", id=1, follow="friends", topics=[])
    world.answer(world.outlet.replies())
    world.cut()  # it is known that bob is a friend, and nobody can say whether that may be shown
    world.answer()
    for _ in range(2):
        world.tick(CALL_S)
    assert (world.holds(ann), news(ann)["whole"]) == ([], False)
    world.link()
    for _ in range(3):
        world.tick(INSTALL_S)
        world.answer()
    world.tick(INSTALL_S)
    assert (world.holds(ann), news(ann)["whole"]) == (held(feed("bob")), True)


def test_a_session_that_leaves_in_the_middle_is_forgotten_and_disturbs_nobody() -> None:
    world = FriendlyCore("bob", "cyd")
    gone, ann = world.client("ann"), world.client("ann")
    for session in (gone, ann):
        session.tell(world.now_s, op="subscribe", id=1, follow="friends", topics=[])
    world.core.leave(gone, "lost")
    world.answer()
    world.tick(INSTALL_S)
    assert (told(gone), world.holds(ann)) == ([], held(feed("bob"), feed("cyd")))
    world.core.leave(ann, "lost")
    assert (len(world.core.friends.rosters), world.core.friends.count()) == (0, (0, 0))


def test_what_changes_back_before_it_is_installed_is_not_told_as_followed() -> None:
    world = FriendlyCore("bob")
    ann = world.follower()
    world.core.friends.barred(SOCIAL, world.twin.befriend("ann", "cyd"), world.now_s)
    world.answer()
    frame = world.twin.unfollow("ann", "cyd")
    world.tell(frame)
    assert world.holds(ann) == held(feed("bob"))
    assert all(feed("cyd") not in came for came, _ in told(ann))
