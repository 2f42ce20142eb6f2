"""Moving: what goes with topics from their former owner to the new one, and how far that is.

Under a new view a broker publishes nothing more on topics that others own then. It tells each of them the last numbers of its topics, the
ids of what came on them lately (`Moved`), and what its window has of them (`inheritance`), a part in each turn. Behind that it says
`Sealed`. The new owner publishes nothing on a topic before every former owner has said so. Only then it knows which number its own epoch
goes on from (DPS-13), and what was published already (DPS-14).

A former owner may die meanwhile. One that is suspected is waited for no longer than `limit_s`. Then its topics go on under an epoch
that claims nothing.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from infra.kernel.frames import Frame, KeptEvents, Moved, Past, Sealed, View
from infra.kernel.move_pace import AWAITED_S, MovePace, has_time
from infra.kernel.ring import Ring, hashes64
from infra.kernel.topics import Topic
from infra.runtime.link import Link
from infra.runtime.turns import in_turns

from .core import BrokerCore
from .inheritance import GoesTo, Inheritance
from .recorded_rows import Rows

# So many topics, or ids, are looked at in one turn.
AT_ONCE: Final = 1024
# How long to pause for each topic that was looked at, once for each thing that may go with it.
LOOK_PAUSE_S: Final = 10e-6
# How long to wait for one that reads more slowly than its link may queue.
PAUSE_S: Final = 0.05
# How long to wait for those who have not heard of a view.
HEARS_S: Final = 0.01
# The name by which what moves is awaited, besides those who subscribe.
MOVES: Final = "what moves"
# So many views may be under way. With one more, the oldest is not waited for any longer.
MAX_STEPS: Final = 16
NO_LAST: Final = (0, 0)
NO_COPIES: Final[Mapping[str, Iterator[Frame | None]]] = {}


class _MovingStep:
    """The step from the ring `before` to `view`, since `begun_s`.

    - `former`: the slots whose `Sealed` is waited for.
    - `heirs`: the slots to which something goes from here.
    - `is_begun`, `is_told`: whether what goes to others is on its way, and whether all of it is.
    - `left`: what nobody followed any more when all who follow had announced everything under `view`; None while they have not.
    """

    __slots__ = ("before", "begun_s", "former", "heirs", "is_begun", "is_told", "left", "view")

    def __init__(self, before: Ring, view: View, former: set[str], heirs: set[str], begun_s: float) -> None:
        self.before, self.view, self.former, self.heirs, self.begun_s = before, view, former, heirs, begun_s
        self.is_begun = self.is_told = False
        self.left: Rows | None = None


class TopicMoves:
    """The moves of topics from and to the broker `me`, in the order of views: what comes with one is there before it goes on with the next.

    - `core`: has the numbers and ids of topics.
    - `links`: slot -> link, to brokers of this site, by which topics go.
    - `is_suspected(slot)`: tells whether that broker may be dead.
    - `limit_s`: so long a broker is waited for that is suspected.
    - `over()`: is called when nothing moves any more.
    - `inheritance`: what windows have of topics; None where nothing of it moves.
    - `have_announced(view)`: tells whether all who follow for this site have announced everything under `view`, or a later one. Of what
      they had left before that, this broker alone has heard.
    """

    def __init__(
        self,
        me: str,
        core: BrokerCore,
        links: Mapping[str, Link],
        is_suspected: Callable[[str], bool],
        limit_s: float,
        over: Callable[[], None],
        inheritance: Inheritance | None = None,
        have_announced: Callable[[View], bool] = lambda view: True,
    ) -> None:
        self._me, self._core, self._links, self._inheritance = me, core, links, inheritance
        self._is_suspected, self._limit_s, self._over, self._have_announced = is_suspected, limit_s, over, have_announced
        self._steps: deque[_MovingStep] = deque()
        self._sealed: dict[str, View] = {}
        # Former owners that are gone, whose copies are taken over.
        self._copied: set[str] = set()
        # The last step that was told: who is linked anew hears of it again.
        self._last: _MovingStep | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing moves."""
        return not self._steps

    @property
    def awaited(self) -> list[str]:
        """The brokers that are waited for, sorted."""
        return sorted({slot for step in self._steps for slot in step.former})

    def begin(self, before: Ring, view: View, now_s: float, copies: Mapping[str, Iterator[Frame | None]] = NO_COPIES) -> Collection[str]:
        """Moves at `now_s` what has another owner under `view` than on the ring `before`. Returns the slots that something goes to.

        `copies`: what former owners that are gone would say, and None after each turn's work, by their slots.
        """
        moves = before.parts(view.ring)
        former = {slot for slot, to in moves if to == self._me and slot not in (None, self._me) and self._is_awaited(slot, view)}
        heirs = {to for slot, to in moves if slot == self._me and to is not None and to != self._me}
        step = _MovingStep(before, view, former | copies.keys(), heirs, now_s)
        for slot, frames in copies.items():
            self._copied.add(slot)
            in_turns(self._take_over(slot, frames))
        if not heirs and self._may_seal():
            step.is_begun = True
            self._seal(step)
        self._steps.append(step)
        if len(self._steps) > MAX_STEPS:
            self._steps[0].former.clear()
        self._go_on()
        return step.heirs

    def _may_seal(self) -> bool:
        """Tells whether all is told of earlier steps: a seal is one of theirs, too, and what goes in them stands before it."""
        return all(each.is_told for each in self._steps)

    def _is_awaited(self, slot: str | None, view: View) -> bool:
        if slot is None or ((sealed := self._sealed.get(slot)) is not None and sealed.order >= view.order):
            return False
        if (link := self._links.get(slot)) is not None and not link.knows(Sealed):
            return False
        return slot in view.slots or not self._is_suspected(slot)

    def link_up(self, slot: str) -> None:
        """Tells a broker again, to which there is a new link, what goes to it."""
        self._sealed.pop(slot, None)
        if self._inheritance is not None and slot not in self._copied:
            self._inheritance.link_up(slot)
        if (step := self._last) is not None:
            self._send(slot, Sealed(step.view))

    def take(self, slot: str, frame: Moved | KeptEvents | Past | Sealed) -> None:
        """Takes what the broker `slot` hands over, while it is waited for, and that it has nothing more."""
        if slot not in self._copied:
            self._take(slot, frame)

    def _take_over(self, slot: str, frames: Iterator[Frame | None]) -> Iterator[float]:
        """Takes what the broker `slot`, which is gone, has given before, as if it handed it over now."""
        if self._inheritance is not None:
            self._inheritance.link_up(slot)
        for frame in frames:
            if isinstance(frame, Moved | KeptEvents | Past | Sealed):
                self._take(slot, frame)
            else:
                yield 0.0
        self._copied.discard(slot)

    def _take(self, slot: str, frame: Moved | KeptEvents | Past | Sealed) -> None:
        if isinstance(frame, Sealed):
            self._sealed[slot] = frame.view
            for step in self._steps:
                if frame.view.order >= step.view.order:
                    if slot in step.former and self._inheritance is not None:
                        self._inheritance.sealed(slot, step.view)
                    step.former.discard(slot)
            self._go_on()
        elif not any(slot in step.former for step in self._steps):
            return
        elif isinstance(frame, Moved):
            topics: list[Topic] = frame.topics  # type: ignore[assignment]  # the codec has checked them
            for topic, last, ids in zip(topics, frame.lasts, frame.ids, strict=True):
                if last != NO_LAST:
                    self._core.numbers.inherit(topic, last)
                for event_id in ids:
                    self._core.know(topic, event_id)
        elif self._inheritance is not None:
            if isinstance(frame, KeptEvents):
                self._inheritance.take(slot, frame)
            else:
                self._inheritance.end(slot, frame)

    def announced(self) -> None:
        """Notes that somebody who follows has announced everything under another view.

        What they leave from then on they leave everywhere. So nothing of that has to be said, nor that they part from this broker.
        """
        if self._inheritance is not None:
            for step in self._steps:
                self._left(self._inheritance, step)

    def _left(self, inheritance: Inheritance, step: _MovingStep) -> Rows | None:
        if step.left is None and self._have_announced(step.view):
            step.left = inheritance.left()
        return step.left

    def tick(self, now_s: float) -> None:
        """Waits no more at `now_s` for who is suspected and has been waited for as long as that may last."""
        for step in self._steps:
            if now_s >= step.begun_s + self._limit_s:
                step.former = {slot for slot in step.former if slot in self._copied or not self._is_suspected(slot)}
        self._go_on()

    def _go_on(self) -> None:
        if not self._steps:
            return
        while self._steps:
            step = self._steps[0]
            if not step.is_begun:
                step.is_begun = True
                in_turns(self._hand_over(step))
            if step.former or not step.is_told:
                return
            self._steps.popleft()
        self._over()

    # What goes.

    def _hand_over(self, step: _MovingStep) -> Iterator[float]:
        """Sends what goes to others, a part in each turn."""
        goes_to = Destinations(self._me, step.before, step.view.ring)
        pace = MovePace(LOOK_PAUSE_S, AWAITED_S if has_time(step.before, step.view.ring) else 0.0)
        for slot, frame in leaving(self._core, goes_to):
            if slot is not None and frame is not None:
                self._send(slot, frame)
            while slot is not None and (link := self._links.get(slot)) is not None and link.full:
                yield PAUSE_S
            yield pace.after(goes_to.take_looks())
        if self._inheritance is not None:
            yield from self._hand_over_window(self._inheritance, step, goes_to, pace)
        self._seal(step)
        self._go_on()

    def _hand_over_window(self, inheritance: Inheritance, step: _MovingStep, goes_to: "Destinations", pace: MovePace) -> Iterator[float]:
        """Sends what the window has of it, as fast as each of the others takes that, when nobody leaves any of it here any more."""
        while (left := self._left(inheritance, step)) is None:
            yield HEARS_S
        sent = dict.fromkeys(sorted(step.heirs), 0)
        for part in inheritance.leaving(goes_to, left):
            if part is None:
                yield pace.after(goes_to.take_looks())
                continue
            slot, kept = part
            sent[slot] = sent.get(slot, 0) + 1
            self._send(slot, kept)
            while (link := self._links.get(slot)) is not None and link.full:
                yield PAUSE_S
        if self._core.window is not None:
            for to, frames in sent.items():
                self._send(to, inheritance.ending(step.view.number, frames))

    def _send(self, slot: str, frame: Frame) -> None:
        link = self._links.get(slot)
        if link is not None and link.knows(type(frame)):
            link.send(frame)

    def _seal(self, step: _MovingStep) -> None:
        step.is_told, self._last = True, step
        for slot in list(self._links):
            self._send(slot, Sealed(step.view))


