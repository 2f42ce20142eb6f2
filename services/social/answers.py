"""The bodies that social answers with, beside the choice about wall posts."""

from typing import Annotated

import msgspec

from ..list_page import NextPage


class Friend(msgspec.Struct, frozen=True):
    """A user whom the caller follows."""

    user: str
    mutual: Annotated[bool, msgspec.Meta(description="They follow you, too.")]


class FriendsPage(msgspec.Struct, frozen=True):
    """A page of friends, by name."""

    friends: list[Friend]
    next: NextPage


class SubscribedFriends(msgspec.Struct, frozen=True):
    """A page of the names of friends who are subscribed to a user's feed."""

    friends: list[str]
    next: NextPage


class LinkedAccount(msgspec.Struct, frozen=True):
    """An address book or a social account, and how many contacts are remembered of it."""

    provider: str
    contacts: Annotated[int, msgspec.Meta(ge=0)]


class LinkedAccounts(msgspec.Struct, frozen=True):
    """All that a user has linked."""

    links: list[LinkedAccount]
