"""infra.runtime.tokens: who gets in, and which code and which sentence the others get."""

import base64
import hmac
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.kernel.errors import ConfigError, Refused
from infra.kernel.grants import Grants
from infra.runtime.secret_file import ensure_secret, read_secret, renew_secret
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
    user = issue(SECRET, user="alice", ttl_s=60, now_s=NOW_S, token_id="t1", topics=["hm://presence/user/*/"], kinds=["artist"])
    service = issue(SECRET, service="presence", ttl_s=60, now_s=NOW_S, token_id="t2")
    grants = Grants.of(topics=["hm://presence/user/*/"], kinds=["artist"])
    assert door.client(user, NOW_S) == Identity("alice", expires_s=NOW_S + 60, issued_s=NOW_S, id="t1", grants=grants)
    assert door.service(service, NOW_S) == Service("presence", expires_s=NOW_S + 60, issued_s=NOW_S, id="t2")


def test_issued_tokens_have_ids_of_their_own_and_no_grants_unless_they_are_named() -> None:
    """DPS-28: a token can be revoked by its id."""
    door = verifier()
    first, second = (door.client(issue(SECRET, user="alice", ttl_s=60, now_s=NOW_S), NOW_S) for _ in range(2))
    assert len({first.id, second.id, ""}) == 3
    assert first.grants is None


def test_a_token_without_id_and_time_of_issue_counts_as_old_and_nameless() -> None:
    assert verifier().client(hs256(), NOW_S) == Identity("alice", expires_s=NOW_S + 600, issued_s=0.0, id="", grants=None)


def test_whoever_is_revoked_is_refused_at_every_door_also_when_the_token_is_remembered() -> None:
    """DPS-28: what an operator revokes holds from the next use of a token on, and no longer than they say."""
    refused: set[str] = set()

    def revoked(who: Identity | Service) -> Refused | None:
        return Refused("token-revoked", "revoked by an operator") if who.id in refused else None

    door = Verifier(AuthOptions(), Keys(secret=SECRET), lambda: None, revoked=revoked)
    user = issue(SECRET, user="alice", ttl_s=60, now_s=NOW_S, token_id="t1")
    service = issue(SECRET, service="presence", ttl_s=60, now_s=NOW_S, token_id="t2")
    assert (door.client(user, NOW_S).user, door.service(service, NOW_S).name) == ("alice", "presence")
    refused.update({"t1", "t2"})
    for _ in range(2):
        assert refusal(user, door).code.name == "token-revoked"
        with pytest.raises(Refused, match="revoked by an operator"):
            door.service(service, NOW_S)
    refused.clear()
    assert (door.client(user, NOW_S).user, door.service(service, NOW_S).name) == ("alice", "presence")


def test_a_subscription_token_says_who_may_follow_what_and_opens_no_session() -> None:
    """A backend signs it: one purpose, and no use for another one."""
    door = verifier()
    topics = ["hm://playlist/user/bob/playlist/*/"]
    token = issue(SECRET, user="alice", topics=topics, is_subscription=True, ttl_s=60, now_s=NOW_S, token_id="t3")
    expected = Identity("alice", expires_s=NOW_S + 60, issued_s=NOW_S, id="t3", grants=Grants.of(topics=topics))
    assert door.subscription(token, NOW_S) == door.subscription(token, NOW_S) == expected
    assert refusal(token, door).code.name == "forbidden"
    with pytest.raises(Refused, match="forbidden"):
        door.service(token, NOW_S)


def test_what_opens_a_session_is_no_subscription_token() -> None:
    door = verifier()
    session = issue(SECRET, user="alice", topics=["hm://presence/user/bob/"], ttl_s=60, now_s=NOW_S)
    service = issue(SECRET, service="presence", ttl_s=60, now_s=NOW_S)
    purposes = [hs256(purpose=purpose, topics=[]) for purpose in ("session", "Subscribe", ["subscribe"], True, "")]
    for token in (session, service, hs256(purpose="subscribe", svc="presence", topics=[]), *purposes):
        with pytest.raises(Refused, match="forbidden"):
            door.subscription(token, NOW_S)
    for token in purposes:
        assert refusal(token, door).code.name == "forbidden"
    with pytest.raises(Refused, match="claim `topics`"):
        door.subscription(hs256(purpose="subscribe"), NOW_S)


def test_a_revoked_subscription_token_is_refused() -> None:
    door = Verifier(AuthOptions(), Keys(secret=SECRET), lambda: None, revoked=lambda who: Refused("banned"))
    token = issue(SECRET, user="alice", topics=[], is_subscription=True, ttl_s=60, now_s=NOW_S)
    with pytest.raises(Refused, match="banned"):
        door.subscription(token, NOW_S)


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


