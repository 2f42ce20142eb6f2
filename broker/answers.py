"""The bodies of the broker's HTTP handlers: an event as a service sends it, and what became of a request."""

from typing import Annotated, Any, Final, Literal

import msgspec

from infra.runtime.http.openapi import RejectedRow

_NAME: Final = "[A-Za-z0-9._-]{1,128}"
_TOPIC: Final = (
    f"^hm://(presence/user/{_NAME}|playlist/user/{_NAME}/playlist/{_NAME}"
    f"|notifications/feed/{_NAME}%(new-album|new-track|artist-playlist|friend-joined|new-follower))/$"
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


class SubmittedCloudEvent(msgspec.Struct, frozen=True):
    """A CloudEvent 1.0, as `broker.cloud_events` takes it. Attributes that are not named here are taken, and not passed on."""

    specversion: Literal["1.0"]
    id: Annotated[str, msgspec.Meta(description="With `source`, makes repeating safe.", min_length=1, examples=["play-1"])]
    source: Annotated[str, msgspec.Meta(description="Who says it.", min_length=1, examples=["/players/7"])]
    type: Annotated[
        str,
        msgspec.Meta(
            description="What happened: the kind is what stands behind the last dot.",
            pattern=r"^(.*\.)?[a-z][a-z0-9-]{0,31}$",
            examples=["org.example.play", "play"],
        ),
    ]
    subject: Annotated[str, msgspec.Meta(description="The topic.", pattern=_TOPIC, examples=["hm://presence/user/bob/"])]
    data: Annotated[dict[str, Any], msgspec.Meta(description="The payload, passed on as it was written.", examples=[{"artist": "Björk"}])]
    datacontenttype: Annotated[
        str, msgspec.Meta(description="A media type of JSON.", pattern=r"^application/(.+\+)?json$", examples=["application/json"])
    ] = "application/json"


class PublishOutcome(msgspec.Struct, frozen=True):
    """The outcome of a request: how many events were accepted, and which were not."""

    accepted: Annotated[int, msgspec.Meta(ge=0)]
    rejected: list[RejectedRow]
