"""accesspoint.friends.rosters: whom it asks, how often, and what it makes of answers, refusals and news. No clock, no link."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from accesspoint.calls import Calls
from accesspoint.friends.rosters import MAX_OPEN, MAX_OWNERS, RETRY_S, Owners, Rosters
from infra.kernel.errors import Refused
from infra.kernel.frames import NOBODY, Barred, Call, Reply
from infra.kernel.roles import PLAYLIST, SOCIAL
from infra.kernel.topics import Topic, parse_topic, user_topic

MIX = parse_topic("hm://playlist/user/bob/playlist/mix/")


class Desk:
    """Rosters whose questions a test answers. `changes` are what they have told."""

    def __init__(self, *services: str) -> None:
        self.questions: list[tuple[str, Call]] = []
        self.changes: list[tuple[str, Owners]] = []
        self._calls = Calls(max_calls=1000, max_bytes=1 << 20, timeout_s=5.0)
        for service in services:
            self.link(service)
        self.rosters = Rosters(services, self._calls, lambda user, owners: self.changes.append((user, owners)), self._soon)

    def _soon(self, step: Callable[[], None]) -> None:
        step()

    def link(self, service: str) -> None:
        self._calls.node_up(service, f"{service}1", _Way(service, self.questions))

    def unlink(self, service: str) -> None:
        self.questions = [each for each in self.questions if each[0] != service]
        self._calls.node_down(service, f"{service}1")

    def answer(self, *topics: Topic, after: str | None = None, code: str = "") -> Any:
        """Answers the oldest question; returns its user, the owners that it was about, and where it went on."""
        service, call = self.questions.pop(0)
        self.reply(service, call, b"" if code else msgspec.msgpack.encode(([*topics], after)), code)
        owners, went_on = msgspec.msgpack.decode(call.body)
        return service, call.user, owners, went_on

    def reply(self, service: str, call: Call, body: bytes, code: str = "") -> None:
        """Answers `call` with `body`, or with a `code`."""
        self._calls.reply(f"{service}1", Reply(call.n, code, "", body))


class _Way:
    def __init__(self, service: str, questions: list[tuple[str, Call]]) -> None:
        self._service, self._questions = service, questions

    def send(self, frame: Any) -> None:
        self._questions.append((self._service, frame))


def settled(desk: Desk, user: str = "ann") -> list[float]:
    """Has the desk begin with the roster of `user`; returns a list that is filled when it is settled."""
    found: list[float] = []
    desk.rosters.join(user)
    desk.rosters.when_settled(user, 1.0, found.append)
    return found


def test_both_services_are_asked_page_by_page_and_then_it_is_whole() -> None:
    """SB-6."""
    desk = Desk(SOCIAL, PLAYLIST)
    known = settled(desk)
    assert desk.answer(user_topic("bob"), after="Ubob") == (SOCIAL, "ann", [], "")
    assert desk.answer(MIX) == (PLAYLIST, "ann", [], "")
    assert (known, desk.rosters.is_whole("ann")) == ([], False)
    assert desk.answer(user_topic("cyd")) == (SOCIAL, "ann", [], "Ubob")
    assert (known, desk.rosters.is_whole("ann"), desk.rosters.asked, desk.rosters.refused) == ([1.0], True, 3, 0)
    assert desk.rosters.of("ann").topics() == [user_topic("bob"), user_topic("cyd"), MIX]


def test_a_change_is_asked_about_its_owner_alone_and_of_many_about_all() -> None:
    desk = Desk(SOCIAL)
    settled(desk)
    desk.answer(user_topic("bob"))
    desk.rosters.barred(SOCIAL, Barred(["eve", "ann", "bob"], ["ann", "eve", "other"]), 2.0)
    assert desk.answer(user_topic("eve")) == (SOCIAL, "ann", ["eve"], "")
    assert desk.changes[-1] == ("ann", frozenset({"eve"}))
    many = [f"u{n}" for n in range(MAX_OWNERS + 1)]
    desk.rosters.barred(SOCIAL, Barred(many, ["ann"] * len(many)), 3.0)
    assert desk.answer(user_topic("bob")) == (SOCIAL, "ann", [], "")
    assert desk.changes[-1][1] is None


def test_what_changes_for_everybody_concerns_those_whose_friend_it_is() -> None:
    """AUTH-5."""
    desk = Desk(SOCIAL, PLAYLIST)
    settled(desk)
    desk.answer(user_topic("bob"))
    desk.answer()
    desk.rosters.barred(SOCIAL, Barred(["bob", "eve"], [NOBODY, NOBODY]), 2.0)
    assert (desk.changes[-1], desk.questions) == (("ann", frozenset({"bob"})), [])
    desk.rosters.barred(PLAYLIST, Barred(["bob", "eve"], [NOBODY, NOBODY]), 3.0)
    assert desk.answer(MIX) == (PLAYLIST, "ann", ["bob"], "")


@pytest.mark.parametrize("code", ["unavailable", "overloaded"])
def test_what_stands_stands_while_nobody_answers_and_it_is_asked_again_once_in_a_while(code: str) -> None:
    """AUTH-10."""
    desk = Desk(SOCIAL)
    settled(desk)
    desk.answer(user_topic("bob"))
    desk.rosters.barred(SOCIAL, Barred(["eve"], ["ann"]), 2.0)
    desk.answer(code=code)
    assert (desk.rosters.refused, desk.rosters.is_whole("ann"), desk.rosters.of("ann").topics()) == (1, False, [user_topic("bob")])
    desk.rosters.tick(2.0 + RETRY_S)
    desk.rosters.tick(2.1 + RETRY_S)
    assert len(desk.questions) == 1
    desk.answer(user_topic("eve"))
    assert (desk.rosters.is_whole("ann"), desk.rosters.of("ann").is_friend("eve")) == (True, True)


def test_a_service_that_was_away_is_asked_for_all_when_it_is_back() -> None:
    desk = Desk(SOCIAL)
    known = settled(desk)
    desk.unlink(SOCIAL)
    assert (known, desk.rosters.is_whole("ann")) == ([1.0], False)
    desk.link(SOCIAL)
    desk.rosters.node_up(SOCIAL, 2.0)
    assert desk.answer(user_topic("bob")) == (SOCIAL, "ann", [], "")
    assert desk.rosters.is_whole("ann")


def test_no_more_questions_are_open_than_may_be_and_whoever_left_is_forgotten() -> None:
    """DPS-26: a bounded number of questions, whatever the number of users."""
    desk = Desk(SOCIAL)
    users = [f"u{n}" for n in range(MAX_OPEN + 1)]
    for user in users:
        settled(desk, user)
    assert len(desk.questions) == MAX_OPEN
    desk.rosters.leave(users[0])
    desk.answer(user_topic("bob"))
    assert (len(desk.questions), desk.questions[-1][1].user, len(desk.rosters)) == (MAX_OPEN, users[-1], MAX_OPEN)
    assert users[0] not in {user for user, _ in desk.changes}


def test_what_is_no_answer_is_as_good_as_none() -> None:
    desk = Desk(SOCIAL)
    settled(desk)
    service, call = desk.questions.pop()
    desk.reply(service, call, b"gossip")
    assert desk.rosters.refused == 1


def test_a_site_without_a_social_service_has_no_friends() -> None:
    with pytest.raises(Refused, match="no social service"):
        Desk(PLAYLIST).rosters.join("ann")
