"""The keys that tokens may be signed with: shared secrets (HS256), and public keys by id from a JWKS (RS256, ES256).

An algorithm belongs to a kind of key and is never taken from the token alone (RFC 8725, 3.1). A secret verifies HS256 and nothing else,
and a public key only the algorithm that its own JWK names.
"""

from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Final, NamedTuple, Self
from urllib.parse import urlsplit

import jwt
import msgspec

from infra.kernel.errors import ConfigError, Refused, Unavailable
from infra.kernel.public_address import is_this_machine

from .given_file import read_given
from .logs import Logger
from .outgoing.client import OutgoingClient
from .outgoing.options import OutgoingOptions
from .secret_file import read_secret

HMAC_ALGORITHM: Final = "HS256"
PUBLIC_ALGORITHMS: Final = ("RS256", "ES256")
FETCH_TIMEOUT_S: Final = 5.0
FETCH_EVERY_S: Final = 60.0
MAX_JWKS_BYTES: Final = 1 << 20
REREAD_EVERY_S: Final = 1.0


class AuthOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of the table `[auth]`: where the keys are, and what a token must say.

    - `previous_secret_file`: the secret before, with which nothing is signed any more. There need not be such a file yet.
    - `service_keys`: ids of public keys that services and operators may sign with. All other public keys are for users.
    - `leeway_s`: the clock skew that is forgiven.
    - `operators`: the services that may use the API for operators, by the `svc` of their tokens.
    """

    secret_file: Path | None = None
    previous_secret_file: Path | None = None
    jwks_file: Path | None = None
    jwks_url: str | None = None
    service_keys: tuple[str, ...] = ()
    issuer: str | None = None
    audience: str | None = None
    leeway_s: Annotated[float, msgspec.Meta(ge=0, le=600)] = 30.0
    operators: tuple[str, ...] = ("operator",)

    @property
    def has_keys(self) -> bool:
        """Whether anything is named that can verify a token."""
        return bool(self.secret_file or self.jwks_file or self.jwks_url)

    def check(self) -> None:
        """Raises `ConfigError` where the fields do not fit together."""
        if self.previous_secret_file and not self.secret_file:
            raise ConfigError("auth.previous_secret_file is set without auth.secret_file; the newest secret belongs there")
        if self.service_keys and not (self.jwks_file or self.jwks_url):
            raise ConfigError("auth.service_keys names public keys, and there are none; set jwks_file or jwks_url")
        if "" in self.service_keys:
            raise ConfigError('auth.service_keys has "": a key without an id cannot be told from others; give it a kid')
        if self.jwks_file and self.jwks_url:
            raise ConfigError("auth.jwks_file and auth.jwks_url are both set; keep the one that is the truth")
        if self.jwks_url and not _is_safe(self.jwks_url):
            raise ConfigError(
                f"auth.jwks_url {self.jwks_url!r} must be https (http only to this machine): who can change keys can be anybody"
            )


class HeldKeys(NamedTuple):
    """The keys at one moment: the secrets, the newest first, and the public keys by id."""

    secrets: tuple[bytes, ...]
    public: Mapping[str, jwt.PyJWK]


class Keys:
    """The keys that verify signatures. `refresh` changes the public ones behind a URL, `reload` those in files."""

    def __init__(
        self,
        *,
        secret: bytes | None = None,
        previous: bytes | None = None,
        public: Mapping[str, jwt.PyJWK] | None = None,
        url: str | None = None,
        outgoing: OutgoingOptions | None = None,
        files: AuthOptions | None = None,
        log: Logger | None = None,
    ) -> None:
        self._log = log
        self.held = HeldKeys(tuple(each for each in (secret, previous) if each), public or {})
        """Another object whenever a key has changed."""
        self.is_current = url is None
        """Whether a key id that is unknown here is unknown to the issuer too, as far as one can know."""
        self.failure: str | None = None
        """Why keys were not read or fetched the last time, for operators; None when they were. Each reason is logged once."""
        self._url, self._outgoing = url, outgoing or OutgoingOptions()
        self._asked_s = self._looked_s = float("-inf")
        self._files = files or AuthOptions()
        self._stamps = _stamps(self._files)

    @classmethod
    def load(cls, options: AuthOptions, outgoing: OutgoingOptions | None = None, log: Logger | None = None) -> Self:
        """Returns the keys that `options` name. Those behind `jwks_url`, called as `outgoing` lets us, are there after the first `refresh`.

        `log` is told later why keys could not be renewed.

        Raises `ConfigError` for no key at all, a file that cannot be read, and a key that is weak, private or open to others.
        """
        if not options.has_keys:
            raise ConfigError("auth: nothing can verify a token; set secret_file, jwks_file or jwks_url")
        keys = cls(url=options.jwks_url, outgoing=outgoing, files=options, log=log)
        keys.reload()
        return keys

    def reload(self) -> None:
        """Reads the files anew. Raises `ConfigError`, as `load` does, and then all keys stay as they are."""
        files = self._files
        stamps = _stamps(files)
        paths = [files.secret_file, files.previous_secret_file] if files.secret_file else []
        # There need not be a previous one. That there is none any more is told by the file that is gone.
        found = tuple(read_secret(path) for path in paths if path and (path == files.secret_file or path.exists()))
        public = _parse_jwks(read_given(files.jwks_file), str(files.jwks_file)) if files.jwks_file else self.public
        self.held, self._stamps = HeldKeys(found or self.held.secrets, public), stamps

    def reread(self, now_s: float) -> bool:
        """Returns whether the files have changed, and were read anew; once a second at most. It never raises.

        A caller whom no secret has verified asks. So a new secret is known wherever a token of it is shown, in whatever order processes
        hear of it.
        """
        if 0 <= now_s - self._looked_s < REREAD_EVERY_S or self._stamps == _stamps(self._files):
            return False
        self._looked_s = now_s
        try:
            self.reload()
        except ConfigError as error:
            self._fail("keys not read anew", str(error))
            return False
        self.failure = None
        return True

    def _fail(self, event: str, reason: str) -> None:
        if self._log is not None and reason != self.failure:
            self._log.warning(event, reason=reason)
        self.failure = reason

    @property
    def secret(self) -> bytes | None:
        """The newest secret, with which this process signs; None where it has none."""
        return self.held.secrets[0] if self.held.secrets else None

    @property
    def public(self) -> Mapping[str, jwt.PyJWK]:
        """The public keys by id. To set them is to replace them all."""
        return self.held.public

    @public.setter
    def public(self, keys: Mapping[str, jwt.PyJWK]) -> None:
        self.held = self.held._replace(public=keys)

    @property
    def can_change(self) -> bool:
        """Whether there is anything to read or to fetch anew."""
        return bool(self._url or self._files.secret_file or self._files.jwks_file)

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The algorithms with which a token may be signed here."""
        of_secret = (HMAC_ALGORITHM,) if self.secret else ()
        return of_secret + (PUBLIC_ALGORITHMS if self.public or self._url else ())

    def is_fetch_due(self, now_s: float) -> bool:
        """Returns whether the caller, who has met an unknown key id, must start `refresh` now: at most once a minute."""
        if self._url is None or now_s - self._asked_s < FETCH_EVERY_S:
            return False
        self._asked_s, self.is_current = now_s, False
        return True

    async def refresh(self) -> bool:
        """Fetches the public keys anew, if they live behind a URL, and returns whether they are current now.

        It never raises: after a failure the old keys stay, and `failure` tells the operator why. Cancelling changes nothing.
        """
        if self._url is None:
            return True
        try:
            self.public = _parse_jwks(await _fetch(self._url, self._outgoing), "the answer")
        except (Refused, Unavailable, ConfigError) as error:
            self._fail("public keys not fetched", f"{self._url}: {error}")
            return False
        self.failure, self.is_current = None, True
        return True