def test_a_token_of_the_secret_before_is_good_until_that_is_forgotten() -> None:
    """DPS-28: a secret can be changed without a gap."""
    keys, new = Keys(secret=SECRET), b"another secret, of a good length"
    door, old_token = verifier(keys), hs256()
    new_token = sign(CLAIMS, new, "HS256")
    assert door.client(old_token, NOW_S).user == "alice"
    keys.held = keys.held._replace(secrets=(new, SECRET))
    assert [door.client(token, NOW_S).user for token in (old_token, new_token)] == ["alice"] * 2
    keys.held = keys.held._replace(secrets=(new,))
    assert refusal(old_token, door).code.name == "bad-token"
    assert door.client(new_token, NOW_S).user == "alice"


def test_a_new_secret_is_known_where_a_token_of_it_is_shown_first(tmp_path: Path) -> None:
    """DPS-28: processes may hear of a new secret in any order; nobody restarts, and no token is refused meanwhile."""
    options = AuthOptions(secret_file=ensure_secret(tmp_path), previous_secret_file=tmp_path / "secret.previous.key")
    door = verifier(Keys.load(options))
    old = issue(read_secret(tmp_path / "secret.key"), user="alice", ttl_s=600, now_s=NOW_S)
    assert door.client(old, NOW_S).user == "alice"
    renew_secret(tmp_path)
    new = issue(read_secret(tmp_path / "secret.key"), user="alice", ttl_s=600, now_s=NOW_S)
    assert [door.client(token, NOW_S).user for token in (old, new)] == ["alice"] * 2


def test_rights_count_only_under_the_secret_or_a_key_that_is_named_for_them() -> None:
    """SB-45: a provider that signs for users cannot make services, operators or subscriptions, whatever its users write into claims."""
    keys = Keys(secret=SECRET, public=public(users=jwk("users", ec_key()), ours=jwk("ours", rsa_key())))
    door = verifier(keys, service_keys=("ours",))
    for name in ("presence", "operator"):
        claims = {"svc": name, "exp": CLAIMS["exp"]}
        assert door.service(sign(claims, SECRET, "HS256"), NOW_S).name == name
        assert door.service(sign(claims, rsa_key(), "RS256", "ours"), NOW_S).name == name
        for _ in range(2):
            with pytest.raises(Refused, match="'users' signs for users alone"):
                door.service(sign(claims, ec_key(), "ES256", "users"), NOW_S)
    subscription = CLAIMS | {"purpose": "subscribe", "topics": []}
    assert door.subscription(sign(subscription, rsa_key(), "RS256", "ours"), NOW_S).user == "alice"
    with pytest.raises(Refused, match="'users' signs for users alone"):
        door.subscription(sign(subscription, ec_key(), "ES256", "users"), NOW_S)
    assert door.client(sign(CLAIMS, ec_key(), "ES256", "users"), NOW_S).user == "alice"


def test_a_key_id_in_the_header_of_a_token_of_the_secret_gives_and_takes_nothing() -> None:
    door = verifier(Keys(secret=SECRET, public=public(users=jwk("users", ec_key()))))
    claims = {"svc": "presence", "exp": CLAIMS["exp"]}
    assert door.service(sign(claims, SECRET, "HS256", "users"), NOW_S).name == "presence"


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
        {"iat": "then"},
        {"iat": float("nan")},
        {"jti": 7},
        {"jti": "a\x1b[2J"},
        {"jti": "x" * 257},
        {"topics": "hm://presence/user/*/"},
        {"topics": ["hm://notifications/inbox/alice/"]},
        {"kinds": ["inbox"]},
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
    "who",
    [
        {},
        {"user": "a", "service": "b"},
        {"user": ""},
        {"user": "a b"},
        {"service": "a/b"},
        {"user": "a" * 129},
        {"user": "a", "topics": ["hm://presence/user/a"]},
        {"user": "a", "kinds": ["inbox"]},
        {"user": "a", "token_id": "a b"},
        {"user": "a", "is_subscription": True},
        {"service": "presence", "topics": []},
        {"service": "presence", "topics": [], "is_subscription": True},
    ],
    ids=str,
)
def test_no_token_is_issued_that_no_door_would_take(who: dict[str, Any]) -> None:
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
@given(st.dictionaries(st.sampled_from(["sub", "svc", "exp", "nbf", "iat", "iss", "aud", "jti", "topics", "kinds"]), json_values))
def test_any_signed_claims_are_an_identity_or_a_refusal(claims: dict[str, Any]) -> None:
    signed = jwt.api_jws.PyJWS().encode(json.dumps(CLAIMS | claims).encode(), SECRET, "HS256")
    try:
        outcome = type(verifier().client(signed, NOW_S)).__name__
    except Refused as refused:
        outcome = refused.code.name
    assert outcome in {"Identity", "bad-token", "token-expired", "token-not-yet-valid", "forbidden"}
