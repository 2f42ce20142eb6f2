"""Who may read what an admin door shows (DPS-25): operators and monitors by their token, and this machine."""

import time
from collections.abc import Callable
from functools import partial
from typing import Final
from urllib.parse import urlsplit

from aiohttp import web

from infra.kernel.bearer import bearer_token
from infra.kernel.errors import ConfigError, Refused
from infra.kernel.public_address import is_loopback, is_this_machine

from ..address import Address
from ..tokens import Tokens
from .web_connection import peer_of, place_of

# Reads what an operator reads, and may do nothing. It is for programs that keep a token for long, such as Prometheus.
MONITOR: Final = "monitor"

# A proxy on this machine makes everybody's requests come from this machine. It says so in one of these.
_FORWARDED: Final = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via")


class AdminAccess:
    """The rule of an admin door.

    - `tokens`: reads tokens; None where no key is configured, and then only this machine gets in.
    - `wall`: Unix time in seconds; `now`: time that never goes back.
    """

    def __init__(
        self, tokens: Tokens | None = None, wall: Callable[[], float] = time.time, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._tokens, self._wall, self._now = tokens, wall, now

    def check_address(self, option: str, address: Address) -> None:
        """Raises ConfigError for an `address` that others reach, which `option` says, if nothing here can read a token."""
        if self._tokens is None and not address.is_loopback:
            raise ConfigError(
                f"{option} is {address}, where others reach it, and nothing here can verify an operator's token; "
                f'set auth.secret_file (or jwks_file, jwks_url), or write {option} = "127.0.0.1:{address.port}"'
            )

    def check(self, request: web.Request) -> str:
        """Returns the name in the token of an operator or a monitor; "" for somebody on this machine, who only reads.

        Raises `Refused` for everybody else (bad-token, token-expired, token-not-yet-valid, token-revoked, forbidden, rate-limited).

        What comes from this machine is what the socket says. A header can only take that right away, never give it.
        """
        authorization = request.headers.get("Authorization", "")
        if not authorization and is_from_here(request):
            return ""
        if self._tokens is None:
            raise Refused("forbidden", "nothing here can verify a token; ask on the machine itself, without a proxy")
        name = place_of(request).check_token(partial(_reader, self._tokens, bearer_token(authorization), self._wall()), self._now())
        if name == MONITOR and not _is_read(request):
            raise Refused("forbidden", f"a {MONITOR} may only read: segue token --service operator")
        return name


def _reader(tokens: Tokens, token: str, wall_s: float) -> str:
    """Returns the name in the token of a monitor or an operator. Raises `Refused` for everybody else."""
    return MONITOR if tokens.service(token, wall_s).name == MONITOR else tokens.operator(token, wall_s).name


def is_from_here(request: web.Request) -> bool:
    """Returns whether somebody on this machine reads, and nobody through a proxy or a browser who means another host."""
    return (
        _is_read(request)
        and is_loopback(peer_of(request.transport))
        and not any(name in request.headers for name in _FORWARDED)
        and _is_local(f"//{request.headers.get('Host', '')}")
        and _is_local(request.headers.get("Origin", "//localhost"))
    )


def _is_read(request: web.Request) -> bool:
    return request.method in ("GET", "HEAD")


def _is_local(url: str) -> bool:
    """Returns whether `url` names this machine by an address, or as localhost.

    A page whose own name leads to 127.0.0.1 would otherwise read through the browser of somebody on this machine.
    """
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    return is_this_machine(host)
