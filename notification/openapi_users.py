"""The part of docs/openapi-notification.json for users: their inbox, what they prefer, where pushes and mails go."""

from typing import Annotated, Final

import msgspec

from infra.runtime.http.openapi import NAMED, SENT, Content, Operation, Parameter, Success, answered
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
    ("GET", "/v1/me/notifications"): answered(
        "pull",
        "Your inbox, ascending by mark.",
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
        query={
            "since": Parameter(Mark, "Items behind this mark; without it, behind the seen mark of `client`."),
            "epoch": Parameter(Mark, "The epoch to which `since` belongs; without it, the one that holds."),
            "limit": LIMIT,
            "client": Parameter(str, "The name of the device whose seen mark counts."),
        },
        refusals=NAMED,
    ),
    ("GET", "/v1/me/preferences"): answered(
        "getPreferences",
        "What you have set; the defaults where you have not.",
        "All of them.",
        PREFERENCES,
    ),
    ("PUT", "/v1/me/preferences"): answered(
        "setPreferences",
        "Replace what you have set.",
        "As they are now.",
        PREFERENCES,
        description="Honoured by the next event. What is absent is set to its default. preferences.md tells what each means.",
        request=[PREFERENCES],
        refusals=SENT,
    ),
    ("GET", "/v1/me/devices"): answered(
        "listDevices",
        "Where pushes to you go.",
        "Endpoints; keys are told to nobody.",
        Content.of(DeviceList, {"devices": [{"endpoint": "https://push.example.org/send/abc"}]}),
    ),
    ("POST", "/v1/me/devices"): answered(
        "addDevice",
        "Have pushes sent to a browser.",
        "From the next event on.",
        Content.of(DeviceEndpoint, {"endpoint": "https://push.example.org/send/abc"}),
        status=201,
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
        refusals=SENT,
    ),
    ("DELETE", "/v1/me/devices"): Operation(
        id="removeDevice",
        summary="No more pushes to a browser.",
        query={"endpoint": Parameter(str, "As it is listed.", required=True)},
        replies={204: Success("It takes none of your pushes, whether it did before or not.")},
        refusals=NAMED,
    ),
    ("GET", "/v1/me/why/{event}"): answered(
        "explain",
        "Why you got a notification, or did not.",
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
        refusals=(401, 403, 404, 503),
    ),
    ("GET", "/v1/push-key"): answered(
        "pushKey",
        "The applicationServerKey that a browser wants.",
        "87 characters of base64url.",
        Content.of(PushKey, {"key": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"}),
        refusals=(404, 503),
    ),
    ("GET", "/v1/unsubscribe/{token}"): answered(
        "askUnsubscribe",
        "A page with a button. It changes nothing, since programs follow links.",
        "The page.",
        Content(str, media="text/html"),
        refusals=(401, 503),
    ),
    ("POST", "/v1/unsubscribe/{token}"): answered(
        "unsubscribe",
        "No more mails of this class (RFC 8058, one click).",
        "Done; a page says so.",
        Content(str, media="text/html"),
        refusals=(401, 503),
    ),
}
