"""Rosters: the friends of all users who follow them here, read from the services and kept up with what these tell. Pure.

What stands stands: while a service cannot be asked, a roster stays as it is. When it can, it is read again. A bounded number of
questions is open at a time.
"""

from collections.abc import Callable, Collection, Iterable
from functools import partial
from typing import Final

import msgspec

from infra.kernel.errors import Refused
from infra.kernel.every_one import for_every_one
from infra.kernel.frames import NOBODY, Barred, Reply
from infra.kernel.open_calls import refusal_of
from infra.kernel.roles import PLAYLIST, SOCIAL
from infra.kernel.topics import Topic

from ..calls import Calls
from ..soon import Soon, in_slices
from .roster import Roster

MAX_OPEN: Final = 64
# A service is asked about so many owners at once. Whoever has more that have changed is asked about as a whole.
MAX_OWNERS: Final = 100
# So much of one service fits into a roster. It is more than any service keeps for a user.
MAX_TOPICS: Final = 20_000
# So many rosters are looked at in one turn of the loop.
LOOKED_AT: Final = 4096
RETRY_S: Final = 1.0

# The owners of whom something has changed; None: of all.
Owners = frozenset[str] | None
_ENCODE: Final = msgspec.msgpack.Encoder().encode
_ANSWER: Final = msgspec.msgpack.Decoder(tuple[list[bytes], str | None])


class _Watched:
    """The roster of one user.

    - `sessions`: how many sessions of theirs want it.
    - `stale`: service -> the owners about whom it is to be asked. `asking`: the services that are being asked.
    - `failed`: the services that could not be asked the last time; `unread`: those that have never told all.
    - `waiting`: who waits until it is settled.
    """

    __slots__ = ("asking", "failed", "roster", "sessions", "stale", "unread", "waiting")

    def __init__(self, user: str, services: Iterable[str]) -> None:
        self.roster, self.sessions = Roster(user), 0
        self.stale: dict[str, Owners] = dict.fromkeys(services)
        self.asking: set[str] = set()
        self.failed: set[str] = set()
        self.unread = set(self.stale)
        self.waiting: list[Callable[[float], None]] = []

    def is_settled(self) -> bool:
        return not self.asking and self.stale.keys() <= self.failed

    def mark(self, service: str, owners: Owners) -> None:
        known = self.stale.get(service, frozenset())
        self.stale[service] = None if owners is None or known is None else known | owners


class _Reading:
    """A question to `service` about what `user` follows of `owners`, page by page."""

    __slots__ = ("owners", "service", "topics", "user", "watched")

    def __init__(self, user: str, watched: _Watched, service: str, owners: Owners) -> None:
        self.user, self.watched, self.service = user, watched, service
        self.owners = owners if owners is not None and len(owners) <= MAX_OWNERS else None
        self.topics: list[Topic] = []

    def body(self, after: str) -> bytes:
        return _ENCODE((sorted(self.owners or ()), after))


