"""The ladder: what goes wrong in each row of a drill, and what is promised then. All of it is data.

A node is named "site/node".
"""

from itertools import product
from typing import Final, Literal, NamedTuple

import msgspec

from broker.window_bounds import WindowBounds
from infra.kernel.loss_reasons import LossReason
from segue.cluster.shape import SITES, Shape

from .load import COPIED, NO_WINDOW
from .nodes import KEPT, SHAPE, USUAL, DrillWindows
from .tellings import DueTelling

Act = Literal[
    "kill",
    "stop",
    "start",
    "settle",
    "hang",
    "go_on",
    "cut",
    "heal",
    "clock",
    "repeat",
    "wait",
    "mark",
    "random",
    "away",
    "back",
    "weigh",
]
ONE_PROCESS: Final = "one process"
PROCESSES: Final = "processes"
BOTH: Final = (ONE_PROCESS, PROCESSES)
# Nodes of one process hang together, and real processes have the clock of the machine.
ONLY: Final[dict[Act, str]] = {"hang": PROCESSES, "go_on": PROCESSES, "clock": ONE_PROCESS}


class DrillStep(NamedTuple):
    """Something that is done. What is measured from a moment on is measured from the last `mark`.

    - `node`: to which node or site. `other`: from whom it is cut.
    - `seconds`: how long, or by how much a clock is off.
    """

    act: Act
    node: str = ""
    other: str = ""
    seconds: float = 0.0


class DrillPromise(NamedTuple):
    """The most that may be measured; None: nothing is promised of it.

    - `missing`: deliveries of accepted events that never came. `twice`: those that came again.
    - `out_of_order`: events of a topic and site that came after a later one.
    - `undetected`: missing ones that no number shows.
    - `told`: times at which a follower was told that something of a topic may be missing.
    - `again_s`: until everybody is served as before, in seconds.
    - `unrecovered`: times at which a traveller came back and was not told that nothing is missing.
    - `anew`: events that do not go on from the one before, so that nobody can say what came between.
    - `uncounted`: missing ones that numbers do not count. Something must be missing, or nothing is proved.
    - `untold`: how many followers were not told of how many topics, in time and with the reason, what the row `tells`. Somebody must be.
    - `mistold`: times at which somebody was told of another topic, or for another reason, from the mark on.
    - `answer_s`: the longest time until a traveller who is back knows what they missed, in seconds.
    - `memory`: what the fullest window takes, in percent of what it may.
    """

    missing: int | None = None
    twice: int | None = 0
    out_of_order: int | None = 0
    undetected: int | None = 0
    told: int | None = None
    again_s: float | None = None
    unrecovered: int | None = None
    anew: int | None = None
    uncounted: int | None = None
    untold: int | None = None
    mistold: int | None = None
    answer_s: float | None = None
    memory: float | None = None


class DrillRow(NamedTuple):
    """A row: `what` goes wrong, by which `steps`.

    - `no_window`: what is promised for kinds without a window. `window`: for those of which all is kept; None: the same.
    - `copied`: for those that an heir has, too; None: the same as with a window alone.
    - `tells`: who is to be told what of kinds with a window.
    - `shape`, `windows`: of its cluster. `later`: nodes that are stopped before the load comes.
    - `is_long`: whether it is played on demand only.
    """

    name: str
    what: str
    steps: tuple[DrillStep, ...]
    no_window: DrillPromise
    window: DrillPromise | None = None
    copied: DrillPromise | None = None
    tells: DueTelling | None = None
    shape: Shape = SHAPE
    windows: DrillWindows = USUAL
    later: tuple[str, ...] = ()
    is_long: bool = False

    def promised(self, kind: str) -> DrillPromise:
        """Returns what is promised of a kind of topics."""
        window = self.window or self.no_window
        return self.no_window if kind == NO_WINDOW else (self.copied or window) if kind == COPIED else window

    @property
    def ways(self) -> tuple[str, ...]:
        """Where it can be played."""
        return tuple(way for way in BOTH if all(ONLY.get(step.act, way) == way for step in self.steps))

    @property
    def travels(self) -> bool:
        """Whether some followers are away for a part of it."""
        return any(step.act == "away" for step in self.steps)

    @property
    def seconds(self) -> float:
        """How long its steps wait."""
        return sum(step.seconds for step in self.steps if step.act in ("wait", "random"))


