"""The verdict cache: what was answered about users and topics that no session of theirs holds. Pure.

What a session holds is allowed, and needs no entry. So there are two sorts: what was refused, and what a user held until a moment
ago, who comes back with the same topics as a rule.
"""

from collections import OrderedDict
from collections.abc import Iterable
from typing import Final

from infra.kernel.errors import Refused
from infra.kernel.topics import Topic, owner_of

# An owner who has changed something is remembered so long as one entry may be older. Beyond so many all entries go instead.
MAX_CHANGED: Final = 4096

_Entry = tuple[int, Refused | None]


class VerdictCache:
    """At most `max_entries` verdicts. The users who were asked about least recently go first, each with all that is known of them."""

    def __init__(self, max_entries: int) -> None:
        self._max_entries = max_entries
        self._entries = 0
        self._users: OrderedDict[str, dict[Topic, _Entry]] = OrderedDict()
        # When an owner has changed something for everybody, as a count of changes: older entries hold no longer.
        self._changed: dict[str, int] = {}
        self._changes = 0

    def __len__(self) -> int:
        """Returns the number of entries."""
        return self._entries

    def get(self, user: str, topic: Topic) -> tuple[Refused | None] | None:
        """Returns the verdict in a tuple: None in it says that `user` may see `topic`. Returns None where nothing is known."""
        known = self._users.get(user)
        entry = None if known is None else known.get(topic)
        if entry is None or entry[0] < self._changed.get(owner_of(topic), 0):
            return None
        self._users.move_to_end(user)
        return (entry[1],)

    def put(self, user: str, verdicts: Iterable[tuple[Topic, Refused | None]]) -> None:
        """Remembers what was answered about `user` and topics."""
        known = self._users.setdefault(user, {})
        before = len(known)
        for topic, verdict in verdicts:
            known[topic] = (self._changes, verdict)
        self._entries += len(known) - before
        self._users.move_to_end(user)
        while self._entries > self._max_entries:
            self._entries -= len(self._users.popitem(last=False)[1])

    def forget_pair(self, owner: str, user: str) -> None:
        """Forgets what `user` may see of `owner`."""
        known = self._users.get(user, {})
        for topic in [topic for topic in known if owner_of(topic) == owner]:
            del known[topic]
            self._entries -= 1

    def forget_owner(self, owner: str) -> None:
        """Forgets what anybody may see of `owner`."""
        if len(self._changed) >= MAX_CHANGED:
            self.clear()
        self._changes += 1
        self._changed[owner] = self._changes

    def clear(self) -> None:
        """Forgets everything."""
        self._users.clear()
        self._changed.clear()
        self._entries = 0
