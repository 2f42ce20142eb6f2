"""Rechecks: asking again about what sessions hold, since something has changed. Pure.

What stands stands until the answer is in. The pairs that somebody has named come first; everything else, when the social service is
linked again, comes behind them. A bounded number of questions is open at a time, so that subscribes of clients are not kept waiting.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final

from infra.kernel.access import MAX_ASKED
from infra.kernel.errors import Refused
from infra.kernel.topics import Topic, owner_of

from ..soon import Soon
from .arbiter import Answers, Arbiter

MAX_OPEN: Final = 64
# So many users, or followers of a topic, are looked at in one turn of the loop: about a millisecond.
LOOKED_AT: Final = 512
RETRY_S: Final = 0.5

# Which topics `user` holds here that somebody else has to allow.
Holds = Callable[[str], Iterable[Topic]]
End = Callable[[str, dict[Topic, Refused]], None]


class Rechecks:
    """The questions that are to be asked again.

    - `arbiter`: answers.
    - `holds(user)`: returns what the sessions of `user` hold that is not for everybody.
    - `end(user, refused)`: ends what `user` may not see any more.
    - `soon(step)`: has a step called in the next turn of the loop.
    - `most_open`: how many questions are open at a time.
    - `renewed(user, asked_s)`: is told when all that `user` holds was asked about at `asked_s`, and answered; None: they hold nothing.
    """

    def __init__(
        self,
        arbiter: Arbiter,
        holds: Holds,
        end: End,
        soon: Soon,
        *,
        most_open: int = MAX_OPEN,
        renewed: Callable[[str, float | None], None] = lambda user, asked_s: None,
    ) -> None:
        self.asked = 0
        self._most_open, self._renewed = most_open, renewed
        self._arbiter, self._holds, self._end, self._soon = arbiter, holds, end, soon
        # Users whose topics are to be asked about: those of some owners, or (None) all of them.
        self._urgent: dict[str, set[str] | None] = {}
        self._calm: dict[str, None] = {}
        self._found: deque[Iterator[tuple[str, str]]] = deque()
        self._open = 0
        self._is_stepping = False
        self._not_before_s = self._now_s = 0.0

    def concerns(self, user: str) -> bool:
        """Returns whether what `user` holds may be allowed no longer."""
        return self._open > 0 or bool(self._found) or user in self._urgent or user in self._calm

    @property
    def is_idle(self) -> bool:
        """Whether everything has been asked and answered."""
        return not (self._open or self._found or self._urgent or self._calm)

    def want(self, user: str, owner: str | None, now_s: float) -> None:
        """Asks again about `user` and what is of `owner`; None: about all that they hold."""
        self._add(user, owner)
        self._wake(now_s)

    def want_followers(self, pairs: Iterator[tuple[str, str]], now_s: float) -> None:
        """Asks again about all (user, owner) that `pairs` yields. It is gone through bit by bit."""
        self._found.append(pairs)
        self._wake(now_s)

    def want_all(self, users: Iterable[str], now_s: float) -> None:
        """Asks again about all that `users` hold."""
        self._calm.update(dict.fromkeys(users))
        self._wake(now_s)

    def clear(self) -> None:
        """Forgets what was to be asked: nobody is there, and when somebody is, everything is asked."""
        self._urgent.clear()
        self._calm.clear()
        self._found.clear()

    def tick(self, now_s: float) -> None:
        """Goes on after a failure, when the pause is over."""
        self._wake(now_s)

    def _add(self, user: str, owner: str | None) -> None:
        owners = self._urgent.setdefault(user, set())
        if owner is None:
            self._urgent[user] = None
        elif owners is not None:
            owners.add(owner)

    def _wake(self, now_s: float) -> None:
        self._now_s = max(now_s, self._now_s)
        if not self._is_stepping and (self._urgent or self._calm or self._found) and self._now_s >= self._not_before_s:
            self._is_stepping = True
            self._soon(self._step)

    def _step(self) -> None:
        """Asks as many questions as may be open, and looks at a bounded number of users."""
        self._is_stepping = False
        looked_at = 0
        while self._found and looked_at < LOOKED_AT:
            pair = next(self._found[0], None)
            if pair is None:
                self._found.popleft()
            else:
                self._add(*pair)
            looked_at += 1
        while (self._urgent or self._calm) and self._open < self._most_open and looked_at < LOOKED_AT:
            self._ask(self._next())
            looked_at += 1
        # With questions open their answers wake us. Without, there was too much to look at in one turn.
        if self._open < self._most_open:
            self._wake(self._now_s)

    def _next(self) -> "_Recheck":
        if self._urgent:
            user = next(iter(self._urgent))
            return _Recheck(user, self._urgent.pop(user), self._now_s, is_urgent=True)
        user = next(iter(self._calm))
        del self._calm[user]
        return _Recheck(user, None, self._now_s, is_urgent=False)

    def _ask(self, recheck: "_Recheck") -> None:
        user, owners = recheck.user, recheck.owners
        topics = [topic for topic in self._holds(user) if owners is None or owner_of(topic) in owners]
        parts = [topics[start : start + MAX_ASKED] for start in range(0, len(topics), MAX_ASKED)]
        recheck.left = len(parts)
        if owners is None and not parts:
            self._renewed(user, None)
        for some in parts:
            self._open += 1
            self.asked += len(some)
            self._arbiter.ask_again(user, some, self._now_s, partial(self._answered, recheck, some))

    def _answered(self, recheck: "_Recheck", topics: Sequence[Topic], answers: Answers | Refused) -> None:
        self._open -= 1
        if isinstance(answers, Refused):
            self._failed(recheck)
        else:
            recheck.left -= 1
            if recheck.owners is None and not recheck.left:
                self._renewed(recheck.user, recheck.asked_s)
            refused = {topic: verdict for topic, verdict in zip(topics, answers, strict=True) if verdict is not None}
            if refused:
                self._end(recheck.user, refused)
        self._wake(self._now_s)

    def _failed(self, recheck: "_Recheck") -> None:
        if self._arbiter.is_there:
            if recheck.is_urgent:
                self._add(recheck.user, None)
            else:
                self._calm[recheck.user] = None  # behind the others: about them there may be an answer
            self._not_before_s = self._now_s + RETRY_S


class _Recheck:
    """The questions about `user` and what is of `owners` (None: all that they hold), asked at `asked_s`. `left` have no answer yet."""

    __slots__ = ("asked_s", "is_urgent", "left", "owners", "user")

    def __init__(self, user: str, owners: set[str] | None, asked_s: float, *, is_urgent: bool) -> None:
        self.user, self.owners, self.asked_s, self.is_urgent = user, owners, asked_s, is_urgent
        self.left = 0
