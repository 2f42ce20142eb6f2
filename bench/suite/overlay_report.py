"""The small report of the overlay laboratory, as a whole command: with no compiled kernel on disk, and with all of them."""

import os
import shutil
import sys
from pathlib import Path
from typing import Final

from ..runner import Record, Runner
from ..table import MarkdownTable, spread, verdict
from ..whole import CommandCost, whole

MOST_S: Final = 120.0
# What is reported where little time is given.
SHORT: Final = ("graphs",)


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures the report cold and warm. `--seconds` under 5 reports one study only."""
    studies = () if runner.seconds(5) >= 5 else SHORT
    found: dict[str, list[CommandCost]] = {"cold": [], "warm": []}
    for run in range(runner.runs):
        kernels = runner.setting.scratch / "kernels"
        try:
            for state, costs in found.items():
                runner.tell(f"overlay_report: {state}, run {run + 1} of {runner.runs}")
                costs.append(report(runner.setting.scratch / "report", kernels, studies))
                runner.keep(Record(benchmark="overlay_report", who=state, run=run, figures=_plain(costs[-1])))
        finally:
            shutil.rmtree(kernels, ignore_errors=True)
    return [tabled(found, is_whole=not studies)]


def report(out: Path, kernels: Path, studies: tuple[str, ...]) -> CommandCost:
    """Makes the small report in two processes, and returns its cost.

    - `out`: the folder of the page, which is removed again. `kernels`: the folder of what is compiled.
    - `studies`: only these are reported, if there are any.
    """
    chosen = [part for study in studies for part in ("--study", study)]
    command = [sys.executable, "-m", "segue", "overlay", "report", "--quick", "--processes", "2", *chosen, "--out", str(out)]
    try:
        return whole(command, {**os.environ, "NUMBA_CACHE_DIR": str(kernels)})
    finally:
        shutil.rmtree(out, ignore_errors=True)


def tabled(found: dict[str, list[CommandCost]], *, is_whole: bool) -> MarkdownTable:
    """Returns the table. The target is that of all studies with kernels on disk."""
    rows = [
        [
            state,
            spread([each.seconds for each in costs], ".0f"),
            spread([each.cpu_s for each in costs], ".0f"),
            spread([each.peak_bytes / 1e9 for each in costs], ".1f"),
            verdict(max(each.seconds for each in costs), MOST_S) if is_whole and state == "warm" else "",
        ]
        for state, costs in found.items()
    ]
    note = "Two studies at a time. Cold: no kernel lies on disk, so each of the two processes compiles what it needs."
    return MarkdownTable("`segue overlay report --quick`", ["kernels", "s", "CPU s", "peak, GB", "target, s"], rows, [note])


def _plain(cost: CommandCost) -> dict[str, float]:
    return {"seconds": cost.seconds, "cpu_s": cost.cpu_s, "peak_bytes": float(cost.peak_bytes)}
