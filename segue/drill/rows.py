"""The ladder: what goes wrong in each row of a drill, and what is promised then. All of it is data.

A node is named "site/node". A further column of promises is a further field of `DrillRow`.
"""

from typing import Final, Literal, NamedTuple

Act = Literal["kill", "stop", "start", "hang", "go_on", "cut", "heal", "clock", "repeat", "wait", "mark", "random"]
ONE_PROCESS: Final = "one process"
PROCESSES: Final = "processes"
BOTH: Final = (ONE_PROCESS, PROCESSES)


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
    - `again_s`: until everybody is served as before, in seconds.
    """

    missing: int | None = None
    twice: int | None = 0
    out_of_order: int | None = 0
    undetected: int | None = 0
    again_s: float | None = None


class DrillRow(NamedTuple):
    """A row. `what` goes wrong, by which `steps`; `no_window`: what is promised for kinds without a window; `ways`: where it is played."""

    name: str
    what: str
    steps: tuple[DrillStep, ...]
    no_window: DrillPromise
    ways: tuple[str, ...] = BOTH

    @property
    def seconds(self) -> float:
        """How long its steps wait."""
        return sum(step.seconds for step in self.steps if step.act in ("wait", "random"))


# The aggregator that both access points of the site choose.
USED: Final = "sto/a2"
NOTHING: Final = DrillPromise(missing=0, again_s=0.0)
LOST_NOTHING: Final = DrillPromise(missing=0)


def _wait(seconds: float) -> DrillStep:
    return DrillStep("wait", seconds=seconds)


def _gone_and_back(act: Act, node: str, seconds: float = 5.0) -> tuple[DrillStep, ...]:
    return (DrillStep("mark"), DrillStep(act, node), _wait(seconds), DrillStep("start", node), _wait(4.0))


def _cut(one: str, other: str, seconds: float) -> tuple[DrillStep, ...]:
    return (DrillStep("cut", one, other), _wait(seconds), DrillStep("mark"), DrillStep("heal"), _wait(5.0))


def _hung(node: str, seconds: float) -> tuple[DrillStep, ...]:
    return (DrillStep("mark"), DrillStep("hang", node), _wait(seconds), DrillStep("go_on", node), _wait(5.0))


def _rolled(*nodes: str) -> tuple[DrillStep, ...]:
    return tuple(step for node in nodes for step in (DrillStep("stop", node), DrillStep("start", node), _wait(1.0)))


def ladder(random_s: float) -> tuple[DrillRow, ...]:
    """Returns all rows. The last one goes on for `random_s` seconds."""
    return (
        DrillRow("aggregator-killed", "an aggregator is killed", _gone_and_back("kill", USED), DrillPromise(again_s=1.5)),
        DrillRow("aggregator-stopped", "an aggregator is asked to stop", _gone_and_back("stop", USED), LOST_NOTHING),
        DrillRow("accesspoint-killed", "an access point is killed", _gone_and_back("kill", "sto/ap1"), DrillPromise(again_s=5.0)),
        DrillRow("broker-stopped", "a broker is asked to stop, and started again", _gone_and_back("stop", "sto/b1"), LOST_NOTHING),
        DrillRow("broker-killed", "a broker is killed", _gone_and_back("kill", "sto/b1"), DrillPromise(again_s=2.0)),
        DrillRow("broker-hung", "a broker hangs for 8 s", _hung("sto/b1", 8.0), DrillPromise(again_s=3.5), (PROCESSES,)),
        DrillRow("aggregator-hung", "an aggregator hangs for 8 s", _hung(USED, 8.0), DrillPromise(again_s=4.5), (PROCESSES,)),
        DrillRow("stalled", "an access point stands still for 10 s", _hung("sto/ap1", 10.0), DrillPromise(), (PROCESSES,)),
        DrillRow(
            "links-cut",
            "an aggregator does not reach a broker for 5 s",
            _cut(USED, "sto/b1", 5.0),
            DrillPromise(again_s=4.0),
            (ONE_PROCESS,),
        ),
        DrillRow(
            "sites-cut", "two sites do not reach each other for 8 s", _cut("sto", "lon", 8.0), DrillPromise(again_s=4.0), (ONE_PROCESS,)
        ),
        DrillRow(
            "rolling-restart",
            "brokers and aggregators of a site are restarted, one after the other",
            _rolled("sto/b1", "sto/b2", "sto/a1", "sto/a2"),
            LOST_NOTHING,
        ),
        DrillRow(
            "clock",
            "the clock of a broker is an hour off",
            (DrillStep("mark"), DrillStep("clock", "sto/b1", seconds=3600), _wait(4.0)),
            NOTHING,
            (ONE_PROCESS,),
        ),
        DrillRow(
            "repeated", "a publisher repeats everything", (_wait(3.0), DrillStep("mark"), DrillStep("repeat"), _wait(1.0)), LOST_NOTHING
        ),
        DrillRow("random", "what is above, at random", (DrillStep("random", seconds=random_s), _wait(5.0)), DrillPromise()),
    )
