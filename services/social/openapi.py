"""The OpenAPI document of social: docs/openapi-social.json."""

from typing import Final

from infra.runtime.http.openapi import (
    NAMED,
    ON_AIOHTTP,
    SENT,
    Content,
    Document,
    Parameter,
    ServerUrl,
    answered,
    done,
)

from ..openapi import AFTER, AGAIN, BAD_REQUEST, FORBIDDEN, LIMIT, NOT_JSON, TOO_LARGE, UNAUTHORIZED, USERS
from .answers import FollowersPage, Friend, FriendsPage, LinkedAccount, LinkedAccounts, SubscribedFriends
from .core import ClientName, Contacts, Name, Provider, VouchedContacts
from .handlers import Posting
from .openapi_privacy import OPERATIONS as PRIVACY

OPERATIONS: Final = PRIVACY | {
    ("GET", "/v1/social/friends"): answered(
        "listFriends",
        "Whom you follow.",
        "A page of friends, by name.",
        Content.of(FriendsPage, {"friends": [{"user": "bob", "mutual": True}], "next": None}),
        query={"after": AFTER, "limit": LIMIT},
        refusals=NAMED,
    ),
    ("PUT", "/v1/social/friends/{user}"): answered(
        "befriend",
        "Follow a user, and by default their playlists.",
        "You follow them now; repeating changes nothing.",
        Content.of(Friend, {"user": "bob", "mutual": False}),
        refusals=NAMED,
    ),
    ("DELETE", "/v1/social/friends/{user}"): done(
        "unfriend",
        "Follow a user no more.",
        "You do not follow them.",
        description="Playlists of theirs that you follow already stay followed; those to come are not.",
    ),
    ("GET", "/v1/social/followers"): answered(
        "listFollowers",
        "Who follows you.",
        "A page of followers.",
        Content.of(FollowersPage, {"followers": [{"user": "bob", "mutual": True}], "next": None}),
        description="With Cassandra the names are in no order.",
        query={"after": AFTER, "limit": LIMIT},
        refusals=NAMED,
    ),
    ("GET", "/v1/social/users/{user}/friends"): answered(
        "listSubscribed",
        "The friends of a user who are subscribed to their feed.",
        "A page of names.",
        Content.of(SubscribedFriends, {"friends": ["ann", "bob"], "next": None}),
        description="For that user, and for services. With Cassandra the names are in no order.",
        query={"after": AFTER, "limit": LIMIT},
        refusals=NAMED,
    ),
    ("GET", "/v1/social/links"): answered(
        "listLinks",
        "What you have linked.",
        "Each provider, and how many contacts are remembered.",
        Content.of(LinkedAccounts, {"links": [{"provider": "facebook", "contacts": 120, "verified": True}]}),
    ),
    ("PUT", "/v1/social/links/{provider}"): answered(
        "link",
        "Link an address book or a social account.",
        "It is stored, and what follows from it will be done.",
        Content.of(LinkedAccount, {"provider": "address-book", "contacts": 2, "verified": False}),
        status=202,
        description=(
            "You follow every contact who is a user, in a moment; they follow you if they know you, too. The others are remembered "
            "as hashes; when one of them joins you are told, and follow them. A contact is a user by an id for which a service "
            "vouches, never by what the user says. Repeat it with new contacts at any time."
        ),
        request=[Content.of(Contacts, {"contacts": ["bob@example.org", "cyd@example.org"]})],
        refusals=SENT,
    ),
    ("PUT", "/v1/social/users/{user}/links/{provider}"): answered(
        "vouch",
        "Say who a user is at a provider, and whom they know there.",
        "It is stored, and what follows from it will be done.",
        Content.of(LinkedAccount, {"provider": "facebook", "contacts": 1, "verified": True}),
        status=202,
        description=(
            "For services that the option `vouchers` names, when they have asked the provider. Contacts that are given here become "
            "friends both ways. Whoever was this id before is it no more."
        ),
        request=[Content.of(VouchedContacts, {"me": "ann@example.org", "contacts": ["bob@example.org"]})],
        refusals=SENT,
    ),
    ("DELETE", "/v1/social/users/{user}/links/{provider}"): done(
        "revoke",
        "Forget who a user is at a provider, and whom they know there.",
        "It is forgotten.",
        description="For services that the option `vouchers` names. Friends stay friends.",
    ),
    ("DELETE", "/v1/social/links/{provider}"): done(
        "unlink",
        "Forget your id and your contacts at a provider.",
        "It is forgotten.",
        description="Friends stay friends.",
    ),
    ("GET", "/v1/social/wall"): answered(
        "showPosting",
        "Whether you want wall posts.",
        "Your choice; false until you make one.",
        Content.of(Posting, {"enabled": False}),
    ),
    ("PUT", "/v1/social/wall"): answered(
        "choosePosting",
        "Say whether you want wall posts.",
        "Your choice, from now on.",
        Content.of(Posting, {"enabled": True}),
        request=[Content.of(Posting, {"enabled": True})],
        refusals=SENT,
    ),
}

DOCUMENT: Final = Document(
    title="Segue: friends",
    summary="Who is whose friend, who sees what, linked address books, wall posts.",
    description="The HTTP interface of the social service. friends.md and authorization.md tell what it is for. Error codes: see codes.md.",
    server=ServerUrl("http://127.0.0.1:7731", "The default of the option `door`."),
    tokens={"user": USERS, "service": "A token with the claim `svc`. See tokens.md."},
    parameters={
        "user": Parameter(Name, "A user's name."),
        "playlist": Parameter(Name, "The id of one of your playlists. It need not be there yet."),
        "client": Parameter(ClientName, "The name of a device of yours, as its `hello` says it."),
        "provider": Parameter(Provider, "Such as `facebook` or `address-book`."),
    },
    everywhere=ON_AIOHTTP,
    refusals={
        400: BAD_REQUEST,
        401: UNAUTHORIZED,
        403: FORBIDDEN,
        413: TOO_LARGE,
        415: NOT_JSON,
        503: AGAIN,
    },
    operations=OPERATIONS,
    refined={
        Contacts: {"me": {"description": "Your own id at the provider. It is left out of the contacts, and not believed."}},
        VouchedContacts: {"me": {"description": "The user's id at the provider: a mail address, a number, an account."}},
    },
)
