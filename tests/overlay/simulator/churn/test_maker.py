"""Churn that is made after Skype's super-peers: its law of stays, its days and weeks, its crowd, its drop."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from overlay.simulator.churn.maker import HOUR_MS, ChurnShape, make_churn
from overlay.simulator.churn.trace import ChurnTrace, read_churn, write_churn
from overlay.simulator.errors import OverlayError

PAGE = Path(__file__).resolve().parents[4] / "docs" / "overlay-world.md"


@pytest.fixture(scope="module")
def month() -> ChurnTrace:
    """A month of 4,000 nodes."""
    return make_churn(ChurnShape(), 1)


def there(trace: ChurnTrace, hours: NDArray[np.float64]) -> NDArray[np.int64]:
    """Returns how many are present at these hours."""
    times, present = trace.present()
    return present[np.searchsorted(times, hours * HOUR_MS, side="right") - 1]


def stays_h(trace: ChurnTrace, first_h: float, last_h: float) -> NDArray[np.float64]:
    """Returns the lengths of all stays that began between these hours, and those without an end as infinite."""
    found: list[float] = []
    begun: dict[int, int] = {}
    for time, node, on in zip(trace.time_ms.tolist(), trace.node.tolist(), trace.on.tolist(), strict=True):
        if on:
            begun[node] = time
        elif first_h * HOUR_MS <= (begin := begun.pop(node)) < last_h * HOUR_MS:
            found.append((time - begin) / HOUR_MS)
    found += [np.inf for time in begun.values() if first_h * HOUR_MS <= time < last_h * HOUR_MS]
    return np.array(found)


def test_a_seed_gives_the_same_churn_and_another_seed_gives_other(tmp_path: Path) -> None:
    """OV-2."""
    shape = ChurnShape(nodes=200, days=2.0, crowd=20)
    written = []
    for seed in (1, 1, 2):
        write_churn(tmp_path / "churn.tsv", make_churn(shape, seed))
        written.append((tmp_path / "churn.tsv").read_bytes())
    assert written[0] == written[1] != written[2]
    assert len(read_churn(tmp_path / "churn.tsv")) == len(make_churn(shape, 2))


def test_stays_follow_the_heavy_tailed_law(month: ChurnTrace) -> None:
    stays = stays_h(month, 24, 14 * 24)
    shape = ChurnShape()
    assert len(stays) > 30_000
    for hours in (1.0, 5.5, 24.0, 168.0):
        assert (stays > hours).mean() == pytest.approx((1 + hours / shape.scale_h) ** -shape.tail, rel=0.1)
    assert np.median(stays) == pytest.approx(shape.median_stay_h, rel=0.05)


def test_more_are_there_by_day_than_by_night_and_on_weekdays_than_on_weekends(month: ChurnTrace) -> None:
    present = there(month, np.arange(7.0 * 24, 28 * 24)).reshape(21, 24)
    by_hour, by_day = present.mean(axis=0), present.mean(axis=1)
    assert 15 <= by_hour.argmax() <= 19
    assert 3 <= by_hour.argmin() <= 7
    assert 1.15 < by_hour.max() / by_hour.min() < 1.4
    weekend = np.isin(np.arange(21) % 7, [5, 6])
    assert 1.08 < by_day[~weekend].mean() / by_day[weekend].mean() < 1.3


def test_without_days_and_weeks_the_share_of_those_present_is_that_of_their_stays() -> None:
    shape = ChurnShape(weekend=1.0, crowd=0, drop=0.0)
    wanted = shape.nodes * shape.mean_stay_h / (shape.mean_stay_h + shape.mean_gap_h)
    # A stay may be longer than the two weeks before the trace, so not all of the mean is there.
    assert 0.85 * wanted < there(make_churn(shape, 4), np.arange(28.0 * 24)).mean() < wanted


def test_a_crowd_comes_within_its_minutes(month: ChurnTrace) -> None:
    """The crowd of the paper: 600."""
    calm = make_churn(ChurnShape(crowd=0), 1)
    came = [(each.on[(each.time_ms >= HOUR_MS) & (each.time_ms < HOUR_MS + 600_000)] == 1).sum() for each in (month, calm)]
    assert came[0] - came[1] == pytest.approx(600, abs=2)


def test_a_tenth_leaves_at_once_at_the_drop(month: ChurnTrace) -> None:
    at = 18 * HOUR_MS
    before, after = there(month, np.array([18 - 1e-6, 18.0]))
    assert ((month.time_ms == at) & (month.on == 0)).sum() == pytest.approx(0.1 * before, abs=1)
    assert before - after == pytest.approx(0.1 * before, abs=2)


def test_nothing_sharp_happens_where_nothing_is_asked_for() -> None:
    calm = make_churn(ChurnShape(nodes=1000, days=2.0, crowd=0, drop=0.0), 1)
    later = calm.time_ms[calm.time_ms > 0]
    assert np.bincount(later // 60_000).max() < 12


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"nodes": 1}, "nodes = 1 makes no sense; give two nodes or more"),
        ({"tail": 1.0}, r"tail = 1.0 makes no sense; .* stays have no mean"),
        ({"days": 0.0}, r"days = 0\.0"),
        ({"median_stay_h": 0.0}, "median_stay_h"),
        ({"mean_gap_h": -1.0}, "mean_gap_h"),
        ({"weekend": 0.0}, "weekend"),
        ({"crowd": 4000}, "crowd = 4000"),
        ({"crowd_min": -1.0}, "crowd_min"),
        ({"drop": 1.0}, r"drop = 1\.0"),
        ({"crowd": 3000}, r"a crowd of 3000: only \d+ nodes are away at hour 1; give more nodes"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(change: dict[str, float], told: str) -> None:
    with pytest.raises(OverlayError, match=told):
        make_churn(dataclasses.replace(ChurnShape(), **change), 1)  # type: ignore[arg-type]


def test_the_page_has_every_parameter_with_its_default() -> None:
    told = dict(re.findall(r"^\| `(\w+)` \| ([\d.,]+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    assert {name: float(value.replace(",", "")) for name, value in told.items()} == dataclasses.asdict(ChurnShape())
