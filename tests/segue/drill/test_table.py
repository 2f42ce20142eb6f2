"""Promised beside measured."""

from io import StringIO

from rich.console import Console

from infra.kernel.loss_reasons import LossReason
from segue.cli.palette import BAD, GREEN, QUIET
from segue.drill.ledger import DrillMeasured
from segue.drill.load import NO_WINDOW, WINDOW
from segue.drill.play import DrillOutcome
from segue.drill.rows import DrillPromise, DrillRow
from segue.drill.table import cell, document, rare, said, table
from segue.drill.tellings import DueTelling

ROW = DrillRow("killed", "something is killed", (), DrillPromise(again_s=1.5), DrillPromise(missing=0))
MEASURED = DrillMeasured(accepted=10, refused=2, delivered=1_200, missing=34, twice=0, out_of_order=0, undetected=0, told=0, again_s=1.25)


def test_a_row_that_is_kept_and_one_that_is_broken() -> None:
    kept = DrillOutcome(ROW, {NO_WINDOW: MEASURED, WINDOW: MEASURED._replace(missing=0, delivered=77)}, 11.0)
    broken = DrillOutcome(ROW, {NO_WINDOW: MEASURED._replace(twice=3, again_s=2.0), WINDOW: MEASURED}, 11.0)
    assert kept.is_good
    assert not broken.is_good
    assert broken.broken(NO_WINDOW) == ["twice", "again_s"]
    assert broken.broken(WINDOW) == ["missing"]
    console = Console(width=110, file=StringIO())
    with console.capture() as capture:
        console.print(table([kept, broken], "one process"))
    text = capture.get()
    for cell_text in ("something is killed", "1.25 ≤ 1.5", "2 > 1.5", "3 > 0", "34", "1,234", "34 > 0", "77", "11 s"):
        assert cell_text in text


def test_where_nothing_arrives_nothing_is_proved() -> None:
    assert DrillOutcome(ROW, {NO_WINDOW: MEASURED._replace(delivered=0)}, 1.0).broken(NO_WINDOW) == ["delivered"]


def test_a_cell_says_whether_a_promise_was_kept() -> None:
    assert [cell(5, None).style, cell(0, 0).style, cell(1, 0).style] == [QUIET, GREEN, BAD]
    assert [cell(5, None).plain, cell(0, 0).plain, cell(1, 0).plain, cell(1.5, 2.0).plain] == ["5", "0", "1 > 0", "1.5 ≤ 2"]


def test_a_promise_without_anything_that_could_break_it_proves_nothing() -> None:
    """DPS-32: somebody must have been told, and something must be missing that numbers count."""
    row = DrillRow("told", "somebody is told", (), DrillPromise(uncounted=0), DrillPromise(untold=0, mistold=0))
    assert DrillOutcome(row, {NO_WINDOW: MEASURED, WINDOW: MEASURED._replace(due=3)}, 1.0).is_good
    outcome = DrillOutcome(row, {NO_WINDOW: MEASURED._replace(missing=0), WINDOW: MEASURED}, 1.0)
    assert [outcome.broken(kind) for kind in (NO_WINDOW, WINDOW)] == [["missing"], ["due"]]


def test_what_few_rows_promise_has_one_column() -> None:
    found = rare(MEASURED._replace(untold=2, memory=104.0), DrillPromise(untold=0, mistold=0, memory=105.0))
    assert found.plain == "untold 2 > 0; mistold 0; memory, %: 104 ≤ 105"
    assert rare(MEASURED, DrillPromise(missing=0)).plain == ""


def test_the_document_has_all_of_it() -> None:
    (row,) = document([DrillOutcome(ROW, {NO_WINDOW: MEASURED, WINDOW: MEASURED}, 11.0)], "processes")["rows"]
    assert row["kinds"][NO_WINDOW]["promised"]["again_s"] == 1.5
    assert row["kinds"][NO_WINDOW]["promised"]["missing"] is None
    assert row["kinds"][NO_WINDOW]["measured"]["missing"] == 34
    assert [row["kinds"][kind]["broken"] for kind in (NO_WINDOW, WINDOW)] == [[], ["missing"]]
    assert (row["name"], row["seconds"], row["is_good"]) == ("killed", 11.0, False)


def words(promise: DrillPromise, tells: DueTelling | None = None) -> str:
    return said(DrillRow("row", "something", (), promise, tells=tells), WINDOW)


def test_a_promise_in_words() -> None:
    assert words(DrillPromise()) == "-"
    assert words(DrillPromise(missing=0)) == "0 missing"
    assert words(DrillPromise(again_s=1.5)) == "again in 1.5 s"
    assert words(DrillPromise(missing=0, told=0)) == "0 missing; nobody told of a gap"
    assert words(DrillPromise(missing=0, told=0, unrecovered=0)) == "0 missing; also for who was away; nobody told of a gap"
    assert words(DrillPromise(missing=0, again_s=0.0)) == "0 missing; nobody waits"
    assert words(DrillPromise(uncounted=0, again_s=4.0)) == "numbers count what is missing; again in 4 s"
    exact, tells = "`split` to all who are concerned, and nothing else", DueTelling(LossReason.SPLIT)
    assert words(DrillPromise(untold=0, mistold=0, answer_s=1.0, memory=105.0), tells) == f"{exact}; in 1 s; memory at most 105 %"
