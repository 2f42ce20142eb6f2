"""Arbiters: whoever is asked what a user may see, where that does not follow from the topic alone. Pure."""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from infra.kernel.errors import Refused
from infra.kernel.topics import Topic

# What decides: the graph and the settings in the social service, the token, a server of the operator, or nothing.
Policy = Literal["social", "token", "hook", "open"]

# For each topic None, or why the user may not see it. Or why nobody can say that now.
Answers = Sequence[Refused | None]
Then = Callable[[Answers | Refused], None]


class Arbiter(Protocol):
    """Whoever knows what users may see."""

    @property
    def is_there(self) -> bool:
        """Whether a question could be answered now."""

    @property
    def tells_changes(self) -> bool:
        """Whether every change is told, so that an answer holds until then."""

    def ask(self, user: str, client: str, topics: Sequence[Topic], now_s: float, then: Then) -> None:
        """Asks whether `user` may see `topics`, at most `MAX_ASKED`. `client` is the device that wants to know.

        `then` is called once, at once or later.
        """

    def ask_again(self, user: str, topics: Sequence[Topic], now_s: float, then: Then) -> None:
        """Asks the same about what `user` holds. An answer that was remembered is none."""

    def ask_of_users(self, topic: Topic, users: Sequence[str], now_s: float, then: Then) -> None:
        """Asks whether each of `users` may see `topic`, which they hold: at most `MAX_ASKED`. There is an answer for each of them.

        Whoever cannot answer that says why, and is asked about each.
        """


class NoArbiter:
    """The arbiter where nobody is to be asked."""

    is_there = False
    tells_changes = False

    def ask(self, user: str, client: str, topics: Sequence[Topic], now_s: float, then: Then) -> None:
        """Says that nobody can say it. See `Arbiter`."""
        then(Refused("unavailable", "there is nobody who could say what you may see"))

    def ask_again(self, user: str, topics: Sequence[Topic], now_s: float, then: Then) -> None:
        """Says the same. See `Arbiter`."""
        self.ask(user, "", topics, now_s, then)

    def ask_of_users(self, topic: Topic, users: Sequence[str], now_s: float, then: Then) -> None:
        """Says the same. See `Arbiter`."""
        self.ask("", "", (topic,), now_s, then)