class Destinations:
    """The slots that topics go to from the broker `me`, when the ring `after` follows on `before`."""

    def __init__(self, me: str, before: Ring, after: Ring) -> None:
        self._step = before.step(after)
        # By the number of a move; the last one, -1, is that of a key that stays.
        self._slots = [*(there if here == me else None for here, there in self._step.moves), None]
        self._owners: dict[Topic, str | None] = {}
        self._looks = 0

    def take_looks(self) -> int:
        """Returns how many topics were asked for since this was called last."""
        looks, self._looks = self._looks, 0
        return looks

    def __call__(self, topics: Sequence[Topic]) -> list[str | None]:
        """Returns the slot that each of `topics` goes to; None: it stays, or was not here."""
        self._looks += len(topics)
        known = self._owners
        if news := [topic for topic in topics if topic not in known]:
            slots = self._slots
            known.update(zip(news, [slots[at] for at in self._step.moving(hashes64(news))], strict=True))
        return [known[topic] for topic in topics]


def leaving(core: BrokerCore, goes_to: GoesTo) -> Iterator[tuple[str | None, Moved | None]]:
    """Yields what goes to other brokers with their topics, and whom it goes to; nothing where there was nothing in a part.

    - `core`: has the numbers, and forgets those that it gives away.
    - `goes_to(topics)`: returns the slots that topics go to; None: it stays.
    """
    topics = iter(core.counted())
    while part := list(islice(topics, AT_ONCE)):
        lasts: dict[str, dict[Topic, tuple[int, int]]] = {}
        for topic, slot in zip(part, goes_to(part), strict=True):
            if slot is not None and (last := core.numbers.last(topic)) is not None:
                lasts.setdefault(slot, {})[topic] = last
                core.numbers.give_up(topic)
        yield None, None
        for slot, some in lasts.items():
            yield slot, Moved(list(some), list(some.values()), [[] for _ in some])
    known = iter(core.known_ids())
    while pairs := list(islice(known, AT_ONCE)):
        ids: dict[str, dict[Topic, list[bytes]]] = {}
        for (topic, event_id), slot in zip(pairs, goes_to([topic for topic, _ in pairs]), strict=True):
            if slot is not None:
                ids.setdefault(slot, {}).setdefault(topic, []).append(event_id)
        yield None, None
        for slot, every in sorted(ids.items()):  # ids come from a set: in another process they have another order
            yield slot, Moved(list(every), [NO_LAST for _ in every], list(every.values()))
