"""Tables of studies, as files and for readers."""

from overlay.report.study import StudyTable
from overlay.report.tables import SHOWN, as_csv, as_sheet


def test_a_file_has_every_row_and_digits_enough_to_count_with() -> None:
    table = StudyTable(name="a", head=("who, and what", "n"), rows=[('say "a"', 1_600_000), ("b", 1 / 3), ("c", 2.0)])
    assert as_csv(table) == '"who, and what",n\n"say ""a""",1600000\nb,0.33333333\nc,2\n'


def test_readers_see_rounded_numbers_and_first_and_last_row_of_many() -> None:
    rows: list[tuple[float | str, ...]] = [("x", at, at / 3) for at in range(1000)]
    sheet = as_sheet(StudyTable(name="long-table", head=("w", "n", "third"), rows=rows))
    assert (sheet.title, sheet.words, len(sheet.rows)) == ("Long table", 1, SHOWN)
    assert (sheet.rows[0], sheet.rows[-1]) == (("x", "0", "0"), ("x", "999", "333"))
    assert sheet.notes == (f"{SHOWN} of 1,000 rows; the file has all.",)


def test_a_short_table_is_shown_whole() -> None:
    sheet = as_sheet(StudyTable(name="short", head=("a", "b"), rows=[("x", "y"), ("z", 1)]))
    assert (sheet.words, sheet.rows, sheet.notes) == (1, [("x", "y"), ("z", "1")], ())
    assert as_sheet(StudyTable(name="none", head=("a",), rows=[])).rows == []
