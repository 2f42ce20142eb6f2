"""Tokens that the signing secret of this machine makes: for the people who try Segue, and for its own services."""

import time
from collections.abc import Callable

from infra.kernel.errors import ConfigError
from infra.runtime.tokens import AuthOptions, Keys, issue

TOKEN_TTL_S = 30 * 86_400.0
KEPT_S = 60.0


def user_token(secret: bytes, user: str, ttl_s: float = TOKEN_TTL_S) -> str:
    """Returns a client's token for `user`, signed with `secret`; it expires after `ttl_s`."""
    return issue(secret, user=user, ttl_s=ttl_s, now_s=time.time())


def service_token(secret: bytes, service: str, ttl_s: float = TOKEN_TTL_S) -> str:
    """Returns a token for `service`, signed with `secret`; it expires after `ttl_s`."""
    return issue(secret, service=service, ttl_s=ttl_s, now_s=time.time())


def signer(keys: Keys, options: AuthOptions) -> Callable[[str], str]:
    """Returns what makes the token of a service, signed with the newest secret of `keys`, such as those with `options` verify."""

    def sign(service: str) -> str:
        if keys.secret is None:
            raise ConfigError(f"{service} needs a secret that signs its tokens: set auth.secret_file")
        now_s, ttl_s = time.time(), TOKEN_TTL_S
        return issue(keys.secret, service=service, ttl_s=ttl_s, now_s=now_s, issuer=options.issuer, audience=options.audience)

    return sign


def kept(make: Callable[[], str], now: Callable[[], float] = time.monotonic) -> Callable[[], str]:
    """Returns a function that returns what `make` makes, the same for `KEPT_S`: who verifies a token remembers it.

    `now` is time that never goes back, in seconds.
    """
    made: tuple[str, float] | None = None

    def token() -> str:
        nonlocal made
        if made is None or now() - made[1] >= KEPT_S:
            made = make(), now()
        return made[0]

    return token
