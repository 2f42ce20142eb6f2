"""Whose sessions end by what is revoked, and in how many turns of the loop."""

from collections import deque
from collections.abc import Callable, Collection, Iterator

import pytest

from accesspoint.dismissals import PORTION, Dismissals
from accesspoint.hub import SLICE
from accesspoint.session import Session, SessionState
from accesspoint.sessions_by_user import SessionsByUser
from infra.kernel.errors import Refused
from infra.kernel.revocations import LAST_MS, Ban, Entry, Revocation, Revocations
from infra.runtime.tokens import Identity

BEFORE_MS = 1_000_000


class Guest(Session):
    """A session of `user` with the token `token_id`, issued early. `ended` is the code that ended it. The end may be `doomed`."""

    def __init__(self, user: str, token_id: str, issued_s: float = 1.0, doomed: bool = False) -> None:
        super().__init__(0.0)
        self.user, self.state = user, SessionState.READY
        self.bearer = Identity(user, 1e12, issued_s, token_id)
        self.ended, self.doomed = "", doomed

    def end(self, refused: Refused, reconnect_in_ms: int | None = None) -> None:
        self.state, self.ended = SessionState.ENDED, refused.code.name
        if self.doomed:
            raise OSError("the socket is gone")


class Looked(list[Session]):
    """A list of sessions that counts how often somebody went through all of them."""

    rounds = 0

    def __iter__(self) -> Iterator[Session]:
        self.rounds += 1
        return super().__iter__()


class House:
    """The sessions of an access point, its dismissals, and the turns that it has asked for."""

    def __init__(self, guests: Collection[Guest]) -> None:
        self.sessions, self.users, self.turns, self.known = Looked(guests), SessionsByUser(), deque[Callable[[], None]](), Revocations()
        for guest in guests:
            self.users.joined(guest)
        self.dismissals = Dismissals(self.sessions, self.users, self.turns.append)

    def hear(self, *news: Entry) -> None:
        for entry in news:
            self.known.add(entry)
        self.dismissals.heard(news, self.known, 2.0)

    def turn(self) -> None:
        for _ in range(len(self.turns)):
            self.turns.popleft()()

    def settle(self) -> None:
        while self.turns:
            self.turn()


def guests(number: int) -> list[Guest]:
    return [Guest(f"u{n}", f"t{n}") for n in range(number)]


def token(name: str) -> Revocation:
    return Revocation("token", name, BEFORE_MS, LAST_MS)


def ended(house: House) -> dict[str, str]:
    return {each.user: each.ended for each in house.sessions if isinstance(each, Guest) and each.ended}


def test_news_of_users_end_their_sessions_at_once_and_look_at_nobody_else() -> None:
    """DPS-28: a scan of 250,000 sessions for each ban held up everybody's events."""
    house = House([*guests(10), Guest("u3", "another")])
    house.hear(Ban("u2", 1, LAST_MS, 0), Revocation("user", "u3", BEFORE_MS, LAST_MS), Revocation("service", "u4", BEFORE_MS, LAST_MS))
    assert (house.sessions.rounds, len(house.turns)) == (0, 0)
    assert ended(house) == {"u2": "banned", "u3": "token-revoked"}
    assert list(house.users.of("u3"))[1].state is SessionState.ENDED


def test_what_is_known_decides_and_not_the_news() -> None:
    """DPS-28: a ban that is lifted, a token that was issued later, and news of strangers end nothing."""
    house = House([*guests(2), Guest("late", "t", issued_s=BEFORE_MS / 1000)])
    house.hear(Ban("u0", 1, 0, LAST_MS), Revocation("user", "late", BEFORE_MS, LAST_MS), token("nobody's"))
    house.settle()
    assert ended(house) == {}


def test_a_token_is_looked_for_in_portions_of_a_turn_each() -> None:
    """DPS-28: whoever holds it is found wherever they are, and each turn looks at a portion only."""
    house = House(guests(3 * PORTION))
    house.hear(token("t0"), token(f"t{3 * PORTION - 1}"))
    assert list(ended(house)) == [f"u{3 * PORTION - 1}"]
    house.turn()
    assert len(ended(house)) == 1
    house.turn()
    assert list(ended(house)) == ["u0", f"u{3 * PORTION - 1}"]
    house.settle()


def test_tokens_of_which_is_heard_meanwhile_share_the_next_round() -> None:
    """DPS-28: a hundred portions of news are two rounds, not a hundred."""
    house = House(guests(2 * PORTION))
    for n in range(100):
        house.hear(token(f"t{n * 50}"))
    house.settle()
    assert house.sessions.rounds == 2
    assert len(ended(house)) == 100


def test_very_many_sessions_of_one_token_end_over_several_turns_and_those_that_left_are_passed_over() -> None:
    house = House([Guest("ann", "same") for _ in range(2 * SLICE + 1)])
    house.sessions[0].state = SessionState.ENDED
    house.hear(token("same"))
    assert sum(isinstance(each, Guest) and bool(each.ended) for each in house.sessions) == SLICE
    house.settle()
    assert sum(isinstance(each, Guest) and bool(each.ended) for each in house.sessions) == 2 * SLICE


def test_an_end_that_fails_keeps_no_other_from_ending() -> None:
    house = House([*guests(PORTION), Guest("dead", "t", doomed=True)])
    with pytest.raises(OSError, match="gone"):
        house.hear(token("t"), token("t0"), Ban("u5", 1, LAST_MS, 0))
    house.settle()
    assert ended(house) == {"dead": "token-revoked", "u0": "token-revoked", "u5": "banned"}
