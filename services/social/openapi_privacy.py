"""The part of docs/openapi-social.json about what users set about others."""

from typing import Final

from infra.runtime.http.openapi import Content, Operation, Success

from ..openapi import AFTER, LIMIT
from .answers import BlockedUsers, PlaylistAccess, PrivateClient, ShownPrivacy
from .privacy_handlers import PrivacyWish, PrivateHours, VisibilityWish

_SHOWN: Final = Content.of(ShownPrivacy, {"listening": "friends", "private": [{"client": "desktop-1", "until_ms": None}]})
_ACCESS: Final = Content.of(PlaylistAccess, {"playlist": "summer", "visibility": "followers", "editors": ["bob"]})
_READ: Final = (400, 401, 403, 503)
_WRITE: Final = (400, 401, 403, 413, 415, 503)
_NAMED: Final = (400, 401, 403, 413, 503)

OPERATIONS: Final = {
    ("GET", "/v1/social/privacy"): Operation(
        id="showPrivacy",
        summary="Who sees what you play, and which of your devices are private.",
        replies={200: Success("Your settings.", _SHOWN)},
        refusals=(401, 403, 503),
    ),
    ("PUT", "/v1/social/privacy"): Operation(
        id="setPrivacy",
        summary="Say who sees what you play.",
        description="Subscriptions of those who may not see it any more end at once.",
        request=[Content.of(PrivacyWish, {"listening": "friends"})],
        replies={200: Success("Your settings, from now on.", _SHOWN)},
        refusals=_WRITE,
    ),
    ("PUT", "/v1/social/private/{client}"): Operation(
        id="beginPrivateSession",
        summary="Make a device private: nobody sees what is played on it.",
        request=[Content.of(PrivateHours, {"hours": 6})],
        replies={200: Success("Until when it is.", Content.of(PrivateClient, {"client": "desktop-1", "until_ms": 1767225600000}))},
        refusals=_WRITE,
    ),
    ("DELETE", "/v1/social/private/{client}"): Operation(
        id="endPrivateSession",
        summary="End the private session of a device.",
        replies={204: Success("It is not private.")},
        refusals=_READ,
    ),
    ("GET", "/v1/social/blocks"): Operation(
        id="listBlocks",
        summary="Whom you block.",
        query={"after": AFTER, "limit": LIMIT},
        replies={200: Success("A page of names.", Content.of(BlockedUsers, {"blocked": ["eve"], "next": None}))},
        refusals=_READ,
    ),
    ("PUT", "/v1/social/blocks/{user}"): Operation(
        id="block",
        summary="Block a user.",
        description="Neither of you sees anything of the other, and neither follows the other any more. They are not told.",
        replies={204: Success("You block them; repeating changes nothing.")},
        refusals=_NAMED,
    ),
    ("DELETE", "/v1/social/blocks/{user}"): Operation(
        id="unblock",
        summary="Block a user no more.",
        description="Who followed whom before does not come back.",
        replies={204: Success("You do not block them.")},
        refusals=_READ,
    ),
    ("GET", "/v1/social/playlists/{playlist}"): Operation(
        id="showPlaylistAccess",
        summary="Who sees a playlist of yours, and who may edit it.",
        replies={200: Success("Its settings.", _ACCESS)},
        refusals=_READ,
    ),
    ("PUT", "/v1/social/playlists/{playlist}"): Operation(
        id="setPlaylistVisibility",
        summary="Say who sees a playlist of yours.",
        description="It may be said before the playlist is made. Whoever may not see it any more follows it no more.",
        request=[Content.of(VisibilityWish, {"visibility": "followers"})],
        replies={200: Success("Its settings, from now on.", _ACCESS)},
        refusals=_WRITE,
    ),
    ("PUT", "/v1/social/playlists/{playlist}/editors/{user}"): Operation(
        id="addEditor",
        summary="Let a user edit a collaborative playlist of yours.",
        description="Once there is a list of editors, nobody else edits it. Editors see the playlist, whatever its visibility is.",
        replies={200: Success("Its settings, from now on.", _ACCESS)},
        refusals=_NAMED,
    ),
    ("DELETE", "/v1/social/playlists/{playlist}/editors/{user}"): Operation(
        id="removeEditor",
        summary="Take a user off the list of editors.",
        description="Without any editor on the list, all who see a collaborative playlist edit it again.",
        replies={200: Success("Its settings, from now on.", _ACCESS)},
        refusals=_READ,
    ),
}
