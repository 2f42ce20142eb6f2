"""Tokens that are wrong, at the door of the clients and at the door of the services; and clocks that are an hour off."""

import base64
import json
import random
import time
from collections.abc import Callable

import msgspec
import pytest
from structlog.testing import capture_logs

from infra.kernel.codes import BY_NAME
from infra.runtime.tokens import issue
from segue.cluster.factory import RoleFactory
from tests.support.bystander import Watched
from tests.support.cluster import SECRET
from tests.support.raw_client import RawClient
from tests.support.signing import rsa_key, sign

HOUR_S = 3600.0
Claims = dict[str, str]
AS_USER: Claims = {"sub": "eve"}
AS_SERVICE: Claims = {"svc": "presence"}


def valid(who: Claims) -> dict[str, object]:
    now = int(time.time())
    return {**who, "nbf": now, "exp": now + 600}


def unsigned(who: Claims) -> str:
    parts = (base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in ({"alg": "none", "typ": "JWT"}, valid(who)))
    return b".".join([*parts, b""]).decode()


def issued(who: Claims, now_s: float) -> str:
    return issue(SECRET, user=who.get("sub"), service=who.get("svc"), ttl_s=600, now_s=now_s)


WRONG_TOKENS: dict[str, Callable[[Claims], str]] = {
    "no JWT": lambda who: "open-sesame",
    "not ASCII": lambda who: "é.é.é",
    "alg none": unsigned,
    "forged": lambda who: sign(valid(who), b"another secret of thirty-two byte", "HS256"),
    "signed with an algorithm that is not allowed": lambda who: sign(valid(who), SECRET * 2, "HS384"),
    "signed with a key that is not ours": lambda who: sign(valid(who), rsa_key(), "RS256", "k1"),
    "without an end": lambda who: sign(dict(who), SECRET, "HS256"),
    "for a name that is none": lambda who: sign(valid(dict.fromkeys(who, "e v e")), SECRET, "HS256"),
}
SKEWED: dict[str, tuple[float, str]] = {
    "an hour early": (HOUR_S, "token-not-yet-valid"),
    "an hour late": (-HOUR_S, "token-expired"),
}


async def refused_hello(client: RawClient, token: str, code: str, **fields: str) -> str:
    """Says hello with a token that must end the connection; returns the reason."""
    await client.say({"op": "hello", "token": token, **fields})
    closed, errors = await client.end()
    assert (closed, [error["code"] for error in errors]) == (BY_NAME[code].number, [code])
    return str(errors[0]["reason"])


async def refused_post(place: Watched, header: str, status: int, code: str) -> str:
    """Publishes at `place` with an Authorization `header` that must be refused with `status` and `code`; returns the reason."""
    answered, body = await place.cluster.post([], headers={"Authorization": header})
    assert (answered, body["code"]) == (status, code)
    return str(body["reason"])


@pytest.mark.parametrize("name", WRONG_TOKENS)
async def test_a_wrong_token_is_refused_at_both_doors_and_never_repeated(name: str, place: Watched) -> None:
    """SB-45 for the services' door."""
    make = WRONG_TOKENS[name]
    async with place.client() as client:
        assert make(AS_USER) not in await refused_hello(client, make(AS_USER), "bad-token")
    await place.undisturbed()
    assert make(AS_SERVICE) not in await refused_post(place, f"Bearer {make(AS_SERVICE)}", 401, "bad-token")


@pytest.mark.parametrize("service", ["presence", "playlist", "notification"])
@pytest.mark.parametrize("name", [name for name in WRONG_TOKENS if name != "for a name that is none"])
async def test_who_lies_about_being_an_input_of_the_engine_reaches_nobody(name: str, service: str, place: Watched) -> None:
    """SB-45: with a real event, on a topic on which that service may publish and that somebody follows."""
    topic = {
        "presence": "hm://presence/user/zoe/",
        "playlist": "hm://playlist/user/dan/playlist/mix/",
        "notification": "hm://notifications/feed/abba%new-album/",
    }[service]
    event = {"topic": topic, "kind": "play", "payload": {}}
    async with place.cluster.user("ann") as ann:
        await ann.ask("subscribe", topics=[topic], wait="all")
        header = {"Authorization": f"Bearer {WRONG_TOKENS[name]({'svc': service})}"}
        assert (await place.cluster.post(event, headers=header))[0] == 401
        assert (await place.cluster.post(event | {"id": "true"}, service=service))[0] == 202
        await ann.heard(1)
        await ann.fence()
        assert [each["id"] for each in ann.events] == ["true"]


