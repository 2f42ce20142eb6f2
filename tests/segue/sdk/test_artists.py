"""The SDK for artists, against a real artist monitoring."""

from pathlib import Path

import pytest

import segue
from segue.sdk.artists import ArtistFeed
from tests.support.cluster import Cluster


async def test_an_artist_who_is_followed_is_in_the_list_with_all_feeds_until_they_are_left(tmp_path: Path) -> None:
    (tmp_path / "catalogue").touch()
    async with Cluster(sites=1, state=tmp_path, services=("artist",)) as c:
        url = f"http://{c.of('artist')[0].address}"
        async with segue.ArtistClient(["http://127.0.0.1:1", url], lambda: c.token("ann")) as ann:
            types = await ann.follow("bjork")
            assert sorted(types) == ["artist-playlist", "new-album", "new-track"]
            assert {each async for each in ann.followed()} == {ArtistFeed("bjork", each) for each in types}
            for number in range(34):
                await ann.follow(f"a{number}")
            assert len([each async for each in ann.followed()]) == 35 * 3
            await ann.unfollow("bjork")
            assert "bjork" not in {each.artist async for each in ann.followed()}
            with pytest.raises(segue.Refused, match="bad-topic"):
                await ann.follow("a b")
