"""Overload: what comes over a link to another site that gets more than it can carry, by what is done with the rest."""

from typing import Final

import msgspec

from ..micro.overload import OverloadFigures, OverloadPlan, Policy
from ..runner import Record, Runner
from ..table import MarkdownTable, median, spread, verdict
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
    head = [
        "load",
        "what is done",
        "events",
        "deliveries",
        "useful",
        "age p50 ms",
        "deliveries / CPU s",
        "useful / CPU s",
        "over first-in drop",
        "over plain batching",
    ]
    rows = [_row(load, policy, found) for load in LOADS for policy in POLICIES]
    return [MarkdownTable(f"Overload: a site link at {', '.join(map(str, LOADS))} of what it carries", head, rows)]


def _row(load: float, policy: Policy, found: dict[tuple[float, Policy], list[OverloadFigures]]) -> list[str]:
    results = found[load, policy]
    one = results[0]  # what came is the same in each run
    over_drop, over_batch = (_ratio(results, found[load, other]) for other in ("drop", "batch"))
    is_asked = load == LOADS[-1] and policy in ("conflate", "gain")
    return [
        str(load),
        POLICIES[policy],
        f"{one.events:,}",
        f"{one.deliveries / one.due:.1%}",
        f"{one.useful / one.due:.1%}",
        f"{one.p50_s * 1000:,.0f}",
        spread([each.deliveries / each.cpu_s for each in results], ",.0f"),
        spread([each.useful / each.cpu_s for each in results], ",.0f"),
        f"{over_drop:.2f}" + (f" ({verdict(over_drop, LEAST, most=False)})" if is_asked else ""),
        f"{over_batch:.2f}" + (f" ({verdict(over_batch, 1.0, most=False)})" if is_asked else ""),
    ]


def _ratio(ours: list[OverloadFigures], theirs: list[OverloadFigures]) -> float:
    pairs = zip(ours, theirs, strict=True)
    return median([(one.useful / one.cpu_s) / max(two.useful / two.cpu_s, 1e-9) for one, two in pairs])
