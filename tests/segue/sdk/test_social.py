"""The SDK for friends and privacy, against a real social service."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import segue
from segue.sdk.social import FollowedUser, LinkedBook, PlaylistState, PrivacyState, Social
from tests.support.cluster import Cluster
from tests.support.too_much import too_much


@pytest.fixture
async def c(tmp_path: Path) -> AsyncIterator[Cluster]:
    async with Cluster(sites=1, state=tmp_path, services=("social",)) as c:
        yield c


def social(c: Cluster, user: str, *first: str) -> Social:
    """Returns a client of `user`, who asks at the addresses `first` before that of the cluster."""
    return segue.Social([*first, f"http://{c.of('social')[0].address}"], lambda: c.token(user))


async def test_all_that_a_user_sets_is_what_they_read_afterwards(c: Cluster) -> None:
    """AUTH-4 to AUTH-8."""
    async with social(c, "ann") as ann, social(c, "bob") as bob:
        assert (await ann.follow("bob"), await bob.follow("ann"), await ann.follow("cyd")) == (False, True, False)
        assert [each async for each in ann.friends()] == [FollowedUser("bob", mutual=True), FollowedUser("cyd", mutual=False)]
        assert [each async for each in ann.followers()] == [FollowedUser("bob", mutual=True)]
        await ann.unfollow("cyd")
        await ann.block("eve")
        assert [each async for each in ann.blocks()] == ["eve"]
        await ann.unblock("eve")
        assert [each async for each in ann.blocks()] == []
        assert await ann.set_listening("followers") == await ann.privacy() == PrivacyState("followers", [])
        device = await ann.begin_private("a / phone", hours=1)
        assert (device.until_ms is not None, (await ann.privacy()).private) == (True, [device])
        await ann.end_private("a / phone")
        await ann.set_editor("mix", "bob")
        assert await ann.set_playlist("mix", "private") == await ann.playlist("mix") == PlaylistState("mix", "private", ["bob"])
        assert (await ann.set_editor("mix", "bob", wanted=False)).editors == []


async def test_a_book_is_linked_and_forgotten_and_wall_posts_are_chosen(c: Cluster) -> None:
    async with social(c, "ann") as ann:
        assert await ann.link("address-book", ["bob@example.org", "ann@example.org"], me="ann@example.org") == 1
        assert await ann.link("address-book", ["cyd@example.org"]) == 1
        assert await ann.links() == [LinkedBook("address-book", contacts=2, verified=False)]
        await ann.unlink("address-book")
        assert await ann.links() == []
        assert (await ann.wall(), await ann.set_wall(True), await ann.wall()) == (False, True, True)


async def test_lists_come_whole_through_all_their_pages(c: Cluster) -> None:
    names = [f"u{n:03}" for n in range(130)]
    for name in names:
        await c.of("social")[0].work.stores.privacy.block("ann", name)
    async with social(c, "ann") as ann:
        assert [each async for each in ann.blocks()] == names


async def test_an_address_where_nobody_answers_is_passed_over_and_a_refusal_is_not(c: Cluster) -> None:
    async with social(c, "ann", "http://127.0.0.1:1") as ann:
        await ann.block("eve")
        with pytest.raises(segue.Refused, match="another user"):
            await ann.block("ann")
        with pytest.raises(segue.Refused, match="forbidden"):
            await ann.follow("eve")
    async with segue.Social("http://127.0.0.1:1", "x") as nowhere:
        with pytest.raises(segue.ConnectionLost, match="did not answer"):
            await nowhere.privacy()


async def test_misuse_is_told(c: Cluster) -> None:
    ann = social(c, "ann")
    with pytest.raises(segue.Misuse, match="async with"):
        await ann.privacy()
    async with ann:
        pass
    with pytest.raises(segue.Misuse, match="async with"):
        await ann.privacy()
    with pytest.raises(segue.Misuse, match="http"):
        segue.Social("ws://127.0.0.1:7731", "x")


async def test_an_answer_without_an_end_is_not_read_to_its_end() -> None:
    async with too_much() as url, segue.Social(url, "x") as ann:
        with pytest.raises(segue.ConnectionLost, match="more than 16777216 bytes; is there something else"):
            await ann.privacy()
