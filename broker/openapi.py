"""The OpenAPI document of the broker's publishing handlers and of the admin listener of every process: docs/openapi.json."""

from typing import Annotated, Final

import msgspec

from infra.runtime.http import admin_openapi as admin
from infra.runtime.http.openapi import Content, Document, Example, NamedRoute, Operation, ServerUrl, Success

from .answers import PublishOutcome, SubmittedCloudEvent, SubmittedEvent

ROUTES: Final = (NamedRoute("POST", "/v1/events", "service"), *admin.ROUTES)
EventLines = Annotated[
    str,
    msgspec.Meta(
        description="One event in each line, as many lines as you like. "
        "Each is published when its line is whole, not when the request ends."
    ),
]

_CLOUD_EVENT: Final = {
    "specversion": "1.0",
    "id": "play-1",
    "source": "/players/7",
    "type": "org.example.play",
    "subject": "hm://presence/user/bob/",
    "data": {"artist": "Björk"},
}

OPERATIONS: Final = {
    ("POST", "/v1/events"): Operation(
        id="publish",
        summary="Publish one event, an array of events, or a stream of them.",
        description=(
            "An accepted event is in the memory of the broker that owns its topic and queued to every link that wants it. "
            "It is not stored. Give events an `id` and repeat what was not answered: a broker drops an id that it has seen "
            "lately on the topic. In an array or a stream, events that are wrong are rejected by position and the others "
            "are accepted; a single event that is wrong is refused with the status of its code."
        ),
        request=[
            Content(
                (SubmittedEvent, list[SubmittedEvent]),
                {
                    "one": Example(
                        {
                            "topic": "hm://presence/user/bob/",
                            "kind": "play",
                            "payload": {"artist": "Björk", "track": "Jóga"},
                            "id": "9f1c2a",
                        },
                        "One event",
                    ),
                    "several": Example(
                        [
                            {"topic": "hm://presence/user/bob/", "kind": "pause", "payload": {}},
                            {"topic": "hm://presence/user/eve/", "kind": "play", "payload": {"artist": "Portishead"}, "id": "9f1c2b"},
                        ],
                        "Several events, of which none needs to succeed for another to",
                    ),
                },
            ),
            Content(
                EventLines,
                {
                    "lines": Example(
                        (
                            '{"topic":"hm://presence/user/bob/","kind":"play","payload":{"artist":"Björk"}}\n'
                            '{"topic":"hm://presence/user/eve/","kind":"pause","payload":{}}\n'
                        ),
                        "Two lines",
                    )
                },
                media="application/x-ndjson",
            ),
            Content(SubmittedCloudEvent, {"event": Example(_CLOUD_EVENT, "One CloudEvent")}, media="application/cloudevents+json"),
            Content(
                list[SubmittedCloudEvent],
                {"batch": Example([_CLOUD_EVENT], "A batch, in which one may be wrong and the others right")},
                media="application/cloudevents-batch+json",
            ),
        ],
        replies={
            202: Success(
                (
                    "How many were accepted, and which were not. An array or stream of which every event was rejected is answered "
                    "with this status too."
                ),
                Content(
                    PublishOutcome,
                    {
                        "all": Example({"accepted": 2, "rejected": []}),
                        "some": Example(
                            {
                                "accepted": 1,
                                "rejected": [
                                    {
                                        "index": 1,
                                        "code": "bad-topic",
                                        "number": 4109,
                                        "reason": "'hm://presence/user/eve' must end with a slash",
                                    }
                                ],
                            }
                        ),
                    },
                ),
            )
        },
        refusals=(400, 401, 403, 408, 413, 415, 500, 503),
    ),
}

DOCUMENT: Final = Document(
    title="Segue: HTTP for publishers and operators",
    summary="Where services publish, and where operators look.",
    description="Every broker listens for publishing services (port 7710 in `segue up`). Every process has an admin listener "
    "(port 7790). Clients do not use HTTP but a WebSocket: see client-protocol.md. Error codes: see codes.md.",
    server=ServerUrl("http://127.0.0.1:7710", "The broker of `segue up`; any broker of a site will do."),
    tokens={
        "service": "A token with the claim `svc`: `presence` publishes on user topics, `playlist` on playlist topics, `notification` on "
        "playlist, artist and social topics. `operator` and `monitor` read what admin listeners show. See tokens.md."
    },
    refusals={
        400: "`bad-json`, `bad-field`, `bad-topic`, `bad-utf8`: the event or the body is wrong. `bad-request`: this is not HTTP/1.1.",
        401: "`bad-token`, `token-expired`, `token-not-yet-valid`.",
        403: "`forbidden`: the token is a user's, the service may not publish at all, or not on this kind of topic.",
        408: "`hello-timeout`: the request did not arrive in time. The connection is closed.",
        413: "`too-large`: the head, the body, a line of a stream or a payload is over its limit.",
        415: "`bad-content-type`.",
        429: "`rate-limited`: too much comes too often; wait as long as `Retry-After` says.",
        500: "`internal-error`: a defect of ours; it has been logged.",
        503: "`draining`, `unavailable`, `overloaded`: try again, also at another broker of the site.",
    },
    operations=OPERATIONS | admin.OPERATIONS,
    refined=admin.REFINED,
)
