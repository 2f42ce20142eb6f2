"""The end of a run for people: what was predicted, what was counted, and what a simple rule would have done."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from segue.cli.palette import QUIET
from segue.demo.ending import verdict
from segue.demo.grid import grid, row

from .outcome import OffloadOutcome


def summary(outcome: OffloadOutcome) -> RenderableType:
    """Returns a summary that rich can print, with or without colours."""
    return Group(_setting(outcome), Text(), _figures(outcome), Text(), verdict(outcome.verdicts(), outcome.problems()))


def _setting(outcome: OffloadOutcome) -> Table:
    table = grid(2)
    row(table, "demand", f"{outcome.demand:,}", "deliveries in a period, if everything is served")
    row(table, "capacity", f"{outcome.capacity:,}", f"deliveries, {_percent(outcome.capacity / max(1, outcome.demand), 0)} of that")
    row(table, "threshold", f"{outcome.threshold:,}", "events satisfy a user, or all events of their friends if these are fewer")
    row(table, "served", f"{outcome.served:,}", f"of {outcome.topics:,} topics; {outcome.offloaded:,} are out of real time")
    row(table, "policy", "social", "friends hear what friends play, the default")
    return table


def _figures(outcome: OffloadOutcome) -> Table:
    table = grid(5)
    table.add_row(*(Text(word, style=QUIET) for word in ("", "predicted", "measured", "Cuckoo rule", "bound")))
    values = (outcome.predicted_value, outcome.measured_value, outcome.cuckoo_value, outcome.bound)
    name = "satisfied users" if outcome.metric == "b3m" else "satisfied parts"
    row(table, name, *(_number(value) for value in values))
    row(table, "of all users", *(_percent(value / max(1, outcome.users), 1) for value in values))
    row(table, "deliveries", *(f"{cost:,}" for cost in (outcome.predicted_cost, outcome.measured_cost, outcome.cuckoo_cost)), "")
    return table


def _percent(share: float, digits: int) -> str:
    return f"{100 * share:.{digits}f} %"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else f"{value:,.1f}"
