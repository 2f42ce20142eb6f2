"""The OpenAPI document of the notification module: docs/openapi-notification.json."""

from collections.abc import Mapping
from typing import Any, Final

from infra.kernel.topics import MAX_ID
from infra.runtime.http.openapi import ON_AIOHTTP, Document, Parameter, ServerUrl
from infra.runtime.http.openapi_schema import Schema
from rule_engine.facts import CLASSES
from rule_engine.fields import CHOICES
from rule_engine.preferences import DAYS, DIGESTS, Preferences, Quiet

from .handlers import NewDevice
from .intake import Receipt
from .notice import NoticeRequest, Page
from .openapi_notices import OPERATIONS as FOR_SERVICES
from .openapi_users import OPERATIONS as FOR_USERS
from .openapi_webhooks import OPERATIONS as FOR_WEBHOOKS
from .webhook import MAX_URL_CHARS
from .webhook_handlers import NewWebhook
from .why import Ending, Explanation

_NAME: Final = f"[A-Za-z0-9._-]{{1,{MAX_ID}}}"
_FOLLOWERS: Final = {"items": {"type": "string", "pattern": f"^{_NAME}$"}}
_TIME: Final = {"pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"}
_UNIX_MS: Final = {"minimum": 0, "description": "Unix time in ms."}
REFINED: Final[Mapping[Any, Mapping[str, Schema]]] = {
    NoticeRequest: {
        "": {
            "anyOf": [
                {"required": ["followers"], "properties": {"followers": {"minItems": 1}}},
                {"required": ["pages"], "properties": {"pages": {"minItems": 1}}},
            ]
        },
        "id": {
            "description": "The idempotency key, and the id that clients see. Repeat a notice with the same one.",
            "pattern": "^[A-Za-z0-9._:-]{1,64}$",
        },
        "topic": {
            "description": "Of a kind that belongs to the service.",
            "pattern": f"^hm://(playlist/user/{_NAME}/playlist/{_NAME}"
            f"|notifications/feed/{_NAME}%(new-album|new-track|artist-playlist|friend-joined|new-follower))/$",
        },
        "kind": {"description": "What happened.", "pattern": "^[a-z][a-z0-9-]{0,31}$"},
        "payload": {"type": "object", "description": "Passed on as it was written; at most 16 KiB."},
        "producer": {
            "description": "The artist or the user behind it. Empty: the one in the topic.",
            "pattern": f"^[A-Za-z0-9._-]{{0,{MAX_ID}}}$",
        },
        "followers": _FOLLOWERS,
    },
    Page: {
        "followers": _FOLLOWERS,
        "friend": {"description": "They are friends of the producer."},
        "sent": {"description": "The engine has given it to them already."},
    },
    Receipt: {
        "accepted": {"minimum": 0, "description": "Followers."},
        "duplicate": {"description": "It had been begun before, under this id."},
    },
    Preferences: {
        "email": {"maxLength": 254, "description": "Where mails go; null: nowhere."},
        "channels": {
            "propertyNames": {"enum": list(CLASSES)},
            "additionalProperties": {
                "type": "object",
                "propertyNames": {"enum": list(CHOICES)},
                "additionalProperties": {"type": "boolean"},
            },
            "description": "Class, channel, whether it is allowed; what is absent is.",
        },
        "muted": {
            "maxItems": 1000,
            "items": {"type": "string", "pattern": f"^((artist|user):{_NAME}|playlist:{_NAME}/{_NAME})$"},
        },
        "tz": {"description": "A name of the IANA time zone database."},
        "quiet": {"description": "Hours without pushes, in local time."},
        "digest": {"enum": list(DIGESTS)},
        "digest_at": _TIME,
        "digest_day": {"enum": list(DAYS)},
    },
    Quiet: {"from": _TIME, "to": _TIME},
    NewDevice: {
        "endpoint": {"description": "https, a public name; web-push.md has what is taken.", "maxLength": 2048},
        "keys": {"required": ["p256dh", "auth"], "properties": {"p256dh": {"type": "string"}, "auth": {"type": "string"}}},
    },
    NewWebhook: {"url": {"description": "https, a public name; webhooks.md has what is taken.", "maxLength": MAX_URL_CHARS}},
    Explanation: {"decided": _UNIX_MS, "mark": {"minimum": 0, "description": "0 where nothing was stored for you."}},
    Ending: {
        "channel": {"pattern": "^(live|email|digest|push|webhook:[a-z0-9]{12})$"},
        "state": {"enum": ["delivered", "waiting", "dropped", "dead"]},
        "ts": _UNIX_MS,
    },
}
DOCUMENT: Final = Document(
    title="Segue: notifications",
    summary="What must not be lost: intake for services, settings and inbox for users, dead letters for operators.",
    description="The HTTP interface of the notification module. publishing.md and notifications.md tell what it is for; clients read "
    "their inbox over WebSocket (client-protocol.md) or here. Error codes: see codes.md.",
    server=ServerUrl("http://127.0.0.1:7720", "The default of the option `door`."),
    tokens={
        "user": "A token with the claim `sub`: the user is who the token says. See tokens.md.",
        "service": "A token with the claim `svc`: `artist`, `playlist` or `social` to notify, `operator` for dead letters.",
    },
    parameters={
        "event": Parameter(str, "The id of a notification."),
        "token": Parameter(
            str,
            "From the link in a mail; it is signed and good for a year. It names a user and a class of notifications.",
        ),
        "key": Parameter(str, "The key of a dead letter."),
        "id": Parameter(str, "The id of a webhook."),
    },
    everywhere=ON_AIOHTTP,
    refusals={
        400: "`bad-field`, `bad-topic`, `bad-json`, `bad-utf8`: the request is wrong; the reason says what to change.",
        401: "`bad-token`, `token-expired`, `token-not-yet-valid`: send a valid token.",
        403: "`forbidden`: this token does not allow it.",
        404: "`not-found`: there is no such thing, or no longer.",
        409: "`conflict`: this id stands for another notice already.",
        413: "`too-large`: the payload, a line or the body is over its limit.",
        415: "`bad-content-type`: it must be application/json, or application/x-ndjson for a stream.",
        503: "`unavailable`, `draining`: try again; repeating is safe.",
    },
    operations=FOR_SERVICES | FOR_USERS | FOR_WEBHOOKS,
    refined=REFINED,
)
