"""Who may follow what at an access point, and what happens when that changes."""

import pytest

from accesspoint.authorization.authorizer import FEW
from accesspoint.authorization.gatekeeper import MAX_TOKENS, TOKEN_COST
from accesspoint.authorization.questions import MAX_OPEN_OF_USER
from infra.kernel.access import Listening
from infra.kernel.errors import Refused
from infra.kernel.frames import Call, Reply, Unsubscribe
from infra.kernel.grants import Grants
from infra.kernel.places import Places, VisitorLimits
from infra.kernel.topics import Topic, inbox_topic, parse_topic
from tests.support.guarded_core import GuardedCore
from tests.support.recording_session import RecordingSession
from tests.support.social_twin import SocialTwin, both
from tests.support.user import feed

BOBS_LIST = "hm://playlist/user/bob/playlist/mix/"
ARTIST = "hm://notifications/feed/a1%new-album/"
JOINED = "hm://notifications/feed/ann%friend-joined/"


def friends(*others: str) -> SocialTwin:
    """Returns a twin in which `ann` has these friends."""
    twin = SocialTwin()
    for other in others:
        twin.befriend("ann", other)
    return twin


def granting(*topics: str) -> Grants:
    """Returns the grants of a token that names `topics`."""
    grants = Grants.of(topics=list(topics))
    assert grants is not None
    return grants


def said(session: RecordingSession, op: str) -> list[dict[str, object]]:
    return [message for message in session.messages if message["op"] == op]


def test_what_is_for_everybody_and_what_is_ones_own_is_followed_without_asking_anybody() -> None:
    """AUTH-2, AUTH-9."""
    world = GuardedCore(is_linked=False)
    ann = world.client("ann")
    ann.tell(op="subscribe", id=1, topics=[feed("ann"), ARTIST, JOINED, "hm://playlist/user/ann/playlist/p/"])
    assert (len(world.holds(ann)), world.outlet.calls) == (4, [])


def test_all_unknown_topics_of_a_message_are_asked_about_in_one_call_and_the_answer_comes_after_it() -> None:
    """AUTH-5, AUTH-6: nothing is followed before it is allowed; what is for everybody is at once."""
    world = GuardedCore(friends("bob"))
    ann = world.client("ann")
    assert ann.tell(op="subscribe", id=1, topics=[feed("bob"), feed("eve"), BOBS_LIST, ARTIST]) is None
    assert (world.holds(ann), [call.op for call in world.outlet.calls]) == ([b"Aa1%new-album"], ["may-see"])
    world.answer()
    world.tick(2.0)
    assert world.holds(ann) == [b"Aa1%new-album", b"Pbob/mix", b"Ubob"]
    (answer,) = said(ann, "subscribed")
    assert answer["rejected"] == [
        {"topic": feed("eve"), "code": "forbidden", "number": 4204, "reason": "eve does not show you what they play"}
    ]


def test_a_durable_follow_is_told_to_its_service_only_when_it_is_allowed() -> None:
    world = GuardedCore(SocialTwin())
    ann = world.client("ann")
    world.twin.block("bob", "ann")
    ann.tell(op="subscribe", topics=[BOBS_LIST])
    world.answer()
    assert world.playlist == []
    ann.tell(op="subscribe", topics=["hm://playlist/user/cid/playlist/x/"])
    world.answer()
    assert [frame.op for frame in world.playlist if isinstance(frame, Call)] == ["follow"]


def test_a_refusal_is_remembered_until_it_is_taken_back() -> None:
    world = GuardedCore(SocialTwin())
    ann = world.client("ann")
    for _ in range(3):
        ann.tell(op="subscribe", topics=[feed("bob")])
        world.answer()
    assert world.core.gatekeeper.authorizer.questions.asked == 1
    world.tell(world.twin.befriend("ann", "bob"))
    ann.tell(op="subscribe", topics=[feed("bob")])
    world.answer()
    assert world.holds(ann) == [b"Ubob"]


