"""The OpenAPI document of the playlist service: docs/openapi-playlist.json."""

from typing import Annotated, Final

import msgspec

from infra.kernel.topics import MAX_ID
from infra.runtime.http.openapi import (
    NAMED,
    ON_AIOHTTP,
    Content,
    Document,
    Example,
    Operation,
    Parameter,
    ServerUrl,
    Success,
    answered,
    done,
)

from ..openapi import AFTER, LIMIT, UNAUTHORIZED, ShownName
from .answers import ListedPlaylist, PlaylistChanged, PlaylistFollowers, PlaylistsPage
from .change import Add, Remove, Reorder, SetCollaborative
from .handlers import Editing, Shown, Wanted

QueryVersion = Annotated[int, msgspec.Meta(ge=0)]
_SUMMER: Final = {
    "topic": "hm://playlist/user/ann/playlist/summer/",
    "owner": "ann",
    "id": "summer",
    "version": 1,
    "name": "Sumar",
    "collaborative": False,
    "tracks": ["t1", "t2"],
    "changed_ms": 1790000000000,
}

OPERATIONS: Final = {
    ("POST", "/v1/playlists"): Operation(
        id="create",
        summary="Create a playlist of the user whom the token names.",
        request=[
            Content(
                Wanted,
                {"named": Example({"id": "summer", "name": "Sumar", "tracks": ["t1", "t2"]}), "shortest": Example({"name": "Sumar"})},
            )
        ],
        replies={201: Success("It is there.", Content(Shown, {"new": Example(_SUMMER)}), headers={"Location": "Its path."})},
        refusals=(400, 401, 403, 409, 413, 415, 503),
    ),
    ("GET", "/v1/playlists/{owner}/{id}"): answered(
        "show",
        "A playlist with its tracks.",
        "Its newest version.",
        Content(Shown, {"found": Example(_SUMMER)}),
        refusals=(400, 401, 403, 404, 503),
    ),
    ("DELETE", "/v1/playlists/{owner}/{id}"): Operation(
        id="delete",
        summary="Delete a playlist of one's own.",
        description="Its id is not used again.",
        query={"version": Parameter(QueryVersion, "Do it only if the playlist is at this version.")},
        replies={204: Success("It is gone. Its followers are told, and follow it no more.")},
        refusals=(400, 401, 403, 404, 409, 503),
    ),
    ("POST", "/v1/playlists/{owner}/{id}/changes"): answered(
        "change",
        "Change a playlist: one's own, or one that is collaborative, as one of its editors.",
        "The version that the change made.",
        Content(PlaylistChanged, {"changed": Example({"version": 2})}),
        description="With a `version` the change is done only to that one. A change that names positions needs it.",
        request=[
            Content(
                Editing,
                {
                    "rename": Example({"change": {"op": "rename", "name": "Vetur"}}),
                    "addAtTheEnd": Example({"change": {"op": "add", "tracks": ["t3", "t4"]}}),
                    "addAtAPosition": Example({"change": {"op": "add", "tracks": ["t5"], "position": 0}, "version": 3}),
                    "remove": Example({"change": {"op": "remove", "position": 1, "count": 1}, "version": 4}),
                    "reorder": Example({"change": {"op": "reorder", "position": 0, "to": 3, "count": 2}, "version": 5}),
                    "collaborative": Example({"change": {"op": "collaborative", "collaborative": True}}),
                },
            )
        ],
        refusals=(400, 401, 403, 404, 409, 413, 415, 503),
    ),
    ("PUT", "/v1/playlists/{owner}/{id}/follow"): done(
        "follow",
        "Follow a playlist: durably, on all devices.",
        "Done, or it was so already.",
        refusals=(400, 401, 403, 404, 503),
    ),
    ("DELETE", "/v1/playlists/{owner}/{id}/follow"): done(
        "unfollow",
        "Follow it no more.",
        "Done, or it was so already.",
    ),
    ("GET", "/v1/playlists/{owner}/{id}/followers"): answered(
        "followers",
        "Who follows a playlist.",
        "A page.",
        Content(PlaylistFollowers),
        description="Its owner is told of all; others of those who let them see what they play.",
        query={"after": AFTER, "limit": LIMIT},
        refusals=(400, 401, 403, 404, 503),
    ),
    ("GET", "/v1/users/{user}/playlists"): answered(
        "owned",
        "The playlists that a user owns.",
        "A page.",
        Content(PlaylistsPage),
        query={"after": AFTER, "limit": LIMIT},
        refusals=(400, 401, 503),
    ),
    ("GET", "/v1/users/{user}/followed"): answered(
        "followed",
        "The playlists that a user follows.",
        "A page.",
        Content(PlaylistsPage),
        description=(
            "For those who may see what the user plays. A page may hold less than was asked for and not be the last: go on while there "
            "is a `next`."
        ),
        query={"after": AFTER, "limit": LIMIT},
        refusals=NAMED,
    ),
}

_CHANGED: Final = {"description": "Unix time in milliseconds."}
DOCUMENT: Final = Document(
    title="Segue: the playlist service",
    summary="Playlists, who may change them, and who follows them.",
    description="What it does with them is told in playlists.md; error codes: see codes.md.",
    server=ServerUrl("http://127.0.0.1:7730", "The publisher services of `segue up`."),
    tokens={
        "user": "A user's token (claim `sub`): `segue token --user ann`.",
        "service": "A service's token (claim `svc`).",
    },
    parameters={
        "owner": Parameter(ShownName, "Whose playlist it is."),
        "id": Parameter(ShownName, "Its id."),
        "user": Parameter(ShownName, "The owner, or the follower."),
    },
    everywhere=ON_AIOHTTP,
    refusals={
        400: "`bad-json`, `bad-utf8`, `bad-field`, `bad-topic`, `too-many-topics`: the request is wrong, or leads beyond a limit.",
        401: UNAUTHORIZED,
        403: "`forbidden`: this user may not do this; or the token is a service's where a user's is needed.",
        404: "`not-found`: there is no such playlist.",
        409: "`conflict`: the playlist is at another version, or the id is or was in use.",
        413: "`too-large`: the body, or the playlist as it would be.",
        415: "`bad-content-type`: the body must be application/json.",
        503: "`unavailable`, `draining`: repeat it; a change that names its version is done once at most.",
    },
    operations=OPERATIONS,
    refined={
        PlaylistFollowers: {"followers": {"items": {"type": "string", "pattern": f"^[A-Za-z0-9._-]{{1,{MAX_ID}}}$"}}},
        Wanted: {"id": {"pattern": "^[A-Za-z0-9._-]{0,128}$", "description": "Without it (or with an empty one) one is made."}},
        Shown: {"version": {"minimum": 1}, "changed_ms": _CHANGED},
        ListedPlaylist: {"version": {"minimum": 1}, "tracks": {"minimum": 0, "description": "How many there are."}, "changed_ms": _CHANGED},
        SetCollaborative: {"": {"description": "Anybody may write (or the owner alone again). For the owner only."}},
        Add: {"position": {"description": "Where the first of them will stand; at the end without it."}},
        Remove: {"position": {"description": "The first that goes."}},
        Reorder: {
            "position": {"description": "The first that moves."},
            "to": {"description": "Before which one they will stand, in positions of the list as it was."},
        },
    },
)
