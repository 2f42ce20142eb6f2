"""Every role as a real process, those that store among them: an artist is followed, releases an album, and the follower finds it."""

import json
import time
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from infra.runtime.tokens import ensure_secret, read_secret
from segue.cluster.fleet import Fleet
from segue.cluster.shape import STORING, Shape
from segue.cluster.tokens import service_token, user_token
from tests.support.user import User

DEADLINE_S = 60.0


@pytest.mark.e2e
async def test_a_new_album_goes_from_the_catalogue_to_a_follower(tmp_path: Path) -> None:
    """SB-35 with real processes: the first run learns what there is, the second announces what is new, the third nothing."""
    secret = read_secret(ensure_secret(tmp_path))
    catalogue = tmp_path / "catalogue.jsonl"
    catalogue.write_text(item(1))
    shape = Shape(notification=1, services=tuple(STORING), state=tmp_path / "store", catalogue=str(catalogue))
    async with Fleet(list(shape.options()), tmp_path / "secret.key", tmp_path) as fleet, aiohttp.ClientSession() as http:
        artist = f"http://{fleet.of('artist')[0].door}/v1/artists"
        user = {"Authorization": f"Bearer {user_token(secret, 'ann')}"}
        async with http.put(f"{artist}/bjork/follow", headers=user) as answer:
            assert answer.status == 200
        await run(http, artist, secret)
        catalogue.write_text(item(1) + item(2))
        assert (await run(http, artist, secret))["announced"] == 1
        assert (await run(http, artist, secret))["announced"] == 0
        async with User(fleet.of("accesspoint")[0].door, user_token(secret, "ann")) as ann:
            pulled = await ann.ask("pull", since=0)
            assert [item["payload"]["title"] for item in pulled["items"]] == ["Album 2"]


def item(number: int) -> str:
    return json.dumps({"artist": "bjork", "name": "Björk", "type": "album", "id": f"al-{number}", "title": f"Album {number}"}) + "\n"


async def run(http: aiohttp.ClientSession, artist: str, secret: bytes) -> dict[str, Any]:
    """Has the job of `artist` run; returns what it did."""
    operator = {"Authorization": f"Bearer {service_token(secret, 'operator')}"}
    deadline, asked = time.monotonic() + DEADLINE_S, False
    while True:
        assert time.monotonic() < deadline
        async with http.get(f"{artist}/run", headers=operator) as answer:
            state = await answer.json()
        if asked and not state["running"]:
            last: dict[str, Any] = state["last"]
            return last
        if not state["running"]:  # at its start the service makes up for the run of the day
            async with http.post(f"{artist}/run", headers=operator) as answer:
                asked = (await answer.json())["started"]
