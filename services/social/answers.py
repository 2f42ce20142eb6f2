"""The bodies that social answers with, beside the choice about wall posts."""

from typing import Annotated

import msgspec

from infra.kernel.access import Listening, Visibility

from ..list_page import NextPage


class Friend(msgspec.Struct, frozen=True):
    """A user whom the caller follows."""

    user: str
    mutual: Annotated[bool, msgspec.Meta(description="They follow you, too.")]


class FriendsPage(msgspec.Struct, frozen=True):
    """A page of friends, by name."""

    friends: list[Friend]
    next: NextPage


class SocialFollower(msgspec.Struct, frozen=True):
    """A user who follows the caller."""

    user: str
    mutual: Annotated[bool, msgspec.Meta(description="You follow them, too.")]


class FollowersPage(msgspec.Struct, frozen=True):
    """A page of the caller's followers."""

    followers: list[SocialFollower]
    next: NextPage


class SubscribedFriends(msgspec.Struct, frozen=True):
    """A page of the names of friends who are subscribed to a user's feed."""

    friends: list[str]
    next: NextPage


class LinkedAccount(msgspec.Struct, frozen=True):
    """An address book or a social account: how many contacts are remembered of it, and whether a service vouches for who the user is."""

    provider: str
    contacts: Annotated[int, msgspec.Meta(ge=0)]
    verified: bool


class LinkedAccounts(msgspec.Struct, frozen=True):
    """All that a user has linked."""

    links: list[LinkedAccount]


class PrivateClient(msgspec.Struct, frozen=True):
    """A device that is private, and until when."""

    client: str
    until_ms: Annotated[int | None, msgspec.Meta(description="Unix time in ms; null: until it is ended.")]


class ShownPrivacy(msgspec.Struct, frozen=True):
    """The settings of the caller: who sees what they play, and on which of their devices nobody does."""

    listening: Listening
    private: list[PrivateClient]


class BlockedUsers(msgspec.Struct, frozen=True):
    """A page of users whom the caller blocks, by name."""

    blocked: list[str]
    next: NextPage


class PlaylistAccess(msgspec.Struct, frozen=True):
    """The settings of a playlist of the caller: who sees it, and who is on its list of editors."""

    playlist: str
    visibility: Visibility
    editors: list[str]
