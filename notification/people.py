"""People: what the worker knows of users.

Only the owner of a user's shard gives out marks of that user. So what it remembers is true for as long as it owns the shard.
"""

from collections.abc import Collection, Iterable
from typing import Final

from infra.kernel.recent import Recent

from .shards import SHARDS, shard_of
from .store import Person, Store

REMEMBERED: Final = 20_000

# How often the shard was forgotten, and the user. A user who is remembered from before that is never found again, and leaves in time.
Key = tuple[int, str]


class People:
    """The users who were needed lately.

    The worker raises the marks of a `Person` before they are stored. The users of such a batch are the youngest here, so none of
    them is forgotten in between: the store would give the old mark.
    """

    def __init__(self, store: Store, remembered: int = REMEMBERED) -> None:
        self._store = store
        self._known: Recent[Key, Person] = Recent(remembered)
        self._losses = [0] * SHARDS
        self._changed: set[str] = set()

    async def get(self, users: Collection[str]) -> dict[str, Person]:
        """Returns all of `users`. Raises Unavailable."""
        keys = {user: self._key(user) for user in users}
        people = {user: person for user, key in keys.items() if (person := self._known.take(key)) is not None}
        for user, person in people.items():
            self._known.add(keys[user], person)
        unknown = [user for user in users if user not in people]
        while unknown:
            self._changed.clear()
            found = await self._store.people(unknown)
            unknown = [user for user in unknown if user in self._changed]  # what was read may be the old
            for user, person in found.items():
                if user not in self._changed:
                    people[user] = person
                    self._known.add(keys[user], person)
        return people

    async def refresh(self, user: str) -> None:
        """Goes from now on by the preferences, devices and webhooks of `user` that have just been stored. Raises Unavailable."""
        self._changed.add(user)  # a `get` that is under way reads the user again
        if (person := self._peek(user)) is not None:
            new = (await self._store.people([user]))[user]
            person.preferences, person.has_devices, person.webhooks = new.preferences, new.has_devices, new.webhooks

    def forget(self, shards: Iterable[int]) -> None:
        """Forgets the users of these shards: others give out their marks from now on."""
        for shard in shards:
            self._losses[shard] += 1

    def _peek(self, user: str) -> Person | None:
        key = self._key(user)
        person = self._known.take(key)
        if person is not None:
            self._known.add(key, person)
        return person

    def _key(self, user: str) -> Key:
        return self._losses[shard_of(user)], user
