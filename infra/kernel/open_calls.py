"""Open calls: requests that were sent over links, and whose answers are owed. Pure.

The caller chooses the link and sends the `Call`. This table gives it a number and remembers which peer owes the answer. Each call ends
once: with its reply, with the loss of the link, or because its time is over. A reply that comes later is ignored, and so is one from a
peer that was not asked.
"""

from collections.abc import Callable, Hashable
from functools import partial
from itertools import takewhile
from typing import Generic, NamedTuple, TypeVar

from .codes import BY_NAME
from .errors import Refused
from .every_one import for_every_one
from .frames import Reply
from .printable import printable

# Called once with the reply, or with why there is none.
Then = Callable[[Reply | Refused], None]

Peer = TypeVar("Peer", bound=Hashable)


def refusal_of(outcome: Reply | Refused) -> Refused | None:
    """Returns why a call was refused, if it was. A code that nobody here knows, of a newer version, is a defect of that one call."""
    if isinstance(outcome, Refused):
        return outcome
    if not outcome.code:
        return None
    if outcome.code in BY_NAME:
        return Refused(outcome.code, outcome.reason)
    return Refused("internal-error", printable(f"the service has answered with an unknown code, {outcome.code:.40}: {outcome.reason}"))


class _Open(NamedTuple):
    peer: Hashable
    due_s: float
    size_bytes: int
    then: Then


class OpenCalls(Generic[Peer]):
    """Calls to peers, such as links or their addresses: at most `max_calls` of them, with at most `max_bytes` in all.

    A call that has no reply after `timeout_s` is late. Times are seconds of one clock that never goes back.
    """

    def __init__(self, max_calls: int, max_bytes: int, timeout_s: float) -> None:
        self.open_bytes = 0
        self._max_calls, self._max_bytes, self._timeout_s = max_calls, max_bytes, timeout_s
        # All calls have the same time, and a dict keeps the order of insertion. So the first one in here is the next to be late.
        self._open: dict[int, _Open] = {}
        self._n = 0

    def __len__(self) -> int:
        """Returns the number of open calls."""
        return len(self._open)

    @property
    def due_s(self) -> float | None:
        """When the next call is late; None when none is open."""
        return next(iter(self._open.values())).due_s if self._open else None

    def open(self, peer: Peer, size_bytes: int, now_s: float, then: Then) -> int:
        """Returns the number of a new call.

        - `peer`: owes the answer.
        - `size_bytes`: what the call holds until it ends.
        - `then`: called when it ends, unless it is given up.

        Raises `Refused("unavailable")`, and opens nothing, when too much is open.
        """
        if len(self._open) >= self._max_calls or self.open_bytes + size_bytes > self._max_bytes:
            raise Refused("unavailable", "too many requests are waiting for an answer")
        self._n += 1
        self._open[self._n] = _Open(peer, now_s + self._timeout_s, size_bytes, then)
        self.open_bytes += size_bytes
        return self._n

    def reply(self, peer: Peer, reply: Reply) -> None:
        """Ends the call that `peer` has answered, if it is open and `peer` was asked."""
        found = self._open.get(reply.n)
        if found is not None and found.peer == peer:
            self._end(reply.n, reply)

    def lost(self, peer: Peer, why: Refused) -> None:
        """Ends all calls of `peer`, which is gone, with `why`. Raises what went wrong with some when all have ended."""
        for_every_one(partial(self._end, n, why) for n, call in list(self._open.items()) if call.peer == peer)

    def tick(self, now_s: float) -> None:
        """Ends the calls that are late. Raises what went wrong with some when all have ended."""
        # In one pass: a dict that loses its first entries steps over their places each time that it is asked for the first one.
        late = list(takewhile(lambda n: self._open[n].due_s <= now_s, self._open))
        why = Refused("unavailable", f"no answer within {self._timeout_s:g} s")
        for_every_one(partial(self._end, n, why) for n in late)

    def give_up(self, n: int) -> None:
        """Forgets call `n`, if it is open: nobody wants its reply any more, and nobody is told."""
        found = self._open.pop(n, None)
        if found is not None:
            self.open_bytes -= found.size_bytes

    def _end(self, n: int, outcome: Reply | Refused) -> None:
        found = self._open.pop(n, None)  # first: `then` may raise, or make the next call
        if found is not None:
            self.open_bytes -= found.size_bytes
            found.then(outcome)
