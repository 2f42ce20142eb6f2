"""The OpenAPI document of the broker's handlers for operators: docs/openapi-operator.json."""

from typing import Annotated, Final

import msgspec

from infra.runtime.http.openapi import Content, Document, Example, NamedRoute, Operation, Parameter, ServerUrl, answered

from . import operator_answers as bodies

ROUTES: Final = tuple(
    NamedRoute(method, path, "service")
    for method, path in (
        ("GET", "/v1/sessions"),
        ("POST", "/v1/sessions/disconnect"),
        ("POST", "/v1/sessions/unsubscribe"),
        ("GET", "/v1/bans"),
        ("POST", "/v1/bans"),
        ("POST", "/v1/bans/lift"),
        ("GET", "/v1/revocations"),
        ("POST", "/v1/revocations"),
        ("POST", "/v1/announcements"),
        ("GET", "/v1/ring"),
        ("POST", "/v1/ring"),
        ("POST", "/v1/ring/stop"),
    )
)
_REFUSALS: Final = (400, 401, 403, 408, 413, 429, 500, 503)
_AFTER: Final = {"after": Parameter(str, "The name behind which the page begins: `kind name` of a revocation, or the user of a ban.")}
_USER: Final = Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9._-]{1,128}$")]
_NOBODY_MISSING: Final = {"sessions": 2, "partial": False, "missing": []}
_ONE_MISSING: Final = {"sessions": 1, "partial": True, "missing": ["lon"]}
_ROW: Final = {
    "user": "ann",
    "session": "9f1c2a9f1c2a9f1c",
    "site": "sto",
    "node": "ap1",
    "client": "desktop-1",
    "device": "desktop",
    "since_ms": 1795231479270,
    "token_id": "t-4711",
    "topic_count": 1,
    "topics": ["hm://presence/user/bob/"],
    "waiting_bytes": 0,
}
_REVOCATION: Final = {"kind": "user", "name": "ann", "issued_before": 1795231479.27, "until": 1797823479.27}
_RING: Final = {
    "site": "sto",
    "broker": "b1",
    "number": 1795231479280,
    "slots": [{"slot": "b1", "share": 256, "goal": 256, "done": True}, {"slot": "b2", "share": 96, "goal": 0, "done": False}],
    "configured": ["b1", "b2"],
    "steps": 8,
    "rows": 100000,
    "topic_bytes": 23.5,
    "lag_s": 0.004,
    "waits_for": ["aggregator sto/a1"],
}
_BAN: Final = {"user": "ann", "since": 1795231479.27, "until": 1795317879.27}


def _order(id: str, summary: str, request: type, example: dict[str, object], description: str = "") -> Operation:
    done = Content(bodies.OrderDone, {"all": Example(_NOBODY_MISSING), "some": Example(_ONE_MISSING, "A site that is cut off")})
    return answered(
        id,
        summary,
        "What came of it within two seconds.",
        done,
        description=description,
        request=[Content.of(request, example)],
        refusals=_REFUSALS,
    )


