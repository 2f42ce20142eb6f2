"""Site outlet: a link to another site, which holds presence back while it has more to do than it can (DPS-20).

It stands between the broker's core and the link. Below the load of its gate it passes everything on. Above, presence waits in
`HeldPresence`, and goes as fast as the link takes it; all other events pass by, so none of them ever waits behind presence.
"""

from typing import Final

from infra.kernel.events import is_presence
from infra.kernel.gains import Gains
from infra.runtime.link import Link

from .held_presence import HeldPresence
from .load_gate import LoadGate, LoadState
from .overload_options import OverloadOptions

# While presence is held, the link is given twice what it took since the last look, and so much more: it is never idle for long, and
# what it has is not old when it goes.
MORE_BYTES: Final = 64 << 10


class SiteOutlet:
    """The way of a broker's events to another site over `link`.

    - `gains`: about how many clients follow the topic of each handle there, as far as that was told.
    - `held`: the presence that waits.
    """

    def __init__(self, link: Link, options: OverloadOptions) -> None:
        self.gains = Gains()
        self.held = HeldPresence(options.held_bytes, options.max_age_s, self.gains)
        self._link, self._options = link, options
        self._gate = LoadGate()
        self._is_holding = False
        self._waited_bytes = 0
        self._now_s = 0.0

    def deliver(self, handle: int, body: bytes) -> None:
        """Passes an event on for the peer's topic `handle`, or holds it."""
        if self._is_holding and is_presence(body):
            self.held.hold(handle, body, self._now_s)
        else:
            self._link.deliver(handle, body)

    def look(self, late_s: float, now_s: float) -> None:
        """Gives the link what it takes, and holds presence from now on, or does not. It is `now_s`, and the loop is `late_s` late."""
        self._now_s = now_s
        waiting = self._link.waiting_bytes
        self._gate.observe(max(waiting / self._options.queue_bytes, late_s / self._options.late_s))
        self._give(2 * max(0, self._waited_bytes - waiting) + MORE_BYTES - waiting)
        self._waited_bytes = self._link.waiting_bytes
        # What waits goes before what comes: an older event of a topic must not come behind a newer one.
        self._is_holding = self._gate.state is LoadState.HOLDING or bool(self.held)

    def release(self) -> None:
        """Gives the link everything that waits, whatever it takes: something is to be said behind it."""
        self._give(self.held.bytes)

    def _give(self, room_bytes: int) -> None:
        while room_bytes > 0 and self.held:
            handle, body = self.held.take(self._now_s)
            self._link.deliver(handle, body)
            room_bytes -= len(body)
