"""Floods of forged tokens from one address, at every door where tokens are read: soon they are not looked at any more (DPS-26)."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from infra.kernel.places import VisitorLimits
from infra.runtime.http.web_limits import WebVisitorLimits
from infra.runtime.tokens import issue
from tests.support.bystander import Watched
from tests.support.every_door import ADMIN, opened
from tests.support.samples import service_token, user_token

# One at once, and then none for a long time.
FEW = 0.001
FORGED = issue(b"x" * 32, user="ann", ttl_s=600, now_s=2_000_000_000)
# Something for which each door wants a token: method, path, and what makes a good one. It is made when it is needed, since tokens end.
WANTED: dict[str, tuple[str, str, Callable[[], str]]] = {
    ADMIN: ("GET", "/metrics", partial(service_token, "monitor")),
    "broker": ("POST", "/v1/events", partial(service_token, "presence")),
    "broker of operators": ("GET", "/v1/sessions?user=ann", partial(service_token, "operator")),
    "notification": ("GET", "/v1/me/preferences", partial(user_token, "ann")),
    "playlist": ("GET", "/v1/playlists/ann/mix", partial(user_token, "ann")),
    "social": ("GET", "/v1/social/wall", partial(user_token, "ann")),
    "artist": ("GET", "/v1/artists/followed", partial(user_token, "ann")),
}


@pytest.mark.parametrize("wanted", WANTED)
async def test_an_address_that_shows_forged_tokens_waits_and_others_do_not(wanted: str, tmp_path: Path) -> None:
    """DPS-26: 401 for the first one, then 429 with `Retry-After`, whatever the token; nobody at another address notices."""
    method, path, make = WANTED[wanted]
    good = make()

    def request(token: str) -> bytes:
        return f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Length: 0\r\n\r\n".encode()

    door = wanted.split()[0]
    limits = WebVisitorLimits if door != "broker" else VisitorLimits
    async with opened(door, tmp_path, visitors=limits(bad_tokens_per_s=FEW)) as there:
        async with there.connect("127.0.0.2") as forger, there.connect("127.0.0.3") as other:
            answers = []
            for token in (good, FORGED, FORGED, good.replace(".", "x.", 1)):
                forger.send(request(token))
                answers.append(await forger.answer())
            assert answers[0][0] not in (401, 403, 429)
            assert [status for status, _, _ in answers[1:]] == [401, 429, 429]
            assert int(answers[2][1]["retry-after"]) >= 1
            other.send(request(good))
            assert (await other.answer())[0] == answers[0][0]


@pytest.mark.parametrize("wanted", WANTED)
async def test_behind_a_proxy_the_address_that_it_names_waits_and_others_do_not(wanted: str, tmp_path: Path) -> None:
    """DPS-26: forged tokens from behind `proxies` had no bound at all. Here one connection of a proxy carries two callers."""
    method, path, make = WANTED[wanted]

    def request(token: str, forwarded: str) -> bytes:
        head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nX-Forwarded-For: {forwarded}\r\n"
        return f"{head}Content-Length: 0\r\n\r\n".encode()

    door = wanted.split()[0]
    limits = (WebVisitorLimits if door != "broker" else VisitorLimits)(bad_tokens_per_s=FEW, proxies=["127.0.0.2"], forwarded_for=True)
    async with opened(door, tmp_path, visitors=limits) as there, there.connect("127.0.0.2") as proxy:
        statuses = []
        for token, forwarded in ((FORGED, "192.0.2.1"), (FORGED, "8.8.8.8, 192.0.2.1"), (FORGED, "192.0.2.2"), (make(), "192.0.2.3")):
            proxy.send(request(token, forwarded))
            statuses.append((await proxy.answer())[0])
        assert statuses[:3] == [401, 429, 401]
        assert statuses[3] not in (401, 403, 429)


async def test_hellos_from_behind_a_proxy_count_against_the_address_that_it_names() -> None:
    """DPS-26."""
    limits = VisitorLimits(bad_tokens_per_s=FEW, proxies=["127.0.0.1"], forwarded_for=True)
    async with Watched(point={"visitors": limits}) as place:
        codes = []
        for forwarded in ("192.0.2.1", "192.0.2.1", "192.0.2.2"):
            async with place.client(headers={"X-Forwarded-For": forwarded}) as client:
                await client.say({"op": "hello", "token": FORGED})
                _, errors = await client.end()
                codes.append(errors[0]["code"])
        assert codes == ["bad-token", "rate-limited", "bad-token"]


async def test_a_hello_of_an_address_that_shows_forged_tokens_is_not_looked_at_and_sessions_stay() -> None:
    """DPS-26: at the door of clients the code is one after which they come back."""
    async with Watched(point={"visitors": VisitorLimits(bad_tokens_per_s=FEW)}) as place:
        for code in ("bad-token", "rate-limited", "rate-limited"):
            async with place.client() as client:
                await client.say({"op": "hello", "token": FORGED})
                _, errors = await client.end()
                assert errors[0]["code"] == code
        assert place.point.counters()["accesspoint_refused_total"]["rate-limited"] == 2
        await place.undisturbed()
