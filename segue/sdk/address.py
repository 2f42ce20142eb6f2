"""Addresses to connect to: those that a caller gives, checked once and completed with a path."""

from collections.abc import Iterable
from urllib.parse import urlsplit, urlunsplit

from segue.sdk.errors import Misuse


def doors(urls: str | Iterable[str], *, schemes: tuple[str, ...], path: str) -> tuple[str, ...]:
    """Returns `urls`, one or more, each with `path` added when it has none ("ws://host:7700" becomes "ws://host:7700/v1/connect").

    Raises Misuse where there is no URL, where one has another scheme than `schemes`, and where one has no host.
    """
    found = tuple(_door(url, schemes, path) for url in ([urls] if isinstance(urls, str) else urls))
    if not found:
        raise Misuse(f"no address was given; write one like {schemes[0]}://127.0.0.1:7700")
    return found


def _door(url: str, schemes: tuple[str, ...], path: str) -> str:
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in schemes and parts.hostname and parts.port != 0
    except ValueError:  # a port that is no number, half an IPv6 address
        is_address = False
    if not is_address:
        raise Misuse(f"{url!r} is not an address of Segue; write {' or '.join(schemes)}, for example {schemes[0]}://127.0.0.1:7700{path}")
    return urlunsplit(parts._replace(path=parts.path if parts.path.strip("/") else path))
