"""infra.runtime.tokens: who gets in, and which code and which sentence the others get."""

import base64
import hmac
import json
from collections.abc import Callable
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.kernel.errors import ConfigError, Refused
from infra.runtime.tokens import AuthOptions, Identity, Keys, Service, Verifier, issue
from tests.support.signing import Private, ec_key, jwk, rsa_key, sign

SECRET = b"0123456789abcdef" * 4
NOW_S = 1_700_000_000.0
CLAIMS: dict[str, Any] = {"sub": "alice", "exp": int(NOW_S) + 600}


def public(**keys: dict[str, Any]) -> dict[str, jwt.PyJWK]:
    return {kid: jwt.PyJWK(data) for kid, data in keys.items()}


def verifier(keys: Keys | None = None, **options: Any) -> Verifier:
    return Verifier(AuthOptions(**options), keys or Keys(secret=SECRET), lambda: None)


def hs256(**claims: Any) -> str:
    """Returns a well-signed token. A claim that is None is left out."""
    return sign({name: value for name, value in (CLAIMS | claims).items() if value is not None}, SECRET, "HS256")


def raw(header: Any, claims: Any = CLAIMS, signature: bytes = b"") -> str:
    """Returns a token of `header`, `claims` and `signature`, put together by hand, as a forger does it."""
    parts = (json.dumps(header).encode(), json.dumps(claims).encode(), signature)
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)


def refusal(token: str, verify: Verifier | None = None, now_s: float = NOW_S) -> Refused:
    with pytest.raises(Refused) as refused:
        (verify or verifier()).client(token, now_s)
    assert len(token) < 20 or token not in refused.value.reason
    return refused.value


def test_an_issued_token_opens_the_door_it_is_for() -> None:
    """SB-45: a service is known by the claim `svc`."""
    door = verifier()
    user = issue(SECRET, user="alice", ttl_s=60, now_s=NOW_S)
    service = issue(SECRET, service="presence", ttl_s=60, now_s=NOW_S)
    assert door.client(user, NOW_S) == Identity("alice", NOW_S + 60)
    assert door.service(service, NOW_S) == Service("presence", NOW_S + 60)


def test_a_token_at_the_wrong_door_is_forbidden_and_told_which_one_to_bring() -> None:
    """SB-45: no user publishes as a service."""
    door = verifier()
    user = issue(SECRET, user="alice", ttl_s=60, now_s=NOW_S)
    service = issue(SECRET, service="presence", ttl_s=60, now_s=NOW_S)
    with pytest.raises(Refused, match="segue token --user") as at_client_door:
        door.client(service, NOW_S)
    with pytest.raises(Refused, match="segue token --service") as at_service_door:
        door.service(user, NOW_S)
    assert at_client_door.value.code.name == at_service_door.value.code.name == "forbidden"
    # What was refused at one door is not remembered at the other.
    assert door.client(user, NOW_S).user == "alice"
    assert door.service(service, NOW_S).name == "presence"


@pytest.mark.parametrize(("algorithm", "key"), [("RS256", rsa_key), ("ES256", ec_key)])
def test_public_keys_verify_by_their_id(algorithm: str, key: Callable[[], Private]) -> None:
    keys = Keys(public=public(k1=jwk("k1", key())))
    assert verifier(keys).client(sign(CLAIMS, key(), algorithm, "k1"), NOW_S).user == "alice"
    unknown = refusal(sign(CLAIMS, key(), algorithm, "k2"), verifier(keys))
    assert (unknown.code.name, unknown.reason) == ("bad-token", "no key has the id 'k2'")


def test_a_token_without_a_key_id_takes_the_key_without_one() -> None:
    keys = Keys(public={"": jwt.PyJWK(jwk(None, ec_key()))})
    assert verifier(keys).client(sign(CLAIMS, ec_key(), "ES256"), NOW_S).user == "alice"


@pytest.mark.parametrize("algorithm", ["none", "None", "HS512", "RS256", "ES256"])
def test_where_a_secret_is_configured_only_hs256_is_allowed(algorithm: str) -> None:
    refused = refusal(raw({"alg": algorithm}))
    assert (refused.code.name, refused.reason) == ("bad-token", f"algorithm '{algorithm}' is not allowed here; allowed: HS256")


