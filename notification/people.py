"""People: what the worker knows of users. It alone gives out their marks, so what it knows is true while it runs."""

from collections.abc import Collection
from typing import Final

from infra.runtime.recent import Recent

from .store import Person, Store

REMEMBERED: Final = 20_000


class People:
    """Users who were needed lately. The worker raises the marks of a `Person` before they are stored; those who are in such a
    batch are the youngest here, and so never forgotten in between."""

    def __init__(self, store: Store, remembered: int = REMEMBERED) -> None:
        self._store = store
        self._known: Recent[str, Person] = Recent(remembered)
        self._changed: set[str] = set()

    async def get(self, users: Collection[str]) -> dict[str, Person]:
        """All of `users`. Raises Unavailable."""
        people = {user: person for user in users if (person := self._known.take(user)) is not None}
        for user, person in people.items():
            self._known.add(user, person)
        unknown = [user for user in users if user not in people]
        while unknown:
            self._changed.clear()
            found = await self._store.people(unknown)
            unknown = [user for user in unknown if user in self._changed]  # what was read may be the old
            for user, person in found.items():
                if user not in self._changed:
                    people[user] = person
                    self._known.add(user, person)
        return people

    def changed(self, user: str) -> Person | None:
        """What is stored of `user` changes now: who is just reading it reads it again. The person, if known here."""
        self._changed.add(user)
        person = self._known.take(user)
        if person is not None:
            self._known.add(user, person)
        return person