def test_what_another_session_of_the_user_left_a_moment_ago_needs_no_question() -> None:
    """A client that comes back is served at once."""
    world = GuardedCore(friends("bob", "cid"))
    ann = world.client("ann")
    ann.tell(op="subscribe", topics=[feed("bob"), feed("cid")])
    world.answer()
    world.core.leave(ann, "lost")
    again = world.client("ann")
    again.tell(op="subscribe", topics=[feed("bob"), feed("cid")])
    assert (len(world.holds(again)), world.outlet.calls) == (2, [])


# Order.


def test_what_is_unsubscribed_while_it_waits_is_not_followed() -> None:
    world = GuardedCore(friends("bob", "cid"))
    ann = world.client("ann")
    ann.tell(op="subscribe", id=1, topics=[feed("bob"), feed("cid")])
    assert ann.tell(op="unsubscribe", id=2, topics=[feed("bob")]) == {"op": "unsubscribed", "id": 2}
    world.answer()
    assert world.holds(ann) == [b"Ucid"]
    world.tick(2.0)
    assert said(ann, "subscribed")[0]["rejected"] == []


def test_the_same_topic_in_two_messages_that_wait_is_followed_once_and_after_the_last_word() -> None:
    world = GuardedCore(friends("bob"))
    ann = world.client("ann")
    ann.tell(op="subscribe", id=1, topics=[feed("bob")])
    ann.tell(op="unsubscribe", id=2, topics=[feed("bob")])
    ann.tell(op="subscribe", id=3, topics=[feed("bob")])
    world.answer()
    world.tick(2.0)
    assert world.holds(ann) == [b"Ubob"]
    assert [answer["id"] for answer in said(ann, "subscribed")] == [1, 3]


def test_a_session_that_ends_while_it_waits_follows_nothing() -> None:
    world = GuardedCore(friends("bob"))
    ann = world.client("ann")
    ann.tell(op="subscribe", topics=[feed("bob")])
    world.core.leave(ann, "lost")
    world.answer()
    assert (len(world.core.gatekeeper.admission), len(world.core.gatekeeper.authorizer.questions)) == (0, 0)
    assert world.core.hub.subscriptions == 0


def test_topics_that_wait_take_up_room() -> None:
    world = GuardedCore(friends("bob", "cid", "dan"), max_topics=2)
    ann = world.client("ann")
    ann.tell(op="subscribe", id=1, topics=[feed("bob"), feed("cid")])
    answer = ann.tell(op="subscribe", id=2, topics=[feed("dan"), feed("eve")])
    assert answer is not None
    assert answer["code"] == "too-many-topics"
    world.answer()
    assert world.holds(ann) == [b"Ubob", b"Ucid"]


def test_one_user_cannot_have_any_number_of_questions_open() -> None:
    world = GuardedCore(friends())
    ann = world.client("ann")
    for n in range(MAX_OPEN_OF_USER):
        assert ann.tell(n, op="subscribe", id=n, topics=[feed(f"u{n}")]) is None
    answer = ann.tell(MAX_OPEN_OF_USER, op="subscribe", id="x", topics=[feed("more")])
    assert answer is not None
    assert answer["code"] == "rate-limited"
    assert len(world.core.gatekeeper.authorizer.questions) == MAX_OPEN_OF_USER


# While nobody can be asked.


def test_without_the_social_service_new_follows_wait_and_are_then_unavailable() -> None:
    """AUTH-10: fail closed. What stands stands."""
    world = GuardedCore(friends("bob", "cid"))
    ann = world.client("ann")
    ann.tell(op="subscribe", topics=[feed("bob")])
    world.answer()
    world.cut()
    ann.tell(world.now_s, op="subscribe", id=7, topics=[feed("cid"), feed("bob"), ARTIST])
    world.tick(4.0)
    assert [answer["id"] for answer in said(ann, "subscribed")] == [None]
    world.tick(1.0)
    world.tick(2.0)
    rejected = said(ann, "subscribed")[-1]["rejected"]
    assert isinstance(rejected, list)
    assert [(each["topic"], each["code"]) for each in rejected] == [(feed("cid"), "unavailable")]
    assert world.holds(ann) == [b"Aa1%new-album", b"Ubob"]