class Rosters:
    """The rosters of users.

    - `services`: those of the site, of which the social and the playlist service are asked by `calls`.
    - `changed(user, owners)`: is told when a roster may have changed about `owners` (None: about all), or who may see what of it.
    - `soon(step)`: has a step called in the next turn of the loop.

    `asked` counts pages that services were asked for, `refused` those that did not come.
    """

    def __init__(self, services: Collection[str], calls: Calls, changed: Callable[[str, Owners], None], soon: Soon) -> None:
        self.asked = self.refused = 0
        self._services = [service for service in (SOCIAL, PLAYLIST) if service in services]
        self._calls, self._changed, self._soon = calls, changed, soon
        self._watched: dict[str, _Watched] = {}
        self._due: dict[tuple[str, str], None] = {}
        self._open = 0
        self._now_s = self._retried_s = 0.0

    def __len__(self) -> int:
        """Returns how many users have a roster here."""
        return len(self._watched)

    def users(self) -> list[str]:
        """Returns the users who have a roster here."""
        return list(self._watched)

    def join(self, user: str) -> None:
        """Notes that one more session wants the roster of `user`. Raises `Refused` (unavailable) where there are no friends."""
        if SOCIAL not in self._services:
            raise Refused("unavailable", "this site has no social service, so nobody has friends here; name the topics to follow")
        if user not in self._watched:
            self._watched[user] = _Watched(user, self._services)
            self._due |= dict.fromkeys((user, service) for service in self._services)
        self._watched[user].sessions += 1

    def leave(self, user: str) -> None:
        """Notes that a session of `user` wants it no more."""
        watched = self._watched[user]
        watched.sessions -= 1
        if not watched.sessions:
            del self._watched[user]

    def of(self, user: str) -> Roster:
        """Returns the roster of `user`, as far as it is known."""
        return self._watched[user].roster

    def is_whole(self, user: str) -> bool:
        """Returns whether the roster of `user` has been read, and was up to date when that was tried the last time."""
        watched = self._watched[user]
        return not (watched.unread or watched.failed)

    def when_settled(self, user: str, now_s: float, then: Callable[[float], None]) -> None:
        """Calls `then(now_s)` when everybody has been asked about `user` who can be, at once or later."""
        self._watched[user].waiting.append(then)
        self._go_on(now_s)
        self._settle(user)

    def again(self, user: str) -> None:
        """Has the friends of `user` looked at again in a moment: nobody could say whether they may be seen."""
        watched = self._watched[user]
        watched.mark(SOCIAL, None)
        watched.failed.add(SOCIAL)

    # What services tell.

    def barred(self, service: str, frame: Barred, now_s: float) -> None:
        """Notes that `service` has changed what is asked about some pairs."""
        owners: dict[str, set[str]] = {}
        everybody: set[str] = set()
        for owner, user in zip(frame.owners, frame.askers, strict=True):
            if user == NOBODY:
                everybody.add(owner)
            elif owner != user and user in self._watched:
                owners.setdefault(user, set()).add(owner)
        for user, some in owners.items():
            self._mark(user, service, frozenset(some))
        if everybody and self._watched:
            in_slices(list(self._watched), LOOKED_AT, self._soon, lambda user: self._changed_for_all(service, user, frozenset(everybody)))
        self._go_on(now_s)

    def _changed_for_all(self, service: str, user: str, owners: frozenset[str]) -> None:
        watched = self._watched.get(user)
        if watched is None or not (theirs := frozenset(filter(watched.roster.is_friend, owners))):
            return
        if service == SOCIAL:  # who are friends stays; what friends may see has changed
            self._changed(user, theirs)
        else:
            self._mark(user, service, theirs)
            self._go_on(self._now_s)

    def node_up(self, service: str, now_s: float) -> None:
        """Notes that a node of `service` is linked: what it has changed meanwhile, nobody has told."""
        for user in self._watched:
            self._mark(user, service, None)
        self._go_on(now_s)

    def tick(self, now_s: float) -> None:
        """Asks again where nobody could answer, once in a while."""
        if now_s - self._retried_s >= RETRY_S:
            self._retried_s = now_s
            for user, watched in self._watched.items():
                self._due |= dict.fromkeys((user, service) for service in watched.failed if self._calls.has(service))
        self._go_on(now_s)

    def _mark(self, user: str, service: str, owners: Owners) -> None:
        if service in self._services:
            self._watched[user].mark(service, owners)
            self._due[user, service] = None

    # Questions.

    def _go_on(self, now_s: float) -> None:
        self._now_s = max(self._now_s, now_s)
        while self._due and self._open < MAX_OPEN:
            user, service = next(iter(self._due))
            del self._due[user, service]
            watched = self._watched.get(user)
            # One that is being asked is asked again after the answer.
            if watched is not None and service in watched.stale and service not in watched.asking:
                self._ask(user, watched, service)

    def _ask(self, user: str, watched: _Watched, service: str) -> None:
        reading = _Reading(user, watched, service, watched.stale.pop(service))
        watched.asking.add(service)
        self._open += 1
        self._page(reading, "")

    def _page(self, reading: _Reading, after: str) -> None:
        self.asked += 1

        def answered(result: Reply | Refused) -> None:
            self._answered(reading, result)

        try:
            self._calls.call(reading.service, "followed", reading.user, "", reading.body(after), self._now_s, answered)
        except Refused as refused:
            self._answered(reading, refused)

    def _answered(self, reading: _Reading, result: Reply | Refused) -> None:
        if self._watched.get(reading.user) is not reading.watched:  # all their sessions have left
            self._open -= 1
            self._go_on(self._now_s)
            return
        page = None if refusal_of(result) is not None or not isinstance(result, Reply) else _read(result.body)
        if page is None:
            self.refused += 1
            self._ended(reading, is_read=False)
            return
        topics, after = page
        reading.topics += map(Topic, topics)
        if after is not None and len(reading.topics) < MAX_TOPICS:
            self._page(reading, after)
        else:
            self._ended(reading, is_read=True)

    def _ended(self, reading: _Reading, *, is_read: bool) -> None:
        watched, service = reading.watched, reading.service
        self._open -= 1
        watched.asking.discard(service)
        if is_read:
            watched.failed.discard(service)
            watched.roster.read(service, reading.owners, reading.topics)
            if reading.owners is None:
                watched.unread.discard(service)
        else:
            watched.mark(service, reading.owners)
            watched.failed.add(service)
        if service in watched.stale and service not in watched.failed:
            self._due[reading.user, service] = None
        if is_read:
            self._changed(reading.user, reading.owners)
        self._settle(reading.user)
        self._go_on(self._now_s)

    def _settle(self, user: str) -> None:
        watched = self._watched.get(user)
        if watched is not None and watched.waiting and watched.is_settled():
            waiting, watched.waiting = watched.waiting, []
            for_every_one(partial(then, self._now_s) for then in waiting)


def _read(body: bytes) -> tuple[list[bytes], str | None] | None:
    """Returns a page of topics and where the next one begins; None for what is none."""
    try:
        return _ANSWER.decode(body)
    except msgspec.DecodeError:
        return None
