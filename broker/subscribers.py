"""The links that subscribe: aggregators of this site, and brokers of others; what they want, and what they are told of it.

The other sites hear of what aggregators want here; an aggregator hears how far that is installed at each of them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from msgspec.structs import replace

from infra.kernel.errors import Refused
from infra.kernel.frames import (
    Announced,
    AnyFrame,
    Bereft,
    Heartbeat,
    Keeps,
    Lost,
    Recall,
    Resume,
    Sealed,
    Settled,
    Subscribe,
    Unsubscribe,
    View,
)
from infra.kernel.limbo import Limbo
from infra.kernel.loss_reasons import LossReason
from infra.kernel.receipts import Receipts
from infra.kernel.topics import Topic
from infra.runtime.link import Link
from infra.runtime.link_handlers import makes_no_sense
from infra.runtime.turns import in_turns

from .bereavements import Bereavements
from .core import BrokerCore
from .handover import Handover
from .laggards import Laggards
from .mesh import Mesh
from .other_sites import OtherSites
from .recaller import Recaller, RecallingLink
from .recorded_rows import RECORDED, Rows
from .site_outlets import SiteOutlets
from .told_losses import ToldLosses
from .window_bounds import copied

# How long to wait for one that reads more slowly than its link may queue.
PAUSE_S: Final = 0.05


class Subscriber:
    """The handler of a link that subscribes.

    - `bit`: its number in the table of interest.
    - `receipts`: which of its changes are applied, and what it was told of them.
    - `view`: the view of this site under which it has announced everything.
    - `settled`: the number of the view under which it has nothing left to do.
    - `learn(view)`: is called with the view of its own site, which its heartbeats carry.
    """

    __slots__ = ("_all", "_learn", "bit", "link", "receipts", "settled", "view")

    def __init__(self, everyone: "Subscribers", link: Link, bit: int, learn: Callable[[View], None]) -> None:
        self.link, self.bit = link, bit
        self.receipts = Receipts()
        self.view = View(0, ())
        self.settled = 0
        self._all, self._learn = everyone, learn

    def frames(self, frames: list[AnyFrame]) -> None:
        """Takes changes of what it wants; then says what of them is installed."""
        for frame in frames:
            match frame:
                case Subscribe() | Unsubscribe():
                    self._all.change(self, frame)
                case Resume(stamps, known):
                    self._all.resume(self, stamps, known)
                case Recall():
                    self._all.recall(self, frame)
                case Bereft():
                    self._all.bereft(self, frame)
                case Announced(view):
                    self._all.announced(self, view)
                case Settled(number):
                    self.settled = number
                    self._all.settle()
                case Heartbeat(view):
                    self._learn(view)
                case _:
                    raise makes_no_sense(frame, self.link.peer)
        # Behind the whole batch: one answer for all of its changes, and a view that changed meanwhile has been sent before it.
        self._all.tell(self)

    def down(self, reason: str) -> None:
        """Withdraws everything that it wanted."""
        self._all.lose(self)


class Subscribers:
    """All subscribing links of one broker.

    - `sites`: the other ones, which hear of what is wanted here.
    - `outlets`: what links to other sites are given their events by.
    - `losses`: what is told that may be missing.
    - `bereavements`: answers those who have lost a broker, when `is_moved()` tells that nothing moves any more.
    - `announced()`: is called when one of them has announced everything under another view.
    - `part()`: parts from what has gone to other brokers, where that may be. Returns whether nothing of it is left here.
    """

    def __init__(
        self,
        core: BrokerCore,
        mesh: Mesh,
        sites: OtherSites,
        handover: Handover,
        recaller: Recaller,
        outlets: SiteOutlets,
        bereavements: Bereavements,
        part: Callable[[], bool] = lambda: True,
        is_moved: Callable[[], bool] = lambda: True,
        announced: Callable[[], None] = lambda: None,
    ) -> None:
        self._bereavements, self._is_moved, self._announced = bereavements, is_moved, announced
        self.outlets = outlets
        self._core, self._mesh, self._sites, self._handover, self._recaller = core, mesh, sites, handover, recaller
        self._site, self._part = mesh.site, part
        self.everyone: dict[Subscriber, None] = {}
        self._limbo = Limbo(sites.announcers)
        self.losses = ToldLosses(core, self._locals)

    def link_up(self, link: Link, learn: Callable[[View], None]) -> Subscriber:
        """Returns the handler of one more link, which wants nothing yet; see `Subscriber` for `learn`."""
        site, node = link.peer.site, link.peer.node
        is_far = site != self._site
        bit = self._core.open(self.outlets.open(link) if is_far else link, is_far, (site, node))
        subscriber = Subscriber(self, link, bit, learn)
        self.everyone[subscriber] = None
        if link.knows(Keeps) and site == self._site and self._core.window is not None:
            bounds = self._core.window.bounds
            link.send(Keeps({kind: (each.keep, each.seconds) for kind, each in bounds.items()}, sorted(copied(bounds))))
        if self._core.laggards is not None:
            link.filled, link.stamps = partial(self._fill, subscriber), partial(self._core.stamps, subscriber.bit)
        return subscriber

    def _fill(self, subscriber: Subscriber) -> None:
        """Has one on whose link too much waits get what is recorded from the window, when there is room again."""
        laggards = self._core.laggards
        if laggards is not None and subscriber in self.everyone and subscriber.bit not in laggards:
            laggards.fill(subscriber.bit, self._core.opening(subscriber.bit))
            in_turns(self._serve(subscriber))

    def resume(self, subscriber: Subscriber, stamps: Mapping[int, int], known: int) -> None:
        """Notes up to where `subscriber` has got everything on an earlier link. What is of another epoch was of another life.

        `known`: changes up to that number repeat what it wanted then.

        Raises `Refused` for a stamp that was never given, and for one that comes late: some events have been sent by then.
        """
        window, laggards = self._core.window, self._core.laggards
        if subscriber.receipts.has_any:
            raise Refused("bad-link-frame", "Resume is said before everything else that is wanted")
        if window is None or laggards is None or (stamp := stamps.get(window.epoch)) is None:
            return
        if stamp > window.stamp:
            raise Refused("bad-link-frame", f"the stamp {stamp} was never given, the newest one is {window.stamp}")
        laggards.resume(subscriber.bit, stamp, self._core.opening(subscriber.bit), known)
        self.losses.resume(subscriber.bit, stamp)

    def recall(self, subscriber: Subscriber, recall: Recall) -> None:
        """Answers what has come on some topics, at once: what is published on them after it comes behind the answer."""
        asker = RecallingLink(subscriber.bit, is_announced=subscriber.view == self._mesh.view)
        for answer in self._recaller.answers(asker, recall):
            subscriber.link.send(answer)

    def bereft(self, subscriber: Subscriber, frame: Bereft) -> None:
        """Notes that `subscriber` has lost a broker that is not in its view any more."""
        self._mesh.offer(frame.view)
        self._bereavements.note(subscriber, frame)

    def serve_bereft(self) -> None:
        """Gives those who have lost a broker what they lack, as far as they have said everything that they want."""
        for subscriber in self.everyone:
            if subscriber.view == self._mesh.view:
                self._bereavements.serve(subscriber)

    def _serve(self, subscriber: Subscriber) -> Iterator[float]:
        """Gives one that is behind what it lacks, a part in each turn, as fast as it takes that."""
        laggards = self._core.laggards
        while laggards is not None and subscriber in self.everyone and subscriber.bit in laggards:
            if subscriber.link.full:
                yield PAUSE_S
            elif self._serve_some(laggards, subscriber):
                self._seal(subscriber)
                self.tell(subscriber)
            else:
                yield 0.0

    def _serve_some(self, laggards: Laggards, subscriber: Subscriber) -> bool:
        """Gives one that is behind what it lacks next, and tells it what of that has gone. Returns whether it is live again."""
        lost = laggards.lost
        is_live = laggards.serve(subscriber.bit, lambda: bool(subscriber.link.full))
        if laggards.lost > lost and subscriber.link.knows(Lost) and self._is_local(subscriber):
            subscriber.link.send(Lost([], LossReason.EXPIRED))
        return is_live

    def _locals(self) -> list[tuple[int, Link]]:
        """Returns the links of this site's aggregators, each with its bit."""
        return [(subscriber.bit, subscriber.link) for subscriber in self.everyone if self._is_local(subscriber)]

    def seal(self) -> None:
        """Says to everybody that nothing more comes of what is others' under the view that holds."""
        for subscriber in self.everyone:
            self._seal(subscriber)

    def _seal(self, subscriber: Subscriber) -> None:
        """Says so to `subscriber`, unless some of it is still to come: then it is said behind that (DPS-13)."""
        is_behind = self._core.laggards is not None and subscriber.bit in self._core.laggards
        if subscriber.link.knows(Sealed) and not is_behind:
            self.outlets.release(subscriber.link)
            subscriber.link.send(Sealed(self._mesh.view))

    def lose(self, subscriber: Subscriber) -> None:
        """Forgets one whose link is gone, and what it wanted with it."""
        del self.everyone[subscriber]
        self._bereavements.forget(subscriber)
        self.losses.forget(subscriber.bit)
        self._withdraw(*self._core.close(subscriber.bit))
        self.outlets.close(subscriber.link)
        self._handed_over_to(subscriber)
        self.settle()

    def _handed_over_to(self, subscriber: Subscriber) -> None:
        self._handover.announced(subscriber)
        if self._handover.over:
            self._recaller.owns_now()

    def settle(self) -> None:
        """Says how far this broker is: under which view nothing is left to do, here and for those who subscribe here."""
        number = self._mesh.view.number
        has_taken = self._handover.over and self._sites.know_adopted()
        done = has_taken and self.have_settled() and self._part()
        knows = all(subscriber.link.knows(Settled) for subscriber in self.everyone)
        self._mesh.settled(number if done else 0, knows=knows, taken=number if has_taken else 0)

    def have_settled(self) -> bool:
        """Returns whether all who subscribe have nothing left to do under the view that holds: they have parted from former owners."""
        return all(subscriber.settled == self._mesh.view.number for subscriber in self.everyone)

    def adopt(self, topics: Sequence[tuple[Topic, bool]]) -> None:
        """Goes on recording topics that have come from another broker; for each, whether it was followed at this site."""
        if news := self._core.recorded.adopt(topics):
            self._wants(news, self._sites.adopt(news))

    def unsettled(self) -> list[str]:
        """Returns the names of those that have not said that they are done with the view that holds, sorted."""
        number = self._mesh.view.number
        peers = [subscriber.link.peer for subscriber in self.everyone if subscriber.settled != number]
        return sorted(f"{peer.role} {peer.site}/{peer.node}" for peer in peers)

    def have_announced(self, view: View) -> bool:
        """Returns whether all who subscribe at this site have announced everything under `view`, or a later one."""
        return all(each.view.order >= view.order for each in self.everyone if self._is_local(each))

    def late(self, view: View) -> list[Subscriber]:
        """Returns those that have not announced everything under `view` yet."""
        return [subscriber for subscriber in self.everyone if subscriber.view != view]

    def announced(self, subscriber: Subscriber, view: View) -> None:
        """Notes that `subscriber` has announced everything under `view`."""
        is_first = not subscriber.view.number
        subscriber.view = view
        self._announced()
        self.losses.announced(subscriber.bit)
        if self._core.laggards is not None and self._core.laggards.announced(subscriber.bit):
            in_turns(self._serve(subscriber))
        elif is_first:
            self._seal(subscriber)
        self._mesh.offer(view)  # whoever knows a higher one: a site that lost its memory must not go on below it
        if view == self._mesh.view:
            if self._is_moved():
                self._bereavements.serve(subscriber)
            self._handed_over_to(subscriber)

    def change(self, subscriber: Subscriber, frame: Subscribe | Unsubscribe) -> None:
        """Changes what `subscriber` wants; `tell` says when that is installed."""
        topics: Sequence[Topic] = frame.topics  # type: ignore[assignment]  # the codec has checked them
        news: Rows = []
        if self._core.laggards is not None:
            self._core.laggards.change(subscriber.bit, frame.n)
        if isinstance(frame, Unsubscribe):
            self.outlets.unwanted(subscriber.link, self._core.interest, subscriber.bit, topics)
            self._core.gains.left(topics)
            self._withdraw(*self._core.unsubscribe(subscriber.bit, topics))
        elif not topics:
            # An empty change asks for an answer behind all that was sent before: by the other sites, too.
            self.outlets.release(subscriber.link)
            if self._is_local(subscriber):
                self._sites.ask_all()
        else:
            self._bereavements.wants(subscriber, topics)
            news = self._core.subscribe(subscriber.bit, topics, frame.handles)
            self._weigh(subscriber, topics, frame, news)
            self._sites.want(news)
        # After `want`: the mark of a site says how far it must get for this very change to be installed there.
        marks = self._sites.marks if self._is_local(subscriber) else {}
        subscriber.receipts.record(frame.n, {self._site: 0} | marks)
        self._wants(news, marks)

    def _wants(self, news: Rows, marks: Mapping[str, int]) -> None:
        """Notes that other sites know of `news` when they have reached `marks`, as far as somebody may ask what has come of them."""
        if self._core.unheard is not None:
            masks = self._core.interest.masks
            self._core.unheard.add([row for row, _ in news if masks[row] & RECORDED], marks)

    def _weigh(self, subscriber: Subscriber, topics: Sequence[Topic], frame: Subscribe, news: Rows) -> None:
        """Notes about how many follow `topics`: of those of another site for our link to it, of ours for the other sites."""
        if not self._is_local(subscriber):
            self.outlets.weigh(subscriber.link, frame.handles, frame.gains)
        elif self._sites:
            self._core.gains.subscribed(subscriber.bit, topics, frame.gains, news)

    def _is_local(self, subscriber: Subscriber) -> bool:
        """Tells whether `subscriber` is of this site. Only then the state of other sites matters to it."""
        return subscriber.link.peer.site == self._site

    def _withdraw(self, silent: Rows, dead: Rows) -> None:
        self._sites.unwant(silent)
        if dead:
            self._limbo.add(dead)
            self.release()

    def tick(self, now_s: float) -> None:
        """Ends the recording of what nobody has followed for long at `now_s`, and frees rows."""
        self._sites.tick()
        self._withdraw(*self._core.recorded.tick(now_s))
        self._sites.reweigh(self._core.gains.changed())
        self.release()

    def hand_over(self) -> Iterator[int]:
        """Ends, in parts, the recording of what nobody follows and another broker records by now. Yields how much each part was."""
        for silent, dead in self._core.recorded.hand_over(self._mesh.mine):
            self._withdraw(silent, dead)
            yield len(dead)

    def release(self) -> None:
        """Frees the numbers of rows that nobody wants any more, as far as no delivery can come under them."""
        if self._handover.over:  # what it holds names rows
            for row, topic in self._limbo.leave():
                self._core.release(row, topic)

    def tell_all(self) -> None:
        """Tells everybody what is installed, after another site has got further or is lost."""
        if self._sites.are_adopting:
            self.settle()
        if self._core.unheard is not None:
            self._core.unheard.reach(self._sites.reached)
        self.release()
        for subscriber in self.everyone:
            self.tell(subscriber)

    def tell(self, subscriber: Subscriber) -> None:
        """Tells `subscriber` which of its changes are installed, and where, if that is news.

        One that is behind hears it when it is not any more: an answer says that everything has come which was sent before.
        """
        if self._core.laggards is not None and subscriber.bit in self._core.laggards:
            return
        reached = self._sites.reached if self._is_local(subscriber) else {}
        if (news := subscriber.receipts.advance({self._site: 0} | reached)) is not None:
            stamps = subscriber.link.stamps
            subscriber.link.send(news if stamps is None else replace(news, stamps=stamps()))