def test_a_follow_that_waits_is_asked_about_as_soon_as_somebody_is_there() -> None:
    world = GuardedCore(friends("bob"), is_linked=False)
    ann = world.client("ann")
    ann.tell(op="subscribe", topics=[feed("bob")])
    world.tick(3.0)
    world.link()
    world.answer()
    assert world.holds(ann) == [b"Ubob"]


def test_a_question_whose_link_breaks_is_asked_again() -> None:
    world = GuardedCore(friends("bob"))
    ann = world.client("ann")
    ann.tell(op="subscribe", topics=[feed("bob")])
    world.cut()
    world.link()
    world.answer()
    assert world.holds(ann) == [b"Ubob"]


# Changes.


def test_what_is_forbidden_now_ends_with_a_word_to_the_client_and_none_to_services() -> None:
    """AUTH-4, AUTH-5: unfriending and blocking end what stands, everything else of the user goes on."""
    world = GuardedCore(friends("bob", "cid"))
    ann, phone = world.client("ann"), world.client("ann")
    for session in (ann, phone):
        session.tell(op="subscribe", topics=[feed("bob"), feed("cid"), BOBS_LIST])
        world.answer()
    asked = world.core.gatekeeper.authorizer.rechecks.asked
    world.tell(world.twin.block("bob", "ann"))
    for session in (ann, phone):
        assert world.holds(session) == [b"Ucid"]
        (ended,) = said(session, "ended")
        assert ended["topics"] == [
            {"topic": feed("bob"), "code": "forbidden", "number": 4204, "reason": "bob does not show you what they play"},
            {"topic": BOBS_LIST, "code": "forbidden", "number": 4204, "reason": "there is no playlist of bob here that you may see"},
        ]
    assert world.core.gatekeeper.authorizer.rechecks.asked - asked == 2
    assert [frame.topics for frame in world.aggregator if isinstance(frame, Unsubscribe)] == [[b"Ubob", b"Pbob/mix"]]
    assert [frame.op for frame in world.playlist if isinstance(frame, Call)] == ["follow", "follow"]


def test_a_setting_concerns_all_who_follow_the_owner_and_nobody_else() -> None:
    """AUTH-5."""
    world = GuardedCore(SocialTwin(Listening.EVERYONE))
    sessions = {user: world.client(user) for user in ("ann", "cid", "dan")}
    for user, session in sessions.items():
        session.tell(op="subscribe", topics=[feed("bob") if user != "dan" else feed("eve")])
        world.answer()
    world.tell(world.twin.show("bob", Listening.NOBODY))
    assert [world.holds(session) for session in sessions.values()] == [[], [], [b"Ueve"]]
    assert [len(said(session, "ended")) for session in sessions.values()] == [1, 1, 0]
    assert world.core.gatekeeper.authorizer.rechecks.asked == 2


def test_an_answer_that_is_older_than_a_change_does_not_count() -> None:
    """AUTH-4: the answer was made, then the block came, then both arrive the wrong way round."""
    world = GuardedCore(friends("bob"))
    ann = world.client("ann")
    ann.tell(op="subscribe", topics=[feed("bob"), ARTIST])
    early = world.outlet.replies()
    world.core.gatekeeper.barred(world.twin.block("bob", "ann"), 0.0)
    world.answer(early)
    assert world.holds(ann) == [b"Aa1%new-album"]
    world.answer()
    assert world.holds(ann) == [b"Aa1%new-album"]


def test_what_ends_while_another_topic_of_its_message_waits_does_not_begin_again() -> None:
    """AUTH-4: it was held when the message came, and so it was known to be allowed."""
    world = GuardedCore(friends("bob", "cid"))
    ann = world.client("ann")
    ann.tell(op="subscribe", topics=[feed("bob")])
    world.answer()
    ann.tell(op="subscribe", id=2, topics=[feed("bob"), feed("cid")])
    answers = world.outlet.replies()
    world.tell(world.twin.block("bob", "ann"))
    world.answer(answers)
    world.tick(2.0)
    assert world.holds(ann) == [b"Ucid"]
    assert [each["topic"] for each in said(ann, "subscribed")[-1]["rejected"]] == [feed("bob")]  # type: ignore[attr-defined]


