"""Audience rechecks: asking again about all who hold one topic, since its owner has changed something for everybody. Pure.

An owner may have a hundred thousand followers here. They are asked about a batch at a time, with few questions open, so that subscribes
of clients are not kept waiting. Those who may not see the topic any more get nothing of it from then on; they are told a slice in each
turn of the loop.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Final

from infra.kernel.errors import Refused
from infra.kernel.topics import Topic, owner_of

from ..soon import Soon
from .arbiter import Answers, Arbiter

# So many users are asked about at once: it takes the social service a few milliseconds.
BATCH: Final = 250
MAX_OPEN: Final = 4
# What so many users hold ends in one turn of the loop: about a millisecond.
ENDED_AT_ONCE: Final = 100

# Ends what `users` hold of a topic for a reason.
EndTopic = Callable[[Topic, Refused, Sequence[str]], None]


class _Audience:
    """The users who hold `topic`.

    - `open`: how many questions about them have no answer yet, or one from which something follows that is still to be done.
    - `is_old`: all of them are asked about anew, so what was answered before does not count.
    """

    __slots__ = ("is_old", "open", "topic", "users")

    def __init__(self, topic: Topic, users: Iterable[str]) -> None:
        self.topic, self.users, self.open, self.is_old = topic, iter(users), 0, False


class AudienceRechecks:
    """The topics that are being asked about.

    - `arbiter`: answers.
    - `end`: ends what users hold of a topic.
    - `ask_each(pairs)`: asks about (user, owner) one by one, where nobody answers about many at once.
    - `soon(step)`: has a step called in the next turn of the loop.
    """

    def __init__(self, arbiter: Arbiter, end: EndTopic, ask_each: Callable[[Iterator[tuple[str, str]], float], None], soon: Soon) -> None:
        self.asked = 0
        self._arbiter, self._end, self._ask_each, self._soon = arbiter, end, ask_each, soon
        self._audiences: dict[Topic, _Audience] = {}
        self._waiting: deque[_Audience] = deque()  # those of them that have users who are to be asked about
        self._refused: deque[tuple[_Audience, Refused, list[str]]] = deque()
        self._open = 0
        self._is_stepping = False
        self._now_s = 0.0

    @property
    def is_idle(self) -> bool:
        """Whether everything has been asked and answered, and what follows from it has been done."""
        return not (self._audiences or self._refused)

    def want(self, topic: Topic, users: Iterable[str], now_s: float) -> None:
        """Asks again about all `users`, who hold `topic`, also if they are being asked about already: something has changed since."""
        if (before := self._audiences.get(topic)) is not None:
            before.is_old = True
        audience = self._audiences[topic] = _Audience(topic, users)
        self._waiting.append(audience)
        self._now_s = now_s
        self._wake()

    def clear(self) -> None:
        """Forgets what was to be asked: nobody is there, and when somebody is, everything is asked."""
        for audience in self._audiences.values():
            audience.is_old = True
        self._audiences.clear()
        self._waiting.clear()

    def _wake(self) -> None:
        if not self._is_stepping and (self._refused or (self._waiting and self._open < MAX_OPEN)):
            self._is_stepping = True
            self._soon(self._step)

    def _step(self) -> None:
        """Ends what one batch may not see, or asks about one."""
        self._is_stepping = False
        if self._refused:
            audience, why, users = self._refused.popleft()
            if not audience.is_old:
                self._end(audience.topic, why, users)
            self._close(audience)
        elif self._waiting and self._open < MAX_OPEN:
            self._ask(self._waiting[0])
        self._wake()

    def _ask(self, audience: _Audience) -> None:
        users = [] if audience.is_old else list(islice(audience.users, BATCH))
        if len(users) < BATCH:
            self._waiting.popleft()
        if users:
            audience.open += 1
            self._open += 1
            self.asked += len(users)
            self._arbiter.ask_of_users(audience.topic, users, self._now_s, partial(self._answered, audience, users))
        self._forget_if_done(audience)

    def _answered(self, audience: _Audience, users: list[str], answers: Answers | Refused) -> None:
        self._open -= 1
        if not audience.is_old:
            self._take(audience, users, answers)
        self._close(audience)
        self._wake()

    def _take(self, audience: _Audience, users: list[str], answers: Answers | Refused) -> None:
        if isinstance(answers, Refused):
            if self._arbiter.is_there:
                owner = owner_of(audience.topic)
                self._ask_each(((user, owner) for user in users), self._now_s)
            return
        # As a rule there is one reason for all; each is told as the policy says it.
        by_reason: dict[str, tuple[Refused, list[str]]] = {}
        for user, why in zip(users, answers, strict=True):
            if why is not None:
                by_reason.setdefault(why.reason, (why, []))[1].append(user)
        for why, some in by_reason.values():
            for start in range(0, len(some), ENDED_AT_ONCE):
                audience.open += 1
                self._refused.append((audience, why, some[start : start + ENDED_AT_ONCE]))

    def _close(self, audience: _Audience) -> None:
        audience.open -= 1
        self._forget_if_done(audience)

    def _forget_if_done(self, audience: _Audience) -> None:
        if not audience.open and audience not in self._waiting and self._audiences.get(audience.topic) is audience:
            del self._audiences[audience.topic]
