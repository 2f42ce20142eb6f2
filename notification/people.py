"""People: what the worker knows of users. The owner of their shard alone gives out their marks, so what it knows is true while it is
that."""

from collections.abc import Collection, Iterable
from typing import Final

from infra.kernel.recent import Recent

from .shards import SHARDS, shard_of
from .store import Person, Store

REMEMBERED: Final = 20_000

# How often the shard was lost, and the user: who is remembered from before that is never found again.
Key = tuple[int, str]


class People:
    """Users who were needed lately. The worker raises the marks of a `Person` before they are stored; those who are in such a
    batch are the youngest here, and so never forgotten in between."""

    def __init__(self, store: Store, remembered: int = REMEMBERED) -> None:
        self._store = store
        self._known: Recent[Key, Person] = Recent(remembered)
        self._losses = [0] * SHARDS
        self._changed: set[str] = set()

    async def get(self, users: Collection[str]) -> dict[str, Person]:
        """All of `users`. Raises Unavailable."""
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
        """What a user prefers, or his devices, has just been stored: the worker goes by it from now on. Raises Unavailable."""
        self._changed.add(user)  # who is just reading it reads it again
        if (person := self._peek(user)) is not None:
            new = (await self._store.people([user]))[user]
            person.preferences, person.has_devices = new.preferences, new.has_devices

    def forget(self, shards: Iterable[int]) -> None:
        """Others give out marks there from now on."""
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
