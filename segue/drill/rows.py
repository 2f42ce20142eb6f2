"""The ladder: what goes wrong in each row of a drill, and what is promised then. All of it is data.

A node is named "site/node".
"""

from itertools import product
from typing import Final, Literal, NamedTuple

import msgspec

from segue.cluster.shape import SITES, Shape

from .load import WINDOW
from .nodes import SHAPE

Act = Literal[
    "kill", "stop", "start", "settle", "hang", "go_on", "cut", "heal", "clock", "repeat", "wait", "mark", "random", "away", "back"
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
    """

    missing: int | None = None
    twice: int | None = 0
    out_of_order: int | None = 0
    undetected: int | None = 0
    told: int | None = None
    again_s: float | None = None
    unrecovered: int | None = None
    anew: int | None = None


class DrillRow(NamedTuple):
    """A row: `what` goes wrong, by which `steps`.

    - `no_window`: what is promised for kinds without a window. `window`: for those of which all is kept; None: the same.
    - `shape`: of its cluster. `later`: nodes that are stopped before the load comes.
    - `is_long`: whether it is played on demand only.
    """

    name: str
    what: str
    steps: tuple[DrillStep, ...]
    no_window: DrillPromise
    window: DrillPromise | None = None
    shape: Shape = SHAPE
    later: tuple[str, ...] = ()
    is_long: bool = False

    def promised(self, kind: str) -> DrillPromise:
        """Returns what is promised of a kind of topics."""
        return self.window if kind == WINDOW and self.window is not None else self.no_window

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
FIVE: Final = msgspec.structs.replace(THREE, brokers=5)
NOTHING: Final = DrillPromise(missing=0, again_s=0.0)
LOST_NOTHING: Final = DrillPromise(missing=0)
AGAIN_IN_4_S: Final = DrillPromise(again_s=4.0)
LATER: Final = DrillPromise(missing=0, told=0, again_s=4.0)
RECOVERED: Final = DrillPromise(missing=0, told=0)
MOVED: Final = DrillPromise(missing=0, told=0, unrecovered=0, anew=0)
MARK: Final = DrillStep("mark")
AWAY: Final = DrillStep("away")
BACK: Final = DrillStep("back")


def _wait(seconds: float) -> DrillStep:
    return DrillStep("wait", seconds=seconds)


def _all(act: Act, *nodes: str) -> tuple[DrillStep, ...]:
    return tuple(DrillStep(act, node) for node in nodes)


def _gone_and_back(act: Act, node: str, seconds: float = 5.0) -> tuple[DrillStep, ...]:
    return (MARK, DrillStep(act, node), _wait(seconds), DrillStep("start", node), _wait(4.0))


def _cut(seconds: float, *pairs: tuple[str, str]) -> tuple[DrillStep, ...]:
    return (*(DrillStep("cut", *pair) for pair in pairs), _wait(seconds), MARK, DrillStep("heal"), _wait(5.0))


def _sites_cut(seconds: float, window: DrillPromise, *, is_long: bool = False) -> DrillRow:
    steps = _cut(seconds, ("sto", "lon"))
    what = f"two sites do not reach each other for {seconds:.0f} s"
    return DrillRow(f"sites-cut-{seconds:.0f}", what, steps, AGAIN_IN_4_S, window, is_long=is_long)


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
    return (*_aggregators(), *_points(), *_brokers(), *_cuts(), *_planned(), *_odd(), _at_random(random_s))


def _aggregators() -> tuple[DrillRow, ...]:
    return (
        DrillRow("aggregator-killed", "an aggregator is killed", _gone_and_back("kill", USED), DrillPromise(again_s=1.5)),
        DrillRow("aggregator-stopped", "an aggregator is asked to stop", _gone_and_back("stop", USED), LOST_NOTHING),
        DrillRow("aggregator-hung", "an aggregator hangs for 8 s", _hung(USED, 8.0), DrillPromise(again_s=4.5)),
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


def _brokers() -> tuple[DrillRow, ...]:
    site = (*BROKERS, *AGGREGATORS, *POINTS)
    restarted = (*_all("kill", *site), *_all("start", *site), MARK, _wait(6.0))
    stopped = (MARK, AWAY, DrillStep("stop", "sto/b1"), _wait(5.0), DrillStep("start", "sto/b1"), _wait(4.0), BACK)
    heirs = (MARK, *_all("kill", *BROKERS), _wait(5.0), *_all("start", *BROKERS), _wait(4.0))
    return (
        DrillRow("broker-stopped", "a broker is asked to stop, and started again", stopped, LOST_NOTHING, MOVED),
        DrillRow("broker-killed", "a broker is killed", _gone_and_back("kill", "sto/b1"), DrillPromise(again_s=2.0)),
        DrillRow("broker-hung", "a broker hangs for 8 s", _hung("sto/b1", 8.0), DrillPromise(again_s=3.5)),
        DrillRow("heirs-killed", "two of three brokers are killed together", heirs, DrillPromise(again_s=2.0), shape=THREE),
        DrillRow("site-restarted", "all nodes of a site are killed and started again", restarted, DrillPromise(again_s=5.0)),
    )


def _cuts() -> tuple[DrillRow, ...]:
    one, other = zip(BROKERS, AGGREGATORS, POINTS, strict=True)
    split = _cut(8.0, *product(one, other))
    return (
        DrillRow("links-cut", "an aggregator does not reach a broker for 5 s", _cut(5.0, (USED, "sto/b1")), AGAIN_IN_4_S, LATER),
        _sites_cut(1.0, LATER),
        _sites_cut(20.0, LATER),
        _sites_cut(100.0, LATER, is_long=True),
        _sites_cut(300.0, AGAIN_IN_4_S, is_long=True),
        # What a link of the other part had on its way may still come when they meet, behind or beside what came here meanwhile.
        DrillRow("site-split", "a site falls in two parts for 8 s", split, DrillPromise(undetected=None, again_s=4.0)),
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
        DrillRow("clock", "the clock of a broker is an hour off", clock, NOTHING),
        DrillRow("repeated", "a publisher repeats everything", repeated, LOST_NOTHING),
    )


def _at_random(seconds: float) -> DrillRow:
    steps = (DrillStep("random", seconds=seconds), _wait(5.0))
    return DrillRow("random", "nodes are killed, stopped and cut off at random, and hang", steps, DrillPromise())