@pytest.mark.parametrize("name", SKEWED)
async def test_the_refusal_of_a_token_from_a_skewed_clock_names_both_times(name: str, place: Watched) -> None:
    skew_s, code = SKEWED[name]
    now_s = time.time()
    async with place.client() as client:
        reasons = [await refused_hello(client, issued(AS_USER, now_s + skew_s), code)]
    reasons.append(await refused_post(place, f"Bearer {issued(AS_SERVICE, now_s + skew_s)}", 401, code))
    theirs_s = int(now_s + skew_s) + (600 if code == "token-expired" else 0)
    for reason in reasons:
        assert str(theirs_s) in reason
        assert f"the clock here says {str(int(now_s))[:7]}" in reason


async def test_a_token_that_is_far_too_long_is_refused_before_it_is_read(place: Watched) -> None:
    async with place.client() as client:
        assert "8192" in await refused_hello(client, "e" * 8193, "bad-token")
    await refused_post(place, f"Bearer {'e' * 8193}", 413, "too-large")


async def test_a_token_of_another_user_ends_the_connection(place: Watched) -> None:
    async with place.client() as client:
        assert "'eve'" in await refused_hello(client, place.token("eve"), "wrong-user", user="bystander")
    async with place.client() as client:
        assert (await client.hello(place.token("eve"), user="eve"))["user"] == "eve"


async def test_a_services_token_opens_nothing_for_a_client_and_a_users_nothing_for_a_service(place: Watched) -> None:
    """SB-45. The client is told so also if it goes on at once, and what it says next finds nobody."""
    async with place.client() as client:
        await client.say({"op": "hello", "token": issued(AS_SERVICE, time.time())})
        await client.say({"op": "subscribe", "topics": ["hm://presence/user/bob/"]})
        closed, (error,) = await client.end()
        assert (closed, error["code"]) == (4204, "forbidden")
        assert "segue token --user" in error["reason"]
    assert "segue token --service" in await refused_post(place, f"Bearer {place.token('eve')}", 403, "forbidden")


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer ", "Basic cHJlc2VuY2U6", "presence"])
async def test_a_request_without_a_bearer_token_is_told_how_to_send_one(header: str, place: Watched) -> None:
    assert "Authorization: Bearer" in await refused_post(place, header, 401, "bad-token")


@pytest.mark.parametrize(
    ("service", "topic"),
    [
        ("presence", "hm://playlist/user/dan/playlist/mix/"),
        ("presence", "hm://notifications/feed/abba%new-album/"),
        ("playlist", "hm://presence/user/dan/"),
        ("playlist", "hm://notifications/feed/dan%friend-joined/"),
        ("notification", "hm://presence/user/dan/"),
    ],
)
async def test_a_service_may_publish_on_its_own_kinds_of_topics_only(service: str, topic: str, place: Watched) -> None:
    """SB-45: alone the status says it, in an array only that event is rejected."""
    event = {"topic": topic, "kind": "play", "payload": {}}
    status, answer = await place.cluster.post(event, service=service)
    assert (status, answer["code"]) == (403, "forbidden")
    assert ("segue act" if "presence" in topic else "segue notify") in answer["reason"]
    status, answer = await place.cluster.post([event], service=service)
    assert (status, answer["accepted"], answer["rejected"][0]["code"]) == (202, 0, "forbidden")


async def test_a_service_that_publishes_nothing_is_refused(place: Watched) -> None:
    """SB-45: engine inputs are exactly three."""
    token = issue(SECRET, service="social", ttl_s=600, now_s=time.time())
    assert "notification, playlist, presence" in await refused_post(place, f"Bearer {token}", 403, "forbidden")


async def test_a_node_whose_clock_is_an_hour_off_keeps_its_links_and_is_named_in_the_log(place: Watched) -> None:
    cluster = place.cluster
    factory = RoleFactory(cluster.network("sto/ap9"), cluster._verifier, random.Random(9), wall=lambda: time.time() + HOUR_S)
    with capture_logs() as lines:
        late = cluster.roles["sto/ap9"] = factory.make(msgspec.structs.replace(cluster.options["sto/ap1"], node="ap9"))
        await late.start()
        await cluster.settle()
        await place.undisturbed()
    skews_s = {line["peer"]: line["skew_s"] for line in lines if line["event"] == "clocks differ"}
    assert skews_s == {"ap9": pytest.approx(HOUR_S, abs=5), "a1": pytest.approx(-HOUR_S, abs=5), "p1": pytest.approx(-HOUR_S, abs=5)}
    async with RawClient(late.address) as client:  # to which every token looks expired, and it says why
        await refused_hello(client, issued(AS_USER, time.time()), "token-expired")