def test_an_answer_from_before_the_link_broke_does_not_count_after_it() -> None:
    world = GuardedCore(friends("bob"), services={"social": ["s1", "s2"]})
    ann = world.client("ann")
    ann.tell(op="subscribe", topics=[feed("bob")])
    early = world.outlet.replies()
    world.twin.unfollow("bob", "ann")
    world.core.gatekeeper.link_up(0.0)
    world.answer(early)
    world.answer()
    assert world.holds(ann) == []


def test_when_the_social_service_is_linked_again_everything_held_is_asked_about() -> None:
    """AUTH-5: what changed meanwhile, nobody has told."""
    world = GuardedCore(friends("bob", "cid"))
    ann = world.client("ann")
    ann.tell(op="subscribe", topics=[feed("bob"), feed("cid"), feed("ann"), ARTIST])
    world.answer()
    world.cut()
    world.twin.unfollow("cid", "ann")
    world.link()
    world.answer()
    assert world.holds(ann) == [b"Aa1%new-album", b"Uann", b"Ubob"]
    assert world.core.gatekeeper.authorizer.rechecks.asked == 2
    assert inbox_topic("ann") in world.core.hub.held(ann)


def test_verdicts_are_remembered_only_while_every_node_can_tell_of_changes() -> None:
    world = GuardedCore(friends(), services={"social": ["s1", "s2"]})
    ann = world.client("ann")
    for _ in range(2):
        ann.tell(op="subscribe", topics=[feed("bob")])
        world.answer()
    assert (world.core.gatekeeper.authorizer.questions.asked, len(world.core.gatekeeper.authorizer.cache)) == (2, 0)


def test_a_recheck_that_fails_is_made_again_and_what_stands_stands_until_then() -> None:
    world = GuardedCore(friends("bob"))
    ann = world.client("ann")
    ann.tell(op="subscribe", topics=[feed("bob")])
    world.answer()
    world.core.gatekeeper.barred(world.twin.unfollow("bob", "ann"), 0.0)
    world.turn()
    world.outlet.calls.clear()  # nobody answers
    world.tick(5.0)
    assert world.holds(ann) == [b"Ubob"]
    world.tick(0.5)
    world.answer()
    assert world.holds(ann) == []


def test_a_user_whose_name_stands_for_nobody_is_rechecked_too() -> None:
    world = GuardedCore(friends())
    world.twin.befriend("-", "bob")
    dash = world.client("-")
    dash.tell(op="subscribe", topics=[feed("bob")])
    world.answer()
    assert world.holds(dash) == [b"Ubob"]
    world.tell(world.twin.block("bob", "-"))
    assert world.holds(dash) == []


def test_news_about_users_who_are_not_here_cost_nothing() -> None:
    world = GuardedCore(friends("bob"))
    world.tell(both("x", "y"))
    assert (world.outlet.calls, world.core.gatekeeper.authorizer.rechecks.is_idle) == ([], True)


# Questions without following.


def test_the_last_events_of_those_whom_one_may_not_see_are_left_out() -> None:
    """AUTH-5."""
    world = GuardedCore(friends("bob"))
    ann = world.client("ann")
    ann.tell(op="last", id=3, topics=[feed("eve"), feed("bob"), feed("ann")])
    assert world.presence == [] or all(not isinstance(frame, Call) for frame in world.presence)
    world.answer()
    (call,) = [frame for frame in world.presence if isinstance(frame, Call)]
    assert call.body == b'{"op":"last","id":3,"topics":["hm://presence/user/bob/","hm://presence/user/ann/"]}'


def test_the_past_of_a_topic_is_for_those_who_may_see_it() -> None:
    """AUTH-3, AUTH-6."""
    world = GuardedCore(SocialTwin())
    world.twin.block("bob", "ann")
    ann = world.client("ann")
    ann.tell(op="history", id=1, topic=BOBS_LIST)
    world.answer()
    assert [answer["code"] for answer in said(ann, "error")] == ["forbidden"]
    ann.tell(op="history", id=2, topic="hm://notifications/feed/bob%friend-joined/")
    assert [answer["code"] for answer in said(ann, "error")] == ["forbidden", "forbidden"]
    assert world.core.refusals == {"forbidden": 2}
    ann.tell(op="history", id=3, topic=ARTIST)
    assert [frame.op for frame in world.notification if isinstance(frame, Call) and frame.op == "history"] == ["history"]


