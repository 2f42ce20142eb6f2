"""segue.cli.top.screen: what a frame looks like."""

import io
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from infra.runtime.stats import ProcessStats, RoleStats, Stats
from segue.cli.top.frame import Snapshot, TopView, Unreachable, frame
from segue.cli.top.screen import chart, count, screen, size


def said(role: str, site: str, not_ready: str | None, counters: dict[str, float]) -> Stats:
    """Returns what the door of a process with one role says."""
    process = ProcessStats(id=site, cpu_s=0.0, uptime_s=1.0, loop_lag_s=0.0, rss_bytes=987.6e9, open_fds=9)
    return Stats(process=process, roles=[RoleStats(role=role, node="n1", site=site, not_ready=not_ready, counters={**counters})])


def drawn(view: TopView, history: Sequence[float] = (), width: int = 100) -> str:
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(screen(view, history, "every 1 s", width))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def busy(delivered: float) -> Snapshot:
    """Numbers near the limits of what a cell can hold."""
    levels = dict.fromkeys(("connections", "topics", "subscriptions", "outbox_bytes"), 987_654_321.0)
    counters = {f"accesspoint_{name}": value for name, value in levels.items()} | {"accesspoint_deliveries_total": delivered}
    return {site: said("accesspoint", site, None, counters) for site in ("ash", "lon", "sto")}


@pytest.mark.parametrize("width", [80, 100, 160])
def test_a_screen_fits_its_width_and_cuts_nothing(width: int) -> None:
    text = drawn(frame(busy(0), busy(123_456_789), 1.0), [1.0, 9e8, 3e5] * 100, width)
    assert {len(line) for line in text.splitlines()} == {width}
    assert "…" not in text


def test_a_screen_shows_every_site_the_total_and_the_figures() -> None:
    before = {"accesspoint_deliveries_total": 0.0}
    after = {"accesspoint_deliveries_total": 48_211.0, "accesspoint_connections": 18_234.0}
    view = frame({"a": said("accesspoint", "sto", None, before)}, {"a": said("accesspoint", "sto", None, after)}, 1.0)
    lines = drawn(view, [10_000.0, 48_211.0]).splitlines()
    assert next(line for line in lines if "sto" in line).split()[1:4] == ["sto", "18.2k", "0"]
    assert "48.2k" in next(line for line in lines if "total" in line)
    assert any("now 48.2k" in line and "peak 48.2k" in line for line in lines)


def test_a_screen_names_what_is_wrong() -> None:
    waiting = said("aggregator", "ash", "no broker is linked", {})
    text = drawn(frame({}, {"http://127.0.0.1:1": Unreachable("connection refused"), "a": waiting}, 1.0))
    assert "unreachable http://127.0.0.1:1  connection refused; trying again" in text
    assert "not ready ash aggregator n1  no broker is linked" in text


def test_a_chart_has_the_newest_at_the_right_and_the_peak_at_full_height() -> None:
    assert chart([0, 1, 4, 8], width=6, height=1) == ["   ▁▄█"]
    assert chart([8, 16], width=2, height=2) == [" █", "██"]
    assert chart([5, 1, 2], width=2, height=1) == ["▄█"]
    assert chart([], width=3, height=1) == ["   "]


def test_a_chart_never_shows_something_as_nothing() -> None:
    assert chart([1, 1_000_000], width=2, height=1) == ["▁█"]


@settings(max_examples=100)
@given(st.floats(min_value=0, max_value=9e14), st.floats(min_value=0, max_value=9e14))
def test_numbers_stay_short_and_keep_their_order(one_: float, other: float) -> None:
    low, high = sorted((one_, other))
    for show in (count, size):
        assert len(show(high)) <= 7
        assert value_of(show(low)) <= value_of(show(high))


def value_of(text: str) -> float:
    digits = text.removesuffix("B").replace(" ", "").replace(",", "")
    factor = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}.get(digits[-1], 1.0)
    return float(digits.rstrip("kMGT")) * factor


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0, "0"),
        (0.44, "0.4"),
        (9.96, "10"),
        (97, "97"),
        (9_999, "9,999"),
        (9_999.7, "10.0k"),
        (97_100, "97.1k"),
        (999_960, "1.00M"),
        (5e12, "5.00T"),
    ],
)
def test_counts_are_shown_with_three_or_four_digits(number: float, shown: str) -> None:
    assert count(number) == shown


@pytest.mark.parametrize(("number", "shown"), [(0, "0 B"), (999, "999 B"), (999.9, "1.00 kB"), (41_200_000, "41.2 MB")])
def test_sizes_have_decimal_prefixes(number: float, shown: str) -> None:
    assert size(number) == shown
