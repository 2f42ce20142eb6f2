"""segue.sdk.notifier: notifications of a service, against a real cluster in this process."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import segue
from tests.support.cluster import Cluster
from tests.support.samples import service_token

TOPIC = "hm://notifications/feed/bjork%new-album/"


@pytest.fixture
async def c(tmp_path: Path) -> AsyncIterator[Cluster]:
    async with Cluster(sites=1, state=tmp_path) as c:
        yield c


def notifier_of(c: Cluster, service: str = "artist") -> segue.Notifier:
    """Returns a notifier whose first address is not there."""
    return segue.Notifier(["http://127.0.0.1:1", f"http://{c.of('notification')[0].address}"], service_token(service))


async def test_followers_find_it_and_a_repetition_tells_nobody_twice(c: Cluster) -> None:
    async with notifier_of(c) as notifier:
        stored = await notifier.notify(TOPIC, "album", {"album": "Post"}, ["ann", "bob", "ann"], id="post-1")
        assert stored == segue.StoredNotification("post-1", 2, duplicate=False)
        assert (await notifier.notify(TOPIC, "album", {"album": "Post"}, ["ann", "bob"], id="post-1")).duplicate
        assert (await notifier.notify(TOPIC, "album", {"album": "Post"}, ["ann"])).id != "post-1"
    async with segue.Client(f"ws://{c.of('accesspoint')[0].address}", c.token("ann")) as ann:
        found = await anext(aiter(ann.notifications()))
        assert (found.id, found.payload) == ("post-1", {"album": "Post"})


async def test_an_audience_may_be_longer_than_a_page(c: Cluster) -> None:
    async with notifier_of(c) as notifier:
        assert (await notifier.notify(TOPIC, "album", {}, (f"u{n}" for n in range(2001)))).accepted == 2001


async def test_a_topic_of_another_service_is_refused(c: Cluster) -> None:
    async with notifier_of(c, "playlist") as notifier:
        with pytest.raises(segue.Refused, match="forbidden"):
            await notifier.notify(TOPIC, "album", {}, ["ann"])


async def test_it_is_a_part_of_the_api(c: Cluster) -> None:
    urls = segue.ApiUrls(settings=f"http://{c.of('notification')[0].address}", operator=f"http://{c.of('broker')[0].address}")
    async with segue.Api(urls, service_token("artist")) as api:
        assert (await api.notifier.notify(TOPIC, "album", {}, ["ann"])).accepted == 1
        with pytest.raises(segue.Refused, match="this is for operators"):
            await api.operator.sessions("ann")
