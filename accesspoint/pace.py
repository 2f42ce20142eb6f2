"""Pace: how fast clients may speak. Pure.

What a client has sent is counted once for each read, in seconds of its time: so many frames, bytes or named topics are what it may send
in a second. A client that is faster than that is not read for a while, and TCP slows it down. Nothing that it says is parsed or answered
meanwhile. Whoever goes on in spite of that is sent away with `flooding`.

Acts are also counted for each user, because each is an event for all their followers, and a user may have many connections.
"""

from math import ceil
from typing import Final, Protocol

from infra.kernel.errors import Refused
from infra.kernel.rates import Buckets, Rate

from .options import AccessPointOptions

# Rests are so long, or a multiple of it: who rests is looked at so often, and read again for more than one message.
REST_S: Final = 0.25
# A read that completes no frame counts as this part of a frame.
PIECE: Final = 0.2
# For so much of the time a client may be too fast for ever.
TOLERATED: Final = 0.1

_SPEAKING: Final = Rate.of(1.0)


class Paced(Protocol):
    """A client, as far as its pace goes. At first the times are `LONG_AGO_S`.

    - `named_topics`: how many topics it has named since the last read was counted.
    - `speaking_full_s`, `patience_full_s`: when it will have all of its time again, and all of our patience.
    """

    named_topics: int
    speaking_full_s: float
    patience_full_s: float


class Pace:
    """The rates of `options`, the same for all clients. `rests` counts how often somebody was too fast."""

    def __init__(self, options: AccessPointOptions) -> None:
        self.rests = 0
        self._frame_s = 1 / options.max_messages_per_s
        self._byte_s = 1 / options.max_bytes_per_s
        self._topic_s = 1 / options.max_topics_per_s
        self._flooding_s = options.flooding_s
        self._patience = Rate(per_s=TOLERATED, burst=options.flooding_s * (1 - TOLERATED))

    def spend(self, paced: Paced, now_s: float, frames: int, size_bytes: int) -> float:
        """Counts one read, and the topics that were named in it. Returns for how many seconds the client is not to be read.

        Raises `Refused("flooding")` for one that has been too fast for too long.
        """
        cost_s = max((frames or PIECE) * self._frame_s, size_bytes * self._byte_s, paced.named_topics * self._topic_s)
        paced.named_topics = 0
        paced.speaking_full_s = _SPEAKING.full_s(paced.speaking_full_s, now_s, cost_s)
        if not _SPEAKING.wait_s(paced.speaking_full_s, now_s, 0):
            return 0.0
        self.rests += 1
        rest_s = REST_S * ceil(_SPEAKING.wait_s(paced.speaking_full_s, now_s, REST_S) / REST_S)
        paced.patience_full_s = self._patience.full_s(paced.patience_full_s, now_s, rest_s)
        if self._patience.wait_s(paced.patience_full_s, now_s, 0):
            raise Refused("flooding", f"faster than the limits in welcome for {self._flooding_s:g} s; wait before you come back")
        return rest_s


class ActRates:
    """The rate of acts of each user, over all connections that they have here. As many users are known as there may be connections.

    A change of stored notifications counts as an act: it is told to all devices of the user.
    """

    def __init__(self, options: AccessPointOptions) -> None:
        self._per_s = options.max_user_acts_per_s
        self._users: Buckets[str] = Buckets(Rate.of(self._per_s), options.max_connections)

    def check(self, user: str, now_s: float) -> None:
        """Counts one act of `user`. Raises `Refused("rate-limited")` if it is too many."""
        if self._users.allow(user, now_s):
            raise Refused("rate-limited", f"over {self._per_s} acts a second of this user, on all connections; send it again later")
