"""Tokens that the signing secret of this machine makes: for the people who try Segue, and for its own services."""

import time

from infra.runtime.tokens import issue

TOKEN_TTL_S = 30 * 86_400.0


def user_token(secret: bytes, user: str, ttl_s: float = TOKEN_TTL_S) -> str:
    """Returns a client's token for `user`, signed with `secret`; it expires after `ttl_s`."""
    return issue(secret, user=user, ttl_s=ttl_s, now_s=time.time())


def service_token(secret: bytes, service: str, ttl_s: float = TOKEN_TTL_S) -> str:
    """Returns a token for `service`, signed with `secret`; it expires after `ttl_s`."""
    return issue(secret, service=service, ttl_s=ttl_s, now_s=time.time())