OPERATIONS: Final = {
    ("GET", "/v1/sessions"): answered(
        "sessions",
        "The sessions of a user, at all sites.",
        "What the access points that answered have of this user.",
        Content.of(bodies.SessionList, _NOBODY_MISSING | {"sessions": 1, "listed": [_ROW]}),
        query={"user": Parameter(_USER, "Whose sessions.", required=True)},
        refusals=_REFUSALS,
    ),
    ("POST", "/v1/sessions/disconnect"): _order(
        "disconnect",
        "End all sessions of a user, or one.",
        bodies.DisconnectRequest,
        {"user": "ann", "may_return": False},
    ),
    ("POST", "/v1/sessions/unsubscribe"): _order(
        "unsubscribe",
        "End what a user follows of a topic, on every session.",
        bodies.UnsubscribeRequest,
        {"user": "ann", "topic": "hm://presence/user/bob/"},
        "The client is told with `ended`. It may subscribe again: what it may see is said by the policy, not here.",
    ),
    ("GET", "/v1/bans"): answered(
        "bans",
        "The bans that hold, by user.",
        "A page of at most 1,000.",
        Content.of(bodies.BanList, {"bans": [_BAN], "more": False}),
        query=_AFTER,
        refusals=_REFUSALS,
    ),
    ("POST", "/v1/bans"): answered(
        "ban",
        "Keep a user out for a time. Their sessions end everywhere.",
        "It holds.",
        Content.of(bodies.BanMade, {"ban": _BAN, "kept": "disk"}),
        request=[Content.of(bodies.BanRequest, {"user": "ann", "seconds": 86400})],
        refusals=_REFUSALS,
    ),
    ("POST", "/v1/bans/lift"): answered(
        "unban",
        "Let a user in again.",
        "No ban holds.",
        Content.of(bodies.BanMade, {"ban": None, "kept": "disk"}),
        request=[Content.of(bodies.LiftRequest, {"user": "ann"})],
        refusals=_REFUSALS,
    ),
    ("GET", "/v1/revocations"): answered(
        "revocations",
        "The revocations that hold, by kind and name.",
        "A page of at most 1,000.",
        Content.of(bodies.RevocationList, {"revocations": [_REVOCATION], "more": False}),
        query=_AFTER,
        refusals=_REFUSALS,
    ),
    ("POST", "/v1/revocations"): answered(
        "revoke",
        "Take tokens no more: all of a user or a service so far, or one by its `jti`.",
        "It holds.",
        Content.of(bodies.RevocationMade, {"revocation": _REVOCATION, "kept": "disk"}),
        description=(
            "Every access point of every site closes their sessions with `token-revoked` within two seconds, and every HTTP door "
            "refuses them. It cannot be taken back: a new token is issued later, and is good."
        ),
        request=[
            Content(
                bodies.RevocationRequest,
                {
                    "user": Example({"user": "ann"}, "All tokens of a user that were issued until now"),
                    "token": Example({"jti": "t-4711", "until": 1797823479}, "One token, which expires then"),
                },
            )
        ],
        refusals=_REFUSALS,
    ),
    ("POST", "/v1/announcements"): _order(
        "announce",
        "Tell every session something, at all sites or at some.",
        bodies.AnnounceRequest,
        {"text": "Back at noon.", "data": {"minutes": 30}},
        "Clients that are not connected are never told. `announcements_per_minute` limits it.",
    ),
    ("GET", "/v1/ring"): answered(
        "ring",
        "The ring of this broker's site: which share each slot has, and which it is to have.",
        "As this broker knows it.",
        Content.of(bodies.RingState, _RING),
        refusals=_REFUSALS,
    ),
    ("POST", "/v1/ring"): answered(
        "changeRing",
        "Where the ring of this broker's site shall go, in steps.",
        "It is on its way, or there.",
        Content.of(bodies.RingState, _RING),
        description="Repeating it changes nothing. `segue ring` plans such changes, and carries them out.",
        request=[Content.of(bodies.RingRequest, {"site": "sto", "goal": {"b1": 256}, "before": {"b1": 256}})],
        refusals=(*_REFUSALS, 409),
    ),
    ("POST", "/v1/ring/stop"): answered(
        "stopRing",
        "The ring of this broker's site shall stay where it is.",
        "It stays.",
        Content.of(bodies.RingState, _RING),
        description="Every share on the way is as good as any other: topics have their owners.",
        request=[Content.of(bodies.RingStop, {"site": "sto"})],
        refusals=_REFUSALS,
    ),
}

DOCUMENT: Final = Document(
    title="Segue: HTTP for operators of users",
    summary="Who is here, who is sent away, who is kept out, what everybody is told, and the ring.",
    description=(
        "Any broker of any site does it for all sites, but for the ring: that is changed by a broker of its site. Each change is a "
        "line of the audit log. See admin.md, ring.md and codes.md."
    ),
    server=ServerUrl("http://127.0.0.1:7710", "The broker of `segue up`; any broker of any site will do."),
    tokens={"service": "A token whose claim `svc` is one of `auth.operators`, by default `operator`: segue token --service operator."},
    refusals={
        400: "`bad-json`, `bad-field`, `bad-topic`, `bad-utf8`, `bad-request`: the body or the query is wrong.",
        401: "`bad-token`, `token-expired`, `token-not-yet-valid`, `token-revoked`.",
        403: "`forbidden`: the token is not an operator's.",
        408: "`hello-timeout`: the request did not arrive in time. The connection is closed.",
        409: "`conflict`: the ring is to go elsewhere by now; look again.",
        413: "`too-large`: the body, or `data`, is over its limit.",
        429: "`rate-limited`: too many announcements.",
        500: "`internal-error`: a defect of ours; it has been logged.",
        503: "`unavailable`: it holds now, but the disk has not taken it. `overloaded`: there is no room for more revocations, or too many "
        "requests at once.",
    },
    operations=OPERATIONS,
)
