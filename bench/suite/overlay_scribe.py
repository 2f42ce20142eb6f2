"""Scribe in the overlay laboratory: trees built, an event on each topic, and churn, on one core."""

from typing import Final

from ..micro.overlay_scribe import DAY, ScribeFigures
from ..process import micro
from ..runner import Record, Runner
from ..table import MarkdownTable, spread, verdict

NODES: Final = 10_000
MOST_BUILT_S: Final = 10.0
MOST_CHURN_S: Final = 600.0


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures 10,000 nodes, and churn of 4,000. `--seconds` under 5 takes a tenth of them."""
    nodes = NODES if runner.seconds(5) >= 5 else NODES // 10
    found = []
    for run in range(runner.runs):
        runner.tell(f"overlay_scribe: {nodes:,} nodes, run {run + 1} of {runner.runs}")
        figures = micro("overlay_scribe", nodes, runner.setting.server_core, ScribeFigures)
        runner.keep(Record(benchmark="overlay_scribe", who="simulator", run=run, figures=figures.plain()))
        found.append(figures)
    return [tabled(found, nodes)]


def tabled(found: list[ScribeFigures], nodes: int) -> MarkdownTable:
    """Returns the table. Targets are those of full size; smaller systems are told without."""
    built, churn = [each.built for each in found], [each.cycle * DAY for each in found]
    verdicts = [verdict(max(built), MOST_BUILT_S), verdict(max(churn), MOST_CHURN_S)] if nodes == NODES else ["", ""]
    rows = [
        [f"{nodes:,} trees built, s", spread(built, ".2f"), verdicts[0]],
        ["deliveries per s, an event on each topic", spread([each.deliveries / each.published for each in found], ",.0f"), ""],
        [
            f"a cycle of churn, {found[0].churned:,} nodes, an event on each topic, ms",
            spread([each.cycle * 1000 for each in found], ".0f"),
            "",
        ],
        [f"{DAY:,} such cycles, s", spread(churn, ".0f"), verdicts[1]],
    ]
    note = "Churn: a day by minutes; of smaller systems its first hour alone is measured, whose cycles are shorter."
    return MarkdownTable("Scribe on Pastry: friends, base 16, leaf sets of 32", ["what", "how much", "target"], rows, [note])
