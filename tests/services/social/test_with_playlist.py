"""Social and the real playlist service together."""

import random
from pathlib import Path

from infra.runtime.context import Context
from infra.runtime.logs import get_logger
from infra.runtime.tokens import AuthOptions, Keys, Verifier
from services.social.options import SocialOptions
from services.social.server import SocialService
from tests.services.playlist.site import NAME, Site, site
from tests.support.cluster import FAST, SECRET
from tests.support.eventually import eventually
from tests.support.samples import service_token, user_token


async def change(s: Site, social: SocialService, method: str) -> None:
    """Lets ann follow bob, or no more, by `method` at `social`. The playlist service has heard of it when this returns."""
    headers = {"Authorization": f"Bearer {user_token('ann')}"}
    done = social.counters()["social_outbox_done_total"]
    async with s.c.http.request(method, f"http://{social.address}/v1/social/friends/bob", headers=headers) as answer:
        assert answer.status in (200, 204)
    # The playlist service hears of it. Besides, bob is told of a new follower; one who leaves might not see some playlists any more.
    await eventually(lambda: social.counters()["social_outbox_done_total"] == done + 2)


async def followers(s: Site, playlist_id: str) -> list[str]:
    _, page = await s.ask("bob", "GET", f"/v1/playlists/bob/{playlist_id}/followers")
    return list(page["followers"])


async def test_following_a_user_follows_the_playlists_that_he_has_and_those_that_he_makes(tmp_path: Path) -> None:
    """SB-6."""
    async with site(tmp_path / "playlist") as s:
        options = SocialOptions(
            site="sto",
            node="f1",
            listen="sto/f1",
            door="127.0.0.1:0",
            link=FAST,
            path=str(tmp_path),
            playlist=[NAME],
            notification=[s.intake.url],
        )
        verifier = Verifier(AuthOptions(), Keys(secret=SECRET), lambda: None)
        log = get_logger("social", "f1", "sto")
        social = SocialService(options, Context(network=s.c.network("sto/f1"), log=log, rng=random.Random(1)), verifier, service_token)
        await social.start()
        await s.create("bob", "old")
        await change(s, social, "PUT")
        await s.create("bob", "new")
        await s.quiet()
        assert await followers(s, "old") == await followers(s, "new") == ["ann"]
        await change(s, social, "DELETE")
        await s.create("bob", "later")
        await s.quiet()
        assert (await followers(s, "new"), await followers(s, "later")) == (["ann"], [])
        await social.close()
