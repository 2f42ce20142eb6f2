"""The part of docs/openapi-social.json about what users set about others."""

from collections.abc import Sequence
from typing import Final

from infra.runtime.http.openapi import NAMED, SENT, Content, Operation, Success, answered, done

from ..openapi import AFTER, LIMIT
from .answers import BlockedUsers, PlaylistAccess, PrivateClient, ShownPrivacy
from .privacy_handlers import PrivacyWish, PrivateHours, VisibilityWish

_SHOWN: Final = Content.of(ShownPrivacy, {"listening": "friends", "private": [{"client": "desktop-1", "until_ms": None}]})
_ACCESS: Final = Content.of(PlaylistAccess, {"playlist": "summer", "visibility": "followers", "editors": ["bob"]})
_MORE: Final = (400, 401, 403, 413, 503)


def _access(id: str, summary: str, description: str, *, refusals: Sequence[int], request: Sequence[Content] = ()) -> Operation:
    """Returns the description of a route that changes the settings of a playlist; see `Operation`."""
    replies = {200: Success("Its settings, from now on.", _ACCESS)}
    return Operation(id=id, summary=summary, description=description, request=request, replies=replies, refusals=refusals)


OPERATIONS: Final = {
    ("GET", "/v1/social/privacy"): answered(
        "showPrivacy",
        "Who sees what you play, and which of your devices are private.",
        "Your settings.",
        _SHOWN,
    ),
    ("PUT", "/v1/social/privacy"): answered(
        "setPrivacy",
        "Say who sees what you play.",
        "Your settings, from now on.",
        _SHOWN,
        description="Subscriptions of those who may not see it any more end at once.",
        request=[Content.of(PrivacyWish, {"listening": "friends"})],
        refusals=SENT,
    ),
    ("PUT", "/v1/social/private/{client}"): answered(
        "beginPrivateSession",
        "Make a device private: nobody sees what is played on it.",
        "Until when it is.",
        Content.of(PrivateClient, {"client": "desktop-1", "until_ms": 1767225600000}),
        request=[Content.of(PrivateHours, {"hours": 6})],
        refusals=SENT,
    ),
    ("DELETE", "/v1/social/private/{client}"): done(
        "endPrivateSession",
        "End the private session of a device.",
        "It is not private.",
    ),
    ("GET", "/v1/social/blocks"): answered(
        "listBlocks",
        "Whom you block.",
        "A page of names.",
        Content.of(BlockedUsers, {"blocked": ["eve"], "next": None}),
        query={"after": AFTER, "limit": LIMIT},
        refusals=NAMED,
    ),
    ("PUT", "/v1/social/blocks/{user}"): done(
        "block",
        "Block a user.",
        "You block them; repeating changes nothing.",
        description="Neither of you sees anything of the other, and neither follows the other any more. They are not told.",
        refusals=_MORE,
    ),
    ("DELETE", "/v1/social/blocks/{user}"): done(
        "unblock",
        "Block a user no more.",
        "You do not block them.",
        description="Who followed whom before does not come back.",
    ),
    ("GET", "/v1/social/playlists/{playlist}"): answered(
        "showPlaylistAccess",
        "Who sees a playlist of yours, and who may edit it.",
        "Its settings.",
        _ACCESS,
        refusals=NAMED,
    ),
    ("PUT", "/v1/social/playlists/{playlist}"): _access(
        "setPlaylistVisibility",
        "Say who sees a playlist of yours.",
        "It may be said before the playlist is made. Whoever may not see it any more follows it no more.",
        request=[Content.of(VisibilityWish, {"visibility": "followers"})],
        refusals=SENT,
    ),
    ("PUT", "/v1/social/playlists/{playlist}/editors/{user}"): _access(
        "addEditor",
        "Let a user edit a collaborative playlist of yours.",
        "Once there is a list of editors, nobody else edits it. Editors see the playlist, whatever its visibility is.",
        refusals=_MORE,
    ),
    ("DELETE", "/v1/social/playlists/{playlist}/editors/{user}"): _access(
        "removeEditor",
        "Take a user off the list of editors.",
        "Without any editor on the list, all who see a collaborative playlist edit it again.",
        refusals=NAMED,
    ),
}
