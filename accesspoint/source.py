"""Where events come from: one of the configured aggregators at a time, another one when it is lost or leaves."""

import zlib
from collections import Counter
from collections.abc import Callable
from typing import Final

from infra.kernel.errors import Refused
from infra.kernel.frames import (
    AnyFrame,
    Applied,
    Deliver,
    Fence,
    Fenced,
    Heartbeat,
    Keeps,
    Leaving,
    Lost,
    Recall,
    Recalled,
    Staying,
    View,
)
from infra.kernel.roles import AGGREGATOR
from infra.kernel.topics import Topic
from infra.runtime.link import Link
from infra.runtime.logs import Logger
from infra.runtime.node import Node

from .core import AccessPointCore
from .move import Move, News, Step
from .options import AccessPointOptions

FAILOVER_BEATS: Final = 2
# Whoever has called all of them in vain waits twice as long for each in the next round, and does so up to this often. On a machine under
# load all are slow: were each given up as soon as ever, none would be reached until the load is gone.
DOUBLINGS: Final = 2
# The last one that can be called is called for longer: the one that leaves goes on delivering meanwhile, and behind it nobody would.
LAST_BEATS: Final = 6


class Source:
    """The aggregator that feeds `core`, and how it changes (see `Move`).

    - `link`: the one that delivers to clients, None while there is none; `address` is where it is dialled.
    - `failovers`, `moves`: how often it has changed, and how.
    - `now`: time that never goes back, in seconds.
    """

    def __init__(self, options: AccessPointOptions, core: AccessPointCore, links: Node, now: Callable[[], float], log: Logger) -> None:
        self.failovers = 0
        self.moves: Counter[str] = Counter()
        self.link: Link | None = None
        self._options, self._core, self._links, self._now, self._log = options, core, links, now, log
        # A stable choice that differs between access points spreads them over the aggregators.
        first = zlib.crc32(options.node.encode()) % len(options.aggregators)
        self._order = list(dict.fromkeys(options.aggregators[first:] + options.aggregators[:first]))
        self.address = self._order[0]
        self._waited = self._views = self._in_vain = 0
        self._move: Move | None = None
        self._new: Link | None = None
        self._called = ""
        self._untried: list[str] = []
        self._asked = self._mark = 0
        self._is_left = False

    def start(self) -> None:
        """Dials the aggregator of choice."""
        self._choose(self.address)

    def _choose(self, address: str) -> None:
        self.address, self._waited = address, 0
        self._announce_to(address)
        self._dial(address)

    def _announce_to(self, address: str) -> None:
        # An aggregator is for the announcer what a broker is for an aggregator: the only slot of a view, which owns everything.
        self._views += 1
        self._core.announcer.set_view(View(self._views, (address,)))

    def _dial(self, address: str) -> None:
        self._links.dial(address, AGGREGATOR, self._options.site)

    def _others(self) -> list[str]:
        """Returns all aggregators but the one of choice, the next one first."""
        at = self._order.index(self.address)
        return self._order[at + 1 :] + self._order[:at]

    def _fail_over(self) -> None:
        if others := self._others():
            old = self.address
            self.failovers += 1
            self._choose(others[0])
            self._links.hang_up(old)

    # Links.

    def link_up(self, link: Link) -> None:
        """Tells an aggregator that has answered everything."""
        assert link.dialled is not None
        self._core.announcer.node_up(link.dialled, link)
        if self._move is not None and link.dialled == self._called:
            self._new = link
            self._on(News.LINKED)
        else:
            self._waited = 0
            self._feed(link)
            self._core.recoveries.resume(self._now())

    def link_down(self, link: Link) -> None:
        """Goes on without an aggregator that is lost: to the next one, or to where we were going."""
        assert link.dialled is not None
        if link is self.link:
            self._core.recoveries.cut_off()
        self._core.announcer.node_down(link.dialled)
        if self._move is not None and link is self._new:
            self._on(News.NEW_LOST)
        elif self._move is not None and link is self.link:
            self._on(News.OLD_LOST)
        elif link is self.link:
            self._feed(None)
            self._fail_over()

    def tick(self) -> None:
        """Gives an aggregator that does not answer up for the next one; is called every heartbeat."""
        if self.link is not None and (self._move is None or self._new is not None):
            return
        self._waited += 1
        if self._waited <= self._patience_beats():
            return
        if self._move is not None:
            self._call_next()
        else:
            self._in_vain += 1
            self._fail_over()

    def _patience_beats(self) -> int:
        """Returns how long the one that was called may take to answer."""
        if self._move is not None:
            return FAILOVER_BEATS if self._untried else LAST_BEATS
        return FAILOVER_BEATS << min(self._in_vain // len(self._order), DOUBLINGS)

    def take(self, link: Link, frame: AnyFrame) -> None:
        """Takes one frame of an aggregator. Raises `Refused` if it may not say that."""
        match frame:
            case Deliver(handles, bodies, stamps):
                if self._move is not None:
                    self._sort(link, self._move, frame)
                elif link is self.link:  # one that was left may still speak
                    self._deliver(handles, bodies, is_stamped=bool(stamps))
                self._note(link, stamps)
            case Recalled():
                if link is self.link:
                    self._core.recoveries.answered(frame, self._now())
            case Lost(topics, reason):
                self._core.recoveries.lose([Topic(topic) for topic in topics], reason)
            case Keeps():
                self._core.keeping.learn(frame)
            case Applied(n, sites):
                self._core.announcer.applied(link.dialled or "", n, sites)
                self._core.subscriptions.advance(self._now())
                self._check_installed()
            case Leaving():
                self._leave(link)
            case Fenced(n):
                self._fenced(link, n)
            case Heartbeat(stamps=stamps):
                self._note(link, stamps)
            case _:
                raise Refused("bad-link-frame", f"{type(frame).__name__} makes no sense to an access point")

    def _note(self, link: Link, stamps: dict[int, int]) -> None:
        is_passed_over = self._move is not None and self._move.step is Step.ALONE
        if link is self.link and not is_passed_over:
            self._core.recoveries.note(stamps)

    def _feed(self, link: Link | None) -> None:
        """Has `link` deliver from now on."""
        self.link = link
        if link is not None:
            self._in_vain = 0
        self._core.recoveries.fed_by(link if link is not None and link.knows(Recall) else None)

    # Moves.

    def _leave(self, link: Link) -> None:
        if self._move is not None and link is self._new:
            if link is self.link:  # it has just taken over
                self._is_left = True
            else:
                self._on(News.NEW_LOST)
        elif self._move is None and link is self.link:
            self._is_left = False
            self._untried, self._move = self._others(), Move(self._options.move_bytes)
            self._call_next()

    def _call_next(self) -> None:
        """Calls the next aggregator that was not tried; where none is left, says that to the one that leaves."""
        self._waited, self._new = 0, None
        if self._called:
            self._links.hang_up(self._called)
        self._called = self._untried.pop(0) if self._untried else ""
        if self._called:
            self._dial(self._called)
        elif self.link is not None:
            self._move = None
            self.link.send(Staying())

    def _on(self, news: News) -> None:
        move = self._move
        assert move is not None
        before, step = move.step, move.on(news)
        if step is before:
            return
        match step:
            case Step.CALLING:
                self._announce_to(self.address)
                self._keep_what_is_named(False)
                self._call_next()
            case Step.ANNOUNCING:
                self._keep_what_is_named(True)
                self._announce_to(self._called)
                self._mark = self._core.announcer.mark()
                self._ask(self._new)
            case Step.INSTALLING:
                self._check_installed()
            case Step.FENCING:
                self._ask(self.link)
            case Step.ALONE:
                self._leave_old()
            case Step.CATCHING_UP:
                self._switch(move, before, news)
            case Step.OVER:
                self._end()
            case Step.FAILED:
                self._fail(before)

    def _keep_what_is_named(self, keep: bool) -> None:
        """Keeps, or gives up, what events on their way name: subscriptions at the old one, numbers of topics here."""
        self._core.announcer.keeps_former = self._core.subscriptions.keeps_numbers = keep
        self._core.recoveries.move(keep, self._now())
        self._core.announcer.unserved.clear()

    def _ask(self, link: Link | None) -> None:
        assert link is not None
        self._asked += 1
        link.send(Fence(self._asked))

    def _fenced(self, link: Link, n: int) -> None:
        if self._move is not None and n == self._asked:  # not one of a try before
            self._on(News.NEW_FENCED if link is self._new else News.OLD_FENCED)

    def _check_installed(self) -> None:
        if self._move is not None and self._core.announcer.reached.get(self._options.site, 0) >= self._mark:
            self._on(News.INSTALLED)

    def _deliver(self, handles: list[int], bodies: list[bytes], *, is_stamped: bool) -> None:
        """Delivers some events; `is_stamped`: with a word up to where everything has come."""
        if not is_stamped:
            self._core.recoveries.own.delivered(handles, bodies)
        self._core.hub.deliver(handles, bodies)

    def _sort(self, link: Link, move: Move, frame: Deliver) -> None:
        """Delivers what the old one sends, and has what the new one sends wait."""
        if link is self._new:
            fresh = move.by_new(frame.handles, frame.bodies, self._core.recoveries.unserved_handles)
            self._deliver(*fresh, is_stamped=bool(frame.stamps))
        elif link is self.link:
            self._deliver(frame.handles, frame.bodies, is_stamped=bool(frame.stamps))
            move.by_old(frame.handles, frame.bodies)
        if move.is_full:
            self._on(News.FULL)

    def _switch(self, move: Move, before: Step, news: News) -> None:
        how = "whole" if news is News.OLD_FENCED else "cut"
        self.moves[how] += 1
        self._log.info("moved to another aggregator", aggregator=self._called, how=how)
        if before is not Step.ALONE:
            self._leave_old()
        recoveries = self._core.recoveries
        if how == "cut":  # the old one has not delivered all that came before the first fence of the new one
            self._core.inboxes.catch_up.want()
            recoveries.resume(self._now())
        else:
            recoveries.own.ask(recoveries.link)
        move.forgo(recoveries.own.handles)
        self._deliver(*move.take_kept(), is_stamped=False)
        self._ask(self._new)

    def _leave_old(self) -> None:
        old, self.address = self.address, self._called
        self._feed(self._new)
        self._links.hang_up(old)

    def _end(self) -> None:
        self._move, self._new, self._called = None, None, ""
        self._keep_what_is_named(False)
        if self._is_left and self.link is not None:  # the new one leaves, too
            self._leave(self.link)

    def _fail(self, before: Step) -> None:
        """Fails over as ever, for no aggregator is linked."""
        self._core.inboxes.catch_up.want()
        if before is Step.CALLING:  # the one that is called may answer yet
            self.moves["cut"] += 1
            self.failovers += 1
            self._leave_old()
            self._announce_to(self.address)
        self._waited, self._is_left = 0, False
        self._feed(None)
        self._end()
        if before is not Step.CALLING:
            self._fail_over()
