"""Announcing topics over links: from an access point through an aggregator to the broker, and the response back."""

from ..announcement import announce
from ..meter import cpu_s
from ..runner import Record, Runner
from ..servers.segue import upstream_only
from ..table import MarkdownTable, spread

TOPICS = 100_000


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures what happens when an access point starts or changes its aggregator."""
    found: list[dict[str, float]] = []
    for run in range(runner.runs):
        runner.tell(f"links: {TOPICS:,} topics, run {run + 1} of {runner.runs}")
        with upstream_only(runner.setting) as (address, pids):
            before_s = sum(map(cpu_s, pids))
            seconds = announce(address, TOPICS)
            figures = {"topics_per_s": TOPICS / seconds, "seconds": seconds, "server_cpu_s": sum(map(cpu_s, pids)) - before_s}
        runner.keep(Record(benchmark="links", who="aggregator and broker", run=run, figures=figures))
        found.append(figures)
    rows = [
        ["seconds until all are installed at the broker", spread([each["seconds"] for each in found], ".2f")],
        ["topics/s", spread([each["topics_per_s"] for each in found], ",.0f")],
        ["CPU s of aggregator and broker", spread([each["server_cpu_s"] for each in found], ".2f")],
    ]
    return [MarkdownTable(f"Announcing {TOPICS:,} topics over TCP links", ["what", "how much"], rows)]
