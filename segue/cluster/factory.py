"""The factory of roles: what the roles of one process share, and how each is made from its options."""

import random
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import msgspec

from infra.kernel.errors import ConfigError, Refused
from infra.kernel.roles import NOTIFICATION
from infra.runtime.audit import AuditOptions
from infra.runtime.capture.capture import Capture
from infra.runtime.context import Context
from infra.runtime.door_opener import DoorOpener
from infra.runtime.link_auth import LinkAuth
from infra.runtime.logs import get_logger
from infra.runtime.outgoing.options import OutgoingOptions
from infra.runtime.tokens import AuthOptions, Identity, Keys, Service, Verifier
from infra.runtime.wire.memory import MemoryNetwork
from infra.runtime.wire.wire import Network

from .role_spec import Credentials, Role, RoleOptions, RoleSpec
from .roles import ROLES, role_of
from .tokens import signer


class RoleFactory:
    """The factory of the roles of one process. A role gets a network, and does not know whether its peers share its process.

    - `network`: where links are dialled and accepted; TCP or memory.
    - `verifier`: checks tokens at their doors.
    - `rng`: seeds the randomness of each role.
    - `wall`: Unix time in seconds. `now`: time in seconds that never goes back.
    - `token`: makes the token of a service. Without it, services that need one raise ConfigError.
    - `outgoing`: where its roles may call over HTTP.
    - `opener`: opens the doors of its roles.
    - `audit`: where its roles write down what operators change.
    - `doors`: the addresses of notification modules by name, such as "sto/n1". It grows as modules are started here. A service that is
      configured with a name gets the address.
    - `link_auth`: how links are proved. Without it they are open.
    """

    def __init__(
        self,
        network: Network,
        verifier: Verifier,
        rng: random.Random,
        wall: Callable[[], float] = time.time,
        now: Callable[[], float] = time.monotonic,
        token: Callable[[str], str] | None = None,
        doors: dict[str, str] | None = None,
        outgoing: OutgoingOptions | None = None,
        opener: DoorOpener | None = None,
        audit: AuditOptions | None = None,
        link_auth: LinkAuth | None = None,
    ) -> None:
        self.audit = audit or AuditOptions()
        self.network, self.rng, self.wall, self.now = network, rng, wall, now
        self.outgoing = outgoing or OutgoingOptions()
        self.opener = opener or DoorOpener()
        self.doors: dict[str, str] = {} if doors is None else doors
        self._link_auth = link_auth or LinkAuth()
        self._credentials = Credentials(verifier=verifier, token=token or _no_token)
        self._contexts: list[Context] = []

    @classmethod
    def local(
        cls, secret: bytes | Keys, rng: random.Random, opener: DoorOpener | None = None, outgoing: OutgoingOptions | None = None
    ) -> Self:
        """Returns a factory for one process that has all roles: they are linked in memory, and `secret` signs their tokens.

        - `secret`: the only secret there is, or all keys, which can change.
        - `opener`: opens their doors; without it, they are in plain and on loopback.
        - `outgoing`: where they may call over HTTP; without it, at public addresses only.
        """
        keys = secret if isinstance(secret, Keys) else Keys(secret=secret)
        verifier, token = Verifier(AuthOptions(), keys, lambda: None), signer(keys, AuthOptions())
        return cls(MemoryNetwork(), verifier, rng, token=token, opener=opener, outgoing=outgoing)

    def make(self, options: RoleOptions) -> Any:
        """Returns the role that `options` describe; it is not started."""
        spec = ROLES[role_of(options)]
        context = self._context(spec, options)
        self._contexts.append(context)
        credentials = replace(self._credentials, verifier=self._credentials.verifier.asking(context.revocations.refusal))
        return spec.make(self._resolved(spec, options), context, credentials)

    def started(self, role: Role) -> None:
        """Takes note that `role` has been started here, so that its door can be found by name."""
        if role.role == NOTIFICATION:
            self.doors[f"{role.site}/{role.node}"] = f"{self.opener.scheme('http')}://{role.address}"  # type: ignore[attr-defined]

    def tokens(self) -> Verifier:
        """Returns what checks the tokens at the admin door: none that any role of the process knows as revoked is taken there."""
        return self._credentials.verifier.asking(self._refusal)

    def _refusal(self, who: Identity | Service) -> Refused | None:
        return next((refused for context in self._contexts if (refused := context.revocations.refusal(who))), None)

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
        return Context(
            network=self.network,
            log=log,
            rng=random.Random(self.rng.getrandbits(64)),
            wall=self.wall,
            now=self.now,
            outgoing=self.outgoing,
            doors=self.opener,
            audit_options=self.audit,
            link_auth=self._link_auth,
            capture=capture,
        )


def _no_token(service: str) -> str:
    raise ConfigError(f"{service} needs a token for the notification intake: give it auth.secret_file, the secret that signs tokens here")
