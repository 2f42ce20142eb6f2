"""The study of rules that the paper leaves open."""

import pytest

from overlay.report.studies.rules import RULES, VARIANTS, LastNodes, claims
from overlay.report.study import StudyTable
from tests.support.tiny_studies import tiny


def shares(default: float, module: float, shared: float) -> StudyTable:
    """Returns the incomplete rings of each rule, in percent."""
    values = dict(zip(VARIANTS, (default, module, shared, default, default), strict=True))
    return StudyTable(
        name="rules", head=("rule", "mean", "least", "most"), rows=[(name, each, each, each) for name, each in values.items()]
    )


@pytest.mark.parametrize(
    ("table", "last", "held"),
    [
        (shares(1.9, 17.2, 25.7), LastNodes("friends", 40, 80), [True, True]),
        (shares(1.9, 25.7, 17.2), LastNodes("friends", 40, 80), [False, True]),
        (shares(3.0, 17.2, 25.7), LastNodes("friends", 40, 80), [False, True]),
        (shares(1.9, 17.2, 25.7), LastNodes("friends", 40, 81), [True, False]),
    ],
    ids=["as in the pilot", "another order", "too many", "the rich are late"],
)
def test_claims_follow_from_shares_and_last_nodes(table: StudyTable, last: LastNodes, held: list[bool]) -> None:
    """A judge that is given invented numbers."""
    assert [each.holds for each in claims(table, [last], is_full=True)] == held
    assert [each.holds for each in claims(table, [last], is_full=False)] == [None, None]


def test_a_small_overlay_is_grown_by_each_rule() -> None:
    """P2P-25."""
    result = tiny(RULES)
    assert [row[0] for row in result.table("rules").rows] == list(VARIANTS)
    assert float(result.table("last-nodes").rows[0][2]) > 0
