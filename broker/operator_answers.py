"""The bodies of the broker's HTTP handlers for operators. Times are Unix times in seconds, as in tokens."""

from typing import Annotated, Any, Literal

import msgspec

from infra.kernel.orders import SessionRow
from infra.kernel.revocations import LAST_MS, HolderName, UserName

Seconds = Annotated[float, msgspec.Meta(ge=0, le=LAST_MS / 1000)]
MAX_TEXT_CHARS = 2000


class RevocationRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Tokens to take no more: those of a user, those of a service, or the one with an id. Exactly one of the three is named."""

    user: UserName | None = None
    service: UserName | None = None
    jti: HolderName | None = None
    issued_before: Annotated[Seconds | None, msgspec.Meta(description="Tokens issued before this; without it, before now.")] = None
    until: Annotated[
        Seconds | None, msgspec.Meta(description="When the last of them has expired; without it, after the longest life of a token.")
    ] = None


class RevocationRow(msgspec.Struct, frozen=True):
    """A revocation that holds."""

    kind: Annotated[Literal["user", "service", "token"], msgspec.Meta(description="What the name is; that of a token is its `jti`.")]
    name: str
    issued_before: Seconds
    until: Seconds


class RevocationMade(msgspec.Struct, frozen=True):
    """A revocation that was made. `kept` says where."""

    revocation: RevocationRow
    kept: Annotated[
        Literal["disk", "memory"],
        msgspec.Meta(description="Where this broker keeps it; a restart of all brokers forgets what is in memory."),
    ]


class RevocationList(msgspec.Struct, frozen=True):
    """Revocations by kind and name."""

    revocations: list[RevocationRow]
    more: Annotated[bool, msgspec.Meta(description="Whether there are more behind the last one.")]


class BanRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A user to keep out for some seconds, or until a moment. Exactly one of the two is given."""

    user: UserName
    seconds: Annotated[Seconds | None, msgspec.Meta(description="For how long.")] = None
    until: Annotated[Seconds | None, msgspec.Meta(description="Until when.")] = None


class BanRow(msgspec.Struct, frozen=True):
    """A ban that holds."""

    user: str
    since: Seconds
    until: Seconds


class BanMade(msgspec.Struct, frozen=True):
    """A ban that was made, or lifted: then it is null. `kept` is as in a revocation."""

    ban: BanRow | None
    kept: Literal["disk", "memory"]


class BanList(msgspec.Struct, frozen=True):
    """The bans that hold, by user."""

    bans: list[BanRow]
    more: bool


class LiftRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A user to let in again."""

    user: UserName


class DisconnectRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Sessions to end: all of a user, or one by its id. Exactly one of the two is named."""

    user: UserName | None = None
    session: Annotated[str, msgspec.Meta(min_length=1, max_length=64)] | None = None
    may_return: Annotated[
        bool,
        msgspec.Meta(description="Whether clients come back by themselves. To keep somebody out, ban them: other clients may ignore it."),
    ] = True


class UnsubscribeRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A subscription to end, on every session of the user."""

    user: UserName
    topic: Annotated[str, msgspec.Meta(min_length=1, max_length=512)]


class AnnounceRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text for every session of all sites, or of some."""

    text: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_TEXT_CHARS)]
    data: Annotated[dict[str, Any], msgspec.Meta(description="For the application; passed on as it is.")] = {}
    sites: Annotated[list[str], msgspec.Meta(max_length=64, description="Without any: all.")] = []


class OrderDone(msgspec.Struct, frozen=True):
    """The outcome of an order. Where it is partial, those who are missing have not answered in time, and may have done it or not."""

    sessions: Annotated[int, msgspec.Meta(ge=0, description="How many sessions it was about.")]
    partial: bool
    missing: Annotated[list[str], msgspec.Meta(description="Access points, aggregators and sites that have not answered.")]


class SessionList(OrderDone, frozen=True):
    """The sessions of a user. Of very many, `listed` has the first ones."""

    listed: list[SessionRow]
