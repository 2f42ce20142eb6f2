"""Options of the hook: the server of the operator that says who may come in, and who may see what."""

from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import msgspec

from infra.kernel.errors import ConfigError
from infra.kernel.option_checks import check_numbers
from infra.kernel.public_address import is_this_machine

TABLE: Final = "accesspoint.hook"


class HookOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of the hook.

    - `subscribe`: the URL that is asked which topics a user may see.
    - `connect`: the URL that is asked whether a user may come in. Without one, whoever has a good token may.
    - `secret_file`: a secret that is sent as `Authorization: Bearer`, so that the server knows who asks.
    - `ca_file`: the authorities that are believed, instead of the machine's.
    - `allow_plain`: http goes to other machines than this one, too.
    - `timeout_s`: for one question, from when it is asked to the last byte of the answer.
    - `ttl_s`, `max_cached`: how long an answer about a user and a topic is remembered, and how many are.
    - `recheck_s`: how long an answer lets a session hold what it follows. It is asked for again before that; 0: never.
    - `grace_s`: for so much longer it holds where nobody answers.
    - `max_open`: how many questions are under way at once. `max_waiting`: how many more wait for their turn; others are `unavailable`.
    """

    subscribe: str
    connect: str = ""
    secret_file: Path | None = None
    ca_file: Path | None = None
    allow_plain: bool = False
    timeout_s: float = 2.0
    ttl_s: float = 60.0
    max_cached: int = 100_000
    recheck_s: float = 60.0
    grace_s: float = 300.0
    max_open: int = 64
    max_waiting: int = 2_000

    def check(self) -> None:
        """Raises ConfigError for what cannot be called, and for numbers that cannot be meant."""
        self._check_url("subscribe", self.subscribe)
        if self.connect:
            self._check_url("connect", self.connect)
        check_numbers(TABLE, self, ("ttl_s", "max_waiting", "recheck_s", "grace_s"))

    def _check_url(self, key: str, url: str) -> None:
        try:
            parts = urlsplit(url)
            scheme, host = parts.scheme, parts.hostname or ""
        except ValueError:
            scheme, host = "", ""
        if scheme not in ("http", "https") or not host:
            raise ConfigError(f'{TABLE}.{key} is {url!r}; write a URL, such as "https://backend.example.com/segue/{key}"')
        if scheme == "http" and not self.allow_plain and not is_this_machine(host):
            raise ConfigError(
                f"{TABLE}.{key} {url!r} must be https (http only to this machine): who can change answers on their way lets in anybody. "
                "If that network is yours alone, write allow_plain = true"
            )
