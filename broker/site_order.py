"""Site order: events of other sites keep their order while their topics come here from another broker of this site (DPS-17). Pure.

Another site sends an event to one of us: to the former owner until it knows that the new one wants the topic, and to the new one from then
on. What had gone to the former owner comes here by way of it, and another link may be faster. So what comes here at once waits, unless its
number shows that it is the next one, until the former owner has got everything that other sites had sent to it. It says so: it has
settled. Nobody is waited for who is gone, or for long.

What comes by way of a former owner may have overtaken others, too, and waits in the same way. A view may come before all have settled under
the last one: then a topic may have two former owners or more. And the topic may have been ours before: until our withdrawal has got there,
the other site takes us for one who wants it, and sends us what comes next, and then the former owner what follows that.
"""

from collections.abc import Callable, Collection, Iterable
from typing import Final

from infra.kernel.announcer import PARTING_BEATS
from infra.kernel.events import after_in, origin_epoch_seq, origin_if_sound, waiting_bytes
from infra.kernel.ring import Ring
from infra.kernel.topics import Topic

MAX_WAITING_BYTES: Final = 8 << 20
# Former owners under so many views are waited for at most; then those of the first view are not any more.
MOST_VIEWS: Final = 8

Last = Callable[[Topic, str], tuple[int, int] | None]
"""Returns epoch and number of the last event of a site that is kept of a topic; None where none is."""


class _FormerOwners:
    """The owners under the ring `before`, which holds no longer.

    - `unsettled`: those who may still get something that was sent to them under it.
    - `formers`: those of them who had then what is this broker's now.
    - `beats`: for how many heartbeats they have been waited for.
    """

    __slots__ = ("beats", "before", "formers", "unsettled")

    def __init__(self, before: Ring, unsettled: Collection[str]) -> None:
        self.before, self.unsettled, self.beats = before, {*unsettled}, 0
        self.formers: set[str] = set()

    def settle(self, slots: Iterable[str]) -> None:
        """Waits no more for `slots`."""
        self.unsettled.difference_update(slots)
        self.formers &= self.unsettled


class SiteOrder:
    """The events of other sites that wait at one broker.

    - `last`: see `Last`. `is_recorded(topic)`: tells whether events of it are kept. Of others no order is promised.
    - `go(bodies)`: gives followers events, in order, or sends them to the owner of their topic.
    """

    def __init__(
        self,
        last: Last,
        is_recorded: Callable[[Topic], bool],
        go: Callable[[list[bytes]], None],
        max_bytes: int = MAX_WAITING_BYTES,
    ) -> None:
        self._last, self._is_recorded, self._go, self._max_bytes = last, is_recorded, go, max_bytes
        self._views: list[_FormerOwners] = []
        self._bytes = 0
        self._waiting: dict[Topic, list[bytes]] = {}

    @property
    def is_over(self) -> bool:
        """Whether nobody is waited for."""
        return not any(view.formers for view in self._views)

    @property
    def waiting(self) -> int:
        """How many events wait."""
        return sum(map(len, self._waiting.values()))

    def begin(self, before: Ring, now: Ring, me: str, there: Collection[str]) -> None:
        """Begins: the ring `now` holds, and `before` no longer. What waits of topics that are not those of the slot `me` any more goes.

        - `there`: the other slots that can be waited for.
        """
        self._views = [*self._views, _FormerOwners(before, there)][-MOST_VIEWS:]
        for view in self._views:
            view.formers = {slot for slot, to in view.before.parts(now) if to == me and slot is not None and slot in view.unsettled}
        self._let_go(lambda topic: now.owner(topic) != me or not self._formers(topic))

    def settled(self, slots: Iterable[str]) -> None:
        """Notes that `slots` have got everything that other sites had sent to them, or will never say that."""
        if self._views:
            slots = {*slots}
            for view in self._views:
                view.settle(slots)
            self._forget_settled()

    def tick(self, there: Collection[str]) -> None:
        """Counts a heartbeat. Who is not `there` is not waited for."""
        if self._views:
            for view in self._views:
                view.beats += 1
                view.settle([slot for slot in view.unsettled if slot not in there or view.beats > PARTING_BEATS])
            self._forget_settled()

    def waits(self, topic: Topic, body: bytes, *, is_strayed: bool = False) -> bool:
        """Has an event wait if one before it may still come. Returns whether it does.

        - `is_strayed`: it has come by way of a former owner, and not here at once.
        """
        if not self._formers(topic) or not self._is_recorded(topic) or origin_if_sound(body) is None:
            return False
        if (is_strayed or topic not in self._waiting) and self._is_next(topic, body):
            return False
        _put(body, self._waiting.setdefault(topic, []))
        self._bytes += waiting_bytes([body])
        if self._bytes > self._max_bytes:
            self._views.clear()
            self._let_go(lambda _: True)
        return True

    def strayed(self, topics: Iterable[Topic]) -> None:
        """Gives followers what has waited for an event on `topics` that has come by way of a former owner."""
        for topic in dict.fromkeys(topics):
            bodies = self._waiting.pop(topic, [])
            while (body := next((each for each in bodies if self._is_next(topic, each)), None)) is not None:
                bodies.remove(body)
                self._bytes -= waiting_bytes([body])
                self._go([body])
            if bodies:
                self._waiting[topic] = bodies

    def _formers(self, topic: Topic) -> set[str]:
        """Returns the former owners of a topic of ours by way of whom something of it may still come."""
        return {owner for view in self._views if view.formers and (owner := view.before.owner(topic)) in view.formers}

    def _is_next(self, topic: Topic, body: bytes) -> bool:
        """Tells whether an event comes right behind the last one of its site."""
        site, epoch, seq = origin_epoch_seq(body)
        last = self._last(topic, site)
        return last is not None and ((epoch, seq) == (last[0], last[1] + 1) or after_in(body) == last)

    def _forget_settled(self) -> None:
        self._views = [view for view in self._views if view.unsettled]
        self._let_go(lambda topic: not self._formers(topic))

    def _let_go(self, which: Callable[[Topic], bool]) -> None:
        for topic in [topic for topic in self._waiting if which(topic)]:
            bodies = self._waiting.pop(topic)
            self._bytes -= waiting_bytes(bodies)
            self._go(bodies)


def _put(body: bytes, bodies: list[bytes]) -> None:
    """Puts an event among others: in front of those that follow it in its epoch, and behind all others."""
    site, epoch, seq = origin_epoch_seq(body)
    places = map(origin_epoch_seq, bodies)
    at = next((at for at, (its, of, number) in enumerate(places) if (its, of) == (site, epoch) and number > seq), len(bodies))
    bodies.insert(at, body)
