"""A link that publishes: a service, or a broker of this site that forwards what is ours; what it may publish and what it is told."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from infra.kernel.errors import Refused
from infra.kernel.events import Event
from infra.kernel.frames import Publish
from infra.kernel.topics import Kind, Topic, kind_of
from infra.runtime.link import Link

from .forwarder import Prefix
from .router import Done

# Engine inputs are exactly three (SB-45). A service with a link or a token may publish on these kinds and no others.
SERVICE_KINDS: Final[dict[str, frozenset[Kind]]] = {
    "presence": frozenset({Kind.USER}),
    "playlist": frozenset({Kind.PLAYLIST}),
    "notification": frozenset({Kind.PLAYLIST, Kind.ARTIST, Kind.SOCIAL, Kind.INBOX}),
}

# Where somebody goes who has something to tell on topics that are not theirs.
_WAY: Final[dict[Kind, str]] = {
    Kind.USER: "what users do is told by clients (segue act), or by the service presence",
    Kind.PLAYLIST: "playlists are changed at the playlist service; to tell their followers: segue notify",
    Kind.ARTIST: "to tell the followers of an artist: segue notify, or POST /v1/notifications at the notification module",
    Kind.SOCIAL: "to tell the friends of a user: segue notify, or POST /v1/notifications at the notification module",
    Kind.INBOX: "what is stored for a user is told by the notification module alone: segue notify",
}


def not_yours(kinds: frozenset[Kind], kind: Kind) -> Refused:
    """Returns the refusal of an event on a topic of another `kind` than the service may publish on, and where to go with it."""
    return Refused("forbidden", f"this service may publish on {', '.join(sorted(kinds))} topics, not on {kind}; {_WAY[kind]}")


class Publisher:
    """The one at the other end of `link`; what it publishes goes to `submit` (see `Router.submit`)."""

    def __init__(self, link: Link, submit: Callable[[Sequence[Event], int, Done], None]) -> None:
        self._link, self._submit = link, submit
        self._kinds = SERVICE_KINDS.get(link.peer.role)
        self._prefix = Prefix()

    def take(self, frame: Publish) -> None:
        """Events. Raises `Refused`, and none of them is published, if a service may not publish one."""
        topics: Iterable[Topic] = frame.topics  # type: ignore[assignment]  # the codec has checked them
        events = [Event(*parts) for parts in zip(topics, frame.ids, frame.tails, strict=True)]
        if self._kinds is not None and not self._kinds.issuperset(map(kind_of, topics)):
            raise Refused("forbidden", f"a {self._link.peer.role} service may publish {', '.join(sorted(self._kinds))} topics only")
        self._submit(events, frame.hops, lambda failed: self._done(frame.n, failed))

    def _done(self, n: int, failed: list[int]) -> None:
        # What failed is not tried again here: to acknowledge it late would stall all others, and the publisher knows better.
        if (said := self._prefix.done(n, not failed)) is not None:
            self._link.send(said)
