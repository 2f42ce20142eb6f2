"""What a node has in memory of the shards that it owns."""

from collections.abc import Callable
from dataclasses import dataclass

from .agenda import Agenda
from .log import Log
from .ownership.core import FencingToken
from .people import People


@dataclass(frozen=True, slots=True, kw_only=True)
class Owned:
    """The state of the shards that this node owns.

    - `log`: rows to be decided.
    - `agenda`: mails and pushes to be sent.
    - `people`: users who were needed lately.
    - `fence`: returns what writes bear now; raises Unavailable while nothing may be written, decided or told.
    """

    log: Log
    agenda: Agenda
    people: People
    fence: Callable[[], FencingToken]
