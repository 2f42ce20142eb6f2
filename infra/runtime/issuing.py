"""The issuing of tokens with a shared secret: for the commands, for services that sign for themselves, and for tests."""

import secrets
from collections.abc import Sequence
from typing import Any, Final

import jwt

from infra.kernel.errors import ConfigError, Refused

from .claims import NAME_FORM, SUBSCRIBE, grants_of, identity_of, is_name, service_of, subscription_of
from .keys import HMAC_ALGORITHM

TOKEN_ID_BYTES: Final = 12


def issue(
    secret: bytes,
    *,
    user: str | None = None,
    service: str | None = None,
    ttl_s: float,
    now_s: float,
    token_id: str | None = None,
    topics: Sequence[str] | None = None,
    kinds: Sequence[str] | None = None,
    is_subscription: bool = False,
    issuer: str | None = None,
    audience: str | None = None,
) -> str:
    """Returns a token for either a `user` or a `service`, signed with `secret`, valid from `now_s` on for `ttl_s`.

    - `token_id`: its `jti`, by which it can be revoked; None makes a random one.
    - `topics`, `kinds`: what a user may follow with it; both None: it does not narrow that.
    - `is_subscription`: it is for following these topics, and opens no session.
    - `issuer`, `audience`: its `iss` and `aud`, where those who verify it ask for them.

    Raises `ConfigError` for a token that nobody would accept.
    """
    if (user is None) == (service is None):
        raise ConfigError("a token is either for a user or for a service")
    name = user if user is not None else service
    if not is_name(name):
        raise ConfigError(f"{name!r} is no name; a name is {NAME_FORM}")
    claims: dict[str, Any] = {"sub" if service is None else "svc": name}
    claims |= {"jti": secrets.token_urlsafe(TOKEN_ID_BYTES) if token_id is None else token_id}
    claims |= {"iat": int(now_s), "nbf": int(now_s), "exp": int(now_s + ttl_s)}
    claims |= {claim: list(value) for claim, value in (("topics", topics), ("kinds", kinds)) if value is not None}
    claims |= {"purpose": SUBSCRIBE} if is_subscription else {}
    claims |= {claim: value for claim, value in (("iss", issuer), ("aud", audience)) if value is not None}
    _check_good(claims, is_subscription=is_subscription)
    return jwt.encode(claims, secret, HMAC_ALGORITHM)


def _check_good(claims: dict[str, Any], *, is_subscription: bool) -> None:
    if "svc" in claims and (is_subscription or grants_of(claims) is not None):
        raise ConfigError("what may be followed is said of users, not of services")
    read = subscription_of if is_subscription else service_of if "svc" in claims else identity_of
    try:
        read(claims)
    except Refused as refused:
        raise ConfigError(refused.reason) from None
