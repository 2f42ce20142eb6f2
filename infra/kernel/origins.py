"""Origins: whose pages may connect. Pure.

A browser says in `Origin` of which site the page is that connects, and lets it connect to anywhere. So it is the server that must refuse
pages of strangers, which would act in the name of whoever looks at them. Programs that are no browsers send no `Origin`.
"""

from collections.abc import Collection
from typing import Final
from urllib.parse import urlsplit

from .errors import ConfigError, Refused
from .public_address import is_this_machine

ANY: Final = "*"
_SCHEMES: Final = frozenset({"http", "https"})


def check_origin(origin: str | None, host: str, allowed: Collection[str]) -> None:
    """Raises `Refused("origin-refused")` for a page that may not connect.

    - `origin`: its header `Origin`; None: it is no page.
    - `host`: its header `Host`.
    - `allowed`: see `may_connect`.
    """
    if origin is not None and not may_connect(origin, host, allowed):
        raise Refused("origin-refused", f"pages of {origin.lower()!r:.120} may not connect; an operator can add it to allowed_origins")


def may_connect(origin: str, host: str, allowed: Collection[str]) -> bool:
    """Returns whether a page of `origin` may connect to `host`.

    Pages of the same host and port may, those of loopback addresses, and those whose origin is in `allowed`; with `"*"` all may.
    """
    return ANY in allowed or origin.lower() in allowed or _is_near(origin.lower(), host.lower())


def _is_near(origin: str, host: str) -> bool:
    """Tells whether `origin` is the same host as `host`, a Host header, or a loopback address."""
    try:
        parts = urlsplit(origin)
        return parts.scheme in _SCHEMES and (parts.netloc == host or is_this_machine(parts.hostname or ""))
    except ValueError:
        return False


def check_origins(key: str, origins: Collection[str]) -> None:
    """Raises ConfigError for one of `origins`, which `key` lists, that no browser sends."""
    for origin in origins:
        parts = urlsplit(origin)
        if origin not in (ANY, "null") and (f"{parts.scheme}://{parts.netloc}" != origin or not parts.netloc or origin != origin.lower()):
            example = '"https://app.example.com"'
            raise ConfigError(f'{key} has {origin!r}; write scheme and host, in lower case and without a path, such as {example}, or "*"')
