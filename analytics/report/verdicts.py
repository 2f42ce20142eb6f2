"""The verdicts on what was published, with marks that need no colour."""

from collections.abc import Mapping, Sequence
from typing import Final

from analytics.figures import FIGURES
from analytics.findings import JudgedFinding
from infra.kernel.html import Html, joined

from .markup import element, terms

MARKS: Final = {"agrees": "✓", "differs": "✗", "not comparable": "○"}


def compared(findings: list[JudgedFinding]) -> Html:
    """Returns each published finding next to what this trace says."""
    return element("ul", *map(_compared, findings), class_="findings") if findings else Html()


def published(findings: list[JudgedFinding]) -> Html:
    """Returns only what was published, where there is nothing to compare it with."""
    found = (element("li", each.published, element("cite", f" ({each.source})")) for each in findings)
    return joined(element("p", "Published:"), element("ul", *found)) if findings else Html()


def tally(findings: list[JudgedFinding]) -> str:
    """Returns `3 ✓ 1 ✗`: how many findings have each verdict. Verdicts that do not occur are left out."""
    return counted([finding.verdict for finding in findings], MARKS)


def counted(verdicts: Sequence[str], marks: Mapping[str, str]) -> str:
    """Returns how many of `verdicts` there are of each of `marks`, such as `3 ✓ 1 ✗`."""
    found = ((verdicts.count(verdict), mark) for verdict, mark in marks.items())
    return " ".join(f"{count} {mark}" for count, mark in found if count)


def in_words(findings: list[JudgedFinding]) -> str:
    """Returns `Of 20 published findings, 15 agree with this trace, 3 differ and 2 cannot be compared with it.`"""
    agree, differ, rest = (sum(finding.verdict == verdict for finding in findings) for verdict in MARKS)
    return f"Of {len(findings)} published findings, {agree} agree with this trace, {differ} differ and {rest} cannot be compared with it."


def which_differ(findings: list[JudgedFinding]) -> Html:
    """Returns links to the figures with a finding that differs."""
    keys = dict.fromkeys(each.figure for each in findings if each.verdict == "differs" and each.figure in FIGURES)
    links = [element("li", element("a", FIGURES[key].title, href=f"#{key}")) for key in keys]
    return joined(element("p", "Something differs in:"), element("ul", *links)) if links else Html()


def marked(verdict: str, mark: str) -> Html:
    """Returns a verdict with its mark, in its colour."""
    return element("strong", f"{mark} {verdict}", class_=f"verdict {verdict.replace(' ', '-')}")


def _compared(finding: JudgedFinding) -> Html:
    published = joined(finding.published, element("cite", f" ({finding.source})"))
    said = [("Published", published), ("Here", finding.ours), ("Because", finding.because)]
    return element("li", marked(finding.verdict, MARKS[finding.verdict]), terms(said))