@pytest.mark.parametrize("op", ["last", "history"])
def test_what_nobody_can_allow_now_is_unavailable(op: str) -> None:
    """AUTH-10."""
    world = GuardedCore(friends("bob"), is_linked=False)
    ann = world.client("ann")
    ann.tell(op=op, id=1, topics=[feed("bob")], topic=BOBS_LIST)
    world.tick(5.0)
    assert [(answer["id"], answer["code"]) for answer in said(ann, "error")] == [(1, "unavailable")]
    assert world.core.refusals == {"unavailable": 1}


def test_a_name_that_is_given_twice_in_one_message_does_not_get_around_the_question() -> None:
    """AUTH-5: all who read the message take the same one of two fields with one name."""
    world = GuardedCore(friends("bob"))
    ann = world.client("ann")
    ann.tell_text(b'{"op":"last","topics":["hm://presence/user/ann/"],"topics":["hm://presence/user/eve/"]}')
    world.answer()
    assert all(b"eve" not in frame.body for frame in world.presence if isinstance(frame, Call))


# Policies.


def test_under_an_open_policy_nobody_is_asked() -> None:
    world = GuardedCore(policy="open", is_linked=False)
    ann = world.client("ann")
    ann.tell(op="subscribe", topics=[feed("bob"), BOBS_LIST])
    assert len(world.holds(ann)) == 2
    ann.tell(op="last", topics=[feed("eve")])
    assert any(isinstance(frame, Call) for frame in world.presence)


def test_a_hook_that_nobody_asks_is_a_mistake_of_ours() -> None:
    with pytest.raises(ValueError, match="somebody who asks it"):
        GuardedCore(policy="hook")


def test_under_the_policy_token_only_what_a_token_names_is_followed_and_what_is_ones_own() -> None:
    """AUTH-2, AUTH-10: artists, too, have to be named."""
    world = GuardedCore(policy="token", is_linked=False)
    world.grants["ann"] = granting(feed("bob"))
    ann, eve = world.client("ann"), world.client("eve")
    for session in (ann, eve):
        session.tell(op="subscribe", topics=[feed("bob"), feed("cid"), ARTIST, feed(session.user)])
    assert (world.holds(ann), world.holds(eve)) == ([b"Uann", b"Ubob"], [b"Ueve"])
    world.tick(2.0)
    rejected = said(ann, "subscribed")[0]["rejected"]
    assert isinstance(rejected, list)
    assert [(each["topic"], each["code"]) for each in rejected] == [(feed("cid"), "forbidden"), (ARTIST, "forbidden")]


def test_a_token_narrows_what_the_social_service_allows() -> None:
    world = GuardedCore(friends("bob", "cid"))
    world.grants["ann"] = granting(feed("bob"), feed("dan"))
    ann = world.client("ann")
    ann.tell(op="subscribe", topics=[feed("bob"), feed("cid"), feed("dan")])
    world.answer()
    assert world.holds(ann) == [b"Ubob"]


def test_what_a_new_token_does_not_name_ends_with_the_refresh() -> None:
    world = GuardedCore(friends("bob", "cid"))
    ann = world.client("ann")
    ann.tell(op="subscribe", topics=[feed("bob"), feed("cid"), feed("ann")])
    world.answer()
    world.grants["ann"] = granting(feed("cid"))
    ann.tell(op="refresh", token="ann", id=1)
    assert world.holds(ann) == [b"Uann", b"Ucid"]
    assert [each["topics"][0]["topic"] for each in said(ann, "ended")] == [feed("bob")]  # type: ignore[index]


