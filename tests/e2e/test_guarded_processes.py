"""Who sees what on a site of real processes, with a social service that is one of them."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Final

import aiohttp
import pytest

from infra.runtime.tokens import ensure_secret, read_secret
from segue.cluster.fleet import Child, Fleet
from segue.cluster.shape import SITES, Shape
from segue.cluster.tokens import user_token
from segue.demo.until import until
from tests.support.access_story import AccessStory
from tests.support.social_desk import SocialDesk
from tests.support.user import User

DEADLINE_S: Final = 100.0
SITE_OF: Final = {"ann": SITES[0], "bob": SITES[1], "cid": SITES[0]}


@pytest.mark.e2e
@pytest.mark.slow
async def test_a_random_story_on_real_processes_lets_nobody_hear_what_the_table_forbids(tmp_path: Path) -> None:
    """AUTH-2, AUTH-4, AUTH-5, AUTH-8: the story of the cluster tests, once through processes that prove their links."""
    secret = read_secret(ensure_secret(tmp_path))
    shape = Shape(sites=SITES[:2], notification=1, services=("social",), policy="social", state=tmp_path / "store")
    async with (
        asyncio.timeout(DEADLINE_S),
        Fleet(list(shape.options()), tmp_path / "secret.key", tmp_path) as fleet,
        aiohttp.ClientSession() as http,
    ):
        for child in fleet.children:
            assert await until(partial(_is_ready, http, child), DEADLINE_S)
        (social,) = fleet.of("social")
        doors = {site: point.door for site in SITES[:2] for point in fleet.of("accesspoint", site)}

        def client(user: str) -> User:
            return User(doors[SITE_OF[user]], user_token(secret, user), {"client": "c1"})

        await AccessStory(SocialDesk(http, social.door, partial(user_token, secret)), client, seed=4).tell(25)


async def _is_ready(http: aiohttp.ClientSession, child: Child) -> bool:
    async with http.get(f"{child.admin}/readyz") as answer:
        return answer.status == 200
