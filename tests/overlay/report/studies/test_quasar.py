"""The study of Quasar: what it claims follows from its tables."""

import pytest

from overlay.report.studies.quasar import QUASAR, claims, plots
from overlay.report.study import StudyTable
from tests.support.tiny_studies import tiny

KINDS = ("sizes as on MySpace", "100 members", "2 % of the nodes")


def tables(
    *,
    coverage: float = 97.0,
    small: float = 97.0,
    spread: float = 0.5,
    far: float = 24.0,
    blind: float = 2.0,
    polled: float = 100.0,
    busiest: float = 5.0,
    state: int = 22_528,
    many: int = 22_528,
    false: float = 0.4,
    lost: int = 0,
) -> list[StudyTable]:
    """Returns tables of two sizes in which everything holds, but for what is given."""
    head = ("nodes", "groups", *("",) * 8)
    points: list[tuple[float | str, ...]] = []
    for nodes, hops, deviation in ((1024, 14.0, 2.0), (4096, far, spread)):
        for kind in KINDS:
            points.append((nodes, kind, small if nodes == 1024 else coverage, deviation, hops, 20.0, 1.0, lost, 30.0, 400.0))
    loads: list[tuple[float | str, ...]] = [
        (degree, kind, 98.0, 1.0, 12.0, 20.0, false if degree == 7 else 0.1, lost, 20.0, 50.0 * degree)
        for kind in KINDS[1::-1]
        for degree in (5, 6, 7)
    ]
    loads += [(8, KINDS[0], 98.0, 1.0, 12.0, 20.0, 3.0, 9, 40.0, 460.0)]
    ways: list[tuple[float | str, ...]] = [("usual", 98.0, 20.0, 0.0), ("blind", blind, 5.0, 0.0), ("polled", polled, 20.0, 4.0)]
    hotspots: list[tuple[float | str, ...]] = [("quasar", 100.0, 500.0, busiest), ("scribe", 10.0, 200.0, 20.0)]
    return [
        StudyTable(name="coverage", head=head, rows=points),
        StudyTable(name="loads", head=head, rows=loads),
        StudyTable(name="ways", head=("how", "", "", ""), rows=ways),
        StudyTable(name="hotspots", head=("system", "", "", ""), rows=hotspots),
        StudyTable(name="state", head=("groups", "bytes"), rows=[(10, state), (10_000, many)]),
    ]


def test_all_claims_hold_where_everything_is_as_published() -> None:
    assert [each.requirement for each in claims(tables(), is_full=True) if each.holds is not True] == []


@pytest.mark.parametrize(
    ("given", "missed"),
    [
        ({"coverage": 94.0, "small": 94.0}, ["P2P-38", "P2P-39"]),
        ({"small": 99.9, "coverage": 96.0}, ["P2P-38"]),
        ({"spread": 2.5}, ["P2P-39"]),
        ({"far": 31.0}, ["P2P-40"]),
        ({"far": 13.0}, ["P2P-40"]),
        ({"blind": 11.0}, ["P2P-41"]),
        ({"state": 23_000, "many": 23_000}, ["P2P-42"]),
        ({"false": 0.6}, ["P2P-43"]),
        ({"lost": 1}, ["P2P-43"]),
        ({"many": 22_529}, ["P2P-45"]),
        ({"busiest": 10.1}, ["P2P-46"]),
        ({"polled": 99.8}, ["P2P-47"]),
    ],
)
def test_each_claim_is_missed_alone(given: dict[str, float], missed: list[str]) -> None:
    found = claims(tables(**given), is_full=True)  # type: ignore[arg-type]
    assert [each.requirement for each in found if each.holds is False] == missed


def test_a_small_system_tells_what_a_large_one_is_judged_by() -> None:
    """P2P-42 and P2P-45 are the same at any size."""
    result = tiny(QUASAR)
    assert [each.requirement for each in result.claims if each.holds is not None] == ["P2P-42", "P2P-45"]
    assert all(each.holds for each in result.claims if each.holds is not None)
    assert all(0 < float(row[2]) <= 100 for row in result.table("coverage").rows)
    fills = [float(row[8]) for row in result.table("loads").rows[:4]]
    assert fills == sorted(fills)
    assert [key.label for key in plots(result)[0].keys] == [*KINDS, "published: 97 %"]
