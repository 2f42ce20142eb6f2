"""An arbiter that answers when a test says so, and as it says."""

from collections.abc import Sequence
from typing import NamedTuple

from accesspoint.authorization.arbiter import Answers, Then
from infra.kernel.errors import Refused
from infra.kernel.topics import Topic


class Asked(NamedTuple):
    """A question that waits for its answer."""

    user: str
    client: str
    topics: Sequence[Topic]
    then: Then


class AskedOfUsers(NamedTuple):
    """A question about many users that waits for its answer."""

    topic: Topic
    users: Sequence[str]
    then: Then


class ScriptedArbiter:
    """An arbiter (see `Arbiter`): `waiting` are the questions without an answer, the oldest first; `of_users` those about many."""

    tells_changes = True

    def __init__(self, *, is_there: bool = True) -> None:
        self.is_there = is_there
        self.waiting: list[Asked] = []
        self.of_users: list[AskedOfUsers] = []

    def ask(self, user: str, client: str, topics: Sequence[Topic], now_s: float, then: Then) -> None:
        """Keeps the question."""
        self.waiting.append(Asked(user, client, topics, then))

    def ask_again(self, user: str, topics: Sequence[Topic], now_s: float, then: Then) -> None:
        """Keeps the question, which no client has asked."""
        self.ask(user, "", topics, now_s, then)

    def ask_of_users(self, topic: Topic, users: Sequence[str], now_s: float, then: Then) -> None:
        """Keeps the question, which is about all of `users`; there is one answer for each."""
        self.of_users.append(AskedOfUsers(topic, users, then))

    def answer(self, answers: Answers | Refused | None = None, index: int = 0) -> None:
        """Answers the oldest question, or the one at `index`. None: they may see all of it."""
        asked = self.waiting.pop(index)
        asked.then([None] * len(asked.topics) if answers is None else answers)
