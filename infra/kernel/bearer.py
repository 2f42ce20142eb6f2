"""The token in a request's `Authorization` header (RFC 6750 2.1)."""

from .errors import Refused


def bearer_token(authorization: str) -> str:
    """Returns the token of an `Authorization` header. Raises `Refused("bad-token")` that says what to send."""
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Refused("bad-token", "send a token: Authorization: Bearer <token>")
    return token.strip()
