"""Follows that begin while the follower is being kept out: they are not there afterwards."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest

from infra.kernel.errors import Refused
from infra.kernel.topics import Topic, parse_topic
from services.playlist.following import follow_seen
from services.playlist.viewers import Viewers
from tests.services.playlist.site import Site, site, uri


class ChangingAudience(dict[bytes, set[str]]):
    """An audience that changes: eve may see all the first time that somebody asks, and nothing from then on."""

    is_asked = False

    def get(self, topic: bytes, default: object = None) -> object:  # type: ignore[override]
        before, self.is_asked = self.is_asked, True
        return {"eve"} if before else default


async def followers(s: Site) -> list[str]:
    return (await s.service.work.stores.follows.followers(parse_topic(uri("ann/p")))).items


async def test_whoever_is_kept_out_while_they_begin_to_follow_does_not_follow(tmp_path: Path) -> None:
    """AUTH-4, AUTH-6: over HTTP and from a client's subscription; what was taken off before it was on must not come back."""
    async with site(tmp_path) as s:
        await s.create("ann", "p")
        s.barred = ChangingAudience()
        assert (await s.ask("eve", "PUT", "/v1/playlists/ann/p/follow"))[0] == 403
        assert await followers(s) == []
        s.barred = ChangingAudience()
        with pytest.raises(Refused, match="forbidden"):
            await s.call("eve", "follow", {"topics": [uri("ann/p")]})
        assert await followers(s) == []
        s.barred = ChangingAudience()
        await s.call("eve", "follow-owner", {"owner": "ann"})
        assert await followers(s) == []


class AnsweringOnce:
    """Viewers of whom the first question is answered, and the second one is not."""

    is_asked = False

    async def seen(self, user: str, topics: Sequence[Topic]) -> list[bool]:
        if self.is_asked:
            raise Refused("unavailable", "the social service is gone")
        self.is_asked = True
        return [True for _ in topics]


async def test_what_nobody_can_say_once_more_is_not_followed_and_the_client_asks_again(tmp_path: Path) -> None:
    async with site(tmp_path) as s:
        await s.create("ann", "p")
        with pytest.raises(Refused, match="the social service is gone"):
            await follow_seen(s.service.work.stores.follows, cast(Viewers, AnsweringOnce()), "eve", [parse_topic(uri("ann/p"))])
        assert await followers(s) == []


async def test_who_follows_already_is_not_asked_about_twice(tmp_path: Path) -> None:
    """Clients name all that they follow whenever they come back."""
    async with site(tmp_path) as s:
        await s.create("ann", "p")
        for asked in (2, 3):
            await s.call("bob", "follow", {"topics": [uri("ann/p")]})
            assert sum(call.user == "bob" for call in s.social.calls) == asked
        assert await followers(s) == ["bob"]
