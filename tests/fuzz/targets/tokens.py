"""Tokens: forged ones, as any text, and odd ones, which are well signed."""

import json
import re
from collections.abc import Callable
from typing import Any, Final

import jwt

from infra.kernel.errors import Refused
from infra.kernel.grants import Grants
from infra.runtime.tokens import AuthOptions, Identity, Keys, Service, Verifier
from tests.fuzz.target import Ready, outcome
from tests.support.forgeries import AS_SERVICE, AS_SUBSCRIBER, AS_USER, HS256, NOW_S, SECRET, forgeries, genuine, signed
from tests.support.signing import ec_key, jwk

NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,128}")
# An input that begins so is a header and claims, with a zero between, to be signed with the secret itself.
SIGNED: Final = b"s"
FORGED: Final = b"f"


def _to_sign(header: Any, claims: Any) -> bytes:
    return SIGNED + json.dumps(header).encode() + b"\0" + json.dumps(claims).encode()


class TokenTexts(Ready):
    """The reader of tokens at its three doors."""

    seeds = (
        *(_to_sign(HS256, claims | {"iat": 1, "nbf": 1, "jti": "t1"}) for claims in (AS_USER, AS_SERVICE, AS_SUBSCRIBER)),
        _to_sign({"alg": "HS256", "kid": "k1"}, AS_USER | {"kinds": ["artist"], "topics": [], "iss": "i", "aud": ["a"]}),
        *(FORGED + genuine(claims).encode() for claims in (AS_USER, AS_SERVICE, AS_SUBSCRIBER)),
        *(FORGED + token.encode(errors="replace") for _, token in list(forgeries(AS_USER))[::40]),
    )
    words = (
        b'"alg":',
        b'"none"',
        b'"kid":',
        b'"crit":',
        b'"sub":',
        b'"svc":',
        b'"exp":',
        b'"purpose":',
        b'"topics":',
        b"..",
        b"eyJ",
        b'"\\u0073ub":',
    )

    def __init__(self) -> None:
        keys = Keys(secret=SECRET, previous=b"x" * 32, public={"k1": jwt.PyJWK(jwk("k1", ec_key()))})
        self._verifier = Verifier(AuthOptions(), keys, lambda: None, remembered=64)

    def play(self, data: bytes) -> str:
        """Shows the token at each door. A forged one names nobody but those whom a good one named; an odd one names a name."""
        text = data[1:].decode("latin-1") if data[:1] != SIGNED else _signed(data[1:])
        found = [self._shown(door, text) for door in (self._verifier.client, self._verifier.service, self._verifier.subscription)]
        taken = [who for who in found if not isinstance(who, str)]
        assert len(taken) <= 1, "a token is for one purpose"
        for who in taken:
            _check(who, is_forged=data[:1] != SIGNED)
        return outcome(*(who if isinstance(who, str) else type(who).__name__ for who in found))

    def _shown(self, door: Callable[[str, float], Identity | Service], text: str) -> Identity | Service | str:
        try:
            return door(text, NOW_S)
        except Refused as refused:
            reason, code = refused.reason, refused.code.name
        assert reason.isprintable()
        assert len(reason) < 500
        return f"{code}: {reason}"


def _signed(data: bytes) -> str:
    header, _, claims = data.partition(b"\0")
    return signed(header, claims)


def _check(who: Identity | Service, *, is_forged: bool) -> None:
    name = who.user if isinstance(who, Identity) else who.name
    assert NAME.fullmatch(name)
    assert not is_forged or name in ("alice", "presence"), name
    assert NOW_S - 30 < who.expires_s <= 2.0**53
    assert 0 <= who.issued_s <= 2.0**53
    assert who.id.isprintable()
    if isinstance(who, Identity):
        assert who.grants is None or isinstance(who.grants, Grants)
