"""The keys that tokens may be signed with: one shared secret (HS256), or public keys by id from a JWKS (RS256, ES256).

An algorithm belongs to a kind of key and is never taken from the token alone (RFC 8725, 3.1). A secret verifies HS256 and nothing else,
and a public key only the algorithm that its own JWK names.
"""

import os
import secrets
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Final, Self
from urllib.parse import urlsplit

import aiohttp
import jwt
import msgspec

from infra.kernel.errors import ConfigError

from .network_reason import network_reason

HMAC_ALGORITHM: Final = "HS256"
PUBLIC_ALGORITHMS: Final = ("RS256", "ES256")
MIN_SECRET_BYTES: Final = 32  # RFC 7518, 3.2: as long as the hash
FETCH_TIMEOUT_S: Final = 5.0
FETCH_EVERY_S: Final = 60.0
MAX_JWKS_BYTES: Final = 1 << 20


class AuthOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of the table `[auth]`: where the keys are, and what a token must say. `leeway_s` is the clock skew that is forgiven."""

    secret_file: Path | None = None
    jwks_file: Path | None = None
    jwks_url: str | None = None
    issuer: str | None = None
    audience: str | None = None
    leeway_s: Annotated[float, msgspec.Meta(ge=0, le=600)] = 30.0

    def check(self) -> None:
        """Raises `ConfigError` where the fields do not fit together."""
        if self.jwks_file and self.jwks_url:
            raise ConfigError("auth.jwks_file and auth.jwks_url are both set; keep the one that is the truth")
        if self.jwks_url and not _is_safe(self.jwks_url):
            raise ConfigError(
                f"auth.jwks_url {self.jwks_url!r} must be https (http only to this machine): who can change keys can be anybody"
            )


class Keys:
    """The keys that verify signatures. Only `refresh` changes them, and only the public ones."""

    def __init__(self, *, secret: bytes | None = None, public: Mapping[str, jwt.PyJWK] | None = None, url: str | None = None) -> None:
        self.secret = secret
        self.public: Mapping[str, jwt.PyJWK] = public or {}
        self.is_current = url is None
        """Whether a key id that is unknown here is unknown to the issuer too, as far as one can know."""
        self.failure: str | None = None
        """Why the last fetch failed, for operators; None when it did not."""
        self._url = url
        self._asked_s = float("-inf")

    @classmethod
    def load(cls, options: AuthOptions) -> Self:
        """Returns the keys that `options` name. Those behind `jwks_url` are there after the first `refresh`.

        Raises `ConfigError` for no key at all, a file that cannot be read, and a key that is weak, private or open to others.
        """
        if not (options.secret_file or options.jwks_file or options.jwks_url):
            raise ConfigError("auth: nothing can verify a token; set secret_file, jwks_file or jwks_url")
        secret = read_secret(options.secret_file) if options.secret_file else None
        public = _parse_jwks(_read(options.jwks_file), str(options.jwks_file)) if options.jwks_file else {}
        return cls(secret=secret, public=public, url=options.jwks_url)

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
            self.public = _parse_jwks(await _fetch(self._url), "the answer")
        except (aiohttp.ClientError, TimeoutError, ConfigError) as error:
            self.failure = f"{self._url}: {network_reason(error)}"
            return False
        self.failure, self.is_current = None, True
        return True


def read_secret(path: Path) -> bytes:
    """Returns the shared secret in `path`. Raises `ConfigError` when it is short, or when everybody on the machine may read it."""
    data = _read(path).strip()
    mode = path.stat().st_mode & 0o777
    if mode & 0o007:
        raise ConfigError(f"{path} can be read by every user of this machine (mode {mode:o}); run: chmod 600 {path}")
    if len(data) < MIN_SECRET_BYTES:
        raise ConfigError(f"{path} holds {len(data)} bytes; a secret needs at least {MIN_SECRET_BYTES}: openssl rand -hex 32 > {path}")
    try:
        jwt.get_algorithm_by_name(HMAC_ALGORITHM).prepare_key(data)
    except jwt.InvalidKeyError:
        raise ConfigError(f"{path} holds a public or private key, not a secret; public keys go into auth.jwks_file") from None
    return data


def ensure_secret(state_dir: Path) -> Path:
    """Returns the secret file of `state_dir`, made with random content and mode 0600 where there is none. Raises as `read_secret`."""
    path = state_dir / "secret.key"
    try:
        create_secret(path)
    except OSError as error:
        raise ConfigError(f"the state directory {state_dir} cannot be used: {error.strerror}; choose another: --state DIR") from None
    read_secret(path)
    return path


def create_secret(path: Path) -> None:
    """Makes a file with random content and mode 0600 at `path`, and its folder, unless they exist. Raises OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():
        _create(path, secrets.token_hex(MIN_SECRET_BYTES).encode() + b"\n")


def _create(path: Path, data: bytes) -> None:
    """Writes `data` to `path`, whole or not at all. The first of several processes wins."""
    # A hard link appears at once, and never replaces a file that is there.
    with tempfile.NamedTemporaryFile(dir=path.parent) as file:  # made with mode 0600
        file.write(data)
        file.flush()
        with suppress(FileExistsError):
            os.link(file.name, path)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None


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
    return {key.key_id or "": key for key in usable}


async def _fetch(url: str) -> bytes:
    async with (
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=FETCH_TIMEOUT_S)) as session,
        session.get(url, allow_redirects=False) as response,
    ):
        if response.status != HTTPStatus.OK:
            raise ConfigError(f"answers {response.status} {response.reason}")
        data = bytearray()
        async for chunk in response.content.iter_any():
            data += chunk
            if len(data) > MAX_JWKS_BYTES:
                raise ConfigError(f"answers with more than {MAX_JWKS_BYTES} bytes")
        return bytes(data)


def _is_safe(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in ("127.0.0.1", "::1", "localhost"))
