"""Marks: the cost of "read all" for the store, whatever the number of items (SB-51)."""

from typing import Final

from ..micro.marks import MarksFigures, MarksPlan
from ..runner import Record, Runner
from ..servers.cassandra import cassandra
from ..table import MarkdownTable, spread, verdict
from .stored import WHO, program

ITEMS: Final = [1, 100, 1000]
MOST_WRITES: Final = 1


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures once on each store: statements are counted, and their number does not vary."""
    head = ["store", "items", "writes", "ms", "target"]
    with cassandra(runner.setting) as server:
        rows = _rows(runner, WHO["sqlite"], MarksPlan(items=ITEMS))
        if server.port:
            rows += _rows(runner, WHO["cassandra"], MarksPlan(items=ITEMS, port=server.port, keyspace="marks"))
        else:
            rows.append([WHO["cassandra"], server.missing, "", "", ""])
    return [MarkdownTable('Marks: statements that write, for one "read all"', head, rows)]


def _rows(runner: Runner, who: str, plan: MarksPlan) -> list[list[str]]:
    runner.tell(f"marks: {who}")
    found = program("marks", plan, runner.setting.server_core, MarksFigures)
    figures = {f"writes_of_{items}": float(writes) for items, writes in zip(plan.items, found.writes, strict=True)}
    runner.keep(Record(benchmark="marks", who=who, run=0, figures=figures))
    return [
        [who, f"{items:,}", str(writes), spread([ms], ".1f"), verdict(writes, MOST_WRITES)]
        for items, writes, ms in zip(plan.items, found.writes, found.ms, strict=True)
    ]
