"""The verdicts of the rule engine a second on one core."""

from ..micro.verdicts import VerdictFigures
from ..process import micro
from ..runner import Record, Runner
from ..table import MarkdownTable, median, spread, verdict

CASES = 300_000
LEAST_PER_S = 100_000.0


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures the default rules. The followers with preferences are those of one artist."""
    found = []
    for run in range(runner.runs):
        runner.tell(f"verdicts: {CASES:,} cases, run {run + 1} of {runner.runs}")
        figures = micro("verdicts", CASES, runner.setting.server_core, VerdictFigures)
        runner.keep(Record(benchmark="verdicts", who="rule engine", run=run, figures=figures.plain()))
        found.append(figures)
    decided, remembered = [each.decided_per_s for each in found], [each.remembered_per_s for each in found]
    rows = [
        ["verdicts/s, facts by chance, each found anew", spread(decided, ",.0f"), verdict(median(decided), LEAST_PER_S, most=False)],
        ["verdicts/s, followers of one artist", spread(remembered, ",.0f"), verdict(median(remembered), LEAST_PER_S, most=False)],
        ["the same from their preferences on", spread([each.gathered_per_s for each in found], ",.0f"), ""],
    ]
    return [MarkdownTable("Rule engine: verdicts on one core", ["what", "how much", "target"], rows)]
