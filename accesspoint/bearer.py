"""The bearer of a token: the user whom it names, until when it is valid, and what it allows, as an access point knows them. Pure."""

from collections.abc import Callable
from typing import Final, NamedTuple, Protocol

from infra.kernel.grants import Grants


class TokenBearer(Protocol):
    """The user whom a token names. Times are Unix times in seconds; `id` is the token's `jti`, "" where it has none."""

    @property
    def user(self) -> str:
        """The user name."""

    @property
    def expires_s(self) -> float:
        """When the token expires, without the skew of clocks that is forgiven."""

    @property
    def issued_s(self) -> float:
        """When it was issued; 0 where it does not say so."""

    @property
    def id(self) -> str:
        """By which it can be revoked."""

    @property
    def grants(self) -> Grants | None:
        """What may be followed with it; None where it does not narrow that."""


Verify = Callable[[str, float], TokenBearer]


class NoBearer(NamedTuple):
    """The bearer of a session that has shown no token yet."""

    user: str = ""
    expires_s: float = 0.0
    issued_s: float = 0.0
    id: str = ""
    grants: Grants | None = None


NO_BEARER: Final = NoBearer()
