"""The bodies of the broker's HTTP handlers for operators. Times are Unix times in seconds, as in tokens."""

from typing import Annotated, Any, Literal

import msgspec

from infra.kernel.frames import Name, SlotShares
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


class RingRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The aim of a site's ring: where it shall go, in steps."""

    site: Name
    goal: Annotated[SlotShares, msgspec.Meta(description="The share that slots are to have, of 256. Others keep what they are to have.")]
    before: Annotated[SlotShares, msgspec.Meta(description="The `goal` of each slot when this was decided; another one is a conflict.")]


class RingStop(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The site whose ring shall stay where it is."""

    site: Name


class RingSlot(msgspec.Struct, frozen=True):
    """A slot in the view of a site."""

    slot: str
    share: Annotated[int, msgspec.Meta(description="How many points of the ring it has, of 256.")]
    goal: Annotated[int, msgspec.Meta(description="How many it is to have.")]
    done: Annotated[bool, msgspec.Meta(description="Whether it has said that all is done which followed from this view.")]


class RingState(msgspec.Struct, frozen=True):
    """The ring of a site, as one broker knows it."""

    site: str
    broker: Annotated[str, msgspec.Meta(description="The broker that says so.")]
    number: Annotated[int, msgspec.Meta(description="The number of the view.")]
    slots: list[RingSlot]
    configured: Annotated[list[str], msgspec.Meta(description="The slots that the configuration names.")]
    steps: Annotated[int, msgspec.Meta(description="In how many steps a share gets from nothing to everything (`join_steps`).")]
    rows: Annotated[int, msgspec.Meta(description="How many topics are followed at this broker.")]
    topic_bytes: Annotated[float, msgspec.Meta(description="How long these topics are on average.")]
    lag_s: Annotated[float, msgspec.Meta(description="By how much the event loop of this broker was late at worst, in the last 15 s.")]
    waits_for: Annotated[list[str], msgspec.Meta(description="Whom this broker waits for before it is done with this view.")]
