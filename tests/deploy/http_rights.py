"""Who gets through at which route of which door: the table that `docs/authorization.md` shows, and that a test walks."""

from enum import StrEnum
from typing import Final, NamedTuple


class Asker(StrEnum):
    """The one who asks, by the good token that a request bears, or that it bears none."""

    NOBODY = "no token"
    USER = "a user"
    OTHER = "another user"
    SERVICE = "the service"
    FOREIGN = "another service"
    MONITOR = "a monitor"
    OPERATOR = "an operator"


class HttpRight(NamedTuple):
    """The right to get through at some routes of one door: `may` have it.

    The others are refused: with `bad-token` who shows none, else with `forbidden`.

    - `routes`: each is a method and a path.
    - `service`: the service that the routes are for; "" where there is none.
    """

    door: str
    routes: tuple[str, ...]
    may: frozenset[Asker]
    service: str = ""


ALL: Final = frozenset(Asker)
USERS: Final = frozenset({Asker.USER, Asker.OTHER})
SERVICES: Final = frozenset({Asker.SERVICE, Asker.FOREIGN, Asker.OPERATOR})
OPERATORS: Final = frozenset({Asker.OPERATOR})

# What is a user's is ann's, and private: another user is a stranger to them.
RIGHTS: Final = (
    HttpRight("accesspoint", ("GET /v1/connect", "GET /v1/stream"), USERS),
    HttpRight("broker", ("POST /v1/events",), frozenset({Asker.SERVICE}), "presence"),
    HttpRight(
        "broker",
        (
            "GET /v1/sessions",
            "POST /v1/sessions/disconnect",
            "POST /v1/sessions/unsubscribe",
            "GET /v1/bans",
            "POST /v1/bans",
            "POST /v1/bans/lift",
            "GET /v1/revocations",
            "POST /v1/revocations",
            "POST /v1/announcements",
            "GET /v1/ring",
            "POST /v1/ring",
            "POST /v1/ring/stop",
        ),
        OPERATORS,
    ),
    HttpRight("notification", ("POST /v1/notifications",), frozenset({Asker.SERVICE}), "artist"),
    HttpRight(
        "notification",
        (
            "GET /v1/me/notifications",
            "GET /v1/me/preferences",
            "PUT /v1/me/preferences",
            "GET /v1/me/devices",
            "POST /v1/me/devices",
            "DELETE /v1/me/devices",
            "GET /v1/me/webhooks",
            "POST /v1/me/webhooks",
            "DELETE /v1/me/webhooks/{id}",
            "POST /v1/me/webhooks/{id}/rotate",
            "POST /v1/me/webhooks/{id}/test",
            "GET /v1/me/why/{event}",
        ),
        USERS,
    ),
    HttpRight("notification", ("GET /v1/push-key", "GET /v1/unsubscribe/{token}", "POST /v1/unsubscribe/{token}"), ALL),
    HttpRight("notification", ("GET /v1/dead-letters", "POST /v1/dead-letters/{key}/replay"), OPERATORS),
    HttpRight("playlist", ("POST /v1/playlists", "DELETE /v1/playlists/{owner}/{id}/follow"), USERS),
    HttpRight(
        "playlist",
        ("POST /v1/playlists/{owner}/{id}/changes", "PUT /v1/playlists/{owner}/{id}/follow", "DELETE /v1/playlists/{owner}/{id}"),
        frozenset({Asker.USER}),
    ),
    HttpRight(
        "playlist",
        ("GET /v1/playlists/{owner}/{id}", "GET /v1/playlists/{owner}/{id}/followers", "GET /v1/users/{user}/followed"),
        SERVICES | {Asker.USER},
    ),
    HttpRight("playlist", ("GET /v1/users/{user}/playlists",), SERVICES | USERS),
    HttpRight(
        "social",
        (
            "GET /v1/social/followers",
            "GET /v1/social/friends",
            "PUT /v1/social/friends/{user}",
            "DELETE /v1/social/friends/{user}",
            "GET /v1/social/links",
            "PUT /v1/social/links/{provider}",
            "DELETE /v1/social/links/{provider}",
            "GET /v1/social/wall",
            "PUT /v1/social/wall",
            "GET /v1/social/privacy",
            "PUT /v1/social/privacy",
            "PUT /v1/social/private/{client}",
            "DELETE /v1/social/private/{client}",
            "GET /v1/social/blocks",
            "PUT /v1/social/blocks/{user}",
            "DELETE /v1/social/blocks/{user}",
            "GET /v1/social/playlists/{playlist}",
            "PUT /v1/social/playlists/{playlist}",
            "PUT /v1/social/playlists/{playlist}/editors/{user}",
            "DELETE /v1/social/playlists/{playlist}/editors/{user}",
        ),
        USERS,
    ),
    HttpRight("social", ("GET /v1/social/users/{user}/friends",), SERVICES | {Asker.USER}),
    HttpRight(
        "social",
        ("PUT /v1/social/users/{user}/links/{provider}", "DELETE /v1/social/users/{user}/links/{provider}"),
        frozenset({Asker.SERVICE}),
        "radio",
    ),
    HttpRight("artist", ("GET /v1/artists/followed", "PUT /v1/artists/{artist}/follow", "DELETE /v1/artists/{artist}/follow"), USERS),
    HttpRight("artist", ("GET /v1/artists/run", "POST /v1/artists/run"), OPERATORS),
    HttpRight("admin", ("GET /healthz", "GET /readyz"), ALL),
    HttpRight("admin", ("GET /metrics", "GET /v1/stats"), frozenset({Asker.NOBODY, Asker.MONITOR, Asker.OPERATOR})),
)

_HEAD: Final = """
## Who gets through at which door

Which token a request must bear. What is about one user is about the user of the token. Where a path names a user or a playlist, it is
the user's own in this table, and private, and the other user is a stranger to them. "The service" is the one that its column names, and
another service is none that any option names. Without a token `GET /metrics` and `GET /v1/stats` are for this machine only. A token that
is over, or that none of our keys has signed, is refused everywhere (`token-expired`, `bad-token`), but where everybody gets through: there
it is not read.

"""


def section() -> str:
    """Returns the table as the page shows it."""
    names = " | ".join(Asker)
    head = f"| door | route | the service | {names} |\n|---|---|---|" + "---|" * len(Asker) + "\n"
    return _HEAD + head + "".join(_row(right, route) for right in RIGHTS for route in right.routes)


def _row(right: HttpRight, route: str) -> str:
    marks = " | ".join("yes" if asker in right.may else "" for asker in Asker)
    return f"| {right.door} | `{route}` | {right.service and f'`{right.service}`'} | {marks} |\n"
