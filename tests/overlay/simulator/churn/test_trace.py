"""Traces of churn: read, written, and refused where they cannot be true."""

from pathlib import Path

import numpy as np
import pytest

from analytics.errors import TraceError
from overlay.simulator.churn.trace import ChurnTrace, from_stays, read_churn, write_churn
from overlay.simulator.errors import OverlayError

HEADER = "time_ms\tnode\ton\n"
STAYS = [(0, 0, 40), (1, 10, 20), (1, 30, 90), (2, 20, 60)]


def stays(*found: tuple[int, int, int], until_ms: int = 80) -> ChurnTrace:
    node, begin_ms, end_ms = np.array(found, np.int64).reshape(-1, 3).T
    return from_stays(node, begin_ms, end_ms, until_ms)


def rows(trace: ChurnTrace) -> list[tuple[int, int, int]]:
    return list(zip(trace.time_ms.tolist(), trace.node.tolist(), trace.on.tolist(), strict=True))


@pytest.mark.parametrize("name", ["churn.tsv", "churn.tsv.gz"])
def test_what_is_written_is_read_again(tmp_path: Path, name: str) -> None:
    trace = stays(*STAYS)
    write_churn(tmp_path / name, trace)
    assert rows(read_churn(tmp_path / name)) == rows(trace)
    first = (tmp_path / name).read_bytes()
    write_churn(tmp_path / name, trace)
    assert (tmp_path / name).read_bytes() == first


def test_stays_become_changes_in_order_of_time() -> None:
    assert rows(stays(*STAYS)) == [(0, 0, 1), (10, 1, 1), (20, 1, 0), (20, 2, 1), (30, 1, 1), (40, 0, 0), (60, 2, 0)]
    assert stays(*STAYS).nodes == 3


def test_stays_that_overlap_or_meet_are_one() -> None:
    assert rows(stays((0, 10, 20), (0, 20, 30), (0, 25, 28), (1, 12, 14))) == [(10, 0, 1), (12, 1, 1), (14, 1, 0), (30, 0, 0)]


def test_what_is_outside_of_the_trace_is_cut_off() -> None:
    assert rows(stays((0, -50, 5), (1, -9, -1), (2, 70, 200), (3, 80, 90))) == [(0, 0, 1), (5, 0, 0), (70, 2, 1)]
    assert len(stays()) == 0


@pytest.mark.parametrize("seed", range(5))
def test_merged_stays_are_the_union_by_the_millisecond(seed: int) -> None:
    random = np.random.default_rng(seed)
    begin = random.integers(-10, 90, 40)
    found = list(zip(random.integers(0, 4, 40).tolist(), begin.tolist(), (begin + random.integers(1, 12, 40)).tolist(), strict=True))
    there = {(node, ms) for node, first, last in found for ms in range(max(0, first), min(80, last))}
    on: set[int] = set()
    changes = rows(stays(*found))
    for time in range(80):
        for _, node, is_on in [each for each in changes if each[0] == time]:
            assert (node in on) != bool(is_on)
            (on.add if is_on else on.discard)(node)
        assert {(node, time) for node in on} == {each for each in there if each[1] == time}


def test_how_many_are_present() -> None:
    times, there = stays(*STAYS).present()
    assert dict(zip(times.tolist(), there.tolist(), strict=True)) == {0: 1, 10: 2, 20: 2, 30: 3, 40: 2, 60: 1}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("5\t0\t1\n\n4\t1\t1\n", "line 4: time 4 comes after 5; put the rows in order of time"),
        ("5\t0\t1\n6\t3\t0\n", "line 3: node 3 leaves, and has never come; give it a row with on = 1 before"),
        ("5\t0\t1\n6\t0\t0\n7\t0\t0\n", "line 4: node 0 leaves, and has left already"),
        ("5\t0\t1\n6\t1\t1\n7\t0\t1\n9\t4\t0\n", "line 4: node 0 comes, and is there already"),
    ],
)
def test_what_cannot_be_true_is_refused_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "churn.tsv"
    path.write_text(HEADER + text)
    with pytest.raises(OverlayError, match=rf"churn\.tsv, {told}"):
        read_churn(path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1 2 1\n", "line 1: must be the header 'time_ms node on'"),
        (HEADER + "1\t2\t2\n", "line 2: column on: 2 is not below 2"),
        (HEADER + "1\t-2\t1\n", "line 2: column node: '-2' is negative"),
        (HEADER, "has no rows"),
    ],
)
def test_what_is_no_trace_of_churn_is_refused(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "churn.tsv"
    path.write_text(text)
    with pytest.raises(TraceError, match=told):
        read_churn(path)
