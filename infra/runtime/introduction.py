"""The introduction of a node: what it says of itself to another one, and what it can prove."""

from collections.abc import Callable

from infra.kernel.frames import HIGHEST_TAG, Hello, View
from infra.kernel.link_handshake import LinkHandshake, LinkSide

from .link_auth import LinkAuth
from .wire.wire import Wire


class Introduction:
    """The hellos of one node.

    - `identity`: its role, name and site.
    - `incarnation`: the number of this process.
    - `auth`: how it proves that.
    - `wall`: Unix time in seconds.
    - `view`: returns the view of its site that its role knows.
    """

    def __init__(
        self,
        identity: tuple[str, str, str],
        incarnation: int,
        auth: LinkAuth,
        *,
        wall: Callable[[], float],
        view: Callable[[], View],
    ) -> None:
        self._identity, self._incarnation = identity, incarnation
        self._auth, self._wall, self._view = auth, wall, view

    def hello(self, nonce: bytes = b"") -> Hello:
        """Returns the hello of this moment."""
        role, name, site = self._identity
        time_ms, view = int(self._wall() * 1000), self._view()
        return Hello(role, name, site, self._incarnation, time_ms, view, tags=HIGHEST_TAG, nonce=nonce)

    def handshake(self, side: LinkSide, wire: Wire, expect: Callable[[Hello], None] = lambda hello: None) -> LinkHandshake:
        """Returns the handshake on a new `wire`. `expect` raises Refused for a peer that is somebody else than was wanted."""
        end = wire.far_end
        return LinkHandshake(side, self._auth.credentials(end.is_local), self.hello, names=end.names, expect=expect)
