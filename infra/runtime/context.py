"""The context of a role: what its process gives it of the world."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from .audit import AuditLog, AuditOptions
from .capture.capture import Capture
from .door_opener import DoorOpener
from .link_auth import LinkAuth
from .logs import Logger
from .outgoing.options import OutgoingOptions
from .revocation_book import RevocationBook
from .wire.wire import Network


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The means by which a role reaches the world. A test gives it another world.

    - `network`: where its links are dialled and accepted; TCP or memory.
    - `log`: its logger, whose lines name role, node and site.
    - `rng`: its randomness, seeded by its process.
    - `wall`: Unix time in seconds.
    - `now`: time in seconds that never goes back, for timeouts.
    - `outgoing`: where it may call over HTTP.
    - `doors`: opens its doors, with TLS or in plain.
    - `audit`: where it writes down what operators change; `audit_options` say where that is.
    - `link_auth`: how its links are proved; not at all, unless somebody says so.
    - `capture`: where it writes down what happens; None where nobody asked for that.
    - `revocations`: whose tokens it takes no more; its own, since each role hears of them over its own links.
    """

    network: Network
    log: Logger
    rng: random.Random
    wall: Callable[[], float] = time.time
    now: Callable[[], float] = time.monotonic
    outgoing: OutgoingOptions = field(default_factory=OutgoingOptions)
    doors: DoorOpener = field(default_factory=DoorOpener)
    audit_options: AuditOptions = field(default_factory=AuditOptions)
    link_auth: LinkAuth = field(default_factory=LinkAuth)
    capture: Capture | None = None
    audit: AuditLog = field(init=False)
    revocations: RevocationBook = field(init=False)

    def __post_init__(self) -> None:
        """Gives the role a book and an audit log of its own."""
        object.__setattr__(self, "audit", AuditLog(self.audit_options, self.log, self.wall))
        object.__setattr__(self, "revocations", RevocationBook(self.wall))
