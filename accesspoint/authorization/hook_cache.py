"""The answers of the hook that are still believed. Pure."""

from infra.kernel.errors import Refused
from infra.kernel.topics import Topic

_Pair = tuple[str, Topic]


class HookCache:
    """Answers about users and topics, each for `ttl_s`; at most `max_entries`, of which the oldest go first."""

    def __init__(self, ttl_s: float, max_entries: int) -> None:
        self._ttl_s, self._max_entries = ttl_s, max_entries
        # In the order of their ends, since all have the same time.
        self._answers: dict[_Pair, tuple[float, Refused | None]] = {}

    def __len__(self) -> int:
        """Returns the number of entries, with some whose time is over."""
        return len(self._answers)

    def get(self, user: str, topic: Topic, now_s: float) -> tuple[Refused | None] | None:
        """Returns the answer in a tuple: None in it says that `user` may see `topic`. Returns None where nothing is known."""
        entry = self._answers.get((user, topic))
        return None if entry is None or entry[0] <= now_s else (entry[1],)

    def put(self, user: str, topic: Topic, answer: Refused | None, asked_s: float) -> None:
        """Remembers what was asked at `asked_s`, which never goes back by more than a question takes."""
        if self._ttl_s <= 0:
            return
        self._answers.pop((user, topic), None)
        self._answers[user, topic] = (asked_s + self._ttl_s, answer)
        if len(self._answers) > self._max_entries:
            del self._answers[next(iter(self._answers))]

    def tick(self, now_s: float) -> None:
        """Forgets those whose time is over."""
        while self._answers:
            first = next(iter(self._answers))
            if self._answers[first][0] > now_s:
                return
            del self._answers[first]
