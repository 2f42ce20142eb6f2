"""JWTs: which user or service makes a request. Users carry `sub`, services carry `svc` (SB-45). Both must expire (`exp`).

PyJWT does the cryptography. Time is an argument, so that a reason can name both clocks. No reason repeats a token.
"""

import re
from base64 import urlsafe_b64decode
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, Protocol, TypeAlias, TypeVar

import jwt
import msgspec

from infra.kernel.errors import ConfigError, Refused
from infra.kernel.recent import Recent
from infra.kernel.topics import MAX_ID

from .keys import HMAC_ALGORITHM, AuthOptions, Keys, ensure_secret, read_secret

__all__ = ["AuthOptions", "Identity", "Keys", "Service", "Tokens", "Verifier", "ensure_secret", "issue", "read_secret"]

MAX_TOKEN_CHARS: Final = 8192
REMEMBERED: Final = 4096

_NAME: Final = re.compile(rf"[A-Za-z0-9._-]{{1,{MAX_ID}}}")
_NAME_FORM: Final = f"1 to {MAX_ID} of A-Z a-z 0-9 . _ -"
_LAST_EXACT_S: Final = 2.0**53  # a JSON number beyond it, Infinity and NaN are no times


class Identity(NamedTuple):
    """A user, until the token expires (Unix time, seconds)."""

    user: str
    expires_s: float


class Service(NamedTuple):
    """A publishing service, until the token expires (Unix time, seconds)."""

    name: str
    expires_s: float


class Tokens(Protocol):
    """The reading of tokens, as handlers of requests need it; `Verifier` does it. Both methods raise `Refused`."""

    def client(self, token: str, now_s: float) -> Identity:
        """Returns the user who shows `token` at Unix time `now_s`."""

    def service(self, token: str, now_s: float) -> Service:
        """Returns the service that shows `token` at Unix time `now_s`."""


Who = TypeVar("Who", Identity, Service)

# A verified token: from when until when it holds (skew included), the keys that were there when it was verified, and whom it names.
# It is a bare tuple, because a hit is on the path of every HTTP request.
_Known: TypeAlias = tuple[float, float, Mapping[str, jwt.PyJWK], Who]


class _Header(msgspec.Struct, frozen=True):
    """The part of a header that chooses the key. PyJWT parses and checks the whole header again when it verifies."""

    alg: str
    kid: str = ""


_DECODE_HEADER: Final = msgspec.json.Decoder(_Header).decode


