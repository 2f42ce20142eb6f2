"""From three brokers to five and back, while a million topics are followed and events are published all the time."""

import sys
from collections.abc import Sequence
from statistics import median
from typing import Final, NamedTuple

import msgspec

from ..micro.ring_steps import PhaseFigures, RingLoadPlan, RingPhase
from ..process import spawned
from ..runner import Record, Runner
from ..servers.segue import ring_site
from ..table import Columns, MarkdownTable, of_columns, spread, verdict

SLOTS: Final = ["b1", "b2", "b3", "b4", "b5"]
BEFORE: Final = SLOTS[:3]
TOPICS: Final = 1_000_000
SPOKEN: Final = 20_000
RATE: Final = 20_000.0
MOST_S: Final = 60.0
MOST_MORE_MS: Final = 100.0
MOST_TIMES: Final = 1.2
FULL: Final = 256
PHASES: Final = {"idle": "three brokers", "up": "to five", "five": "five brokers", "down": "back to three"}


class _MeasuredPhase(NamedTuple):
    """The `runs` of a phase, and those of the `idle` one, which they are compared with."""

    phase: str
    runs: list[PhaseFigures]
    idle: list[PhaseFigures]

    @property
    def times(self) -> float:
        """How many times longer than idle the topics took that do not move."""
        return median(each.others.p99_ms for each in self.runs) / median(each.others.p99_ms for each in self.idle)

    @property
    def most_ms(self) -> float:
        """The target of the topics that move."""
        return median(each.move.p99_ms for each in self.idle) + MOST_MORE_MS

    def judged(self, value: float, most: float, form: str = "{}") -> str:
        """Returns whether `value` keeps its target; nothing of a phase in which no topic moves."""
        return form.format(verdict(value, most)) if self.phase in ("up", "down") else ""


COLUMNS: Final[Columns[_MeasuredPhase]] = (
    ("phase", lambda mine: PHASES[mine.phase]),
    ("seconds", lambda mine: spread([each.seconds for each in mine.runs], ".1f")),
    ("target", lambda mine: mine.judged(median(each.seconds for each in mine.runs), MOST_S)),
    ("moved topics p50 ms", lambda mine: spread([each.move.p50_ms for each in mine.runs], ".1f")),
    ("p99 ms", lambda mine: spread([each.move.p99_ms for each in mine.runs], ".1f")),
    ("target", lambda mine: mine.judged(median(each.move.p99_ms for each in mine.runs), mine.most_ms)),
    ("others p50 ms", lambda mine: spread([each.others.p50_ms for each in mine.runs], ".1f")),
    ("p99 ms", lambda mine: spread([each.others.p99_ms for each in mine.runs], ".1f")),
    ("times idle", lambda mine: f"{mine.times:.2f}{mine.judged(mine.times, MOST_TIMES, ' ({})')}"),
    ("lost", lambda mine: str(max(each.lost for each in mine.runs))),
    ("twice", lambda mine: str(max(each.twice for each in mine.runs))),
    ("refused", lambda mine: str(max(each.refused for each in mine.runs))),
)


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures a million topics and 20,000 events a second. `--seconds` under 5 makes a tenth of both."""
    part = 1 if runner.seconds(5) >= 5 else 10
    return rings(runner, TOPICS // part, RATE / part)


def rings(runner: Runner, topics: int, rate: float) -> list[MarkdownTable]:
    """Measures so many topics, and so many events a second."""
    found: dict[str, list[PhaseFigures]] = {phase: [] for phase in PHASES}
    for run in range(runner.runs):
        runner.tell(f"ring: {topics:,} topics, run {run + 1} of {runner.runs}")
        for phase, figures in _once(runner, topics, rate).items():
            found[phase].append(figures)
            plain = {"seconds": figures.seconds, "move_p99_ms": figures.move.p99_ms, "others_p99_ms": figures.others.p99_ms}
            runner.keep(Record(benchmark="ring", who=phase, run=run, figures=plain))
    text = f"Ring: {topics:,} followed topics, {rate:,.0f} events a second, each of which is one delivery"
    where = "Brokers and the aggregator share the server's core. The generator plays the access point."
    measured = [_MeasuredPhase(phase, mine, found["idle"]) for phase, mine in found.items()]
    return [of_columns(text, COLUMNS, measured, [f"{where} An event counts from the moment at which it was due."])]


def _once(runner: Runner, topics: int, rate: float) -> dict[str, PhaseFigures]:
    seconds = runner.seconds(5)
    with ring_site(runner.setting, SLOTS) as site:
        site.start(BEFORE)
        site.start_aggregator()
        plan = RingLoadPlan(
            aggregator=site.aggregator,
            doors=[site.doors[slot] for slot in BEFORE],
            state=str(runner.setting.state),
            topics=topics,
            spoken=min(SPOKEN, topics),
            rate=rate,
            slots=BEFORE,
            later=SLOTS,
        )
        command = [sys.executable, "-m", "bench.micro.ring_steps", msgspec.json.encode(plan).decode()]
        with spawned(command, runner.setting.generator_core) as speaker:
            speaker.line()  # all is followed

            def played(phase: RingPhase, started: Sequence[str] = ()) -> PhaseFigures:
                speaker.say(msgspec.json.encode(phase))
                site.start(started)
                return msgspec.json.decode(speaker.line(), type=PhaseFigures)

            idle = played(RingPhase(seconds=seconds))
            up = played(RingPhase(shares=dict.fromkeys(SLOTS, FULL)), SLOTS[3:])
            five = played(RingPhase(seconds=seconds))
            down = played(RingPhase(shares=dict.fromkeys(BEFORE, FULL) | dict.fromkeys(SLOTS[3:], 0), drains=True))
            return {"idle": idle, "up": up, "five": five, "down": down}