# The aggregator that both access points of the site choose.
USED: Final = "sto/a2"
BROKERS: Final = ("sto/b1", "sto/b2")
AGGREGATORS: Final = ("sto/a1", "sto/a2")
POINTS: Final = ("sto/ap1", "sto/ap2")
THREE: Final = msgspec.structs.replace(SHAPE, sites=SITES[:1], brokers=3)
ALONE: Final = msgspec.structs.replace(SHAPE, sites=SITES[:1])
FIVE: Final = msgspec.structs.replace(THREE, brokers=5)
NOTHING: Final = DrillPromise(missing=0, again_s=1.0)
UNNOTICED: Final = DrillPromise(missing=0, told=0, again_s=1.0)
LOST_NOTHING: Final = DrillPromise(missing=0)
COUNTED: Final = DrillPromise(uncounted=0, again_s=4.0)
LATER: Final = DrillPromise(missing=0, told=0, again_s=4.0)
RECOVERED: Final = DrillPromise(missing=0, told=0)
MOVED: Final = DrillPromise(missing=0, told=0, unrecovered=0, anew=0)
TOLD: Final = DrillPromise(untold=0, mistold=0)
# Who was away too long, or missed too much, hears that at once.
TOLD_AT_ONCE: Final = TOLD._replace(answer_s=1.0)
MARK: Final = DrillStep("mark")
AWAY: Final = DrillStep("away")
BACK: Final = DrillStep("back")
SETTLE: Final = DrillStep("settle", "sto")
# So little that events go for want of memory within a second or two, and so little of each topic that this may be meant.
SCANT: Final = DrillWindows(msgspec.structs.replace(KEPT, bytes=17 << 10), window_bytes=32 << 10)


def _kept_for(seconds: float) -> DrillWindows:
    return DrillWindows(msgspec.structs.replace(KEPT, seconds=seconds))


def _wait(seconds: float) -> DrillStep:
    return DrillStep("wait", seconds=seconds)


def _all(act: Act, *nodes: str) -> tuple[DrillStep, ...]:
    return tuple(DrillStep(act, node) for node in nodes)


def _gone_and_back(act: Act, node: str, seconds: float = 5.0) -> tuple[DrillStep, ...]:
    return (MARK, DrillStep(act, node), _wait(seconds), DrillStep("start", node), _wait(4.0))


def _lost(*brokers: str) -> tuple[DrillStep, ...]:
    """Returns the steps in which brokers die together while travellers are away, and come back before these do."""
    back = (*_all("start", *brokers), SETTLE, BACK, _wait(1.0))
    return (AWAY, MARK, *_all("kill", *brokers), _wait(5.0), *back)


def _away(seconds: float) -> tuple[DrillStep, ...]:
    return (MARK, AWAY, _wait(seconds), DrillStep("weigh"), BACK, _wait(1.0))


def _cut(seconds: float, *pairs: tuple[str, str]) -> tuple[DrillStep, ...]:
    return (*(DrillStep("cut", *pair) for pair in pairs), _wait(seconds), MARK, DrillStep("heal"), _wait(5.0))


def _sites_cut(seconds: float, window: DrillPromise, *, is_long: bool = False) -> DrillRow:
    steps, no_window = _cut(seconds, ("sto", "lon")), COUNTED if seconds > 1.0 else DrillPromise(again_s=4.0)
    what = f"two sites do not reach each other for {seconds:.0f} s"
    return DrillRow(f"sites-cut-{seconds:.0f}", what, steps, no_window, window, is_long=is_long)


def _hung(node: str, seconds: float) -> tuple[DrillStep, ...]:
    return (MARK, DrillStep("hang", node), _wait(seconds), DrillStep("go_on", node), _wait(5.0))


def _rolled(*nodes: str) -> tuple[DrillStep, ...]:
    return tuple(step for node in nodes for step in (DrillStep("stop", node), DrillStep("start", node), _wait(1.0)))


