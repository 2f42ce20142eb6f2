"""Events that take time in the simulator: messages a second, the runs of OV-3, and compiled against interpreted, on one core."""

from typing import Final

from ..micro.overlay_events import EventsFigures, EventsPlan
from ..runner import Record, Runner
from ..table import MarkdownTable, verdict
from .stored import program

_COPIES_A_SECOND: Final = 500_000
_RUN_S: Final = 5.0
_TIMES: Final = 50
_EVENTS: Final = 300
_SHORT: Final = 50


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures once. `--seconds` under 5 publishes fewer events."""
    runner.tell("overlay_events: GossipSub, 1,000 nodes")
    plan = EventsPlan(events=_EVENTS if runner.seconds(5) >= 5 else _SHORT)
    found = program("overlay_events", plan, runner.setting.server_core, EventsFigures)
    runner.keep(Record(benchmark="overlay_events", who="GossipSub", run=0, figures=_numbers(found)))
    return [table(found)]


def table(found: EventsFigures) -> MarkdownTable:
    """Returns the figures beside their targets."""
    rate = found.copies / found.copies_s
    rows = [
        ["copies of events a second", f"{rate:,.0f}", verdict(rate, _COPIES_A_SECOND, most=False)],
        ["messages a second, gossip included", f"{found.messages / found.copies_s:,.0f}", ""],
        ["OV-3, v1.0, s", f"{found.old_s:.2f}", verdict(found.old_s, _RUN_S)],
        ["OV-3, v1.1, s", f"{found.new_s:.2f}", verdict(found.new_s, _RUN_S)],
        ["CPU for a delivery in OV-3, v1.1, µs", f"{1e6 * found.new_s / found.new_deliveries:.1f}", ""],
        ["compiled against interpreted, times", f"{found.times_faster:.0f}", verdict(found.times_faster, _TIMES, most=False)],
    ]
    notes = [
        f"Processor time of one core; kernels are compiled before. {found.delivered:.2%} of the deliveries were made.",
        "A run of OV-3 is 1,000 nodes, 60 events, 75 heartbeats of each node: heartbeats, scores and gossip are most of its time.",
    ]
    return MarkdownTable("Events that take time, in the simulator", ["what", "measured", "target"], rows, notes)


def _numbers(found: EventsFigures) -> dict[str, float]:
    return {
        "copies_per_s": found.copies / found.copies_s,
        "old_s": found.old_s,
        "new_s": found.new_s,
        "times_faster": found.times_faster,
        "delivered": found.delivered,
    }
