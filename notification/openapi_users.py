"""The part of docs/openapi-notification.json for users: their inbox, what they prefer, where pushes and mails go."""

from typing import Annotated, Final

import msgspec

from infra.runtime.http.openapi import ASKED, NAMED, SENT, Content, Operation, Parameter, Success
from rule_engine.preferences import Preferences

from .answers import DeviceEndpoint, DeviceList, PulledInbox, PushKey
from .changes import Mark
from .handlers import NewDevice
from .why import Explanation

QueryLimit = Annotated[int, msgspec.Meta(ge=0, le=500, extra_json_schema={"default": 50})]

LIMIT: Final = Parameter(QueryLimit, "How many at most; 0 counts as 1.")
PREFERENCES: Final = Content.of(
    Preferences,
    {
        "email": "ann@example.org",
        "channels": {"new-track": {"email": False}},
        "muted": ["artist:nickelback"],
        "tz": "Europe/Stockholm",
        "quiet": {"from": "22:00", "to": "07:00"},
        "digest": "daily",
        "digest_at": "08:00",
        "digest_day": "monday",
    },
)
OPERATIONS: Final = {
    ("GET", "/v1/me/notifications"): Operation(
        id="pull",
        summary="Your inbox, ascending by mark.",
        query={
            "since": Parameter(Mark, "Items behind this mark; without it, behind the seen mark of `client`."),
            "epoch": Parameter(Mark, "The epoch to which `since` belongs; without it, the one that holds."),
            "limit": LIMIT,
            "client": Parameter(str, "The name of the device whose seen mark counts."),
        },
        replies={
            200: Success(
                "As the answer to `pull` over WebSocket.",
                Content.of(
                    PulledInbox,
                    {
                        "op": "notifications",
                        "id": None,
                        "items": [
                            {
                                "mark": 1,
                                "types": ["in-client", "push"],
                                "read": False,
                                "topic": "hm://notifications/feed/bjork%new-album/",
                                "kind": "album",
                                "class": "new-album",
                                "ts": 1790000000000,
                                "id": "album-7",
                                "payload": {"artist_name": "Björk", "album": "Post"},
                            }
                        ],
                        "next": 1,
                        "more": False,
                        "epoch": 1795231516046000,
                        "seen": 0,
                        "read": 0,
                        "unread": 1,
                    },
                ),
            )
        },
        refusals=NAMED,
    ),
    ("GET", "/v1/me/preferences"): Operation(
        id="getPreferences",
        summary="What you have set; the defaults where you have not.",
        replies={200: Success("All of them.", PREFERENCES)},
        refusals=ASKED,
    ),
    ("PUT", "/v1/me/preferences"): Operation(
        id="setPreferences",
        summary="Replace what you have set.",
        description=("Honoured by the next event. What is absent is set to its default. preferences.md tells what each means."),
        request=[PREFERENCES],
        replies={200: Success("As they are now.", PREFERENCES)},
        refusals=SENT,
    ),
    ("GET", "/v1/me/devices"): Operation(
        id="listDevices",
        summary="Where pushes to you go.",
        replies={
            200: Success(
                "Endpoints; keys are told to nobody.",
                Content.of(DeviceList, {"devices": [{"endpoint": "https://push.example.org/send/abc"}]}),
            )
        },
        refusals=ASKED,
    ),
    ("POST", "/v1/me/devices"): Operation(
        id="addDevice",
        summary="Have pushes sent to a browser.",
        description=(
            "The body is what PushSubscription.toJSON() gives; more fields are ignored. At most 20 for each user. The same "
            "endpoint replaces itself."
        ),
        request=[
            Content.of(
                NewDevice,
                {
                    "endpoint": "https://push.example.org/send/abc",
                    "keys": {
                        "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
                        "auth": "BTBZMqHH6r4Tts7J_aSIgg",
                    },
                },
            )
        ],
        replies={201: Success("From the next event on.", Content.of(DeviceEndpoint, {"endpoint": "https://push.example.org/send/abc"}))},
        refusals=SENT,
    ),
    ("DELETE", "/v1/me/devices"): Operation(
        id="removeDevice",
        summary="No more pushes to a browser.",
        query={"endpoint": Parameter(str, "As it is listed.", required=True)},
        replies={204: Success("It takes none of your pushes, whether it did before or not.")},
        refusals=NAMED,
    ),
    ("GET", "/v1/me/why/{event}"): Operation(
        id="explain",
        summary="Why you got a notification, or did not.",
        replies={
            200: Success(
                "What was decided and what became of it. rules.md tells the reasons.",
                Content.of(
                    Explanation,
                    {
                        "event": "album-7",
                        "topic": "hm://notifications/feed/bjork%new-album/",
                        "kind": "album",
                        "decided": 1790000000005,
                        "mark": 1,
                        "types": ["in-client", "email"],
                        "reasons": ["offline-row"],
                        "sent": [{"channel": "email", "state": "delivered", "reason": "250 ok", "ts": 1790000060000}],
                    },
                ),
            )
        },
        refusals=(401, 403, 404, 503),
    ),
    ("GET", "/v1/push-key"): Operation(
        id="pushKey",
        summary="The applicationServerKey that a browser wants.",
        replies={
            200: Success(
                "87 characters of base64url.",
                Content.of(PushKey, {"key": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"}),
            )
        },
        refusals=(404, 503),
    ),
    ("GET", "/v1/unsubscribe/{token}"): Operation(
        id="askUnsubscribe",
        summary="A page with a button. It changes nothing, since programs follow links.",
        replies={200: Success("The page.", Content(str, media="text/html"))},
        refusals=(401, 503),
    ),
    ("POST", "/v1/unsubscribe/{token}"): Operation(
        id="unsubscribe",
        summary="No more mails of this class (RFC 8058, one click).",
        replies={200: Success("Done; a page says so.", Content(str, media="text/html"))},
        refusals=(401, 503),
    ),
}
