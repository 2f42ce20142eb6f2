"""The bodies of the broker's HTTP handlers: an event as a service sends it, and what became of a request."""

from typing import Annotated, Any, Final

import msgspec

from infra.runtime.http.openapi import RejectedRow

_NAME: Final = "[A-Za-z0-9._-]{1,128}"
_TOPIC: Final = (
    f"^hm://(presence/user/{_NAME}|playlist/user/{_NAME}/playlist/{_NAME}"
    f"|notifications/feed/{_NAME}%(new-album|new-track|artist-playlist|friend-joined))/$"
)


class SubmittedEvent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An event, as `infra.kernel.events.accept` takes it."""

    topic: Annotated[
        str,
        msgspec.Meta(
            description="One of the four forms. Each ends in a slash; the % is a literal divider.",
            pattern=_TOPIC,
            examples=[
                "hm://presence/user/bob/",
                "hm://playlist/user/bob/playlist/summer/",
                "hm://notifications/feed/bjork%new-album/",
                "hm://notifications/feed/bob%friend-joined/",
            ],
        ),
    ]
    kind: Annotated[str, msgspec.Meta(description="What happened.", pattern="^[a-z][a-z0-9-]{0,31}$", examples=["play", "new-album"])]
    payload: Annotated[
        dict[str, Any],
        msgspec.Meta(
            description="Passed on as it was written. At most `max_payload_bytes` (16 KiB unless configured otherwise).",
            examples=[{}, {"artist": "Björk", "track": "Jóga"}],
        ),
    ]
    id: Annotated[
        str,
        msgspec.Meta(
            description="Makes repeating safe. Without it (or with an empty one) the broker makes one up, and a repetition is a new event.",
            pattern="^[A-Za-z0-9._:-]{0,64}$",
            examples=["9f1c2a", ""],
        ),
    ] = ""


class PublishOutcome(msgspec.Struct, frozen=True):
    """The outcome of a request: how many events were accepted, and which were not."""

    accepted: Annotated[int, msgspec.Meta(ge=0)]
    rejected: list[RejectedRow]
