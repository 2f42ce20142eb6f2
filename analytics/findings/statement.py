"""A published statement, and what a trace must measure to agree with it."""

import math
from collections.abc import Callable
from typing import Final, Literal, NamedTuple

from analytics.summary import WorkloadSummary

from .telling import HOUR

Profile = Literal["spotify", "twitter"]

# Of the published traces (A1).
SIZES: Final = {"spotify": {"topics": 1.1e6, "subscribers": 4.9e6}, "twitter": {"topics": 8e6, "subscribers": 30e6}}


class TraceFacts(NamedTuple):
    """A summary, held against the published trace of `profile`."""

    summary: WorkloadSummary
    profile: Profile

    def measure(self, name: str) -> float | None:
        """None if this trace does not have it."""
        found = self.summary.measures.get(name)
        return found if found is not None and math.isfinite(found) else None

    def grown(self, what: Literal["topics", "subscribers"]) -> float | None:
        """How many topics (subscribers) there are for each published one."""
        found = self.measure(what)
        return found / SIZES[self.profile][what] if found else None


Value = Callable[[TraceFacts], float | None]


class Check(NamedTuple):
    """`value` lies from `low` to `high` (both included), each times `factor`: what depends on the size of the trace.

    `label` tells the value and `form` is the format of it and of its bounds: `R² {}`, `.2f`. `needs`: the measures that it is made
    of. `clock`: these are hours of the day, and 1 is near 23.
    """

    label: str
    form: str
    value: Value
    low: float
    high: float
    needs: tuple[str, ...]
    factor: Value
    clock: bool = False


class Statement(NamedTuple):
    """`figure`: key of the figure it is about. `elsewhere`: why it says nothing about a trace of another service; empty if it does.

    `least_grown`: the least size, as a share of the published one, at which it says something. Without `checks` no trace can
    be judged, for the reason `elsewhere`. `decades`: the measure of how long the curve is, where the statement is about its form.
    """

    id: str
    profile: Profile
    figure: str
    published: str
    source: str
    checks: tuple[Check, ...]
    elsewhere: str = ""
    least_grown: float = 0.0
    decades: str = ""


def _one(_facts: TraceFacts) -> float:
    return 1.0


def check(measure: str, label: str, form: str, low: float = -math.inf, high: float = math.inf, factor: Value = _one) -> Check:
    """That a measure lies in a range."""
    return Check(label, form, lambda facts: facts.measure(measure), low, high, (measure,), factor)


def per_topics(facts: TraceFacts) -> float | None:
    """Shares of all events: the more topics, the smaller that of each (A5.4)."""
    grown = facts.grown("topics")
    return 1 / grown if grown else None


def per_decades(facts: TraceFacts) -> float | None:
    """The smaller a trace the fewer decades it spans: of the three of a full one as many less, but not less than one and a half."""
    grown = facts.grown("topics")
    return max(1.5, 3 + min(0.0, math.log10(grown))) / 3 if grown else None


def count(measure: str, label: str, published: float, of: Literal["topics", "subscribers"]) -> Check:
    """That as many as published, in proportion to the size of the trace, are above a threshold, give or take 30 % (WA-11)."""
    return check(measure, label, ",.0f", published * 0.7, published * 1.3, lambda facts: facts.grown(of))


def about(measure: str, label: str, published: float, tolerance: float, form: str = ",.2f") -> Check:
    """That a measure is as published, give or take a share of it."""
    return check(measure, label, form, published * (1 - tolerance), published * (1 + tolerance))


def hour(measure: str, label: str, at: float) -> Check:
    """That an hour of the day is no further than one hour from `at` (WA-12)."""
    return Check(label, HOUR, lambda facts: facts.measure(measure), at - 1, at + 1, (measure,), _one, clock=True)