def _grown_and_shrunk(*nodes: str) -> tuple[DrillStep, ...]:
    settled = DrillStep("settle", "sto")
    grown = (MARK, AWAY, *_all("start", *nodes), settled, BACK, _wait(1.0))
    return (*grown, AWAY, *_all("stop", *nodes), settled, BACK, _wait(1.0))


def ladder(random_s: float) -> tuple[DrillRow, ...]:
    """Returns all rows. The last one goes on for `random_s` seconds."""
    return (*_aggregators(), *_points(), *_travellers(), *_brokers(), *_losses(), *_cuts(), *_planned(), *_odd(), _at_random(random_s))


def _aggregators() -> tuple[DrillRow, ...]:
    again = DrillPromise(again_s=1.5)
    kept, hung = (RECOVERED._replace(again_s=seconds) for seconds in (1.5, 4.5))
    return (
        DrillRow("aggregator-killed", "an aggregator is killed", _gone_and_back("kill", USED), again, kept),
        DrillRow("aggregator-stopped", "an aggregator is asked to stop", _gone_and_back("stop", USED), LOST_NOTHING, RECOVERED),
        DrillRow("aggregator-hung", "an aggregator hangs for 8 s", _hung(USED, 8.0), DrillPromise(again_s=4.5), hung),
    )


def _points() -> tuple[DrillRow, ...]:
    return (
        DrillRow(
            "accesspoint-killed",
            "an access point is killed",
            _gone_and_back("kill", "sto/ap1"),
            DrillPromise(again_s=5.0),
            DrillPromise(missing=0, told=0, again_s=5.0),
        ),
        # It waits a second, sends four clients away in another one, and each comes back within five.
        DrillRow(
            "accesspoint-stopped",
            "an access point is asked to stop",
            _gone_and_back("stop", "sto/ap1", 8.0),
            DrillPromise(again_s=7.5),
            DrillPromise(missing=0, told=0, again_s=7.5),
        ),
        DrillRow("accesspoint-stalled", "an access point stands still for 10 s", _hung("sto/ap1", 10.0), DrillPromise(), RECOVERED),
    )


def _travellers() -> tuple[DrillRow, ...]:
    long, much, evicted = (DueTelling(why, to="travellers") for why in (LossReason.EXPIRED, LossReason.TOO_MUCH, LossReason.EVICTED))
    usual, bounded = DrillWindows(WindowBounds()), TOLD_AT_ONCE._replace(memory=105.0)
    away_7, away_12, anything = _away(7.0), _away(12.0), DrillPromise()
    return (
        DrillRow(
            "away-too-long",
            "clients are away for 7 s, and events are kept for 3 s",
            away_7,
            anything,
            TOLD_AT_ONCE,
            None,
            long,
            windows=_kept_for(3.0),
        ),
        DrillRow(
            "away-too-long-120",
            "clients are away for 130 s, and events are kept for 120 s",
            _away(130.0),
            anything,
            TOLD_AT_ONCE,
            tells=long,
            is_long=True,
        ),
        DrillRow(
            "missed-too-much",
            "clients miss more of each topic than the 100 events that are kept",
            away_12,
            anything,
            TOLD_AT_ONCE,
            None,
            much,
            windows=usual,
        ),
        DrillRow("memory-full", "windows have less memory than they need", away_7, anything, bounded, None, evicted, windows=SCANT),
    )


def _brokers() -> tuple[DrillRow, ...]:
    lost = DueTelling(LossReason.OWNER_LOST, "sto", slots=("b1",))
    stopped = (MARK, AWAY, DrillStep("stop", "sto/b1"), _wait(5.0), DrillStep("start", "sto/b1"), _wait(4.0), BACK)
    killed, told = _gone_and_back("kill", "sto/b1"), TOLD._replace(again_s=2.0)
    return (
        DrillRow("broker-stopped", "a broker is asked to stop, and started again", stopped, LOST_NOTHING, MOVED),
        DrillRow("broker-killed", "a broker is killed", killed, DrillPromise(again_s=2.0), told, tells=lost),
        DrillRow("broker-hung", "a broker hangs for 8 s", _hung("sto/b1", 8.0), DrillPromise(again_s=3.5)),
    )