class Verifier:
    """The check of tokens, which makes identities of them. It never waits.

    Where a public key is unknown, `on_fetch_due` is called, at most once a minute, and must start `keys.refresh()`. Until that is
    answered such tokens are refused as `unavailable`. The last few thousand good tokens are `remembered`, because a service shows the
    same one with every request.
    """

    def __init__(self, options: AuthOptions, keys: Keys, on_fetch_due: Callable[[], object], remembered: int = REMEMBERED) -> None:
        self._options = options
        self._keys = keys
        self._on_fetch_due = on_fetch_due
        self._clients = Recent[str, _Known[Identity]](remembered)
        self._services = Recent[str, _Known[Service]](remembered)

    def client(self, token: str, now_s: float) -> Identity:
        """Returns the user who shows `token` at Unix time `now_s`.

        Raises `Refused`: bad-token, token-expired, token-not-yet-valid, unavailable, or forbidden for a service's token.
        """
        known = self._clients.young.get(token)
        if known is not None:
            start_s, end_s, keys, who = known
            if start_s <= now_s < end_s and keys is self._keys.public:
                return who
        return self._admit(token, now_s, self._clients, _identity)

    def service(self, token: str, now_s: float) -> Service:
        """Returns the service that shows `token` at Unix time `now_s`. Raises as `client`; forbidden is for a user's token."""
        known = self._services.young.get(token)
        if known is not None:
            start_s, end_s, keys, who = known
            if start_s <= now_s < end_s and keys is self._keys.public:
                return who
        return self._admit(token, now_s, self._services, _service)

    def _admit(self, token: str, now_s: float, recent: Recent[str, _Known[Who]], name: Callable[[Mapping[str, Any]], Who]) -> Who:
        known = recent.take(token)
        if known is None or known[2] is not self._keys.public:
            claims = self._decode(token, now_s)
            leeway_s = self._options.leeway_s
            known = _time(claims, "nbf", 0.0) - leeway_s, _time(claims, "exp") + leeway_s, self._keys.public, name(claims)
        self._check_time(known[0], known[1], now_s)
        recent.add(token, known)
        return known[3]

    def _check_time(self, start_s: float, end_s: float, now_s: float) -> None:
        leeway_s = self._options.leeway_s
        clocks = f"the clock here says {now_s:.0f} (Unix time, s) and forgives {leeway_s:g} s of skew"
        if now_s >= end_s:
            raise Refused("token-expired", f"expired at {end_s - leeway_s:.0f}, {clocks}; fetch a new token")
        if now_s < start_s:
            raise Refused("token-not-yet-valid", f"valid from {start_s + leeway_s:.0f}, {clocks}; compare the clocks")

    def _decode(self, token: str, now_s: float) -> dict[str, Any]:
        algorithm, key = self._key(_header(token), now_s)
        try:
            return jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                options={"require": ["exp"], "verify_exp": False, "verify_nbf": False, "verify_iat": False},
                issuer=self._options.issuer,
                audience=self._options.audience,
            )
        except jwt.PyJWTError as error:
            raise Refused("bad-token", f"the token does not verify: {error}") from None

    def _key(self, header: _Header, now_s: float) -> tuple[str, bytes | jwt.PyJWK]:
        allowed = self._keys.algorithms
        if header.alg not in allowed:
            raise Refused("bad-token", f"algorithm {header.alg!r:.20} is not allowed here; allowed: {', '.join(allowed)}")
        if header.alg == HMAC_ALGORITHM and self._keys.secret:
            return HMAC_ALGORITHM, self._keys.secret
        key = self._keys.public.get(header.kid)
        if key is None:
            raise self._unknown_key(header.kid, now_s)
        if key.algorithm_name != header.alg:
            raise Refused("bad-token", f"the key {header.kid!r:.80} signs {key.algorithm_name}, the token says {header.alg}")
        return key.algorithm_name, key

    def _unknown_key(self, kid: str, now_s: float) -> Refused:
        if self._keys.is_fetch_due(now_s):
            self._on_fetch_due()
        if self._keys.is_current:
            return Refused("bad-token", f"no key has the id {kid!r:.80}")
        return Refused("unavailable", f"the key {kid!r:.80} is not known yet and the keys are being fetched; try again in a few seconds")


def issue(secret: bytes, *, user: str | None = None, service: str | None = None, ttl_s: float, now_s: float) -> str:
    """Returns a token for either a `user` or a `service`, signed with `secret`, valid from `now_s` on for `ttl_s`.

    Raises `ConfigError` for a name that nobody would accept.
    """
    if (user is None) == (service is None):
        raise ConfigError("a token is either for a user or for a service")
    name = user if user is not None else service
    if not _is_name(name):
        raise ConfigError(f"{name!r} is no name; a name is {_NAME_FORM}")
    period = {"iat": int(now_s), "nbf": int(now_s), "exp": int(now_s + ttl_s)}
    return jwt.encode({"sub" if service is None else "svc": name, **period}, secret, HMAC_ALGORITHM)


def _header(token: str) -> _Header:
    if len(token) > MAX_TOKEN_CHARS or not token.isascii():
        raise Refused("bad-token", f"a token has at most {MAX_TOKEN_CHARS} characters, all of them ASCII")
    try:
        # Two more `=` than needed are ignored, so nobody has to count.
        return _DECODE_HEADER(urlsafe_b64decode(token[: token.index(".")] + "=="))
    except (ValueError, msgspec.DecodeError):
        raise Refused("bad-token", "not a JWT: three parts of base64url with dots between, the first a JSON object with `alg`") from None


def _identity(claims: Mapping[str, Any]) -> Identity:
    if "svc" in claims:
        raise Refused("forbidden", "this is a service's token (it has `svc`); a client shows a user's: segue token --user NAME")
    return Identity(_name(claims, "sub"), _time(claims, "exp"))


def _service(claims: Mapping[str, Any]) -> Service:
    if "svc" not in claims and "sub" in claims:
        raise Refused("forbidden", "this is a user's token (it has no `svc`); a service shows its own: segue token --service NAME")
    return Service(_name(claims, "svc"), _time(claims, "exp"))


def _name(claims: Mapping[str, Any], claim: str) -> str:
    name = claims.get(claim)
    if not _is_name(name):
        raise Refused("bad-token", f"the claim `{claim}` must be {_NAME_FORM}")
    return str(name)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def _time(claims: Mapping[str, Any], claim: str, default: float | None = None) -> float:
    value = claims.get(claim, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _LAST_EXACT_S:
        raise Refused("bad-token", f"the claim `{claim}` must be a Unix time in seconds")
    return float(value)
