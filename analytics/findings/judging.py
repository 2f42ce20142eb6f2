"""The judgement of a trace: does it agree with what was published?"""

import math
from typing import Final, Literal, NamedTuple

from analytics.summary import LEAST_DECADES, WorkloadSummary

from .spotify import SPOTIFY
from .statement import Check, Statement, TraceFacts
from .telling import told
from .twitter import TWITTER

Verdict = Literal["agrees", "differs", "not comparable"]
STATEMENTS: Final = (*SPOTIFY, *TWITTER)


class JudgedFinding(NamedTuple):
    """A published statement with its verdict, all in words.

    - `figure`: key of the figure it is about. `published`: the statement. `source`: where it is from.
    - `ours`: what this trace says. `verdict`: whether that agrees. `because`: why.
    """

    figure: str
    published: str
    source: str
    ours: str
    verdict: Verdict
    because: str


def findings(summary: WorkloadSummary) -> list[JudgedFinding]:
    """Judges every statement about the profile of the trace; those about Spotify for a trace without a profile."""
    profile = summary.manifest.profile or "spotify"
    facts = TraceFacts(summary, profile)
    return [_judged(each, facts) for each in STATEMENTS if each.profile == profile]


def _judged(statement: Statement, facts: TraceFacts) -> JudgedFinding:
    known = [each for each in statement.checks if each.value(facts) is not None]
    ours = "; ".join(_ours(each, facts) for each in known) or "not measured"
    verdict, because = _verdict(statement, facts)
    return JudgedFinding(statement.figure, statement.published, statement.source, ours, verdict, because)


def _verdict(statement: Statement, facts: TraceFacts) -> tuple[Verdict, str]:
    if reason := _incomparable(statement, facts):
        return "not comparable", reason
    wrong = [each for each in statement.checks if not _holds(each, facts)]
    if wrong:
        return "differs", f"accepted: {_wanted(wrong, facts)}"
    return "agrees", f"accepted: {_wanted(list(statement.checks), facts)}"


def _incomparable(statement: Statement, facts: TraceFacts) -> str:
    """Returns why there is nothing to compare; empty if there is."""
    foreign = statement.elsewhere if facts.summary.manifest.profile is None or not statement.checks else ""
    for each in statement.checks:
        if each.value(facts) is None or each.factor(facts) is None:
            name = each.needs[0]
            return _reason(name, statement.figure, facts.summary) or foreign or f"this trace has no measure {name}"
    grown = facts.grown("topics")
    if not foreign and statement.least_grown and (grown is None or grown < statement.least_grown):
        return f"a trace of less than {told(statement.least_grown, '.2g')} of the published size is too small to tell"
    if (decades := facts.measure(statement.decades)) is not None and decades < LEAST_DECADES:
        return f"the curve spans {told(decades, '.1f')} decades, and fewer than {told(LEAST_DECADES, '.1f')} are too short to tell its form"
    return foreign


def _reason(measure: str, figure: str, summary: WorkloadSummary) -> str:
    """Returns why there is no such measure, if the summary or the manifest says so."""
    reasons = {**summary.manifest.limits, **summary.skipped}
    return reasons.get(measure) or reasons.get(figure, "")


def _holds(check: Check, facts: TraceFacts) -> bool:
    found, (low, high) = check.value(facts), _range(check, facts)
    assert found is not None
    if check.clock:
        # The distance round the clock: 23:30 is one hour from 00:30.
        return abs((found - (low + high) / 2 + 12) % 24 - 12) <= (high - low) / 2
    return low <= found <= high


def _range(check: Check, facts: TraceFacts) -> tuple[float, float]:
    factor = check.factor(facts)
    assert factor is not None
    return check.low * factor, check.high * factor


def _ours(check: Check, facts: TraceFacts) -> str:
    found = check.value(facts)
    assert found is not None
    return check.label.format(told(found, check.form))


def _wanted(checks: list[Check], facts: TraceFacts) -> str:
    return "; ".join(check.label.format(_between(*_range(check, facts), check.form)) for check in checks)


def _between(low: float, high: float, form: str) -> str:
    if math.isinf(high):
        return f"at least {told(low, form)}"
    if math.isinf(low):
        return f"at most {told(high, form)}"
    return f"{told(low, form)} to {told(high, form)}"
