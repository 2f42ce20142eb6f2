"""Our identity for push services: a P-256 key pair, and the signed header that names us (VAPID, RFC 8292)."""

from base64 import urlsafe_b64encode
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
from py_vapid import Vapid02  # type: ignore[import-untyped]

from infra.kernel.errors import ConfigError
from infra.runtime.given_file import read_closed
from infra.runtime.private_folder import make_private
from infra.runtime.whole_file import write_new

FILE_NAME: Final = "vapid.pem"
# RFC 8292, 2: at most a day. Half of it forgives a clock that is wrong by hours.
TTL_S: Final = 12 * 3600


class Vapid:
    """The key pair. Browsers make subscriptions for one public key: when the pair is replaced, all of them are worthless."""

    def __init__(self, key: Vapid02) -> None:
        self._key = key

    @classmethod
    def ensure(cls, state_dir: Path) -> Self:
        """Returns the pair in `vapid.pem` of `state_dir`; makes it with mode 0600 where there is none.

        Raises `ConfigError` for a file that cannot be used, holds no such key, or can be read by everybody.
        """
        path = state_dir / FILE_NAME
        try:
            make_private(state_dir)
            if not path.exists():
                _create(path)
            return cls(_load(path))
        except OSError as error:
            raise ConfigError(f"{path} cannot be used: {error.strerror}; choose another state directory: --state DIR") from None

    @property
    def public_key(self) -> str:
        """The `applicationServerKey` for browsers: the uncompressed point (65 bytes) as base64url without padding."""
        point = self._key.public_key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return urlsafe_b64encode(point).rstrip(b"=").decode()

    def headers(self, origin: str, contact: str, now_s: float) -> dict[str, str]:
        """Returns the `Authorization` for requests to `origin` (`https://push.example.org`) at Unix time `now_s`.

        `contact` is a mailto: or https: URL. Raises `VapidException` for one that is not.
        """
        claims = {"aud": origin, "sub": contact, "exp": int(now_s) + TTL_S}
        return dict(self._key.sign(claims))


def _create(path: Path) -> None:
    key = Vapid02()
    key.generate_keys()
    with suppress(FileExistsError):  # another process was first
        write_new(path, key.private_pem())


def _load(path: Path) -> Vapid02:
    data = read_closed(path)
    try:
        key = load_pem_private_key(data, None)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, EllipticCurvePrivateKey) or not isinstance(key.curve, SECP256R1):
        raise ConfigError(f"{path} holds no P-256 private key as PEM; put the old file back, or delete it and lose every push subscription")
    return Vapid02(key)
