"""Named numbers: who came back with numbers gets nothing that they have, though it comes here only now. Pure.

A client may have got further than this access point. It comes from another site, to which events of a third one come faster. Or it comes
from another access point, and its question was late, since the way to the owner of a topic is cut; what comes when that is mended has been
elsewhere. So what is live is looked through for them, until the events that they named have come, or are so old that nobody has them.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from infra.kernel.events import origin_epoch_seq, origin_if_sound
from infra.kernel.topics import Topic

from .hub import Hub
from .keeping import Keeping
from .session import Session

# So many times as long as events are kept. A broker reckons by its own heartbeats: one that stood still keeps them for longer.
STAYS: Final = 2
# So many are looked through at most; then the first one is served like everybody.
MOST: Final = 1 << 16

Known = Sequence[tuple[str, int, int]]
"""The last number of each site that somebody has, with its epoch."""


class NamedNumbers:
    """The numbers of sessions in `hub`, by topic. `keeping` tells for how long events are kept; what is much older does not come."""

    def __init__(self, hub: Hub, keeping: Keeping, most: int = MOST) -> None:
        self._hub, self._keeping, self._most = hub, keeping, most
        # When they are too old, in this order: all are kept for as long.
        self._due: OrderedDict[tuple[Session, Topic], float] = OrderedDict()

    def __len__(self) -> int:
        """Returns how many there are, once for each session and topic."""
        return len(self._due)

    def note(self, session: Session, topic: Topic, known: Known, now_s: float) -> None:
        """Notes at `now_s` that `session` has `known` of `topic`, which it follows, and that this may not have come here yet."""
        if known and self._hub.holds(session, topic):
            self.forget(session, topic)
            self._due[session, topic] = now_s + STAYS * self._keeping.longest_s
            self._hub.part(session, topic, _UnknownEvents(self, session, topic, known).of)
            if len(self._due) > self._most:
                self.forget(*next(iter(self._due)))

    def forget(self, session: Session, topic: Topic) -> None:
        """Forgets what `session` had of `topic`: all of it has come, it is gone, or asks anew."""
        if self._due.pop((session, topic), None) is not None:
            self._hub.unite(session, topic)

    def tick(self, now_s: float) -> None:
        """Forgets what is too old at `now_s`."""
        while self._due:
            (session, topic), due_s = next(iter(self._due.items()))
            if now_s < due_s:
                break
            self.forget(session, topic)


class _UnknownEvents:
    """The events of `topic` that `session` does not have, as far as `known` says it."""

    __slots__ = ("_known", "_names", "_session", "_topic")

    def __init__(self, names: NamedNumbers, session: Session, topic: Topic, known: Known) -> None:
        self._names, self._session, self._topic, self._known = names, session, topic, known

    def of(self, bodies: list[bytes]) -> list[bytes]:
        """Returns those of `bodies` that are news, and forgets what has come by then."""
        news, self._known = unknown(bodies, self._known), awaited(bodies, self._known)
        if not self._known:
            self._names.forget(self._session, self._topic)
        return news


def unknown(bodies: Sequence[bytes], known: Known) -> list[bytes]:
    """Returns those of `bodies`, in order, that come behind what is `known` of their site."""
    lasts = {(site, epoch): seq for site, epoch, seq in known}
    places = [_place(body) for body in bodies]
    # What comes before a known one of its site is known, too, also where it has another epoch.
    ends = {site: at for at, (site, epoch, seq) in enumerate(places) if seq <= lasts.get((site, epoch), 0)}
    return [body for at, (body, (site, _, _)) in enumerate(zip(bodies, places, strict=True)) if at > ends.get(site, -1)]


def awaited(bodies: Sequence[bytes], known: Known) -> Known:
    """Returns what is `known` and has not come with `bodies`."""
    lasts = {(site, epoch): seq for site, epoch, seq in map(_place, bodies)}
    return [(site, epoch, seq) for site, epoch, seq in known if seq > lasts.get((site, epoch), 0)]


def _place(body: bytes) -> tuple[str, int, int]:
    """Returns site, epoch and number of an event; nothing that anybody has named where no broker has written it."""
    return origin_epoch_seq(body) if origin_if_sound(body) is not None else ("", 0, 1)