def _losses() -> tuple[DrillRow, ...]:
    site = (*BROKERS, *AGGREGATORS, *POINTS)
    restarted = (AWAY, MARK, *_all("kill", *site), *_all("start", *site), MARK, _wait(6.0), BACK, _wait(1.0))
    again = DrillPromise(again_s=2.0)
    one, two = (DueTelling(LossReason.OWNER_LOST, "sto", slots=slots) for slots in (("b1",), ("b1", "b2")))
    everything, late = DueTelling(LossReason.OWNER_LOST, "sto", within_s=5.0), DrillPromise(again_s=5.0)
    return (
        DrillRow(
            "owner-killed",
            "one of three brokers is killed, at the only site",
            _lost("sto/b1"),
            again,
            TOLD,
            MOVED,
            one,
            shape=THREE,
        ),
        DrillRow(
            "heirs-killed",
            "two of three brokers are killed together, at the only site",
            _lost(*BROKERS),
            again,
            TOLD,
            tells=two,
            shape=THREE,
        ),
        DrillRow(
            "site-restarted",
            "all nodes of a site are killed and started again",
            restarted,
            late,
            TOLD,
            tells=everything,
        ),
    )


def _cuts() -> tuple[DrillRow, ...]:
    one, other = zip(BROKERS, AGGREGATORS, POINTS, strict=True)
    split, apart = _cut(8.0, *product(one, other)), DrillPromise(undetected=None, again_s=4.0)
    both, told = DueTelling(LossReason.SPLIT, "sto"), apart._replace(untold=0, mistold=0)
    return (
        DrillRow(
            "links-cut", "an aggregator does not reach a broker for 5 s", _cut(5.0, (USED, "sto/b1")), DrillPromise(again_s=4.0), LATER
        ),
        _sites_cut(1.0, LATER),
        _sites_cut(20.0, LATER),
        _sites_cut(100.0, LATER, is_long=True),
        _sites_cut(300.0, COUNTED, is_long=True),
        DrillRow(
            "sites-cut-too-long",
            "two sites do not reach each other for 15 s, and events are kept for 5 s",
            _cut(15.0, ("sto", "lon")),
            COUNTED,
            windows=_kept_for(5.0),
        ),
        # What a link of the other part had on its way may still come when they meet, behind or beside what came here meanwhile.
        DrillRow("site-split", "a site falls in two parts for 8 s", split, apart, told, None, both, shape=ALONE),
        DrillRow("site-split-linked", "a site falls in two parts for 8 s, and another site reaches both", split, apart),
    )


def _planned() -> tuple[DrillRow, ...]:
    added = ("sto/b4", "sto/b5")
    return (
        DrillRow(
            "rolling-restart",
            "brokers and aggregators of a site are restarted, one after the other",
            (AWAY, *_rolled(*BROKERS, *AGGREGATORS), BACK),
            LOST_NOTHING,
            MOVED,
        ),
        DrillRow(
            "rolling-restart-all",
            "all nodes of a site are restarted, one after the other",
            _rolled(*BROKERS, *AGGREGATORS, *POINTS),
            DrillPromise(),
            RECOVERED,
        ),
        DrillRow(
            "three-five-three",
            "a site goes from 3 brokers to 5 and back",
            _grown_and_shrunk(*added),
            LOST_NOTHING,
            MOVED,
            shape=FIVE,
            later=added,
        ),
    )


def _odd() -> tuple[DrillRow, ...]:
    clock = (MARK, DrillStep("clock", "sto/b1", seconds=3600), _wait(4.0))
    repeated = (_wait(3.0), MARK, DrillStep("repeat"), _wait(1.0))
    return (
        DrillRow("clock", "the clock of a broker is an hour off", clock, NOTHING, UNNOTICED),
        DrillRow("repeated", "a publisher repeats everything", repeated, LOST_NOTHING, RECOVERED),
    )


def _at_random(seconds: float) -> DrillRow:
    steps = (DrillStep("random", seconds=seconds), _wait(5.0))
    return DrillRow("random", "nodes are killed, stopped and cut off at random, and hang", steps, DrillPromise())
