"""Who may ask at the first page. Pure.

It hands out tokens of any user, so it is for the person who started `segue up` and for nobody else:

- its door is on loopback, so no other machine reaches it;
- `Host` must name this machine and this door: a stranger's name that leads here (DNS rebinding) is refused, whatever its page asks;
- `Origin`, if a browser sends one, must be the page itself, and no answer bears a header of CORS;
- whatever is not for everybody asks for the key behind the # of the address that was printed. Other users of this machine can reach the
  door, but see neither the terminal nor the secret that the key comes from. A browser sends what stands behind a # nowhere.
"""

import hmac
from base64 import urlsafe_b64encode
from typing import Final
from urllib.parse import urlsplit

from infra.kernel.bearer import bearer_token
from infra.kernel.errors import Refused
from infra.kernel.public_address import is_this_machine

KEY_BYTES: Final = 16
_PURPOSE: Final = b"segue: the key of the first page"


def key_of(secret: bytes) -> str:
    """Returns the key of the page where `secret` signs tokens: the same one after a restart, and nothing that the secret follows from."""
    return urlsafe_b64encode(hmac.digest(secret, _PURPOSE, "sha256")[:KEY_BYTES]).rstrip(b"=").decode()


def check_place(host: str, origin: str | None, scheme: str, port: int) -> None:
    """Raises `Refused` for a request that is for another place, or comes from the page of another one.

    - `host`, `origin`: its headers `Host` and `Origin`; None: it has none.
    - `scheme`, `port`: those of the page.
    """
    if not _is_here(host, port):
        raise Refused("forbidden", f"this page is at 127.0.0.1:{port} and localhost:{port}, not at {host!r:.120}")
    if origin is not None and origin.lower() != f"{scheme}://{host}".lower():
        raise Refused("origin-refused", f"pages of {origin!r:.120} may not ask here")


def check_key(authorization: str, key: str) -> None:
    """Raises `Refused("bad-token")` unless the `Authorization` header bears `key`."""
    if not hmac.compare_digest(bearer_token(authorization).encode(), key.encode()):
        raise Refused("bad-token", "this is not the key of this page; open the whole address that `segue up` has printed")


def _is_here(host: str, port: int) -> bool:
    try:
        parts = urlsplit(f"//{host}")
        return parts.netloc == host and parts.port == port and parts.username is None and is_this_machine(parts.hostname or "")
    except ValueError:
        return False
