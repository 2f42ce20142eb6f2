"""The answers of the hook that are still believed. Pure."""

from typing import NamedTuple

from infra.kernel.errors import Refused
from infra.kernel.topics import Topic

_Pair = tuple[str, Topic]


class RememberedAnswer(NamedTuple):
    """An answer: None says that the user may see the topic. It was asked for at `asked_s`, on the clock that never goes back."""

    answer: Refused | None
    asked_s: float


class HookCache:
    """Answers about users and topics, each for `ttl_s`; at most `max_entries`, of which the oldest go first."""

    def __init__(self, ttl_s: float, max_entries: int) -> None:
        self._ttl_s, self._max_entries = ttl_s, max_entries
        # In the order of their ends, since all have the same time.
        self._answers: dict[_Pair, RememberedAnswer] = {}

    def __len__(self) -> int:
        """Returns the number of entries, with some whose time is over."""
        return len(self._answers)

    def get(self, user: str, topic: Topic, now_s: float) -> RememberedAnswer | None:
        """Returns what was answered about `user` and `topic`, if that is still believed."""
        found = self._answers.get((user, topic))
        return None if found is None or self._is_over(found, now_s) else found

    def put(self, user: str, topic: Topic, answer: Refused | None, asked_s: float) -> None:
        """Remembers what was asked at `asked_s`, which never goes back by more than a question takes."""
        if self._ttl_s <= 0:
            return
        self._answers.pop((user, topic), None)
        self._answers[user, topic] = RememberedAnswer(answer, asked_s)
        if len(self._answers) > self._max_entries:
            del self._answers[next(iter(self._answers))]

    def tick(self, now_s: float) -> None:
        """Forgets those whose time is over."""
        while self._answers:
            first = next(iter(self._answers))
            if not self._is_over(self._answers[first], now_s):
                return
            del self._answers[first]

    def _is_over(self, found: RememberedAnswer, now_s: float) -> bool:
        return found.asked_s + self._ttl_s <= now_s
