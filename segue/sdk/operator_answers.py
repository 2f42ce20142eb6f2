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
