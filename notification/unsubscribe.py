"""The token behind the unsubscribe link of a mail. It names a user and a class of mails, and needs no login (RFC 8058).

It is signed with the secret that signs users' tokens, but is no such token: it has another audience, and no `sub`.
"""

import re
from typing import Final, NamedTuple

import jwt

from infra.kernel.errors import Refused
from infra.kernel.topics import MAX_ID
from infra.runtime.keys import HMAC_ALGORITHM

AUDIENCE: Final = "unsubscribe"
ALL: Final = "all"
# Mails are read late. The law of some countries wants a link to work for a month, notifications live for 90 days.
TTL_S: Final = 365 * 86_400
MAX_TOKEN_CHARS: Final = 1024

_USER: Final = re.compile(rf"[A-Za-z0-9._-]{{1,{MAX_ID}}}")
_CLASS: Final = re.compile(r"[a-z][a-z0-9-]{0,31}")


class UnsubscribeWish(NamedTuple):
    """The wish of a user for no more mails of class `cls`, or of any class where it is `ALL`."""

    user: str
    cls: str


def issue(secret: bytes, wish: UnsubscribeWish, now_s: float) -> str:
    """Returns the token for `wish`, signed with `secret`, good for a year from Unix time `now_s`.

    Raises ValueError for what is no user or no class.
    """
    if not _is_wish(wish.user, wish.cls):
        raise ValueError(f"{wish} needs a user name and a class")
    claims = {"aud": AUDIENCE, "user": wish.user, "class": wish.cls, "exp": int(now_s) + TTL_S}
    return jwt.encode(claims, secret, HMAC_ALGORITHM)


def verify(secret: bytes, token: str, now_s: float) -> UnsubscribeWish:
    """Returns the wish for which `issue` made `token` with `secret`.

    Raises `Refused("bad-token")` for any other token, and for one that is over at Unix time `now_s`.
    """
    if len(token) > MAX_TOKEN_CHARS:
        raise Refused("bad-token", f"an unsubscribe token has at most {MAX_TOKEN_CHARS} characters")
    try:
        claims = jwt.decode(
            token, secret, [HMAC_ALGORITHM], {"require": ["aud", "exp"], "verify_exp": False, "verify_iat": False}, audience=AUDIENCE
        )
    except jwt.PyJWTError as error:
        raise Refused("bad-token", f"the unsubscribe link is not one of ours, or was cut short ({error}); copy it whole") from None
    wish = UnsubscribeWish(claims.get("user", ""), claims.get("class", ""))
    if not isinstance(claims["exp"], int) or not _is_wish(*wish):
        raise Refused("bad-token", "the unsubscribe token names no user, no class or no end")
    if now_s >= claims["exp"]:
        raise Refused("bad-token", "the unsubscribe link is over a year old; use the one in a newer mail, or the settings")
    return wish


def _is_wish(user: object, cls: object) -> bool:
    return isinstance(user, str) and isinstance(cls, str) and bool(_USER.fullmatch(user) and _CLASS.fullmatch(cls))
