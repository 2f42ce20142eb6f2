"""Questions: what has been asked about users and topics, until all of it is answered or late. Pure."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final

from infra.kernel.access import MAX_ASKED
from infra.kernel.errors import Refused
from infra.kernel.every_one import for_every_one
from infra.kernel.topics import Topic, owner_of

from .arbiter import Answers, Arbiter

# So many questions may be open, and so many of one user.
MAX_OPEN: Final = 10_000
MAX_OPEN_OF_USER: Final = 64
# A node may be lost while another one is there: it is asked in its place.
TRIES: Final = 2

Verdicts = dict[Topic, Refused | None]


class Question:
    """A question about one user.

    - `unasked`: topics that nobody has been asked about, since nobody was there.
    - `open`: topics about which no answer is in.
    - `stale`: those of them of which an answer may be older than a change.
    """

    __slots__ = ("client", "due_s", "open", "stale", "then", "tries", "unasked", "user", "verdicts")

    def __init__(self, user: str, client: str, topics: Iterable[Topic], due_s: float, then: Callable[[Verdicts], None]) -> None:
        self.user, self.client, self.due_s, self.then = user, client, due_s, then
        self.open = dict.fromkeys(topics)
        self.unasked = list(self.open)
        self.stale: set[Topic] = set()
        self.verdicts: Verdicts = {}
        self.tries = TRIES


class Questions:
    """All open questions, each at most `timeout_s` long; `arbiter` answers them."""

    def __init__(self, arbiter: Arbiter, timeout_s: float) -> None:
        self.asked = 0
        self._arbiter, self._timeout_s = arbiter, timeout_s
        # All have the same time, so the first one is the next to be late.
        self._open: dict[Question, None] = {}
        self._by_user: dict[str, dict[Question, None]] = {}

    def __len__(self) -> int:
        """Returns the number of open questions."""
        return len(self._open)

    def ask(self, user: str, client: str, topics: Iterable[Topic], now_s: float, then: Callable[[Verdicts], None]) -> None:
        """Asks whether `user` may see `topics`. `then` is called once with all verdicts; those that are late are `unavailable`.

        `client` is the device that wants to know. Raises `Refused` (rate-limited, unavailable) if too much is open.
        """
        if len(self._by_user.get(user, ())) >= MAX_OPEN_OF_USER:
            raise Refused("rate-limited", "so many of your topics wait to be allowed; wait for the answers")
        if len(self._open) >= MAX_OPEN:
            raise Refused("unavailable", "so many topics wait to be allowed that no more are taken; try again")
        question = Question(user, client, topics, now_s + self._timeout_s, then)
        self._open[question] = None
        self._by_user.setdefault(user, {})[question] = None
        self._send(question, now_s)

    def _send(self, question: Question, now_s: float) -> None:
        """Asks about all that nobody was asked about yet, if somebody is there."""
        if not question.unasked or not self._arbiter.is_there:
            return
        topics, question.unasked = question.unasked, []
        for start in range(0, len(topics), MAX_ASKED):
            some = topics[start : start + MAX_ASKED]
            self.asked += len(some)
            self._arbiter.ask(question.user, question.client, some, now_s, partial(self._answered, question, some, now_s))

    def _answered(self, question: Question, topics: Sequence[Topic], asked_s: float, answers: Answers | Refused) -> None:
        if question not in self._open:
            return
        if isinstance(answers, Refused):
            self._failed(question, topics, asked_s, answers)
            return
        for topic, verdict in zip(topics, answers, strict=True):
            if topic in question.stale:
                # It may have been decided before the change of which we know.
                question.stale.discard(topic)
                question.unasked.append(topic)
            else:
                question.verdicts[topic] = verdict
                question.open.pop(topic, None)
        self._send(question, asked_s)
        self._close_if_done(question)

    def _failed(self, question: Question, topics: Sequence[Topic], asked_s: float, why: Refused) -> None:
        """Asks again, or waits for somebody who can be asked, or gives up."""
        question.stale.difference_update(topics)
        if self._arbiter.is_there:
            question.tries -= 1
            if question.tries <= 0:
                self._give_up(question, topics, why)
                return
        question.unasked += topics
        self._send(question, asked_s)

    def _give_up(self, question: Question, topics: Iterable[Topic], why: Refused) -> None:
        for topic in topics:
            question.verdicts[topic] = why
            question.open.pop(topic, None)
        self._close_if_done(question)

    def _close_if_done(self, question: Question) -> None:
        if question.open or question not in self._open:
            return
        del self._open[question]
        mine = self._by_user[question.user]
        del mine[question]
        if not mine:
            del self._by_user[question.user]
        question.then(question.verdicts)

    def changed(self, owner: str, user: str) -> None:
        """Notes that what `user` may see of `owner` has changed: answers that are on their way may be older."""
        for question in self._by_user.get(user, ()):
            self._doubt(question, (topic for topic in question.open if owner_of(topic) == owner))

    def changed_for_all(self, owner: str) -> None:
        """Notes the same of everybody and `owner`."""
        for question in self._open:
            self._doubt(question, (topic for topic in question.open if owner_of(topic) == owner))

    def changed_at_all(self) -> None:
        """Notes that anything may have changed."""
        for question in self._open:
            self._doubt(question, question.open)

    def _doubt(self, question: Question, topics: Iterable[Topic]) -> None:
        # Those that nobody was asked about yet are in no doubt: their answer is still to be found.
        question.stale.update(set(topics).difference(question.unasked))

    def go_on(self, now_s: float) -> None:
        """Asks what nobody was asked about, since somebody is there again."""
        for question in list(self._open):
            self._send(question, now_s)

    def tick(self, now_s: float) -> None:
        """Ends what is late. Raises what went wrong with some when all have ended."""
        for_every_one(self._late(now_s))

    def _late(self, now_s: float) -> Iterator[Callable[[], None]]:
        for question in list(self._open):
            if question.due_s > now_s:
                return
            why = Refused("unavailable", f"nobody could say within {self._timeout_s:g} s whether you may see this; try again")
            yield partial(self._give_up, question, list(question.open), why)
