"""The HTTP handlers of social, as docs/openapi-social.json describes them."""

from collections.abc import Mapping
from typing import Annotated, Final, TypeVar

import msgspec

from infra.kernel.errors import Refused
from infra.runtime.http.web import Answer, Request, Route

from ..follows import PAGE
from .answers import Friend, FriendsPage, LinkedAccount, LinkedAccounts, SubscribedFriends
from .core import Contacts, Name, Provider
from .friends import Friends

LIMIT: Final = 100

Limit = Annotated[int, msgspec.Meta(ge=1, le=PAGE)]
T = TypeVar("T")


class Posting(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The wish of the caller: whether they want wall posts."""

    enabled: bool


class SocialHandlers:
    """The handlers of requests."""

    def __init__(self, friends: Friends) -> None:
        self._friends = friends

    def routes(self) -> list[Route]:
        """Returns what is answered over HTTP."""
        return [
            Route("GET", "/v1/social/friends", "user", self._list),
            Route("PUT", "/v1/social/friends/{user}", "user", self._befriend),
            Route("DELETE", "/v1/social/friends/{user}", "user", self._unfriend),
            Route("GET", "/v1/social/users/{user}/friends", "any", self._subscribed),
            Route("GET", "/v1/social/links", "user", self._links),
            Route("PUT", "/v1/social/links/{provider}", "user", self._link),
            Route("DELETE", "/v1/social/links/{provider}", "user", self._unlink),
            Route("GET", "/v1/social/wall", "user", self._posting),
            Route("PUT", "/v1/social/wall", "user", self._set_posting),
        ]

    async def _list(self, request: Request) -> Answer:
        users, after = await self._friends.followed(request.user, *_page(request.query))
        mutual = await self._friends.are_friends(request.user, users)
        friends = [Friend(user, both) for user, both in zip(users, mutual, strict=True)]
        return Answer(200, FriendsPage(friends, after))

    async def _befriend(self, request: Request) -> Answer:
        friend = _checked(request.path["user"], Name, "user")
        mutual = await self._friends.befriend(request.user, friend)
        return Answer(200, Friend(friend, mutual))

    async def _unfriend(self, request: Request) -> Answer:
        await self._friends.unfriend(request.user, _checked(request.path["user"], Name, "user"))
        return Answer(204)

    async def _subscribed(self, request: Request) -> Answer:
        user = _checked(request.path["user"], Name, "user")
        if request.user not in ("", user):
            raise Refused("forbidden", "who is subscribed to a user's feed is told to that user and to services")
        friends, after = await self._friends.subscribed(user, *_page(request.query))
        return Answer(200, SubscribedFriends(friends, after))

    async def _links(self, request: Request) -> Answer:
        links = await self._friends.links(request.user)
        return Answer(200, LinkedAccounts([LinkedAccount(provider, count) for provider, count in links.items()]))

    async def _link(self, request: Request) -> Answer:
        provider = _checked(request.path["provider"], Provider, "provider")
        count = await self._friends.link(request.user, provider, await request.body(Contacts))
        return Answer(202, LinkedAccount(provider, count))

    async def _unlink(self, request: Request) -> Answer:
        await self._friends.unlink(request.user, _checked(request.path["provider"], Provider, "provider"))
        return Answer(204)

    async def _posting(self, request: Request) -> Answer:
        return Answer(200, Posting(await self._friends.posting(request.user)))

    async def _set_posting(self, request: Request) -> Answer:
        posting = await request.body(Posting)
        await self._friends.set_posting(request.user, posting.enabled)
        return Answer(200, posting)


def _checked(value: str, kind: type[T], name: str) -> T:
    """Returns the part `name` of the path or the query as a value of `kind`. Raises `Refused("bad-field")`."""
    try:
        return msgspec.convert(value, kind, strict=False)
    except msgspec.ValidationError as wrong:
        raise Refused("bad-field", f"{name}: {wrong}") from wrong


def _page(query: Mapping[str, str]) -> tuple[str, int]:
    """Returns where a page begins, and how long it may be. Raises `Refused("bad-field")`."""
    return query.get("after", ""), _checked(query.get("limit", str(LIMIT)), Limit, "limit")
