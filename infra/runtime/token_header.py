"""The header of a token: which key has signed it, as it says itself. What it says is checked against the key, never believed."""

from base64 import urlsafe_b64decode
from typing import Any, Final, NamedTuple

from infra.kernel.errors import Refused
from infra.kernel.one_meaning import read_one_meaning

MAX_TOKEN_CHARS: Final = 8192
MAX_KEY_ID: Final = 256
# What else may be signed with the same keys, such as a token to log out or a proof of possession, says so in `typ` (RFC 8725, 3.11).
TYPES: Final = ("jwt", "at+jwt", "application/jwt", "application/at+jwt")


class TokenHeader(NamedTuple):
    """The part of a header that chooses the key: the algorithm, and the id of the key, "" where it has none."""

    alg: str
    kid: str = ""


def read_header(token: str) -> TokenHeader:
    """Returns the header of `token`. Raises `Refused("bad-token")` for what is no token, or one that asks for what nobody here does.

    PyJWT parses the header again when it verifies, and refuses characters that are not in base64url.
    """
    if len(token) > MAX_TOKEN_CHARS or not token.isascii():
        raise Refused("bad-token", f"a token has at most {MAX_TOKEN_CHARS} characters, all of them ASCII")
    try:
        # Two more `=` than needed are ignored, so nobody has to count.
        header = read_one_meaning(urlsafe_b64decode(token[: token.index(".")] + "=="))
    except ValueError:
        raise Refused("bad-token", "not a JWT: three parts of base64url with dots between, the first a JSON object with `alg`") from None
    _check_plain(header)
    return TokenHeader(_text(header, "alg"), _text(header, "kid", ""))


def _check_plain(header: dict[str, Any]) -> None:
    if "crit" in header:
        raise Refused("bad-token", "the token's header has `crit`, which asks for extensions; none is understood here")
    if "cty" in header:
        raise Refused("bad-token", "the token's header has `cty`: a token within a token is not taken")
    if _text(header, "typ", "JWT").lower() not in TYPES:
        raise Refused("bad-token", f"the token is of the type {header['typ']!r:.40}; taken are {', '.join(TYPES)}")


def _text(header: dict[str, Any], name: str, default: str | None = None) -> str:
    value = header.get(name, default)
    if not isinstance(value, str) or len(value) > MAX_KEY_ID:
        raise Refused("bad-token", f"`{name}` in the token's header must be a text of at most {MAX_KEY_ID} characters")
    return value
