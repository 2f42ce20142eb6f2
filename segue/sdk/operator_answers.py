"""What a broker answers operators, as typed values (docs/openapi-operator.json). Times are Unix times in seconds."""

from typing import Literal

import msgspec


class OrderOutcome(msgspec.Struct, frozen=True):
    """The outcome of an order.

    - `sessions`: how many sessions it was about.
    - `missing`: access points, aggregators and sites that have not answered in time; they may have done it or not.
    - `partial`: whether anybody is missing.
    """

    sessions: int
    partial: bool
    missing: tuple[str, ...]


class UserSession(msgspec.Struct, frozen=True):
    """A session of a user at the access point `node` of `site`.

    - `session`: its id, by which it can be disconnected alone.
    - `client`, `device`: what the client calls itself, and its class.
    - `since_ms`: Unix time of its hello, in milliseconds.
    - `token_id`: the id of its token, by which that can be revoked; "" if it has none.
    - `topic_count`, `topics`: how many topics it follows, and the first of them.
    - `waiting_bytes`: what waits because the client reads slowly.
    """

    user: str
    session: str
    site: str
    node: str
    client: str
    device: Literal["desktop", "mobile"]
    since_ms: int
    token_id: str
    topic_count: int
    topics: tuple[str, ...]
    waiting_bytes: int


class UserSessions(OrderOutcome, frozen=True):
    """The sessions of a user at all sites. Of very many, `listed` has the first ones."""

    listed: tuple[UserSession, ...]


class StandingRevocation(msgspec.Struct, frozen=True):
    """A revocation that holds: tokens of a user, of a service, or the one with this id, issued before `issued_before`."""

    kind: Literal["user", "service", "token"]
    name: str
    issued_before: float
    until: float


class StandingBan(msgspec.Struct, frozen=True):
    """A ban that holds."""

    user: str
    since: float
    until: float


class MadeRevocation(msgspec.Struct, frozen=True):
    """A revocation that was made, and where the broker keeps it."""

    revocation: StandingRevocation
    kept: Literal["disk", "memory"]


class MadeBan(msgspec.Struct, frozen=True):
    """A ban that was made or, where it is None, lifted, and where the broker keeps that."""

    ban: StandingBan | None
    kept: Literal["disk", "memory"]


class RevocationPage(msgspec.Struct, frozen=True):
    """A page of revocations."""

    revocations: tuple[StandingRevocation, ...]
    more: bool


class BanPage(msgspec.Struct, frozen=True):
    """A page of bans."""

    bans: tuple[StandingBan, ...]
    more: bool


class StandingSlot(msgspec.Struct, frozen=True):
    """A slot of a site's ring: the share that it has, and the one that it is to have, of 256.

    - `done`: whether its broker is done with the view that holds.
    """

    slot: str
    share: int
    goal: int
    done: bool


class StandingRing(msgspec.Struct, frozen=True):
    """The ring of `site`, as `broker` knows it.

    - `number`: that of the view. `configured`: the slots that there may be. `steps`: from nothing to everything.
    - `rows`, `topic_bytes`: how many topics are followed at this broker, and how long they are on average.
    - `lag_s`: by how much its event loop was late at worst, in the last 15 s.
    - `waits_for`: whom it waits for before it is done with this view; nobody where it is of an older version.
    """

    site: str
    broker: str
    number: int
    slots: tuple[StandingSlot, ...]
    configured: tuple[str, ...]
    steps: int
    rows: int
    topic_bytes: float
    lag_s: float
    waits_for: tuple[str, ...] = ()

    @property
    def share_of(self) -> dict[str, int]:
        """The share that each slot has."""
        return {each.slot: each.share for each in self.slots}

    @property
    def goal_of(self) -> dict[str, int]:
        """The share that each slot is to have."""
        return {each.slot: each.goal for each in self.slots}

    @property
    def is_there(self) -> bool:
        """Whether every slot has its share, and every broker is done with that."""
        return all(each.share == each.goal and each.done for each in self.slots)
