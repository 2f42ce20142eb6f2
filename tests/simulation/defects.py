"""Planted defects. A simulation that finds none of them would prove nothing (DPS-30)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from accesspoint.gap_notices import GapNotices
from accesspoint.hub import Hub
from accesspoint.point import write_point
from accesspoint.recoveries import Recoveries
from accesspoint.row import Row
from accesspoint.session import Session
from aggregator.losses import OwnerLosses
from broker.client import SiteClient
from broker.core import BrokerCore
from broker.forwarder import Forwarder
from broker.handover import Handover
from broker.heir_briefing import HeirBriefing
from broker.heirs import Heirs
from broker.inheritance import Inheritance
from broker.laggards import Laggards
from broker.link_masks import LinkMasks
from broker.moving import TopicMoves
from broker.recaller import Recaller
from broker.server import Broker
from broker.site_events import SiteEvents
from broker.tenure import Descent, Tenure
from broker.topic_numbers import TopicNumbers
from broker.window import EventWindow, Missed
from broker.window_origins import Origins
from infra.kernel.announcer import Announcer
from infra.kernel.events import OPENING
from infra.kernel.frames import CopiesHeld, Subscribe
from infra.kernel.limbo import Limbo
from infra.kernel.membership import Membership
from infra.kernel.receipts import Receipts
from infra.kernel.recent import RecentIds
from infra.kernel.topics import Kind, Topic
from infra.runtime.dialler import Dialler
from infra.runtime.link import Link
from infra.runtime.standing_links import StandingLinks


class PlantedDefect(NamedTuple):
    """A method of production, and what takes its place. `told`: what is wrong then."""

    told: str
    owner: type[Any]
    method: str
    wrong: Callable[..., Any]


def _begins_anew(numbers: TopicNumbers, topic: Topic) -> int:
    numbers._retained.pop(topic, None)
    return 0


def _relay_to_all(core: BrokerCore, handles: Any, bodies: Any) -> None:
    for row, body in zip(handles, bodies, strict=True):
        if row < len(core.interest.masks):
            core.fanout.send(row, core.interest.masks[row], body)


def _silent_node_up(announcer: Announcer, slot: str, outlet: Any, resume: Any = None, *, is_other: bool = False) -> None:
    announcer._node(slot).up(outlet, is_other=is_other)
    announcer._send(slot, Subscribe, [], [])
    announcer._start_over()


def _moves_nothing(announcer: Announcer, view: Any, *_: Any) -> bool:
    if (view.number, view.slots) <= (announcer.view.number, announcer.view.slots):
        return False
    announcer.ring, announcer.view = type(announcer.ring)(view.slots), view
    announcer._start_over()
    return True


def _announces_one_part(announcer: Announcer, moving: Any) -> None:
    _PART(announcer, moving)
    if not announcer.is_announced:
        announcer._announced_all(moving)


def _stays(hub: Hub, member: Any, topic: bytes) -> Row | None:
    return None


def _backwards(link: Link) -> None:
    link._handles.reverse()
    link._bodies.reverse()
    _SEAL(link)


def _at_once(limbo: Limbo) -> Iterator[tuple[int, bytes]]:
    while limbo._rows:
        row, (topic, _) = limbo._rows.popitem(last=False)
        yield row, topic


def _all_installed(receipts: Receipts, site: str, reached: int) -> int:
    return receipts._last[0]


def _gives_twice(hub: Hub, row: Row, members: Any, run: list[bytes]) -> None:
    _GIVE(hub, row, members, run if len(members) < 2 else [*run, run[-1]])


def _forgets_the_last(link: Link) -> None:
    if len(link._frames) > 1:
        link._frames.pop()
    _FLUSH(link)


def _says_done(forwarder: Forwarder, slot: str, hops: int, events: Any, done: Callable[[bool], None]) -> None:
    done(True)


def _one_number_less(numbers: TopicNumbers, topic: Topic) -> tuple[int, int] | None:
    last = _LAST(numbers, topic)
    return last and (last[0], last[1] - 1)


async def _goes_at_once(broker: Broker) -> None:
    """Leaves without a word."""


def _resumes_late(laggards: Laggards, bit: int, stamp: int, opening: bytes, known: int) -> None:
    _RESUME(laggards, bit, stamp + 1, opening, known)


def _evicts_unnoticed(window: EventWindow) -> None:
    evicted = window.evicted
    _EVICT(window)
    window.evicted = evicted


def _always_owned(tenure: Tenure, topic: Topic, stamps: dict[int, int]) -> Descent:
    mine = stamps.get(tenure._epoch)
    return _DESCEND(tenure, topic, stamps) if mine is None else Descent({tenure._epoch: mine})


def _one_event_less(window: EventWindow, row: int | None, kind: Kind, stamp: int, until: int | None = None) -> Missed:
    found = _AFTER(window, row, kind, stamp, until)
    return Missed(found.bodies[1:], found.reason)


def _one_stamp_more(recoveries: Recoveries, session: Session) -> str | None:
    return write_point(recoveries._options.site, {epoch: stamp + 1 for epoch, stamp in recoveries.own.stamps.items()})


def _waits_for_nobody(heirs: Heirs) -> None:
    _SENDS(heirs)
    for slot, stream in list(heirs._streams.items()):
        heirs.take(slot, CopiesHeld(stream.number, stream.sent))


def _stays_answered(hub: Hub, row: Row, run: list[bytes]) -> None:
    answer = row.answer
    _RUN(hub, row, run)
    row.answer = answer


_SENDS = Heirs.flush
_PART = Announcer._announce_part
_RUN = Hub._run
_AFTER = EventWindow.topic_after
_LAST = TopicNumbers.last
_DESCEND = Tenure.descend
_RESUME = Laggards.resume
_EVICT = EventWindow._evict
_SEAL, _FLUSH, _GIVE = Link._seal, Link.flush, Hub._give
DEFECTS: Final = {
    "ids-forgotten": PlantedDefect("an id that came already is taken for a new one", RecentIds, "seen", lambda *_: False),
    "numbers-again": PlantedDefect("the count of a topic begins anew within an epoch", TopicNumbers, "_former", _begins_anew),
    "told-installed": PlantedDefect("marks are reached before anybody has answered", Announcer, "_lacks", lambda *_: False),
    "not-announced": PlantedDefect("a link that comes back hears of nothing", Announcer, "node_up", _silent_node_up),
    "not-moved": PlantedDefect("a new owner hears of nothing", Announcer, "set_view", _moves_nothing),
    "half-announced": PlantedDefect("of what moves only the first part is announced", Announcer, "_announce_part", _announces_one_part),
    "never-parts": PlantedDefect("a former owner serves for ever", Announcer, "_may_part", lambda *_: False),
    "no-handover": PlantedDefect("a new owner does not wait for interest", Handover, "begin", lambda *_: None),
    "relays-to-all": PlantedDefect("an event of another site goes to other sites, too", BrokerCore, "relay", _relay_to_all),
    "two-a-site": PlantedDefect("a site gets two copies while a topic moves there", LinkMasks, "once_per_site", lambda _, far, __: far),
    "not-unsubscribed": PlantedDefect("who unsubscribes stays in the row", Hub, "unsubscribe", _stays),
    "never-silent": PlantedDefect(
        "a peer that says nothing is never given up", StandingLinks, "_beat_on", lambda _, link, beat: link.send(beat)
    ),
    "two-links": PlantedDefect("a second link of one node stands beside the first", StandingLinks, "refuse_duplicate", lambda *_: None),
    "backwards": PlantedDefect("events of one turn leave in the wrong order", Link, "_seal", _backwards),
    "reused-at-once": PlantedDefect("the number of a row is free before its last event is in", Limbo, "leave", _at_once),
    "receipts-lie": PlantedDefect("changes are told as installed that are not", Receipts, "_installed", _all_installed),
    "given-twice": PlantedDefect("two sessions of one topic get its last event twice", Hub, "_give", _gives_twice),
    "last-frame-lost": PlantedDefect("the last of several frames is forgotten", Link, "flush", _forgets_the_last),
    "forwards-nothing": PlantedDefect("what another broker owns is acknowledged and forgotten", Forwarder, "forward", _says_done),
    "leaves-at-once": PlantedDefect("a broker that is asked to stop leaves without a word", Broker, "leave", _goes_at_once),
    "never-rejoins": PlantedDefect("a slot that said goodbye stays left", Membership, "rejoin", lambda *_, **__: None),
    "resumes-nothing": PlantedDefect("a link that comes back does not say where it was", SiteClient, "_resume", lambda *_: None),
    "given-back": PlantedDefect("another site gets back its own events from the window", BrokerCore, "opening", lambda *_: OPENING),
    "one-too-late": PlantedDefect("a link goes on one stamp after the right one", Laggards, "resume", _resumes_late),
    "full-loses": PlantedDefect("a full link loses what is recorded, as if it were not", Laggards, "fill", lambda *_: None),
    "evicts-unnoticed": PlantedDefect("what goes for want of memory is not missed", EventWindow, "_evict", _evicts_unnoticed),
    "no-seal": PlantedDefect("a new owner does not wait for what former ones hand over", TopicMoves, "_is_awaited", lambda *_: False),
    "ids-left-behind": PlantedDefect("ids of publications stay with the former owner", BrokerCore, "known_ids", lambda _: ()),
    "one-number-less": PlantedDefect("a new owner is told the last number but one", TopicNumbers, "last", _one_number_less),
    "seals-at-once": PlantedDefect("a step is sealed before what goes in the one before", TopicMoves, "_may_seal", lambda _: True),
    "window-left-behind": PlantedDefect("what is recorded stays with the former owner", Inheritance, "leaving", lambda *_: iter(())),
    "place-forgotten": PlantedDefect("an event that came with a topic loses its place", Origins, "get", lambda *_: None),
    "strays-lost": PlantedDefect("a former owner keeps late events of other sites for itself", SiteEvents, "_new_owner", lambda *_: None),
    "joins-at-once": PlantedDefect("who comes back is served before the answer, and nobody is asked", Recoveries, "hold", lambda *_: None),
    "one-event-less": PlantedDefect("who comes back gets all but the first event", EventWindow, "topic_after", _one_event_less),
    "never-too-old": PlantedDefect("what is too old is not missed", EventWindow, "too_old", lambda *_: 0),
    "point-too-far": PlantedDefect("a point is one stamp further than what was sent", Recoveries, "point", _one_stamp_more),
    "no-tenure": PlantedDefect("a new owner says that it has what a former one had", Tenure, "descend", _always_owned),
    "no-anchor": PlantedDefect("numbers are taken for whole that show nothing", Recaller, "_shows_all", lambda *_, **__: True),
    "holes-hidden": PlantedDefect("what stands before something that never came is given", EventWindow, "broken_off", lambda *_: iter(())),
    "stays-answered": PlantedDefect("an answer about the past stands, although an event has come since", Hub, "_run", _stays_answered),
    "no-answers": PlantedDefect("answers about the past are forgotten", Recoveries, "answered", lambda *_: None),
    "no-gaps": PlantedDefect("nobody hears that an owner was lost", OwnerLosses, "link_up", lambda *_: None),
    "gap-untold": PlantedDefect("clients do not hear of what was lost", GapNotices, "lost", lambda *_: None),
    "gap-for-all": PlantedDefect(
        "who leaves as planned is taken for lost while anything moves", Announcer, "has_parted", lambda announcer, _: announcer.is_parted
    ),
    "heir-not-waited-for": PlantedDefect("an event is let out before its heir has it", Heirs, "flush", _waits_for_nobody),
    "claims-uncopied": PlantedDefect(
        "an heir is told that it has everything, and was told nothing", HeirBriefing, "_parts", lambda *_: iter(())
    ),
    "not-awaited": PlantedDefect(
        "who was away is forgotten with the owner that alone knew of them", Tenure, "may_be_awaited", lambda *_: False
    ),
    "dials-once": PlantedDefect("a link that is lost is not dialled again", Dialler, "_redial_s", lambda *_: 1e6),
}


@contextmanager
def planted(name: str | None) -> Iterator[None]:
    """Has a defect in production while the block runs; with None, nothing is planted."""
    if name is None:
        yield
        return
    defect = DEFECTS[name]
    right = getattr(defect.owner, defect.method)
    setattr(defect.owner, defect.method, defect.wrong)
    try:
        yield
    finally:
        setattr(defect.owner, defect.method, right)