def test_a_subscription_token_allows_its_topics_until_it_expires() -> None:
    world = GuardedCore(policy="token", is_linked=False)
    ann = world.client("ann")
    topics = [feed("bob"), feed("cid"), ARTIST]
    ann.tell(op="subscribe", topics=topics, tokens=[f"ann 10 {feed('bob')}", f"ann 20 {ARTIST}"])
    assert world.holds(ann) == [b"Aa1%new-album", b"Ubob"]
    world.tick(9.0)
    ann.tell(world.now_s, op="subscribe", topics=[ARTIST], tokens=[f"ann 30 {ARTIST}"])
    ann.tell(world.now_s, op="subscribe", topics=[feed("bob")])  # it has shown the token before
    world.tick(1.0)
    assert [(each["topic"], each["code"]) for each in said(ann, "ended")[0]["topics"]] == [(feed("bob"), "token-expired")]  # type: ignore[attr-defined]
    world.tick(10.0)
    assert world.holds(ann) == [b"Aa1%new-album"]
    ann.tell(world.now_s, op="unsubscribe", topics=[ARTIST])
    world.tick(10.0)
    assert (len(said(ann, "ended")), len(world.core.gatekeeper.authorizer.granted)) == (1, 0)


@pytest.mark.parametrize("token", ["eve 10 hm://presence/user/bob/", "ann -1 hm://presence/user/bob/"])
def test_a_subscription_token_of_somebody_else_or_of_yesterday_refuses_the_message_and_not_the_session(token: str) -> None:
    world = GuardedCore(policy="token", is_linked=False)
    ann = world.client("ann")
    answer = ann.tell(op="subscribe", id=1, topics=[feed("bob")], tokens=[token])
    assert answer is not None
    assert (answer["code"], answer["id"], ann.ending, world.holds(ann)) == ("forbidden", 1, None, [])


def test_tokens_of_a_message_are_few() -> None:
    answer = GuardedCore().client("ann").tell(op="subscribe", topics=[], tokens=["x"] * (MAX_TOKENS + 1))
    assert answer is not None
    assert answer["code"] == "bad-field"


def test_many_tokens_for_many_topics_cost_no_more_than_both_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """DPS-26: each token was compared with each topic, of which a message might have any number: half a second for everybody."""
    asked: list[Topic] = []
    monkeypatch.setattr(Grants, "allows", lambda _, topic: asked.append(topic))
    world = GuardedCore(policy="token", is_linked=False)
    ann = world.client("ann")
    answer = ann.tell(op="subscribe", topics=[feed(f"u{n}") for n in range(2000)], tokens=[f"ann 10 {feed('*')}"] * MAX_TOKENS)
    world.tick(2.0)
    assert (answer, len(world.holds(ann)), asked) == (None, 2000, [])
    assert said(ann, "subscribed")[0]["rejected"] == []


def test_a_message_with_too_many_topics_is_refused_before_its_tokens_are_read() -> None:
    """DPS-26."""
    world = GuardedCore(policy="token", is_linked=False, max_topics_per_message=2)
    answer = world.client("ann").tell(op="subscribe", topics=[feed("bob")] * 3, tokens=["no token at all"])
    assert answer is not None
    assert answer["code"] == "too-many-topics"


def test_a_token_counts_for_the_pace_of_a_client_as_many_topics_do() -> None:
    """DPS-26: to verify one takes as long."""
    world = GuardedCore(policy="token", is_linked=False)
    ann = world.client("ann")
    ann.tell(op="subscribe", topics=[feed("bob")], tokens=[f"ann 10 {feed('bob')}"] * 3)
    assert ann.named_topics == 1 + 3 * TOKEN_COST


def test_an_unsubscribe_names_no_more_topics_than_a_subscribe() -> None:
    """DPS-26."""
    world = GuardedCore(is_linked=False, max_topics_per_message=2)
    ann = world.client("ann")
    ann.tell(op="subscribe", topics=[ARTIST])
    answer = ann.tell(op="unsubscribe", id=1, topics=[ARTIST, feed("bob"), feed("cid")])
    assert answer is not None
    assert (answer["code"], world.holds(ann)) == ("too-many-topics", [b"Aa1%new-album"])


