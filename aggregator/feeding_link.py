"""The link of an aggregator to a broker: events, answers about what was missed, and what may be missing, each in its place."""

from collections.abc import Callable, Iterable, Iterator

from broker.client import BrokerLink
from infra.kernel.frames import AnyFrame, Applied, Deliver, Heartbeat, Inherited, Keeps, Lost, Recalled

from .points import AccessPoints


class FeedingLink:
    """The handler of a link to a broker, which gives us the events of its topics.

    - `points`: who gets them.
    - `lost()`: is called when the link is lost.
    """

    __slots__ = ("_broker", "_lost", "_points")

    def __init__(self, broker: BrokerLink, points: AccessPoints, lost: Callable[[], None]) -> None:
        self._broker, self._points, self._lost = broker, points, lost
        points.losses.broker_up(broker.slot, broker.incarnation)

    def frames(self, frames: list[AnyFrame]) -> None:
        """Takes events, answers about those of the past, and news of what is installed."""
        for part in _parts(frames):
            self._take(part)
        self._points.losses.follow_ring()
        # Behind the events: who waits for a fence gets what came in front of it first.
        if _has_news(frames):
            self._points.tell_all()

    def _take(self, frames: list[AnyFrame]) -> None:
        # Whether an event counts follows from what its broker had said by then, and not from what comes behind it.
        deliveries = iter(self._broker.deliveries([frame for frame in frames if not isinstance(frame, Keeps | Recalled | Lost)]))
        for frame in frames:
            match frame:
                case Deliver():
                    self._points.give(counts := next(deliveries))
                    if len(counts.bodies) < len(frame.bodies):
                        self._points.pass_over(self._broker.slot, set(frame.bodies).difference(counts.bodies))
                case Recalled():  # in its place among the events
                    self._points.recalls.answered(self._broker.slot, frame)
                case Keeps():
                    self._points.keep(frame)
                case Lost([], reason):
                    self._points.losses.tell_of(self._broker.slot, reason)
                case Lost(topics, reason):
                    self._points.notices.tell(topics, reason)
        self._broker.taken()

    def down(self, reason: str) -> None:
        """Takes what was installed there for lost."""
        self._lost()
        self._points.recalls.link_down(self._broker.slot)
        # First: with the link, nothing is left there that has moved, and a broker that hung would seem to have left as planned.
        self._points.losses.broker_down(self._broker.slot)
        self._broker.down(reason)
        self._points.tell_all()


def _parts(frames: list[AnyFrame]) -> Iterator[list[AnyFrame]]:
    """Yields `frames` in parts, each of which ends before something that is passed on at once behind events.

    With that, access points are given the events, and hear up to where everything has come. So what came with them has been taken by then.
    """
    start, is_behind = 0, False
    for at, frame in enumerate(frames):
        if is_behind and isinstance(frame, Recalled | Lost | Keeps):
            yield frames[start:at]
            start, is_behind = at, False
        is_behind = is_behind or isinstance(frame, Deliver)
    yield frames[start:] if start else frames


def _has_news(frames: Iterable[AnyFrame]) -> bool:
    return any(isinstance(frame, Applied | Heartbeat | Inherited) for frame in frames)