@pytest.mark.parametrize("algorithm", ["none", "HS256", "PS256", "RS512"])
def test_where_public_keys_are_configured_only_rs256_and_es256_are_allowed(algorithm: str) -> None:
    refused = refusal(raw({"alg": algorithm, "kid": "k1"}), verifier(Keys(public=public(k1=jwk("k1", ec_key())))))
    assert (refused.code.name, refused.reason) == ("bad-token", f"algorithm '{algorithm}' is not allowed here; allowed: RS256, ES256")


def test_a_public_key_is_never_taken_for_a_secret() -> None:
    """The classic confusion: HS256 with the bytes of the public key as the secret, where both kinds of key are configured."""
    keys = Keys(secret=SECRET, public=public(k1=jwk("k1", rsa_key())))
    known = rsa_key().public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    unsigned = raw({"alg": "HS256", "kid": "k1"}).rstrip(".")
    signature = hmac.digest(known, unsigned.encode(), "sha256")
    assert refusal(raw({"alg": "HS256", "kid": "k1"}, signature=signature), verifier(keys)).code.name == "bad-token"


def test_a_key_is_used_with_its_own_algorithm_only() -> None:
    keys = Keys(public=public(k1=jwk("k1", rsa_key())))
    refused = refusal(sign(CLAIMS, ec_key(), "ES256", "k1"), verifier(keys))
    assert (refused.code.name, refused.reason) == ("bad-token", "the key 'k1' signs RS256, the token says ES256")


@pytest.mark.parametrize(
    "token",
    [
        "",
        "..",
        "a.b.c",
        "\ud800.a.b",
        hs256() + "\u00e9",
        hs256().rsplit(".", 1)[0] + ".",
        hs256()[:-2],
        "x" * 9000,
        raw([]),
        raw({}),
        raw({"alg": 1}),
        raw({"alg": "HS256", "kid": 1}),
        raw({"alg": "HS256"}, signature=b"x" * 32),
        sign(CLAIMS, b"another secret, of a good length", "HS256"),
    ],
)
def test_what_is_malformed_or_forged_is_a_bad_token(token: str) -> None:
    assert refusal(token).code.name == "bad-token"


@pytest.mark.parametrize(
    "claims",
    [
        {"sub": None},
        {"sub": ""},
        {"sub": 7},
        {"sub": "a b"},
        {"sub": "a" * 129},
        {"sub": "alice\n"},
        {"exp": None},
        {"exp": "soon"},
        {"exp": True},
        {"exp": float("nan")},
        {"exp": float("inf")},
        {"exp": 10**400},
        {"exp": -1},
        {"nbf": "then"},
        {"aud": "another"},
    ],
    ids=str,
)
def test_claims_that_say_nothing_usable_are_a_bad_token(claims: dict[str, Any]) -> None:
    assert refusal(hs256(**claims)).code.name == "bad-token"


def test_issuer_and_audience_are_checked_where_they_are_configured() -> None:
    door = verifier(issuer="https://issuer.example", audience="segue")
    assert door.client(hs256(iss="https://issuer.example", aud=["web", "segue"]), NOW_S).user == "alice"
    for wrong in (hs256(), hs256(iss="https://issuer.example"), hs256(iss="https://other.example", aud="segue")):
        assert refusal(wrong, door).code.name == "bad-token"


def test_a_token_ends_at_its_expiry_plus_the_skew_and_the_reason_names_both_clocks() -> None:
    door, token = verifier(leeway_s=30), hs256(exp=int(NOW_S))
    assert door.client(token, NOW_S + 29.9).expires_s == NOW_S
    # Once from memory and once afresh.
    for verify in (door, verifier(leeway_s=30)):
        refused = refusal(token, verify, NOW_S + 30)
        assert refused.code.name == "token-expired"
        assert refused.reason.startswith("expired at 1700000000, the clock here says 1700000030 (Unix time, s) and forgives 30 s of skew")


