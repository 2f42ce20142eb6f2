"""Studies that are made up. They are here because other processes must be able to import them."""

from collections.abc import Callable

from analytics.planning.report.chart import Axis, Series, chart
from analytics.report.plot import Plot
from overlay.report.study import OverlayStudy, StudyClaim, StudyResult, StudyScale, StudyTable


def count(scale: StudyScale, seed: int, told: Callable[[str], None]) -> StudyResult:
    """Counts up from the seed."""
    told("counting")
    claims = [
        StudyClaim(requirement="P2P-9", published="<much>", demanded="1", measured="2", holds=False, why="because"),
        StudyClaim(requirement="OV-1", published="", demanded="1", measured="1", holds=True),
        StudyClaim(requirement="P2P-2", published="some", demanded="told", measured=f"at {scale}", holds=None),
    ]
    rows: list[tuple[float | str, ...]] = [("one", seed + at, at / 3) for at in range(100)]
    return StudyResult(tables=[StudyTable(name="some-counts", head=("name", "n", "third"), rows=rows)], claims=claims)


def drawn(result: StudyResult) -> list[Plot]:
    """Draws the counts."""
    points = [(float(row[1]), float(row[2])) for row in result.tables[0].rows]
    return [chart("counts", "Counts", Axis("n"), Axis("third"), [Series("counted", points)])]


def fail(_scale: StudyScale, _seed: int, _told: Callable[[str], None]) -> StudyResult:
    """Finds nothing."""
    raise ValueError("nothing can be found")


COUNTING = OverlayStudy("counting", "Counting & more", "figure 1", count, drawn)
FAILING = OverlayStudy("failing", "Failing", "", fail, drawn)
