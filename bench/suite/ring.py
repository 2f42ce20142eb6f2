"""From three brokers to five and back, while a million topics are followed and events are published all the time."""

import sys
from collections.abc import Sequence
from statistics import median
from typing import Final

import msgspec

from ..micro.ring_steps import PhaseFigures, RingLoadPlan, RingPhase
from ..process import spawned
from ..runner import Record, Runner
from ..servers.segue import ring_site
from ..table import MarkdownTable, spread, verdict

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
    head = [
        "phase",
        "seconds",
        "target",
        "moved topics p50 ms",
        "p99 ms",
        "target",
        "others p50 ms",
        "p99 ms",
        "times idle",
        "lost",
        "twice",
        "refused",
    ]
    rows = [_row(phase, mine, found["idle"]) for phase, mine in found.items()]
    text = f"Ring: {topics:,} followed topics, {rate:,.0f} events a second, each of which is one delivery"
    where = "Brokers and the aggregator share the server's core. The generator plays the access point."
    return [MarkdownTable(text, head, rows, [f"{where} An event counts from the moment at which it was due."])]


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


def _row(phase: str, mine: list[PhaseFigures], idle: list[PhaseFigures]) -> list[str]:
    is_move = phase in ("up", "down")
    most_ms = median(each.move.p99_ms for each in idle) + MOST_MORE_MS
    times = median(each.others.p99_ms for each in mine) / median(each.others.p99_ms for each in idle)
    return [
        PHASES[phase],
        spread([each.seconds for each in mine], ".1f"),
        verdict(median(each.seconds for each in mine), MOST_S) if is_move else "",
        spread([each.move.p50_ms for each in mine], ".1f"),
        spread([each.move.p99_ms for each in mine], ".1f"),
        verdict(median(each.move.p99_ms for each in mine), most_ms) if is_move else "",
        spread([each.others.p50_ms for each in mine], ".1f"),
        spread([each.others.p99_ms for each in mine], ".1f"),
        f"{times:.2f} ({verdict(times, MOST_TIMES)})" if is_move else f"{times:.2f}",
        *(str(max(count)) for count in ([each.lost for each in mine], [each.twice for each in mine], [each.refused for each in mine])),
    ]
