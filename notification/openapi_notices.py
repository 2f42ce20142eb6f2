"""The part of docs/openapi-notification.json for services: what they notify about, and what could not be sent."""

from typing import Annotated, Any, Final

import msgspec

from infra.runtime.http.openapi import NAMED, Content, Example, Parameter, answered

from .answers import DeadLetters, Replayed, StoredNotices
from .intake import Receipt
from .notice import NoticeRequest
from .openapi_users import LIMIT

Several = Annotated[list[Any], msgspec.Meta(description="Notices; each stands for itself.")]
NoticeLines = Annotated[
    str,
    msgspec.Meta(
        description="The notice without followers, then pages of at most 1,000 followers, one on a line of at most 256 KiB. "
        "The stream may have any length; the pages name nobody twice."
    ),
]

_ALBUM: Final = {
    "id": "album-9",
    "topic": "hm://notifications/feed/bjork%new-album/",
    "kind": "album",
    "producer": "bjork",
    "payload": {"artist_name": "Björk", "album": "Post"},
    "followers": ["ann", "bob"],
}

OPERATIONS: Final = {
    ("POST", "/v1/notifications"): answered(
        "notify",
        "Have something stored for each follower.",
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
        status=202,
        description=(
            "202 means stored for every follower. After no answer or a 503 repeat it with the same id, here or at another "
            "node on the same store: nothing is lost and nobody is told twice. The service `artist` notifies about artist "
            "topics, `playlist` about playlists, `social` about friends who joined. An array holds 1,000 notices at most; of a longer "
            "one none is taken."
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
                            _ALBUM,
                            _ALBUM,
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
        refusals=(400, 401, 403, 409, 413, 415, 503),
    ),
    ("GET", "/v1/dead-letters"): answered(
        "listDeadLetters",
        "Mails and pushes that were given up, oldest first.",
        "A page. It is the last one when `next` is null.",
        Content.of(
            DeadLetters,
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
            },
        ),
        query={"after": Parameter(str, "`next` of the page before."), "limit": LIMIT},
        refusals=NAMED,
    ),
    ("POST", "/v1/dead-letters/{key}/replay"): answered(
        "replay",
        "Send a dead letter again.",
        "It is due now.",
        Content.of(Replayed, {"key": "01790000000000:bob:email:album-7"}),
        status=202,
        description="The rules decide once more: who has opted out meanwhile gets none.",
        refusals=(401, 403, 404, 503),
    ),
}
