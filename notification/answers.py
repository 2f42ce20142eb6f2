"""The bodies that the notification module answers with over HTTP, beside a receipt, preferences and an explanation."""

from typing import Annotated, Any, Literal

import msgspec

from infra.runtime.http.openapi import RejectedRow

from .intake import Receipt

Counted = Annotated[int, msgspec.Meta(ge=0)]
UnixMs = Annotated[int, msgspec.Meta(ge=0, description="Unix time in ms.")]


class StoredNotices(msgspec.Struct, frozen=True):
    """Which notices of an array were stored, and which were not."""

    accepted: list[Receipt]
    rejected: list[RejectedRow]


class PulledItem(msgspec.Struct, frozen=True):
    """One item of an inbox."""

    mark: Annotated[int, msgspec.Meta(ge=1)]
    types: list[Literal["in-client", "in-feed", "push", "email"]]
    read: bool
    topic: str
    kind: str
    class_: Literal["new-album", "new-track", "artist-playlist", "friend-joined", "new-follower", "playlist"] = msgspec.field(name="class")
    ts: UnixMs
    id: str
    payload: dict[str, Any]
    archived: Annotated[bool, msgspec.Meta(description="True: you have archived it.")] | msgspec.UnsetType = msgspec.UNSET


class PulledInbox(msgspec.Struct, frozen=True):
    """A page of an inbox, with the marks of its user."""

    op: Literal["notifications"]
    id: None
    items: list[PulledItem]
    next: Annotated[int, msgspec.Meta(ge=0, description="`since` of the next page.")]
    more: bool
    epoch: Annotated[int, msgspec.Meta(ge=1, description="The epoch of all marks in the answer.")]
    seen: Counted
    read: Counted
    unread: Counted
    changed: Annotated[int, msgspec.Meta(ge=1, description="The number of the last change of an item.")] | msgspec.UnsetType = msgspec.UNSET
    reset: (
        Annotated[bool, msgspec.Meta(description="True: `since` stands for nothing in this epoch; the page begins behind 0.")]
        | msgspec.UnsetType
    ) = msgspec.UNSET


WebhookId = Annotated[str, msgspec.Meta(pattern="^[a-z0-9]{12}$")]


class DeviceEndpoint(msgspec.Struct, frozen=True):
    """The address to which pushes to one browser go."""

    endpoint: str


class DeviceList(msgspec.Struct, frozen=True):
    """The addresses to which pushes to a user go."""

    devices: Annotated[list[DeviceEndpoint], msgspec.Meta(max_length=20)]


class PushKey(msgspec.Struct, frozen=True):
    """The key that browsers need to take pushes."""

    key: Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9_-]{87}$")]


class ShownWebhook(msgspec.Struct, frozen=True):
    """An endpoint of a user. The secrets are told to nobody again."""

    id: WebhookId
    url: str
    made_ms: UnixMs
    previous_until_ms: Annotated[int, msgspec.Meta(ge=0, description="Until when the secret before signs, too; 0: there is none.")]


class WebhookList(msgspec.Struct, frozen=True):
    """The endpoints of a user."""

    webhooks: Annotated[list[ShownWebhook], msgspec.Meta(max_length=20)]


class WebhookSecret(msgspec.Struct, frozen=True):
    """A webhook with its secret, which is shown this once."""

    id: WebhookId
    url: str
    secret: Annotated[str, msgspec.Meta(pattern="^whsec_[A-Za-z0-9+/]{32}$")]


class WebhookTest(msgspec.Struct, frozen=True):
    """The outcome of a test message."""

    state: Literal["delivered", "retry", "failed", "gone"]
    reason: str


class DeadLetter(msgspec.Struct, frozen=True):
    """A mail, a push or a message to a webhook that was given up."""

    key: str
    user: str
    event: str
    channel: Annotated[str, msgspec.Meta(pattern="^(email|digest|push|webhook:[a-z0-9]{12})$")]
    state: Literal["dead"]
    reason: Annotated[str, msgspec.Meta(description="In the words of the mail server, the push service or the endpoint.")]
    ts_ms: UnixMs


class DeadLetters(msgspec.Struct, frozen=True):
    """A page of dead letters, the oldest first."""

    letters: list[DeadLetter]
    next: Annotated[str | None, msgspec.Meta(description="`after` of the next page.")]


class Replayed(msgspec.Struct, frozen=True):
    """A dead letter that is due again."""

    key: str
