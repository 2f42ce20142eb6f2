"""What studies claim of the requirements, as a page shows it."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from analytics.report.markup import element, table, terms
from analytics.report.verdicts import MARKS, counted, marked
from infra.kernel.html import Html, joined

from .study import OverlayStudy, StudyClaim, StudyResult

REQUIREMENTS: Final = (*(f"P2P-{number}" for number in range(1, 48)), *(f"OV-{number}" for number in range(1, 7)))
_VERDICTS: Final = {True: "agrees", False: "differs", None: "told only"}
_MARKS: Final = {"agrees": MARKS["agrees"], "differs": MARKS["differs"], "told only": MARKS["not comparable"]}


class AnsweredStudy(NamedTuple):
    """A study and its result."""

    study: OverlayStudy
    result: StudyResult

    @property
    def tally(self) -> str:
        """How many claims have which verdict, as marks: `3 ✓ 1 ✗`."""
        return counted([_VERDICTS[each.holds] for each in self.result.claims], _MARKS)


def in_short(answered: Sequence[AnsweredStudy]) -> str:
    """Returns how many claims have which verdict, in a sentence."""
    verdicts = [_VERDICTS[claim.holds] for each in answered for claim in each.result.claims]
    agree, differ, rest = (verdicts.count(verdict) for verdict in _VERDICTS.values())
    return f"Of {len(verdicts)} claims, {agree} agree with what is demanded, {differ} differ and {rest} are told only."


def summary(answered: Sequence[AnsweredStudy]) -> Html:
    """Returns all claims in the order of the requirements, each with a link to its study, and those that no study speaks of."""
    claims = [(claim, each.study) for each in answered for claim in each.result.claims]
    rows = [_row(claim, study) for claim, study in sorted(claims, key=lambda item: REQUIREMENTS.index(item[0].requirement))]
    left = [each for each in REQUIREMENTS if each not in {claim.requirement for claim, _ in claims}]
    silent = f"No study speaks of {_ranges(left)}. Tests alone hold these: make test ARGS=tests/overlay." if left else ""
    return joined(
        element("p", in_short(answered)),
        table(("requirement", "verdict", "demanded", "measured"), rows, kind="claims"),
        element("p", silent, class_="source"),
    )


def listed(claims: Iterable[StudyClaim]) -> Html:
    """Returns the claims of one study, each with what was published, demanded and measured."""
    items = [element("li", _mark(each), terms(_said(each))) for each in claims]
    return element("ul", *items, class_="findings") if items else Html()


def _said(claim: StudyClaim) -> list[tuple[str, str]]:
    known = {
        "Requirement": claim.requirement,
        "Published": claim.published or "nothing",
        "Demanded": claim.demanded,
        "Measured": claim.measured,
        "Because": claim.why,
    }
    return [(term, words) for term, words in known.items() if words]


def _row(claim: StudyClaim, study: OverlayStudy) -> tuple[str, ...]:
    return element("a", claim.requirement, href=f"#{study.key}", title=study.title), _mark(claim), claim.demanded, claim.measured


def _mark(claim: StudyClaim) -> Html:
    verdict = _VERDICTS[claim.holds]
    return marked(verdict, _MARKS[verdict])


def _ranges(names: list[str]) -> str:
    """Returns names such as `P2P-1 to P2P-6, OV-1`, without each one between two."""
    runs: list[list[str]] = []
    for name in names:
        at = REQUIREMENTS.index(name)
        follows = bool(runs) and at > 0 and REQUIREMENTS[at - 1] == runs[-1][-1] and name.split("-")[0] == runs[-1][-1].split("-")[0]
        if follows:
            runs[-1].append(name)
        else:
            runs.append([name])
    return ", ".join(run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs)
