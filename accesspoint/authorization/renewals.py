"""Renewals: when what a user holds is asked about again, where somebody answers who tells no changes. Pure.

An answer is believed for `recheck_s`. Before that time is over the user is due, and everything that they hold is asked about in one
question. When nobody has answered `grace_s` later it is over: what nobody says any more may be seen is seen no more.
"""

from math import ceil
from typing import Final
from zlib import crc32

from ..due_seconds import DueSeconds

# A user is due when so much of the time has passed, and a share of the rest that is their own: not all at once who came at once.
EARLIEST: Final = 0.75
SPREAD: Final = 0.2


class _Believed:
    """The answer about a user: when it was asked for, when to do something about it, and whether it is being asked for again."""

    __slots__ = ("asked_s", "is_asked", "second")

    def __init__(self, asked_s: float, second: int) -> None:
        self.asked_s, self.second, self.is_asked = asked_s, second, False


class Renewals:
    """The users who may hold something. With `recheck_s` of 0 nobody is ever asked about again, and none is kept.

    Times are those of a clock that never goes back.
    """

    def __init__(self, recheck_s: float, grace_s: float) -> None:
        self._recheck_s, self._grace_s = recheck_s, grace_s
        self._of: dict[str, _Believed] = {}
        self._due = DueSeconds[str]()

    def __len__(self) -> int:
        """Returns the number of users."""
        return len(self._of)

    def allowed(self, user: str, asked_s: float) -> None:
        """Notes that `user` was allowed something, by an answer to a question of `asked_s`. The oldest answer counts."""
        if not self._recheck_s:
            return
        believed = self._of.get(user)
        if believed is None or asked_s < believed.asked_s:
            self._believe(user, asked_s)

    def renewed(self, user: str, asked_s: float | None) -> None:
        """Notes that all that `user` holds was asked about at `asked_s`, and answered; None: they hold nothing."""
        if asked_s is None:
            self._forget(user)
        elif user in self._of:
            self._believe(user, asked_s)

    def _forget(self, user: str) -> None:
        believed = self._of.pop(user, None)
        if believed is not None:
            self._due.remove(user, believed.second)

    def due(self, now_s: float, most: int) -> list[tuple[str, bool]]:
        """Returns users who are to be asked about again at `now_s`, or for whom it is over (True), `most` at once.

        Of the first one hears again when nobody has answered, the second are forgotten.
        """
        found = []
        for user in self._due.take(now_s, most):
            believed = self._of[user]
            found.append((user, believed.is_asked))
            if believed.is_asked:
                del self._of[user]
            else:
                believed.is_asked = True
                self._at(user, believed, ceil(believed.asked_s + self._recheck_s + self._grace_s))
        return found

    def _believe(self, user: str, asked_s: float) -> None:
        self._forget(user)
        share = EARLIEST + SPREAD * crc32(user.encode()) / (1 << 32)
        believed = self._of[user] = _Believed(asked_s, 0)
        self._at(user, believed, ceil(asked_s + share * self._recheck_s))

    def _at(self, user: str, believed: _Believed, second: int) -> None:
        believed.second = second
        self._due.add(user, second)