def _parse_jwks(data: bytes, source: str) -> dict[str, jwt.PyJWK]:
    """Returns key id -> key, for the keys of a JWKS that sign with an allowed algorithm. A key without an id is known as ""."""
    try:
        found = jwt.PyJWKSet.from_json(data.decode())
    except (ValueError, TypeError, AttributeError, RecursionError, jwt.PyJWTError) as error:
        raise ConfigError(f"{source} is not a JWKS with usable keys: {error}") from None
    usable = [key for key in found.keys if key.algorithm_name in PUBLIC_ALGORITHMS and key.public_key_use in (None, "sig")]
    for key in usable:
        if hasattr(key.key, "private_bytes"):
            raise ConfigError(f"{source} holds the private key {key.key_id!r}; publish public keys only, and replace this one")
        weak = key.Algorithm.check_key_length(key.key)
        if weak:
            raise ConfigError(f"{source}, key {key.key_id!r}: {weak}")
    if not usable:
        raise ConfigError(f"{source} has no signing key for {' or '.join(PUBLIC_ALGORITHMS)}")
    by_id = {key.key_id or "": key for key in usable}
    if len(by_id) != len(usable):
        raise ConfigError(f"{source} has two keys with the same id; each signing key needs a kid of its own")
    return by_id


def _stamps(files: AuthOptions) -> tuple[tuple[int, int, int] | None, ...]:
    """Returns what changes when one of the secret files does."""
    return tuple(_stamp(path) for path in (files.secret_file, files.previous_secret_file) if path is not None)


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


async def _fetch(url: str, outgoing: OutgoingOptions) -> bytes:
    client = OutgoingClient(outgoing, timeout_s=FETCH_TIMEOUT_S, max_answer_bytes=MAX_JWKS_BYTES)
    try:
        answer = await client.get(url)
    finally:
        await client.close()
    if answer.status != HTTPStatus.OK:
        raise ConfigError(f"answers {answer.status} {answer.reason}")
    if not answer.is_whole:
        raise ConfigError(f"answers with more than {MAX_JWKS_BYTES} bytes, in an encoding, or not to the end")
    return answer.body


def _is_safe(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and is_this_machine(parts.hostname or ""))
