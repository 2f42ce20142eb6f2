"""Revocations: tokens that are taken no more, and users who are kept out for a time. Pure.

Every broker keeps all of them, and whenever two brokers meet, each tells the other all that it knows. So what is known is a set that is
merged in any order and however often, and comes out the same: of two entries for the same name the later times hold. An entry ends by
time alone. A ban that is lifted stays as an entry that keeps nobody out, for as long as somebody may still know the ban.

Times inside are milliseconds since 1970: whole numbers, which no link can make infinite.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, Final, Literal, TypeAlias

import msgspec

from .errors import Refused
from .readable import LAST_EXACT
from .topics import MAX_ID

# So many entries a node keeps unless it is told otherwise: about 30 MB.
MOST_ENTRIES: Final = 100_000
# For so long an entry is kept after its end: the clocks of two nodes may differ, and none may bring back what the other has forgotten.
# It is longer than the longest `auth.leeway_s`, for which a token is taken after it has expired.
KEPT_AFTER_MS: Final = 3_600_000
LAST_MS: Final = LAST_EXACT

Moment: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=LAST_MS)]
HolderName: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=256, pattern=r"^[!-~]+\Z")]
UserName: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_ID, pattern=r"^[A-Za-z0-9._-]+\Z")]


class Revocation(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The end of tokens that were issued before `before_ms`. It is kept until `until_ms`, when all of them have expired.

    `kind` says what `name` is: a user or a service, whose tokens it ends, or the id (`jti`) of one token.
    """

    kind: Literal["user", "service", "token"]
    name: HolderName
    before_ms: Moment
    until_ms: Moment

    @property
    def key(self) -> tuple[str, str]:
        """What it is about."""
        return self.kind, self.name

    @property
    def end_ms(self) -> int:
        """Until when it must be known."""
        return self.until_ms

    def joined(self, other: "Revocation") -> "Revocation":
        """Returns the entry that says what this one and `other`, which has the same key, say together."""
        return Revocation(self.kind, self.name, max(self.before_ms, other.before_ms), max(self.until_ms, other.until_ms))


class Ban(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A decision about `user`, made at `at_ms`: they are kept out until `until_ms`, which is 0 when a ban is lifted.

    `known_ms`: until when it must be known. For a ban that is lifted that is the end of the ban.
    """

    user: UserName
    at_ms: Moment
    until_ms: Moment
    known_ms: Moment

    @property
    def key(self) -> tuple[str, str]:
        """What it is about."""
        return "ban", self.user

    @property
    def end_ms(self) -> int:
        """Until when it must be known."""
        return max(self.until_ms, self.known_ms)

    def joined(self, other: "Ban") -> "Ban":
        """Returns the entry that says what this one and `other`, which is about the same user, say together: the later decision holds."""
        at_ms, until_ms = max((self.at_ms, self.until_ms), (other.at_ms, other.until_ms))
        return Ban(self.user, at_ms, until_ms, max(self.known_ms, other.known_ms))


Entry = Revocation | Ban


def _joined(one: Entry, other: Entry) -> Entry:
    if isinstance(one, Revocation):
        assert isinstance(other, Revocation)  # they have the same key
        return one.joined(other)
    assert isinstance(other, Ban)
    return one.joined(other)


class Revocations:
    """All that one node knows: at most `most` entries.

    When it is full nothing is forgotten to make room, for that would let somebody in again: what is new is refused instead, and says so.
    """

    def __init__(self, most: int = MOST_ENTRIES) -> None:
        self.most = most
        self.turned_away = 0
        """How many entries of others found no room."""
        self._entries: dict[tuple[str, str], Entry] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def revocations(self) -> list[Revocation]:
        """Returns all revocations, in the order in which they came."""
        return [entry for entry in self._entries.values() if isinstance(entry, Revocation)]

    def bans(self) -> list[Ban]:
        """Returns all bans, also those that are lifted or over, in the order in which they came."""
        return [entry for entry in self._entries.values() if isinstance(entry, Ban)]

    def ban_of(self, user: str) -> Ban | None:
        """Returns what was decided about `user` last; None if nothing was."""
        found = self._entries.get(("ban", user))
        return found if isinstance(found, Ban) else None

    def add(self, entry: Entry) -> list[Entry]:
        """Adds `entry`. Returns what is news by that: the entry that holds now, or nothing. Raises `Refused` when there is no room."""
        if entry.key not in self._entries and len(self._entries) >= self.most:
            reason = f"{self.most} revocations and bans are kept, and no more; to have room for all tokens at once, change the secret"
            raise Refused("overloaded", reason)
        return self._put(entry)

    def merge(self, entries: Iterable[Entry], now_ms: int) -> list[Entry]:
        """Adds what another node knows. Returns what is news by that. What has ended is passed over."""
        news: list[Entry] = []
        for entry in entries:
            if entry.end_ms + KEPT_AFTER_MS <= now_ms:
                continue
            if entry.key not in self._entries and len(self._entries) >= self.most:
                self.turned_away += 1
            else:
                news += self._put(entry)
        return news

    def _put(self, entry: Entry) -> list[Entry]:
        before = self._entries.get(entry.key)
        after = entry if before is None else _joined(before, entry)
        if after == before:
            return []
        self._entries[entry.key] = after
        return [after]

    def forget(self, now_ms: int) -> list[Entry]:
        """Forgets the entries that ended a while before `now_ms`, and returns them."""
        over = [entry for entry in self._entries.values() if entry.end_ms + KEPT_AFTER_MS <= now_ms]
        for entry in over:
            del self._entries[entry.key]
        return over

    def user_refusal(self, user: str, token_id: str, issued_s: float, now_s: float) -> Refused | None:
        """Returns why `user` is not let in with a token that was issued at `issued_s`; None if nothing is against it."""
        if not self._entries:  # as a rule
            return None
        ban = self.ban_of(user)
        if ban is not None and now_s * 1000 < ban.until_ms:
            return Refused("banned", f"an operator keeps {user} out until {ban.until_ms // 1000} (Unix time, s)")
        return self._revoked((("user", user), ("token", token_id)), issued_s, now_s)

    def service_refusal(self, service: str, token_id: str, issued_s: float, now_s: float) -> Refused | None:
        """Returns why `service` is not let in with a token that was issued at `issued_s`; None if nothing is against it."""
        return self._revoked((("service", service), ("token", token_id)), issued_s, now_s) if self._entries else None

    def _revoked(self, keys: Sequence[tuple[str, str]], issued_s: float, now_s: float) -> Refused | None:
        for key in keys:
            found = self._entries.get(key)
            # Nothing is let in again while the entry is known: tokens are taken for a while after they have expired, for clocks differ.
            if isinstance(found, Revocation) and issued_s * 1000 < found.before_ms and now_s * 1000 < found.until_ms + KEPT_AFTER_MS:
                return Refused("token-revoked", "this token has been revoked; log in again to get another one")
        return None