def crowd(world: GuardedCore, size: int) -> list[RecordingSession]:
    """Returns clients who all follow bob."""
    clients = [world.client(f"u{n}") for n in range(size)]
    for client in clients:
        client.tell(op="subscribe", topics=[feed("bob")])
    world.answer()
    assert all(world.holds(client) == [b"Ubob"] for client in clients)
    return clients


def test_very_many_followers_are_asked_about_together_and_those_end_who_may_not_see_it_any_more() -> None:
    """AUTH-5: one question for each would take a minute for a hundred thousand."""
    twin = SocialTwin(Listening.EVERYONE)
    world = GuardedCore(twin)
    clients = crowd(world, FEW + 10)
    for n in range(5):
        twin.befriend(f"u{n}", "bob")
    world.core.gatekeeper.barred(twin.show("bob", Listening.FRIENDS), world.now_s)
    world.turn()
    assert [call.op for call in world.outlet.calls] == ["who-may-see"]
    world.answer()
    assert [world.holds(client) for client in clients] == [[b"Ubob"]] * 5 + [[]] * (FEW + 5)
    assert [len(said(client, "ended")) for client in clients] == [0] * 5 + [1] * (FEW + 5)
    (ended,) = said(clients[-1], "ended")
    assert [(each["topic"], each["code"], each["reason"]) for each in ended["topics"]] == [  # type: ignore[attr-defined]
        (feed("bob"), "forbidden", "bob does not show you what they play")
    ]
    assert world.core.gatekeeper.ended == FEW + 5


def test_who_follows_again_before_they_could_be_told_hears_nothing_of_an_end() -> None:
    twin = SocialTwin(Listening.EVERYONE)
    world = GuardedCore(twin)
    clients = crowd(world, FEW + 10)
    world.core.gatekeeper.end_topic(parse_topic(feed("bob")), Refused("forbidden"), [client.user for client in clients])
    assert not any(world.holds(client) for client in clients)
    world.core.subscriptions.add(clients[0], [parse_topic(feed("bob"))])
    world.answer()
    assert (world.holds(clients[0]), said(clients[0], "ended"), len(said(clients[1], "ended"))) == ([b"Ubob"], [], 1)


def test_nobody_who_leaves_while_their_followers_are_asked_about_is_remembered_as_allowed() -> None:
    """AUTH-5: a client comes back with the same topics, and what it held may be forbidden by now."""
    twin = SocialTwin(Listening.EVERYONE)
    world = GuardedCore(twin)
    clients = crowd(world, FEW + 10)
    world.core.gatekeeper.barred(twin.show("bob", Listening.NOBODY), world.now_s)
    world.core.leave(clients[0], "lost")
    again = world.client("u0")
    again.tell(op="subscribe", topics=[feed("bob")])
    world.answer()
    assert world.holds(again) == []


def test_a_social_service_that_does_not_know_the_question_is_asked_about_each() -> None:
    twin = SocialTwin(Listening.EVERYONE)
    world = GuardedCore(twin)
    clients = crowd(world, FEW + 10)
    world.core.gatekeeper.barred(twin.show("bob", Listening.NOBODY), world.now_s)
    world.turn()
    (call,) = world.outlet.calls
    world.outlet.calls.clear()
    world.answer([Reply(call.n, "unknown-op", "there is no who-may-see here", b"")])
    world.answer()
    assert not any(world.holds(client) for client in clients)


def test_bad_tokens_for_topics_count_against_the_address() -> None:
    """DPS-26: twenty stand in one message, and each costs a signature."""
    world = GuardedCore()
    ann, expired, good = world.client("ann"), f"ann 1 {feed('bob')}", f"ann 99 {feed('bob')}"
    ann.place = Places(9, VisitorLimits(bad_tokens_per_s=0.5)).take("192.0.2.1", 0.0)
    codes = [(ann.tell(2.0, op="subscribe", topics=[feed("bob")], tokens=[token]) or {})["code"] for token in (expired, good)]
    assert codes == ["forbidden", "rate-limited"]
    assert (ann.tell(4.0, op="subscribe", topics=[feed("bob")], tokens=[good]) or {}).get("op") != "error"
