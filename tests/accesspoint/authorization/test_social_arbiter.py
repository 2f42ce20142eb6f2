"""accesspoint.authorization.social_arbiter: one call about all topics, and only a whole answer counts."""

import msgspec
import pytest

from accesspoint.authorization.arbiter import Answers
from accesspoint.authorization.social_arbiter import SocialArbiter
from accesspoint.calls import Calls
from infra.kernel.errors import Refused
from infra.kernel.frames import Reply
from infra.kernel.topics import Topic, parse_topic
from tests.support.social_twin import SocialTwin, TwinOutlet
from tests.support.user import feed

BOB, EVE = parse_topic(feed("bob")), parse_topic(feed("eve"))
TIMEOUT_S = 5.0


class Desk:
    """An arbiter in front of a social service that answers when the test says so. `got` is what came back."""

    def __init__(self, *, nodes: int = 1, max_calls: int = 10) -> None:
        self.twin = SocialTwin()
        self.outlet = TwinOutlet(self.twin)
        self.calls = Calls(max_calls, 1 << 20, TIMEOUT_S)
        self.arbiter = SocialArbiter(self.calls, nodes)
        self.got: list[Answers | Refused] = []

    def link(self, node: str = "s1") -> None:
        self.calls.node_up("social", node, self.outlet)

    def ask(self, *topics: Topic, now_s: float = 0.0) -> None:
        self.arbiter.ask("ann", "phone", topics, now_s, self.got.append)

    def reply(self, code: str, reason: str, body: bytes) -> None:
        (call,) = self.outlet.calls
        self.calls.reply("s1", Reply(call.n, code, reason, body))

    @property
    def answers(self) -> Answers:
        """The answers to the one question."""
        (only,) = self.got
        assert not isinstance(only, Refused)
        return only

    @property
    def refused(self) -> tuple[str, str]:
        """The code and the reason of the one answer."""
        (only,) = self.got
        assert isinstance(only, Refused)
        return only.code.name, only.reason


@pytest.fixture
def desk() -> Desk:
    desk = Desk()
    desk.link()
    return desk


def test_all_topics_are_asked_about_in_one_call_and_each_has_its_answer(desk: Desk) -> None:
    """AUTH-5: the answers stand in the order of the topics, and name the owner."""
    desk.twin.befriend("ann", "bob")
    desk.ask(EVE, BOB)
    (call,) = desk.outlet.calls
    assert (call.user, call.client, call.op) == ("ann", "phone", "may-see")
    assert msgspec.msgpack.decode(call.body) == [EVE, BOB]
    for reply in desk.outlet.replies():
        desk.calls.reply("s1", reply)
    eve, bob = desk.answers
    assert eve is not None
    assert (eve.code.name, eve.reason, bob) == ("forbidden", "eve does not show you what they play", None)


def test_a_rule_that_is_unknown_here_forbids(desk: Desk) -> None:
    """AUTH-10: a newer version may have more rules."""
    desk.ask(BOB)
    desk.reply("", "", msgspec.msgpack.encode([999]))
    (bob,) = desk.answers
    assert bob is not None
    assert bob.code.name == "forbidden"


@pytest.mark.parametrize("body", [b"", b"\xc1", b"nonsense", msgspec.msgpack.encode([0]), msgspec.msgpack.encode([0, 0, 0])])
def test_an_answer_that_is_about_something_else_allows_nothing(desk: Desk, body: bytes) -> None:
    """AUTH-10: fails closed."""
    desk.ask(BOB, EVE)
    desk.reply("", "", body)
    assert desk.refused == ("unavailable", "the social service has answered something else")


def test_an_error_of_the_service_allows_nothing_and_is_told(desk: Desk) -> None:
    """AUTH-10."""
    desk.ask(BOB)
    desk.reply("internal-error", "a defect of ours", b"")
    assert desk.refused == ("unavailable", "the social service does not say who may see this: a defect of ours")


def test_silence_allows_nothing(desk: Desk) -> None:
    """AUTH-10."""
    desk.ask(BOB, now_s=1.0)
    desk.calls.tick(1.0 + TIMEOUT_S)
    assert desk.refused == ("unavailable", "no answer within 5 s")


def test_where_nobody_is_linked_the_answer_is_no_at_once() -> None:
    """AUTH-10."""
    desk = Desk()
    desk.ask(BOB)
    assert desk.refused == ("unavailable", "no social service can be reached now")


def test_where_too_much_is_open_the_answer_is_no_at_once() -> None:
    desk = Desk(max_calls=1)
    desk.link()
    desk.calls.call("social", "is-private", "bob", "tv", b"", 0.0, lambda _: None)
    desk.ask(BOB)
    assert desk.refused == ("unavailable", "too many requests are waiting for an answer")


def test_changes_are_told_by_all_nodes_or_not_at_all() -> None:
    """AUTH-6: each node tells what was changed at it, so one that is lost may have something to tell."""
    desk = Desk(nodes=2)
    assert (desk.arbiter.is_there, desk.arbiter.tells_changes) == (False, False)
    desk.link("s1")
    assert (desk.arbiter.is_there, desk.arbiter.tells_changes) == (True, False)
    desk.link("s2")
    assert (desk.arbiter.is_there, desk.arbiter.tells_changes) == (True, True)
    desk.calls.node_down("social", "s1")
    assert (desk.arbiter.is_there, desk.arbiter.tells_changes) == (True, False)
