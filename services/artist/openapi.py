"""The OpenAPI document of artist monitoring: docs/openapi-artist.json."""

from typing import Final

from infra.runtime.http.openapi import NAMED, ON_AIOHTTP, Content, Document, Parameter, ServerUrl, answered, done

from ..openapi import AFTER, AGAIN, BAD_REQUEST, FORBIDDEN, LIMIT, UNAUTHORIZED, USERS, ShownName
from .answers import FollowedArtist, FollowedFeeds, RunStarted, RunState
from .job import RunTally

OPERATIONS: Final = {
    ("GET", "/v1/artists/followed"): answered(
        "listFollowed",
        "Which feeds of artists you follow.",
        "A page of feeds, by artist.",
        Content.of(FollowedFeeds, {"topics": [{"artist": "bjork", "type": "new-album"}], "next": None}),
        query={"after": AFTER, "limit": LIMIT},
        refusals=NAMED,
    ),
    ("PUT", "/v1/artists/{artist}/follow"): answered(
        "followArtist",
        "Follow all feeds of an artist.",
        "You follow them now; repeating changes nothing.",
        Content.of(FollowedArtist, {"artist": "bjork", "types": ["new-album", "new-track", "artist-playlist"]}),
        refusals=NAMED,
    ),
    ("DELETE", "/v1/artists/{artist}/follow"): done(
        "unfollowArtist",
        "Follow an artist no more.",
        "You follow none of their feeds.",
    ),
    ("GET", "/v1/artists/run"): answered(
        "showRun",
        "How the newest run of the job went.",
        "The run that is under way in this process, or its last one; `last` is null before the first.",
        Content.of(
            RunState,
            {
                "running": False,
                "last": {
                    "run": 3,
                    "started_s": 1790000000.0,
                    "finished": True,
                    "items": 120000,
                    "announced": 12,
                    "learned": 40,
                    "refused": 0,
                    "wrong": 0,
                },
            },
        ),
        description="For the service operator.",
    ),
    ("POST", "/v1/artists/run"): answered(
        "startRun",
        "Run the job now.",
        "Whether it began.",
        Content.of(RunStarted, {"started": True}),
        status=202,
        description="For the service operator. What was announced before is not announced again.",
    ),
}

_COUNT: Final = {"minimum": 0}
DOCUMENT: Final = Document(
    title="Segue: artists",
    summary="Following artists, and the daily look at the catalogue.",
    description="The HTTP interface of the artist monitoring service. artists.md tells what it is for. Error codes: see codes.md.",
    server=ServerUrl("http://127.0.0.1:7732", "The default of the option `door`."),
    tokens={"user": USERS, "service": "A token with the claim `svc` = `operator`: segue token --service operator."},
    parameters={"artist": Parameter(ShownName, "The artist's id, as it stands in topics.")},
    everywhere=ON_AIOHTTP,
    refusals={400: BAD_REQUEST, 401: UNAUTHORIZED, 403: FORBIDDEN, 503: AGAIN},
    operations=OPERATIONS,
    refined={
        RunTally: {
            "run": {"minimum": 1, "description": "A run that broke off keeps its number when it is gone on with."},
            "started_s": {"description": "Unix time."},
            "items": _COUNT | {"description": "Items read."},
            "announced": _COUNT | {"description": "Notifications taken by the intake."},
            "learned": _COUNT | {"description": "Items of artists met for the first time, remembered in silence."},
            "refused": _COUNT | {"description": "Notifications that the intake will never take."},
            "wrong": _COUNT | {"description": "Lines of the catalogue that are no items."},
        }
    },
)
