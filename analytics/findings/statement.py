"""A published statement, and what a trace must measure to agree with it."""

import math
from collections.abc import Callable
from typing import Final, Literal, NamedTuple

from analytics.summary import WorkloadSummary

from .telling import HOUR

Profile = Literal["spotify", "twitter"]

# Sizes of the published traces (A1).
SIZES: Final = {"spotify": {"topics": 1.1e6, "subscribers": 4.9e6}, "twitter": {"topics": 8e6, "subscribers": 30e6}}


class TraceFacts(NamedTuple):
    """A summary, and the `profile` of the published trace that it is compared with."""

    summary: WorkloadSummary
    profile: Profile

    def measure(self, name: str) -> float | None:
        """Returns a measure by name; None if this trace does not have it."""
        found = self.summary.measures.get(name)
        return found if found is not None and math.isfinite(found) else None

    def grown(self, what: Literal["topics", "subscribers"]) -> float | None:
        """Returns how many topics (subscribers) there are for each published one."""
        found = self.measure(what)
        return found / SIZES[self.profile][what] if found else None


Value = Callable[[TraceFacts], float | None]


class Check(NamedTuple):
    """A range for a value.

    - `value`: must lie from `low` to `high` (both included). `factor`: multiplies both, for what depends on the size of the trace.
    - `label`: tells the value, such as `R² {}`. `form`: the format of the value and of the bounds in it, such as `.2f`.
    - `needs`: the measures that the value is made of.
    - `clock`: whether these are hours of the day, where 1 is near 23.
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
    """A published statement.

    - `id`: its name. `profile`: which trace it is about. `figure`: key of the figure it is about.
    - `published`: the statement in words. `source`: where it is from.
    - `checks`: what a trace must measure to agree. Without any, no trace can be judged, for the reason `elsewhere`.
    - `elsewhere`: why it says nothing about a trace of another service; empty if it does.
    - `least_grown`: the least size, as a share of the published one, at which it says something.
    - `decades`: the measure of how long the curve is, where the statement is about its form.
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
    """Returns the check that `measure` lies from `low` to `high`, each times `factor`.

    `label`, `form`: how to tell it, see `Check`.
    """
    return Check(label, form, lambda facts: facts.measure(measure), low, high, (measure,), factor)


def per_topics(facts: TraceFacts) -> float | None:
    """Returns the factor of shares of all events: the more topics there are, the smaller is the share of each (A5.4)."""
    grown = facts.grown("topics")
    return 1 / grown if grown else None


def per_decades(facts: TraceFacts) -> float | None:
    """Returns the factor of the three decades that a full trace spans.

    A trace of a tenth of the size spans one decade less. It must span one and a half in any case.
    """
    grown = facts.grown("topics")
    return max(1.5, 3 + min(0.0, math.log10(grown))) / 3 if grown else None


def count(measure: str, label: str, published: float, of: Literal["topics", "subscribers"]) -> Check:
    """Returns the check that as many as published are above a threshold, in proportion to the size of the trace, give or take 30 % (WA-11).

    `measure`: how many there are. `published`: how many there were, of so many topics or subscribers (`of`). `label`: how to tell it.
    """
    return check(measure, label, ",.0f", published * 0.7, published * 1.3, lambda facts: facts.grown(of))


def about(measure: str, label: str, published: float, tolerance: float, form: str = ",.2f") -> Check:
    """Returns the check that `measure` is as `published`, give or take the share `tolerance`. `label`, `form`: how to tell it."""
    return check(measure, label, form, published * (1 - tolerance), published * (1 + tolerance))


def hour(measure: str, label: str, at: float) -> Check:
    """Returns the check that an hour of the day, `measure`, is no further than one hour from `at` (WA-12). `label`: how to tell it."""
    return Check(label, HOUR, lambda facts: facts.measure(measure), at - 1, at + 1, (measure,), _one, clock=True)