@pytest.mark.parametrize("skew_s", [-3600.0, 3600.0])
def test_a_clock_that_is_an_hour_off_is_told_from_a_bad_token(skew_s: float) -> None:
    token = issue(SECRET, user="alice", ttl_s=600, now_s=NOW_S + skew_s)
    refused = refusal(token)
    assert refused.code.name == ("token-not-yet-valid" if skew_s > 0 else "token-expired")
    assert f"{NOW_S:.0f}" in refused.reason


def test_a_clock_that_goes_back_makes_a_remembered_token_early_again() -> None:
    door, token = verifier(), issue(SECRET, user="alice", ttl_s=600, now_s=NOW_S)
    assert door.client(token, NOW_S)
    assert refusal(token, door, NOW_S - 60).code.name == "token-not-yet-valid"


def test_an_unknown_key_starts_one_fetch_a_minute_and_is_unavailable_until_it_is_answered() -> None:
    due: list[float] = []
    keys = Keys(url="https://issuer.example/keys")
    door = Verifier(AuthOptions(), keys, lambda: due.append(0.0))
    token = sign(CLAIMS, ec_key(), "ES256", "new")
    assert [refusal(token, door, NOW_S + after).code.name for after in (0, 1, 59)] == ["unavailable"] * 3
    assert len(due) == 1
    keys.is_current = True  # the issuer answered, and has no such key
    assert refusal(token, door, NOW_S + 59).code.name == "bad-token"
    assert refusal(token, door, NOW_S + 60).code.name == "unavailable"
    assert len(due) == 2
    keys.public = public(new=jwk("new", ec_key()))
    assert door.client(token, NOW_S + 61).user == "alice"


def test_a_remembered_token_is_forgotten_when_its_key_is_withdrawn() -> None:
    keys = Keys(public=public(k1=jwk("k1", ec_key())))
    door, token = verifier(keys), sign(CLAIMS, ec_key(), "ES256", "k1")
    assert door.client(token, NOW_S)
    keys.public = public(k2=jwk("k2", rsa_key()))
    assert refusal(token, door).code.name == "bad-token"


def test_more_tokens_than_are_remembered_are_still_verified() -> None:
    door = Verifier(AuthOptions(), Keys(secret=SECRET), lambda: None, remembered=2)
    tokens = [issue(SECRET, service=f"s{number}", ttl_s=60, now_s=NOW_S) for number in range(9)]
    for _ in range(2):
        assert [door.service(token, NOW_S).name for token in tokens] == [f"s{number}" for number in range(9)]


@pytest.mark.parametrize(
    "who", [{}, {"user": "a", "service": "b"}, {"user": ""}, {"user": "a b"}, {"service": "a/b"}, {"user": "a" * 129}], ids=str
)
def test_no_token_is_issued_that_no_door_would_take(who: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        issue(SECRET, **who, ttl_s=1, now_s=NOW_S)


@settings(max_examples=60)
@given(st.one_of(st.text(), st.from_regex(r"[A-Za-z0-9_=-]{0,40}(\.[A-Za-z0-9_=-]{0,40}){0,3}", fullmatch=True)))
def test_any_text_is_an_identity_or_a_refusal(token: str) -> None:
    assert refusal(token).code.name == "bad-token"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=60)
@given(st.dictionaries(st.sampled_from(["alg", "kid", "crit", "b64", "typ"]), json_values))
def test_any_header_is_refused_as_a_bad_token(header: dict[str, Any]) -> None:
    assert refusal(raw({"alg": "HS256"} | header)).code.name == "bad-token"


@settings(max_examples=60)
@given(st.dictionaries(st.sampled_from(["sub", "svc", "exp", "nbf", "iat", "iss", "aud", "jti"]), json_values))
def test_any_signed_claims_are_an_identity_or_a_refusal(claims: dict[str, Any]) -> None:
    signed = jwt.api_jws.PyJWS().encode(json.dumps(CLAIMS | claims).encode(), SECRET, "HS256")
    try:
        outcome = type(verifier().client(signed, NOW_S)).__name__
    except Refused as refused:
        outcome = refused.code.name
    assert outcome in {"Identity", "bad-token", "token-expired", "token-not-yet-valid", "forbidden"}
