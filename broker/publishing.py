"""A link that publishes: that of a service, or of a broker of this site that forwards what is ours; what it may publish, and what it
is told."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from infra.kernel.errors import Refused
from infra.kernel.events import Event, is_text
from infra.kernel.frames import AnyFrame, Heartbeat, Publish, View
from infra.kernel.topics import Kind, Topic
from infra.runtime.link import Link
from infra.runtime.link_handlers import makes_no_sense

from .event_router import MAX_HOPS, Done
from .forwarder import Prefix

# `submit(events, hops, done)`, see `EventRouter.submit`; and the same for what others send, with `is_sender_behind`.
Submit = Callable[[Sequence[Event], int, Done], None]
SubmitSent = Callable[[Sequence[Event], int, Done, bool], None]

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


class PublishingLinks:
    """The links that publish here, and by which view of the site each of their peers goes.

    - `submit`: takes the events.
    - `view()`: returns the view that holds here.
    """

    def __init__(self, submit: SubmitSent, view: Callable[[], View]) -> None:
        self._submit, self._view = submit, view
        self._links: set[PublishingLink] = set()

    def link_up(self, link: Link, learn: Callable[[View], None] = lambda view: None) -> "PublishingLink":
        """Returns the handler of one more link. `learn(view)` is called with each view that its peer says."""
        handler = PublishingLink(link, self._submit, self._view, learn, self._links.discard)
        self._links.add(handler)
        return handler

    def go_by(self, view: View) -> bool:
        """Returns whether all go by `view`, or a later one. Nothing comes any more then that was sent under an earlier one."""
        return all(each.view.order >= view.order for each in self._links)


class PublishingLink:
    """The handler of a link that publishes.

    - `view`: the newest view that the peer has said. What it sends behind that it sends under this view, or a later one.
    - `submit`: takes the events.
    - `here()`: returns the view that holds here.
    - `learn(view)`: is called with each view that the peer says.
    - `forget(handler)`: is called when the link is lost.
    """

    __slots__ = ("_forget", "_here", "_learn", "_link", "_prefix", "_submit", "view")

    def __init__(
        self,
        link: Link,
        submit: SubmitSent,
        here: Callable[[], View],
        learn: Callable[[View], None],
        forget: Callable[["PublishingLink"], None],
    ) -> None:
        self._link, self._submit, self._here, self._learn, self._forget = link, submit, here, learn, forget
        self._prefix = Prefix()
        self.view = link.peer.view

    def frames(self, frames: list[AnyFrame]) -> None:
        """Takes events, and the view. Raises `Refused` as `take` does."""
        for frame in frames:
            match frame:
                case Publish():
                    self.take(frame)
                case Heartbeat(view):
                    self.goes_by(view)
                case _:
                    raise makes_no_sense(frame, self._link.peer)

    def goes_by(self, view: View) -> None:
        """Notes the view that the peer says."""
        self.view = view
        self._learn(view)

    def down(self, reason: str) -> None:
        """Forgets the link. What was published goes on, and nobody is there to hear of it."""
        self._forget(self)

    def take(self, frame: Publish) -> None:
        """Takes events. The node has seen to it that the peer may publish on their topics.

        Raises `Refused`, and none of them is published, if one is no text: clients could not read it.
        """
        topics: Iterable[Topic] = frame.topics  # type: ignore[assignment]  # the codec has checked them
        events = [Event(*parts) for parts in zip(topics, frame.ids, frame.tails, strict=True)]
        if not all(map(is_text, frame.tails)):
            raise Refused("bad-utf8", f"an event from {self._link.peer.role} {self._link.peer.node} is not UTF-8")
        is_behind = self.view.order < self._here().order
        self._submit(events, frame.hops, lambda failed: self._done(frame, failed), is_behind)

    def _done(self, frame: Publish, failed: list[int]) -> None:
        # What failed is not tried again here: to acknowledge it late would stall all others, and the publisher knows better.
        if (said := self._prefix.done(frame.n, not failed, is_awaited=frame.hops >= MAX_HOPS)) is not None:
            self._link.send(said)
