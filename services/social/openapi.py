"""The OpenAPI document of social: docs/openapi-social.json."""

from typing import Final

from infra.runtime.http.openapi import Content, Document, Example, Operation, Parameter, ServerUrl, Success

from ..openapi import AFTER, AGAIN, BAD_REQUEST, FORBIDDEN, LIMIT, NOT_JSON, TOO_LARGE, UNAUTHORIZED, USERS
from .answers import Friend, FriendsPage, LinkedAccount, LinkedAccounts, SubscribedFriends
from .core import Contacts, Name, Provider
from .handlers import Posting

OPERATIONS: Final = {
    ("GET", "/v1/social/friends"): Operation(
        id="listFriends",
        summary="Whom you follow.",
        query={"after": AFTER, "limit": LIMIT},
        replies={
            200: Success(
                "A page of friends, by name.",
                Content(FriendsPage, {"example": Example({"friends": [{"user": "bob", "mutual": True}], "next": None})}),
            )
        },
        refusals=(
            400,
            401,
            403,
            503,
        ),
    ),
    ("PUT", "/v1/social/friends/{user}"): Operation(
        id="befriend",
        summary="Follow a user, and by default their playlists.",
        replies={
            200: Success(
                "You follow them now; repeating changes nothing.", Content(Friend, {"example": Example({"user": "bob", "mutual": False})})
            )
        },
        refusals=(
            400,
            401,
            403,
            503,
        ),
    ),
    ("DELETE", "/v1/social/friends/{user}"): Operation(
        id="unfriend",
        summary="Follow a user no more.",
        description="Playlists of theirs that you follow already stay followed; those to come are not.",
        replies={204: Success("You do not follow them.")},
        refusals=(
            400,
            401,
            403,
            503,
        ),
    ),
    ("GET", "/v1/social/users/{user}/friends"): Operation(
        id="listSubscribed",
        summary="The friends of a user who are subscribed to their feed.",
        description="For that user, and for services. With Cassandra the names are in no order.",
        query={"after": AFTER, "limit": LIMIT},
        replies={
            200: Success("A page of names.", Content(SubscribedFriends, {"example": Example({"friends": ["ann", "bob"], "next": None})}))
        },
        refusals=(
            400,
            401,
            403,
            503,
        ),
    ),
    ("GET", "/v1/social/links"): Operation(
        id="listLinks",
        summary="What you have linked.",
        replies={
            200: Success(
                "Each provider, and how many contacts are remembered.",
                Content(LinkedAccounts, {"example": Example({"links": [{"provider": "facebook", "contacts": 120}]})}),
            )
        },
        refusals=(
            401,
            403,
            503,
        ),
    ),
    ("PUT", "/v1/social/links/{provider}"): Operation(
        id="link",
        summary="Link an address book or a social account.",
        description=(
            "Every contact who is a user becomes a friend, both ways, in a moment. The others are remembered as hashes; "
            "when one of them links their own id you are told, and follow each other. Repeat it with new contacts at any "
            "time."
        ),
        request=[Content(Contacts, {"example": Example({"me": "ann@example.org", "contacts": ["bob@example.org", "cyd@example.org"]})})],
        replies={
            202: Success(
                "It is stored, and what follows from it will be done.",
                Content(LinkedAccount, {"example": Example({"provider": "address-book", "contacts": 2})}),
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
    ("DELETE", "/v1/social/links/{provider}"): Operation(
        id="unlink",
        summary="Forget your id and your contacts at a provider.",
        description="Friends stay friends.",
        replies={204: Success("It is forgotten.")},
        refusals=(
            400,
            401,
            403,
            503,
        ),
    ),
    ("GET", "/v1/social/wall"): Operation(
        id="showPosting",
        summary="Whether you want wall posts.",
        replies={200: Success("Your choice; false until you make one.", Content(Posting, {"example": Example({"enabled": False})}))},
        refusals=(
            401,
            403,
            503,
        ),
    ),
    ("PUT", "/v1/social/wall"): Operation(
        id="choosePosting",
        summary="Say whether you want wall posts.",
        request=[Content(Posting, {"example": Example({"enabled": True})})],
        replies={200: Success("Your choice, from now on.", Content(Posting, {"example": Example({"enabled": True})}))},
        refusals=(
            400,
            401,
            403,
            413,
            415,
            503,
        ),
    ),
}

DOCUMENT: Final = Document(
    title="Segue: friends",
    summary="Who is whose friend, linked address books, wall posts.",
    description="The HTTP interface of the social service. friends.md tells what it is for. Error codes: see codes.md.",
    server=ServerUrl("http://127.0.0.1:7731", "The default of the option `door`."),
    tokens={"user": USERS, "service": "A token with the claim `svc`. See tokens.md."},
    parameters={
        "user": Parameter(Name, "A user's name."),
        "provider": Parameter(Provider, "Such as `facebook` or `address-book`."),
    },
    refusals={
        400: BAD_REQUEST,
        401: UNAUTHORIZED,
        403: FORBIDDEN,
        409: "`conflict`: the id is linked to somebody else, or you have linked another one.",
        413: TOO_LARGE,
        415: NOT_JSON,
        503: AGAIN,
    },
    operations=OPERATIONS,
    refined={Contacts: {"me": {"description": "Your own id at the provider: a mail address, a number, an account."}}},
)
