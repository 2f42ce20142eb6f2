"""The factory of roles: what the roles of one process share, and how each is made from its options."""

import random
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import msgspec

from infra.kernel.errors import ConfigError
from infra.kernel.roles import NOTIFICATION
from infra.runtime.capture.capture import Capture
from infra.runtime.context import Context
from infra.runtime.logs import get_logger
from infra.runtime.tokens import AuthOptions, Keys, Verifier
from infra.runtime.wire.memory import MemoryNetwork
from infra.runtime.wire.wire import Network

from .role_spec import Credentials, Role, RoleOptions, RoleSpec
from .roles import ROLES, role_of
from .tokens import service_token


class RoleFactory:
    """The factory of the roles of one process. A role gets a network, and does not know whether its peers share its process.

    - `network`: where links are dialled and accepted; TCP or memory.
    - `verifier`: checks tokens at their doors.
    - `rng`: seeds the randomness of each role.
    - `wall`: Unix time in seconds.
    - `token`: makes the token of a service. Without it, services that need one raise ConfigError.
    - `doors`: the addresses of notification modules by name, such as "sto/n1". It grows as modules are started here. A service that is
      configured with a name gets the address.
    """

    def __init__(
        self,
        network: Network,
        verifier: Verifier,
        rng: random.Random,
        wall: Callable[[], float] = time.time,
        token: Callable[[str], str] | None = None,
        doors: dict[str, str] | None = None,
    ) -> None:
        self.network, self.rng, self.wall = network, rng, wall
        self.doors: dict[str, str] = {} if doors is None else doors
        self._credentials = Credentials(verifier=verifier, token=token or _no_token)

    @classmethod
    def local(cls, secret: bytes, rng: random.Random) -> Self:
        """Returns a factory for one process that has all roles: they are linked in memory, and `secret` signs their tokens."""
        verifier = Verifier(AuthOptions(), Keys(secret=secret), lambda: None)
        return cls(MemoryNetwork(), verifier, rng, token=partial(service_token, secret))

    def make(self, options: RoleOptions) -> Any:
        """Returns the role that `options` describe; it is not started."""
        spec = ROLES[role_of(options)]
        return spec.make(self._resolved(spec, options), self._context(spec, options), self._credentials)

    def started(self, role: Role) -> None:
        """Takes note that `role` has been started here, so that its door can be found by name."""
        if role.role == NOTIFICATION:
            self.doors[f"{role.site}/{role.node}"] = f"http://{role.address}"  # type: ignore[attr-defined]

    def _resolved(self, spec: RoleSpec[Any], options: Any) -> Any:
        """Returns `options` with the addresses of the notification modules that they name."""
        if not spec.notifies:
            return options
        return msgspec.structs.replace(options, notification=[self.doors.get(each, each) for each in options.notification])

    def _context(self, spec: RoleSpec[Any], options: Any) -> Context:
        """Returns the world of the role that `options` are for, with a capture where one is wanted."""
        log = get_logger(spec.name, options.node, options.site)
        capture = None
        if spec.captures:
            capture = Capture.open(options.capture, spec.name, options.site, options.node, wall=self.wall, log=log)
        return Context(network=self.network, log=log, rng=random.Random(self.rng.getrandbits(64)), wall=self.wall, capture=capture)


def _no_token(service: str) -> str:
    raise ConfigError(f"{service} needs a token for the notification intake: give it auth.secret_file, the secret that signs tokens here")
