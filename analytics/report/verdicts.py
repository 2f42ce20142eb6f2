"""What was published, and what this trace says: judged, and told with marks that need no colour."""

from typing import Final

from analytics.figures import FIGURES
from analytics.findings import JudgedFinding

from .markup import Html, element, joined

MARKS: Final = {"agrees": "✓", "differs": "✗", "not comparable": "○"}


def compared(findings: list[JudgedFinding]) -> Html:
    """Each published finding next to ours."""
    return element("ul", *map(_compared, findings), class_="findings") if findings else Html()


def published(findings: list[JudgedFinding]) -> Html:
    """What was published alone, where there is nothing to hold against it."""
    found = (element("li", each.published, element("cite", f" ({each.source})")) for each in findings)
    return joined(element("p", "Published:"), element("ul", *found)) if findings else Html()


def tally(findings: list[JudgedFinding]) -> str:
    """`3 ✓ 1 ✗`: how many of each verdict, none of those that do not occur."""
    counted = {mark: sum(finding.verdict == verdict for finding in findings) for verdict, mark in MARKS.items()}
    return " ".join(f"{count} {mark}" for mark, count in counted.items() if count)


def in_words(findings: list[JudgedFinding]) -> str:
    """`Of 20 published findings 15 agree with this trace, 3 differ and 2 cannot be compared.`"""
    agree, differ, rest = (sum(finding.verdict == verdict for finding in findings) for verdict in MARKS)
    return f"Of {len(findings)} published findings, {agree} agree with this trace, {differ} differ and {rest} cannot be compared with it."


def which_differ(findings: list[JudgedFinding]) -> Html:
    """The figures with a finding that differs, to go there."""
    keys = dict.fromkeys(each.figure for each in findings if each.verdict == "differs" and each.figure in FIGURES)
    links = [element("li", element("a", FIGURES[key].title, href=f"#{key}")) for key in keys]
    return joined(element("p", "Something differs in:"), element("ul", *links)) if links else Html()


def _compared(finding: JudgedFinding) -> Html:
    return element(
        "li",
        element("strong", f"{MARKS[finding.verdict]} {finding.verdict}", class_=f"verdict {finding.verdict.replace(' ', '-')}"),
        element(
            "dl",
            joined(element("dt", "Published"), element("dd", finding.published, element("cite", f" ({finding.source})"))),
            joined(element("dt", "Here"), element("dd", finding.ours)),
            joined(element("dt", "Because"), element("dd", finding.because)),
        ),
    )
