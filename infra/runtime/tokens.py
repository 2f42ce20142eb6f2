"""JWTs: which user or service makes a request. Users carry `sub`, services carry `svc` (SB-45). Both must expire (`exp`).

PyJWT does the cryptography. Time is an argument, so that a reason can name both clocks. No reason repeats a token.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias, TypeVar

import jwt

from infra.kernel.errors import Refused
from infra.kernel.one_meaning import read_one_meaning
from infra.kernel.recent import Recent

from .claims import Identity, Service, identity_of, service_of, subscription_of, time_of
from .issuing import issue
from .keys import HMAC_ALGORITHM, AuthOptions, HeldKeys, Keys
from .secret_file import ensure_secret, read_secret
from .token_header import TokenHeader, read_header

__all__ = ["AuthOptions", "Identity", "Keys", "Service", "Tokens", "Verifier", "ensure_secret", "issue", "read_secret"]

REMEMBERED: Final = 4096

Revoked: TypeAlias = Callable[[Identity | Service], Refused | None]


def nobody_revoked(who: Identity | Service) -> Refused | None:
    """Returns None: nobody has revoked the token of `who`."""


class Tokens(Protocol):
    """The reading of tokens, as handlers of requests need it; `Verifier` does it. All methods raise `Refused`."""

    def client(self, token: str, now_s: float) -> Identity:
        """Returns the user who shows `token` at Unix time `now_s`."""

    def service(self, token: str, now_s: float) -> Service:
        """Returns the service that shows `token` at Unix time `now_s`."""

    def operator(self, token: str, now_s: float) -> Service:
        """Returns the operator who shows `token` at Unix time `now_s`."""


Who = TypeVar("Who", Identity, Service)

# A verified token: from when until when it holds (skew included), the keys that were there when it was verified, and whom it names.
# It is a bare tuple, because a hit is on the path of every HTTP request.
_Known: TypeAlias = tuple[float, float, HeldKeys, Who]


class _OneMeaningJwt(jwt.PyJWT):
    """PyJWT, without claims of which another reader might find others."""

    def _decode_payload(self, decoded: dict[str, Any]) -> dict[str, Any]:  # PyJWT has it to be overridden
        try:
            return read_one_meaning(decoded["payload"])
        except ValueError as error:
            raise jwt.DecodeError(f"the claims: {error}") from None


_DECODE: Final = _OneMeaningJwt().decode


class Verifier:
    """The check of tokens, which makes identities of them. It never waits.

    Where a public key is unknown, `on_fetch_due` is called, at most once a minute, and must start `keys.refresh()`. Until that is
    answered such tokens are refused as `unavailable`.

    A claim to be a service or an operator, or to let a user follow something, counts only under the secret, or under a key that the
    options name for it.

    The last few thousand good tokens are `remembered`, because a service shows the same one with every request. `revoked` returns why
    somebody with a good token is refused all the same, None if they are not. It is asked each time, also for remembered tokens.
    """

    def __init__(
        self,
        options: AuthOptions,
        keys: Keys,
        on_fetch_due: Callable[[], object],
        remembered: int = REMEMBERED,
        revoked: Revoked = nobody_revoked,
    ) -> None:
        self.leeway_s = options.leeway_s
        """The skew of clocks that is forgiven."""
        self._options = options
        self._keys = keys
        self._on_fetch_due = on_fetch_due
        self._revoked = revoked
        self._clients = Recent[str, _Known[Identity]](remembered)
        self._subscriptions = Recent[str, _Known[Identity]](remembered)
        self._services = Recent[str, _Known[Service]](remembered)

    def asking(self, revoked: Revoked) -> "Verifier":
        """Returns a verifier with the same options and keys that asks `revoked`: each role of a process has its own."""
        return Verifier(self._options, self._keys, self._on_fetch_due, revoked=revoked)

    def client(self, token: str, now_s: float) -> Identity:
        """Returns the user who shows `token` at Unix time `now_s`.

        Raises `Refused`: bad-token, token-expired, token-not-yet-valid, unavailable, what `revoked` says, or forbidden for a service's
        token.
        """
        known = self._clients.young.get(token)
        if known is not None:
            start_s, end_s, keys, who = known
            if start_s <= now_s < end_s and keys is self._keys.held:
                return self._unless_revoked(who)
        return self._admit(token, now_s, self._clients, identity_of, is_for_all=True)

    def subscription(self, token: str, now_s: float) -> Identity:
        """Returns the user for whom a backend has signed `token`, which is for following what its `grants` allow. Raises as `client`.

        Nobody opens a session with it.
        """
        return self._admit(token, now_s, self._subscriptions, subscription_of)

    def service(self, token: str, now_s: float) -> Service:
        """Returns the service that shows `token` at Unix time `now_s`. Raises as `client`; forbidden is for a user's token."""
        known = self._services.young.get(token)
        if known is not None:
            start_s, end_s, keys, who = known
            if start_s <= now_s < end_s and keys is self._keys.held:
                return self._unless_revoked(who)
        return self._admit(token, now_s, self._services, service_of)

    def operator(self, token: str, now_s: float) -> Service:
        """Returns the operator who shows `token` at Unix time `now_s`. Raises as `service`; forbidden is for every other service, too."""
        who = self.service(token, now_s)
        if who.name not in self._options.operators:
            named = " or ".join(self._options.operators) or "nobody"
            raise Refused(
                "forbidden", f"this is for operators ({named}; see auth.operators), not for {who.name}: segue token --service operator"
            )
        return who

    def _admit(
        self,
        token: str,
        now_s: float,
        recent: Recent[str, _Known[Who]],
        name: Callable[[Mapping[str, Any]], Who],
        *,
        is_for_all: bool = False,
    ) -> Who:
        known = recent.take(token)
        if known is None or known[2] is not self._keys.held:
            header = read_header(token)
            claims = self._decode(token, header, now_s)
            leeway_s, who = self._options.leeway_s, name(claims)
            if not is_for_all:
                self._check_key_gives_rights(header)
            known = time_of(claims, "nbf", 0.0) - leeway_s, time_of(claims, "exp") + leeway_s, self._keys.held, who
        self._check_time(known[0], known[1], now_s)
        recent.add(token, known)
        return self._unless_revoked(known[3])

    def _check_key_gives_rights(self, header: TokenHeader) -> None:
        """Raises `Refused` where the key is one for users: who decides about their claims must not decide who is a service."""
        if header.alg != HMAC_ALGORITHM and header.kid not in self._options.service_keys:
            raise Refused(
                "forbidden",
                f"the key {header.kid!r:.80} signs for users alone; services, operators and subscriptions need a token that is signed "
                "with the secret, or with a key that auth.service_keys names",
            )

    def _unless_revoked(self, who: Who) -> Who:
        refused = self._revoked(who)
        if refused is not None:
            raise refused
        return who

    def _check_time(self, start_s: float, end_s: float, now_s: float) -> None:
        leeway_s = self._options.leeway_s
        clocks = f"the clock here says {now_s:.0f} (Unix time, s) and forgives {leeway_s:g} s of skew"
        if now_s >= end_s:
            raise Refused("token-expired", f"expired at {end_s - leeway_s:.0f}, {clocks}; fetch a new token")
        if now_s < start_s:
            raise Refused("token-not-yet-valid", f"valid from {start_s + leeway_s:.0f}, {clocks}; compare the clocks")

    def _decode(self, token: str, header: TokenHeader, now_s: float) -> dict[str, Any]:
        allowed = self._keys.algorithms
        if header.alg not in allowed:
            raise Refused("bad-token", f"algorithm {header.alg!r:.20} is not allowed here; allowed: {', '.join(allowed)}")
        if header.alg != HMAC_ALGORITHM:
            return self._verified(token, header.alg, [self._public_key(header, now_s)])
        try:
            return self._verified(token, HMAC_ALGORITHM, self._keys.held.secrets)
        except Refused:
            if not self._keys.reread(now_s):
                raise
        return self._verified(token, HMAC_ALGORITHM, self._keys.held.secrets)

    def _verified(self, token: str, algorithm: str, keys: Sequence[bytes | jwt.PyJWK]) -> dict[str, Any]:
        """Returns the claims of `token`, which one of `keys` has signed. There are two at most, so a forgery costs little more."""
        last = len(keys) - 1
        for number, key in enumerate(keys):
            try:
                return self._claims(token, algorithm, key)
            except jwt.PyJWTError as error:
                if number == last or not isinstance(error, jwt.InvalidSignatureError):
                    raise Refused("bad-token", f"the token does not verify: {error}") from None
        raise Refused("bad-token", "there is no key any more that could verify the token")

    def _claims(self, token: str, algorithm: str, key: bytes | jwt.PyJWK) -> dict[str, Any]:
        return _DECODE(
            token,
            key,
            algorithms=[algorithm],
            options={"require": ["exp"], "verify_exp": False, "verify_nbf": False, "verify_iat": False},
            issuer=self._options.issuer,
            audience=self._options.audience,
        )

    def _public_key(self, header: TokenHeader, now_s: float) -> jwt.PyJWK:
        key = self._keys.public.get(header.kid)
        if key is None:
            raise self._unknown_key(header.kid, now_s)
        if key.algorithm_name != header.alg:
            raise Refused("bad-token", f"the key {header.kid!r:.80} signs {key.algorithm_name}, the token says {header.alg}")
        return key

    def _unknown_key(self, kid: str, now_s: float) -> Refused:
        if self._keys.is_fetch_due(now_s):
            self._on_fetch_due()
        if self._keys.is_current:
            return Refused("bad-token", f"no key has the id {kid!r:.80}")
        return Refused("unavailable", f"the key {kid!r:.80} is not known yet and the keys are being fetched; try again in a few seconds")
