"""The sessions of each user: one, several, and none again."""

from accesspoint.session import Session
from accesspoint.sessions_by_user import SessionsByUser


class Plain(Session):
    """A session of `user`."""

    def __init__(self, user: str) -> None:
        super().__init__(0.0)
        self.user = user


def test_sessions_come_and_go_and_are_counted() -> None:
    """DPS-26: the bound on the connections of a user counts these."""
    users, anns, bob = SessionsByUser(), [Plain("ann") for _ in range(3)], Plain("bob")
    for count, session in enumerate([*anns, anns[0]], start=1):  # the last one is known already
        users.joined(session)
        assert users.count("ann") == min(count, 3)
    users.joined(bob)
    assert (list(users.of("ann")), list(users), users.count("bob"), len(users)) == (anns, ["ann", "bob"], 1, 2)
    for session in (anns[1], anns[1], anns[0]):
        users.left(session)
    assert (users.of("ann"), users.count("ann")) == ((anns[2],), 1)
    users.left(anns[2])
    users.left(bob)
    assert (users.of("ann"), users.count("ann"), "ann" in users, len(users)) == ((), 0, False, 0)


def test_an_answer_does_not_change_when_sessions_leave() -> None:
    users, anns = SessionsByUser(), [Plain("ann") for _ in range(2)]
    for session in anns:
        users.joined(session)
    for each in users.of("ann"):
        users.left(each)
    assert not users.count("ann")
