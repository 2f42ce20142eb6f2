"""Overload: what comes over a link to another site that gets more than it can carry, by what is done with the rest."""

from typing import Final, NamedTuple

import msgspec

from ..micro.overload import OverloadFigures, OverloadPlan, Policy
from ..runner import Record, Runner
from ..table import Columns, MarkdownTable, median, of_columns, spread, verdict
from .stored import program

LOADS: Final = (0.5, 0.9, 1.2, 2.0)
POLICIES: Final[dict[Policy, str]] = {
    "drop": "first-in drop",
    "batch": "plain batching",
    "conflate": "conflation",
    "gain": "conflation, highest gain first",
}
# At the highest load, over first-in drop.
LEAST: Final = 1.3


class _MeasuredPolicy(NamedTuple):
    """The runs of a policy at a load, among all that were `found`."""

    load: float
    policy: Policy
    found: dict[tuple[float, Policy], list[OverloadFigures]]

    @property
    def runs(self) -> list[OverloadFigures]:
        """Its runs."""
        return self.found[self.load, self.policy]

    @property
    def one(self) -> OverloadFigures:
        """One of its runs: what came is the same in each."""
        return self.runs[0]

    def over(self, other: Policy, least: float) -> str:
        """Returns how many times as much useful as `other` it delivers in a CPU second, and whether that is what it must be."""
        pairs = zip(self.runs, self.found[self.load, other], strict=True)
        times = median([(ours.useful / ours.cpu_s) / max(theirs.useful / theirs.cpu_s, 1e-9) for ours, theirs in pairs])
        is_asked = self.load == LOADS[-1] and self.policy in ("conflate", "gain")
        return f"{times:.2f}" + (f" ({verdict(times, least, most=False)})" if is_asked else "")


COLUMNS: Final[Columns[_MeasuredPolicy]] = (
    ("load", lambda mine: str(mine.load)),
    ("what is done", lambda mine: POLICIES[mine.policy]),
    ("events", lambda mine: f"{mine.one.events:,}"),
    ("deliveries", lambda mine: f"{mine.one.deliveries / mine.one.due:.1%}"),
    ("useful", lambda mine: f"{mine.one.useful / mine.one.due:.1%}"),
    ("age p50 ms", lambda mine: f"{mine.one.p50_s * 1000:,.0f}"),
    ("deliveries / CPU s", lambda mine: spread([each.deliveries / each.cpu_s for each in mine.runs], ",.0f")),
    ("useful / CPU s", lambda mine: spread([each.useful / each.cpu_s for each in mine.runs], ",.0f")),
    ("over first-in drop", lambda mine: mine.over("drop", LEAST)),
    ("over plain batching", lambda mine: mine.over("batch", 1.0)),
)


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures each policy at each load, in turn."""
    seconds = runner.seconds(20)
    found: dict[tuple[float, Policy], list[OverloadFigures]] = {}
    for run in range(runner.runs):
        for load in LOADS:
            for policy, who in POLICIES.items():
                runner.tell(f"overload: {who} at {load}, run {run + 1} of {runner.runs}")
                plan = OverloadPlan(policy=policy, load=load, seconds=seconds)
                figures = program("overload", plan, runner.setting.server_core, OverloadFigures)
                plain = {name: float(value) for name, value in msgspec.structs.asdict(figures).items()}
                runner.keep(Record(benchmark="overload", who=f"{who} at {load}", run=run, figures=plain))
                found.setdefault((load, policy), []).append(figures)
    measured = [_MeasuredPolicy(load, policy, found) for load in LOADS for policy in POLICIES]
    return [of_columns(f"Overload: a site link at {', '.join(map(str, LOADS))} of what it carries", COLUMNS, measured)]
