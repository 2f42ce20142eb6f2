"""The HTTP handlers of social, as docs/openapi-social.json describes them."""

from collections.abc import Collection

import msgspec

from infra.kernel.errors import Refused
from infra.runtime.http.web import Answer, Request, Route

from ..parameters import checked, page_of
from .answers import FollowersPage, Friend, FriendsPage, LinkedAccount, LinkedAccounts, SocialFollower, SubscribedFriends
from .core import Contacts, Name, Provider, VouchedContacts
from .friends import Friends


class Posting(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The wish of the caller: whether they want wall posts."""

    enabled: bool


class SocialHandlers:
    """The handlers of requests. `vouchers` are the services that may say who a user is at a provider."""

    def __init__(self, friends: Friends, vouchers: Collection[str]) -> None:
        self._friends, self._vouchers = friends, vouchers

    def routes(self) -> list[Route]:
        """Returns what is answered over HTTP."""
        return [
            Route("GET", "/v1/social/friends", "user", self._list),
            Route("PUT", "/v1/social/friends/{user}", "user", self._befriend),
            Route("DELETE", "/v1/social/friends/{user}", "user", self._unfriend),
            Route("GET", "/v1/social/followers", "user", self._followers),
            Route("GET", "/v1/social/users/{user}/friends", "any", self._subscribed),
            Route("GET", "/v1/social/links", "user", self._links),
            Route("PUT", "/v1/social/links/{provider}", "user", self._link, max_body_bytes=None),
            Route("DELETE", "/v1/social/links/{provider}", "user", self._unlink),
            Route("PUT", "/v1/social/users/{user}/links/{provider}", "service", self._vouch, max_body_bytes=None),
            Route("DELETE", "/v1/social/users/{user}/links/{provider}", "service", self._revoke),
            Route("GET", "/v1/social/wall", "user", self._posting),
            Route("PUT", "/v1/social/wall", "user", self._set_posting),
        ]

    async def _list(self, request: Request) -> Answer:
        users, after = await self._friends.followed(request.user, *page_of(request.query))
        mutual = await self._friends.are_friends(request.user, users)
        friends = [Friend(user, both) for user, both in zip(users, mutual, strict=True)]
        return Answer(200, FriendsPage(friends, after))

    async def _befriend(self, request: Request) -> Answer:
        friend = checked(request.path["user"], Name, "user")
        mutual = await self._friends.befriend(request.user, friend)
        return Answer(200, Friend(friend, mutual))

    async def _unfriend(self, request: Request) -> Answer:
        await self._friends.unfriend(request.user, checked(request.path["user"], Name, "user"))
        return Answer(204)

    async def _followers(self, request: Request) -> Answer:
        followers, after = await self._friends.followers(request.user, *page_of(request.query))
        return Answer(200, FollowersPage([SocialFollower(user, mutual) for user, mutual in followers], after))

    async def _subscribed(self, request: Request) -> Answer:
        user = checked(request.path["user"], Name, "user")
        if request.user not in ("", user):
            raise Refused("forbidden", "who is subscribed to a user's feed is told to that user and to services")
        friends, after = await self._friends.subscribed(user, *page_of(request.query))
        return Answer(200, SubscribedFriends(friends, after))

    async def _links(self, request: Request) -> Answer:
        links = await self._friends.links(request.user)
        return Answer(200, LinkedAccounts([LinkedAccount(provider, *linked) for provider, linked in links.items()]))

    async def _link(self, request: Request) -> Answer:
        provider = checked(request.path["provider"], Provider, "provider")
        linked = await self._friends.link(request.user, provider, await request.body(Contacts))
        return Answer(202, LinkedAccount(provider, *linked))

    async def _vouch(self, request: Request) -> Answer:
        user, provider = self._vouched_for(request)
        linked = await self._friends.link(user, provider, await request.body(VouchedContacts))
        return Answer(202, LinkedAccount(provider, *linked))

    async def _revoke(self, request: Request) -> Answer:
        await self._friends.unlink(*self._vouched_for(request))
        return Answer(204)

    def _vouched_for(self, request: Request) -> tuple[str, str]:
        """Returns the user and the provider of the path. Raises `Refused` (forbidden, bad-field)."""
        if request.service not in self._vouchers:
            names = ", ".join(self._vouchers) or "nobody"
            raise Refused("forbidden", f"who a user is elsewhere is said by {names}, not by {request.service}; see social.vouchers")
        return checked(request.path["user"], Name, "user"), checked(request.path["provider"], Provider, "provider")

    async def _unlink(self, request: Request) -> Answer:
        await self._friends.unlink(request.user, checked(request.path["provider"], Provider, "provider"))
        return Answer(204)

    async def _posting(self, request: Request) -> Answer:
        return Answer(200, Posting(await self._friends.posting(request.user)))

    async def _set_posting(self, request: Request) -> Answer:
        posting = await request.body(Posting)
        await self._friends.set_posting(request.user, posting.enabled)
        return Answer(200, posting)
