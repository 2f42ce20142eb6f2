"""segue.Api: one object with all services in it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import segue
from tests.support.cluster import Cluster


@pytest.fixture
async def c(tmp_path: Path) -> AsyncIterator[Cluster]:
    async with Cluster(sites=1, state=tmp_path, services=("playlist", "social"), policy="social") as c:
        yield c


def api(c: Cluster, user: str) -> segue.Api:
    """Returns the API of `user`."""
    where = {name: c.url(c.of(name)[0], "") for name in ("playlist", "social")}
    return segue.Api(segue.ApiUrls(playlists=where["playlist"], social=where["social"]), lambda: c.token(user))


async def test_what_one_part_sets_another_goes_by(c: Cluster) -> None:
    """AUTH-6, AUTH-7: an editor sees and changes a playlist that is private."""
    async with api(c, "ann") as ann, api(c, "bob") as bob:
        await ann.playlists.create("Mix", id="mix", collaborative=True)
        await ann.social.set_playlist("mix", "private")
        with pytest.raises(segue.Refused, match="forbidden"):
            await bob.playlists.follow("ann", "mix")
        await ann.social.set_editor("mix", "bob")
        assert await bob.playlists.add("ann", "mix", ["t1"]) == 2


async def test_the_address_of_a_proxy_stands_for_all_services() -> None:
    async with segue.Api(["http://127.0.0.1:1"], "x") as one:
        with pytest.raises(segue.ConnectionLost, match=r"http://127.0.0.1:1/v1/artists/bjork/follow did not answer"):
            await one.artists.follow("bjork")
        with pytest.raises(segue.ConnectionLost, match=r"http://127.0.0.1:1/v1/me/preferences did not answer"):
            await one.settings.preferences()
        with pytest.raises(segue.ConnectionLost, match=r"http://127.0.0.1:1/v1/social/privacy did not answer"):
            await one.social.privacy()
        with pytest.raises(segue.ConnectionLost, match=r"http://127.0.0.1:1/v1/playlists/ann/mix did not answer"):
            await one.playlists.get("ann", "mix")


async def test_misuse_is_told() -> None:
    made = segue.Api(segue.ApiUrls(), "x")
    with pytest.raises(segue.Misuse, match=r"async with segue.Api\("):
        _ = made.social
    async with made:
        with pytest.raises(segue.Misuse, match="entered once"):
            await made.__aenter__()
    with pytest.raises(segue.Misuse, match="not open"):
        await made.social.privacy()
