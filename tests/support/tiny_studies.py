"""Results of studies at the smallest scale, found once for all tests of a run."""

from functools import cache

from overlay.report.running import answer
from overlay.report.study import OverlayStudy, StudyResult


@cache
def tiny(study: OverlayStudy) -> StudyResult:
    """Returns what the study finds with seed 1."""
    return answer(study, "tiny", 1, lambda _: None)
