"""The claims of a verified token: whom it names, for what purpose, how long, and what it allows. Pure.

A token has one purpose, and whoever reads it says which (RFC 8725, 3.12): a session's token follows nothing by itself, and a token for one
subscription opens no session.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from infra.kernel.errors import Refused
from infra.kernel.grants import Grants
from infra.kernel.topics import MAX_ID

MAX_TOKEN_ID: Final = 256
SUBSCRIBE: Final = "subscribe"
NAME_FORM: Final = f"1 to {MAX_ID} of A-Z a-z 0-9 . _ -"

_NAME: Final = re.compile(rf"[A-Za-z0-9._-]{{1,{MAX_ID}}}")
_TOKEN_ID: Final = re.compile(rf"[!-~]{{0,{MAX_TOKEN_ID}}}")
_LAST_EXACT_S: Final = 2.0**53  # a JSON number beyond it, Infinity and NaN are no times


class Identity(NamedTuple):
    """A user, until the token expires. Times are Unix times in seconds; a token that does not say when it was issued counts as old.

    `id` is the claim `jti`, "" where there is none. `grants` are what the token allows to follow, None where it does not narrow that.
    """

    user: str
    expires_s: float
    issued_s: float = 0.0
    id: str = ""
    grants: Grants | None = None


class Service(NamedTuple):
    """A service, until the token expires. The fields are those of `Identity`."""

    name: str
    expires_s: float
    issued_s: float = 0.0
    id: str = ""


def identity_of(claims: Mapping[str, Any]) -> Identity:
    """Returns the user of a session's token. Raises `Refused`: bad-token, or forbidden for a token that is for something else."""
    if "svc" in claims:
        raise Refused("forbidden", "this is a service's token (it has `svc`); a client shows a user's: segue token --user NAME")
    _check_no_purpose(claims)
    return _user(claims)


def service_of(claims: Mapping[str, Any]) -> Service:
    """Returns the service of a service's token. Raises as `identity_of`."""
    if "svc" not in claims and "sub" in claims:
        raise Refused("forbidden", "this is a user's token (it has no `svc`); a service shows its own: segue token --service NAME")
    _check_no_purpose(claims)
    return Service(name_of(claims, "svc"), time_of(claims, "exp"), time_of(claims, "iat", 0.0), token_id_of(claims))


def subscription_of(claims: Mapping[str, Any]) -> Identity:
    """Returns the user of a subscription's token, with what it lets them follow. Raises as `identity_of`."""
    if "svc" in claims or claims.get("purpose") != SUBSCRIBE:
        raise Refused(
            "forbidden", f'a token for a subscription has "purpose": "{SUBSCRIBE}": segue token --subscription --user NAME --topic T'
        )
    who = _user(claims)
    if who.grants is None:
        raise Refused("bad-token", "a token for a subscription must have the claim `topics`")
    return who


def name_of(claims: Mapping[str, Any], claim: str) -> str:
    """Returns the name in `claim`. Raises `Refused("bad-token")`."""
    name = claims.get(claim)
    if not is_name(name):
        raise Refused("bad-token", f"the claim `{claim}` must be {NAME_FORM}")
    return str(name)


def is_name(value: object) -> bool:
    """Returns whether `value` is the name of a user or a service."""
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def time_of(claims: Mapping[str, Any], claim: str, default: float | None = None) -> float:
    """Returns the Unix time in `claim`, or the `default`. Raises `Refused("bad-token")` where there is neither."""
    value = claims.get(claim, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _LAST_EXACT_S:
        raise Refused("bad-token", f"the claim `{claim}` must be a Unix time in seconds")
    return float(value)


def token_id_of(claims: Mapping[str, Any]) -> str:
    """Returns the claim `jti`, "" where there is none. Raises `Refused("bad-token")` for one that could not be shown or kept."""
    token_id = claims.get("jti", "")
    if not isinstance(token_id, str) or _TOKEN_ID.fullmatch(token_id) is None:
        raise Refused("bad-token", f"the claim `jti` must have at most {MAX_TOKEN_ID} printable ASCII characters")
    return token_id


def grants_of(claims: Mapping[str, Any]) -> Grants | None:
    """Returns what the claims allow to follow, None where they do not narrow it. Raises `Refused("bad-token")`."""
    return Grants.of(topics=claims.get("topics"), kinds=claims.get("kinds"))


def _user(claims: Mapping[str, Any]) -> Identity:
    return Identity(name_of(claims, "sub"), time_of(claims, "exp"), time_of(claims, "iat", 0.0), token_id_of(claims), grants_of(claims))


def _check_no_purpose(claims: Mapping[str, Any]) -> None:
    if "purpose" in claims:
        raise Refused(
            "forbidden", f"this token is for the purpose {claims['purpose']!r:.40} and for nothing else: it has the claim `purpose`"
        )
