"""The context of a role: what its process gives it of the world."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from .capture.capture import Capture
from .logs import Logger
from .wire.wire import Network


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The means by which a role reaches the world. A test gives it another world.

    - `network`: where its links are dialled and accepted; TCP or memory.
    - `log`: its logger, whose lines name role, node and site.
    - `rng`: its randomness, seeded by its process.
    - `wall`: Unix time in seconds.
    - `now`: time in seconds that never goes back, for timeouts.
    - `capture`: where it writes down what happens; None where nobody asked for that.
    """

    network: Network
    log: Logger
    rng: random.Random
    wall: Callable[[], float] = time.time
    now: Callable[[], float] = time.monotonic
    capture: Capture | None = None
