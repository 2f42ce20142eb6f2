"""What each route of the notification module does, for its OpenAPI document."""

from typing import Annotated, Any, Final

import msgspec

from infra.runtime.http.openapi import Content, Example, Operation, Parameter, Success
from rule_engine.preferences import Preferences

from .answers import DeadLetters, DeviceEndpoint, DeviceList, PulledInbox, PushKey, Replayed, StoredNotices
from .handlers import NewDevice
from .intake import Receipt
from .notice import NoticeRequest
from .why import Explanation

Several = Annotated[list[Any], msgspec.Meta(description="Notices; each stands for itself.")]
NoticeLines = Annotated[
    str,
    msgspec.Meta(
        description="The notice without followers, then pages of at most 1,000 followers, one on a line of at most 256 KiB. "
        "The stream may have any length; the pages name nobody twice."
    ),
]
QueryMark = Annotated[int, msgspec.Meta(ge=0, le=(1 << 53) - 1)]
QueryLimit = Annotated[int, msgspec.Meta(ge=0, le=500, extra_json_schema={"default": 50})]

PREFERENCES: Final = Content(
    Preferences,
    {
        "example": Example(
            {
                "email": "ann@example.org",
                "channels": {"new-track": {"email": False}},
                "muted": ["artist:nickelback"],
                "tz": "Europe/Stockholm",
                "quiet": {"from": "22:00", "to": "07:00"},
                "digest": "daily",
                "digest_at": "08:00",
                "digest_day": "monday",
            }
        )
    },
)
OPERATIONS: Final = {
    ("POST", "/v1/notifications"): Operation(
        id="notify",
        summary="Have something stored for each follower.",
        description=(
            "202 means stored for every follower. After no answer or a 503 repeat it with the same id, here or at another "
            "node on the same store: nothing is lost and nobody is told twice. The service `artist` notifies about artist "
            "topics, `playlist` about playlists, `social` about friends who joined."
        ),
        request=[
            Content(
                (NoticeRequest, Several),
                {
                    "album": Example(
                        {
                            "id": "album-7",
                            "topic": "hm://notifications/feed/bjork%new-album/",
                            "kind": "album",
                            "producer": "bjork",
                            "payload": {"artist_name": "Björk", "album": "Post"},
                            "followers": ["ann", "bob"],
                        },
                        "To followers who are all alike.",
                    ),
                    "playlist": Example(
                        {
                            "id": "summer-3",
                            "topic": "hm://playlist/user/bob/playlist/summer/",
                            "kind": "add",
                            "producer": "bob",
                            "payload": {"name": "Summer", "tracks": ["Jóga"]},
                            "pages": [{"followers": ["ann"], "friend": True, "sent": True}, {"followers": ["eve"]}],
                        },
                        "In pages that differ.",
                    ),
                    "joined": Example(
                        {
                            "id": "joined-9",
                            "topic": "hm://notifications/feed/ann%friend-joined/",
                            "kind": "friend-joined",
                            "producer": "ann",
                            "payload": {"provider": "facebook"},
                            "followers": ["bob"],
                        },
                        "Friends of a user.",
                    ),
                    "several": Example(
                        [
                            {
                                "id": "album-9",
                                "topic": "hm://notifications/feed/bjork%new-album/",
                                "kind": "album",
                                "producer": "bjork",
                                "payload": {"artist_name": "Björk", "album": "Post"},
                                "followers": ["ann", "bob"],
                            },
                            {
                                "id": "album-9",
                                "topic": "hm://notifications/feed/bjork%new-album/",
                                "kind": "album",
                                "producer": "bjork",
                                "payload": {"artist_name": "Björk", "album": "Post"},
                                "followers": ["ann", "bob"],
                            },
                        ],
                        "Two; the second is a repetition.",
                    ),
                },
            ),
            Content(
                NoticeLines,
                {
                    "stream": Example(
                        (
                            '{"id":"album-8","topic":"hm://notifications/feed/bjork%new-album/","kind":"album","payload":{"album":"Debut"}}\n'
                            '{"followers":["ann","bob"]}\n'
                            '{"followers":["eve"],"friend":true}\n'
                        ),
                        "Three followers in two pages.",
                    )
                },
                media="application/x-ndjson",
            ),
        ],
        replies={
            202: Success(
                "Stored. For an array: what was, and what was not, by position.",
                Content(
                    (Receipt, StoredNotices),
                    {
                        "one": Example({"id": "album-7", "accepted": 2, "duplicate": False}),
                        "several": Example(
                            {
                                "accepted": [{"id": "album-7", "accepted": 2, "duplicate": False}],
                                "rejected": [
                                    {
                                        "index": 1,
                                        "code": "conflict",
                                        "number": 4116,
                                        "reason": "id album-7 was used for something else; give what is new a new id",
                                    }
                                ],
                            }
                        ),
                    },
                ),
            )
        },
        refusals=(
            400,
            401,
            403,
            409,
            413,
            415,
            503,
        ),
    ),
    ("GET", "/v1/me/notifications"): Operation(
        id="pull",
        summary="Your inbox, ascending by mark.",
        query={
            "since": Parameter(QueryMark, "Items behind this mark; without it, behind the seen mark of `client`."),
            "epoch": Parameter(QueryMark, "The epoch to which `since` belongs; without it, the one that holds."),
            "limit": Parameter(QueryLimit, "How many at most; 0 counts as 1."),
            "client": Parameter(str, "The name of the device whose seen mark counts."),
        },
        replies={
            200: Success(
                "As the answer to `pull` over WebSocket.",
                Content(
                    PulledInbox,
                    {
                        "example": Example(
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
                            }
                        )
                    },
                ),
            )
        },
        refusals=(
            400,
            401,
            403,
            503,
        ),
    ),
    ("GET", "/v1/me/preferences"): Operation(
        id="getPreferences",
        summary="What you have set; the defaults where you have not.",
        replies={200: Success("All of them.", PREFERENCES)},
        refusals=(
            401,
            403,
            503,
        ),
    ),
    ("PUT", "/v1/me/preferences"): Operation(
        id="setPreferences",
        summary="Replace what you have set.",
        description=("Honoured by the next event. What is absent is set to its default. preferences.md tells what each means."),
        request=[PREFERENCES],
        replies={200: Success("As they are now.", PREFERENCES)},
        refusals=(
            400,
            401,
            403,
            413,
            415,
            503,
        ),
    ),
    ("GET", "/v1/me/devices"): Operation(
        id="listDevices",
        summary="Where pushes to you go.",
        replies={
            200: Success(
                "Endpoints; keys are told to nobody.",
                Content(DeviceList, {"example": Example({"devices": [{"endpoint": "https://push.example.org/send/abc"}]})}),
            )
        },
        refusals=(
            401,
            403,
            503,
        ),
    ),
    ("POST", "/v1/me/devices"): Operation(
        id="addDevice",
        summary="Have pushes sent to a browser.",
        description=(
            "The body is what PushSubscription.toJSON() gives; more fields are ignored. At most 20 for each user. The same "
            "endpoint replaces itself."
        ),
        request=[
            Content(
                NewDevice,
                {
                    "example": Example(
                        {
                            "endpoint": "https://push.example.org/send/abc",
                            "keys": {
                                "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
                                "auth": "BTBZMqHH6r4Tts7J_aSIgg",
                            },
                        }
                    )
                },
            )
        ],
        replies={
            201: Success(
                "From the next event on.", Content(DeviceEndpoint, {"example": Example({"endpoint": "https://push.example.org/send/abc"})})
            )
        },
        refusals=(
            400,
            401,
            403,
            413,
            415,
            503,
        ),
    ),
    ("DELETE", "/v1/me/devices"): Operation(
        id="removeDevice",
        summary="No more pushes to a browser.",
        query={"endpoint": Parameter(str, "As it is listed.", required=True)},
        replies={204: Success("It takes none of your pushes, whether it did before or not.")},
        refusals=(
            400,
            401,
            403,
            503,
        ),
    ),
    ("GET", "/v1/me/why/{event}"): Operation(
        id="explain",
        summary="Why you got a notification, or did not.",
        replies={
            200: Success(
                "What was decided and what became of it. rules.md tells the reasons.",
                Content(
                    Explanation,
                    {
                        "example": Example(
                            {
                                "event": "album-7",
                                "topic": "hm://notifications/feed/bjork%new-album/",
                                "kind": "album",
                                "decided": 1790000000005,
                                "mark": 1,
                                "types": ["in-client", "email"],
                                "reasons": ["offline-row"],
                                "sent": [{"channel": "email", "state": "delivered", "reason": "250 ok", "ts": 1790000060000}],
                            }
                        )
                    },
                ),
            )
        },
        refusals=(
            401,
            403,
            404,
            503,
        ),
    ),
    ("GET", "/v1/push-key"): Operation(
        id="pushKey",
        summary="The applicationServerKey that a browser wants.",
        replies={
            200: Success(
                "87 characters of base64url.",
                Content(
                    PushKey,
                    {
                        "example": Example(
                            {"key": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"}
                        )
                    },
                ),
            )
        },
        refusals=(
            404,
            503,
        ),
    ),
    ("GET", "/v1/unsubscribe/{token}"): Operation(
        id="askUnsubscribe",
        summary="A page with a button. It changes nothing, since programs follow links.",
        replies={200: Success("The page.", Content(str, media="text/html"))},
        refusals=(
            401,
            503,
        ),
    ),
    ("POST", "/v1/unsubscribe/{token}"): Operation(
        id="unsubscribe",
        summary="No more mails of this class (RFC 8058, one click).",
        replies={200: Success("Done; a page says so.", Content(str, media="text/html"))},
        refusals=(
            401,
            503,
        ),
    ),
    ("GET", "/v1/dead-letters"): Operation(
        id="listDeadLetters",
        summary="Mails and pushes that were given up, oldest first.",
        query={"after": Parameter(str, "`next` of the page before."), "limit": Parameter(QueryLimit, "How many at most; 0 counts as 1.")},
        replies={
            200: Success(
                "A page. It is the last one when `next` is null.",
                Content(
                    DeadLetters,
                    {
                        "example": Example(
                            {
                                "letters": [
                                    {
                                        "key": "01790000000000:bob:email:album-7",
                                        "user": "bob",
                                        "event": "album-7",
                                        "channel": "email",
                                        "state": "dead",
                                        "reason": "mail.example.org answers 550 no such user",
                                        "ts_ms": 1790000000000,
                                    }
                                ],
                                "next": "01790000000000:bob:email:album-7",
                            }
                        )
                    },
                ),
            )
        },
        refusals=(
            400,
            401,
            403,
            503,
        ),
    ),
    ("POST", "/v1/dead-letters/{key}/replay"): Operation(
        id="replay",
        summary="Send a dead letter again.",
        description="The rules decide once more: who has opted out meanwhile gets none.",
        replies={202: Success("It is due now.", Content(Replayed, {"example": Example({"key": "01790000000000:bob:email:album-7"})}))},
        refusals=(
            401,
            403,
            404,
            503,
        ),
    ),
}
