"""The benchmark of planning measures a small trace, and judges full size."""

import msgspec
import pytest

from analytics.generator.job import generate
from analytics.generator.profile import profile
from bench.micro.planning import PlanningFigures, measure
from bench.suite.planning import against_published


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> PlanningFigures:
    trace = tmp_path_factory.mktemp("planning") / "trace"
    generate(trace, profile("spotify", 0.002, 1), publications=0, sessions=0, processes=1, progress=lambda *_: None)
    return measure(trace, 0.002)


def test_every_time_that_is_asked_for_is_measured(figures: PlanningFigures) -> None:
    """The benchmark judges the claims of time, so it must measure all of them. No test judges whether they are kept."""
    times = msgspec.structs.asdict(figures)
    assert figures.pairs > figures.hour_pairs > 0
    assert all(value > 0 for value in times.values())
    assert figures.gsp_least <= figures.gsp


def test_what_is_slower_than_its_target_is_told(figures: PlanningFigures) -> None:
    kept = msgspec.structs.replace(figures, gsp=1.0, gsp_least=0.9, cbp=0.1, ffbp=2.0, b3m=6.0, fb3m=3.0)
    slow = msgspec.structs.replace(kept, b3m=11.0, ffbp=0.5, gsp_least=0.5)
    verdicts = [{row[0]: row[2] for row in against_published(each).rows} for each in (kept, slow)]
    differing = [what for what in verdicts[0] if verdicts[0][what] != verdicts[1][what]]
    assert differing == ["GreedyB3M, slowest threshold", "FFBP / CBP", "GSP, slowest / quickest threshold"]
