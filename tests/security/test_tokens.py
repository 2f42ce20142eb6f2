"""Forged tokens at every door where tokens are read: each is refused, in words that are safe to log."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import jwt
import pytest
from structlog.testing import capture_logs

from infra.kernel.codes import BY_NAME
from infra.kernel.errors import Refused
from infra.runtime.token_header import MAX_TOKEN_CHARS
from infra.runtime.tokens import AuthOptions, Keys, Verifier
from tests.support.bystander import Watched
from tests.support.forgeries import AS_SERVICE, AS_USER, NOW_S, SECRET, TARGETS, forgeries, genuine
from tests.support.signing import ec_key, jwk, rsa_key, sign

# What a token may be told; 401, 403 or 503 over HTTP.
REFUSALS: Final = {"bad-token", "token-expired", "token-not-yet-valid", "forbidden", "unavailable"}
DOORS: Final[Mapping[str, Callable[[Verifier], Callable[[str, float], Any]]]] = {
    "client": lambda verifier: verifier.client,
    "service": lambda verifier: verifier.service,
    "subscription": lambda verifier: verifier.subscription,
}


def verifier(on_fetch_due: Callable[[], object] = lambda: None, *, only: str = "") -> Verifier:
    """Returns one that knows a secret, a key for users and a key for services, or `only` the secret or the public keys."""
    public = {"users": jwt.PyJWK(jwk("users", ec_key())), "ours": jwt.PyJWK(jwk("ours", rsa_key()))}
    keys = Keys(secret=None if only == "public" else SECRET, public=None if only == "secret" else public)
    return Verifier(AuthOptions(service_keys=("ours",)), keys, on_fetch_due)


def refused(check: Callable[[str, float], Any], token: str) -> Refused:
    try:
        who = check(token, NOW_S)
    except Refused as refusal:
        return refusal
    raise AssertionError(f"this was taken for {who}: {token!r:.2000}")


@pytest.mark.parametrize("only", ["", "secret", "public"])
@pytest.mark.parametrize("door", DOORS)
def test_no_forged_token_opens_a_door(door: str, only: str) -> None:
    """SB-45. The reason never repeats the token, and has nothing in it that a terminal or a log would obey."""
    there = verifier(only=only)
    number = 0
    for name, token in forgeries(TARGETS[door]):
        number += 1
        refusal = refused(DOORS[door](there), token)
        assert refusal.code.name in REFUSALS, name
        assert token not in refusal.reason or len(token) < 20, name
        assert refusal.reason.isprintable(), name
        assert len(refusal.reason) < 500, name
    assert number > 350


@pytest.mark.parametrize("door", DOORS)
def test_a_genuine_token_made_in_the_same_way_opens_its_door_and_no_other(door: str) -> None:
    there = verifier()
    claims = TARGETS[door]
    for token in (genuine(claims), sign(claims, rsa_key(), "RS256", "ours")):
        assert DOORS[door](there)(token, NOW_S)
        for other in DOORS.keys() - {door}:
            assert refused(DOORS[other](there), token).code.name == "forbidden"


def test_forgeries_do_not_make_a_good_token_bad_nor_themselves_good() -> None:
    """What was refused is not remembered as good, and what is remembered as good stays so."""
    there = verifier()
    good = genuine(AS_USER)
    for _ in range(2):
        assert there.client(good, NOW_S).user == "alice"
        for _, token in forgeries(AS_USER):
            refused(there.client, token)


def test_forged_key_ids_do_not_make_us_ask_anybody_for_keys() -> None:
    """With keys in files there is nobody to ask; behind a URL it is once a minute at most, however many key ids are invented."""
    asked: list[str] = []
    there = verifier(lambda: asked.append("files"))
    behind_url = Verifier(AuthOptions(), Keys(url="https://issuer.example/keys"), lambda: asked.append("url"))
    for _, token in forgeries(AS_USER):
        refused(there.client, token)
        refused(behind_url.client, token)
    assert asked == ["url"]


def test_a_token_may_have_so_many_characters_and_no_more() -> None:
    there, claims = verifier(), AS_USER | {"x": ""}
    while len(genuine(claims)) < MAX_TOKEN_CHARS - 4:
        claims["x"] += "x"
    padded = next(
        token for token in (genuine(claims | {"x": claims["x"] + "y" * n}) for n in range(8)) if len(token) >= MAX_TOKEN_CHARS - 1
    )
    assert MAX_TOKEN_CHARS - 1 <= len(padded) <= MAX_TOKEN_CHARS
    assert there.client(padded, NOW_S).user == "alice"
    assert refused(there.client, genuine(claims | {"x": claims["x"] + "y" * 20})).code.name == "bad-token"


def test_names_that_only_look_alike_are_not_names() -> None:
    reasons = [refused(verifier().client, genuine(AS_USER | {"sub": name})).reason for name in ("\u0430lice", "alice\u200b", "\u202ealice")]
    assert all("must be 1 to 128 of A-Z a-z 0-9 . _ -" in reason for reason in reasons)


def some(claims: dict[str, Any]) -> list[str]:
    """Returns every ninth forgery that can stand in a header."""
    return [token for _, token in forgeries(claims) if token.isascii() and token.isprintable() and token.strip() == token != ""][::9]


async def test_forged_tokens_at_the_door_of_clients_and_nobody_else_notices() -> None:
    async with Watched() as place:
        with capture_logs() as logs:
            for token in some(AS_USER):
                async with place.client() as client:
                    await client.say({"op": "hello", "token": token})
                    closed, errors = await client.end()
                    assert errors[0]["code"] in REFUSALS
                    assert closed == BY_NAME[errors[0]["code"]].number
        await place.undisturbed()
        assert not any(entry["log_level"] in ("error", "critical") for entry in logs)


async def test_forged_tokens_at_the_door_of_services_and_nobody_else_notices() -> None:
    async with Watched() as place:
        with capture_logs() as logs:
            for token in some(AS_SERVICE):
                status, body = await place.cluster.post([], headers={"Authorization": f"Bearer {token}"})
                assert (body["code"] in REFUSALS, status) == (True, BY_NAME[body["code"]].http)
        await place.undisturbed()
        assert not any(entry["log_level"] in ("error", "critical") for entry in logs)


async def test_a_refresh_with_a_forged_token_ends_the_session_as_a_hello_would() -> None:
    """DPS-27."""
    async with Watched() as place:
        for token in some(AS_USER)[:12]:
            async with place.client() as client:
                await client.hello(place.token("eve"))
                await client.say({"op": "refresh", "id": 1, "token": token})
                closed, errors = await client.end()
                assert errors[0]["code"] in REFUSALS
                assert closed == BY_NAME[errors[0]["code"]].number
        async with place.client() as client:
            await client.hello(place.token("eve"))
            await client.say({"op": "refresh", "id": 1, "token": place.token("mallory")})
            closed, errors = await client.end()
            assert (closed, errors[0]["code"]) == (BY_NAME["wrong-user"].number, "wrong-user")
