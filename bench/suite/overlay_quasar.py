"""Quasar in the overlay laboratory: the events behind its figures 3 and 4, on one core."""

from typing import Final

from ..micro.overlay_quasar import QuasarFigures
from ..process import micro
from ..runner import Record, Runner
from ..table import MarkdownTable, spread, verdict

RUNS: Final = 100
MOST_S: Final = 180.0


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures 100 events for each of 18 points. `--seconds` under 5 takes a tenth of them."""
    runs = RUNS if runner.seconds(5) >= 5 else RUNS // 10
    found = []
    for run in range(runner.runs):
        runner.tell(f"overlay_quasar: {runs} events for each point, run {run + 1} of {runner.runs}")
        figures = micro("overlay_quasar", runs, runner.setting.server_core, QuasarFigures)
        runner.keep(Record(benchmark="overlay_quasar", who="simulator", run=run, figures=figures.plain()))
        found.append(figures)
    return [tabled(found, runs)]


def tabled(found: list[QuasarFigures], runs: int) -> MarkdownTable:
    """Returns the table. The target is that of all runs; fewer of them are told without."""
    seconds = [each.seconds for each in found]
    worst = verdict(max(seconds), MOST_S) if runs == RUNS else ""
    rows = [
        ["seconds", spread(seconds, ".1f"), worst],
        ["events", f"{found[0].events:,}", ""],
        ["steps of messages per s", spread([each.messages / each.seconds for each in found], ",.0f"), ""],
    ]
    return MarkdownTable("Quasar's figures 3 and 4: 1,024 to 32,768 nodes, three kinds of groups", ["what", "how much", "target"], rows)
