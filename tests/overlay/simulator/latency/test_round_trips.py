"""Round trips between hosts: read from a square of numbers, and refused with file, line and column."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from analytics.errors import TraceError
from overlay.simulator.errors import OverlayError
from overlay.simulator.graphs.reading import DATA
from overlay.simulator.latency.round_trips import read_round_trips

SQUARE = "0\t40\t60\n20\t0\t80\n100\t90\t0\n"
SEATTLE = DATA / "netlatency" / "SeattleData_540.gz"
PLANETLAB = DATA / "netlatency" / "PlanetLabData_18.gz"


def written(folder: Path, text: str) -> Path:
    path = folder / "trips.txt"
    path.write_text(text)
    return path


def test_a_message_takes_half_a_round_trip_and_the_diagonal_is_the_nearest_host(tmp_path: Path) -> None:
    found = read_round_trips(written(tmp_path, SQUARE))
    assert found.tolist() == [[20_000, 20_000, 30_000], [10_000, 10_000, 40_000], [50_000, 45_000, 45_000]]
    assert found.dtype == np.int32


@pytest.mark.parametrize("text", [SQUARE.replace("\t", " "), SQUARE.replace("\t", ","), SQUARE.replace("\n", "\t\n"), "# ms\n\n" + SQUARE])
def test_delimiters_comments_and_empty_lines_make_no_difference(tmp_path: Path, text: str) -> None:
    assert read_round_trips(written(tmp_path, text))[2].tolist() == [50_000, 45_000, 45_000]


def test_a_packed_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "trips.gz"
    path.write_bytes(gzip.compress(SQUARE.encode()))
    assert read_round_trips(path)[0, 1] == 20_000
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(TraceError, match=r"trips.gz: ends early; download it again"):
        read_round_trips(path)


def test_planetlab_is_milliseconds_between_490_hosts() -> None:
    found = read_round_trips(PLANETLAB)
    assert found.shape == (490, 490)
    assert (found == found.T).all()
    assert 60_000 < np.median(found) < 70_000
    assert (found > 0).all()


def test_seattle_is_refused_as_it_is_and_read_as_seconds_with_its_zeros_filled() -> None:
    with pytest.raises(OverlayError, match=r"SeattleData_540.gz, line 1, column 7: a round trip of 0 .* the first of 45; fill it in"):
        read_round_trips(SEATTLE, "s")
    with pytest.raises(
        OverlayError, match=r"median round trip would be 0.22 ms, so the numbers are hardly milliseconds; say their unit: s"
    ):
        read_round_trips(SEATTLE, fills_zeros=True)
    found = read_round_trips(SEATTLE, "s", fills_zeros=True)
    assert found.shape == (99, 99)
    assert found.min() == 2_500
    assert 100_000 < np.median(found) < 120_000
    assert (found != found.T).any()


def test_a_zero_is_filled_by_the_opposite_way_else_by_half_of_the_smallest(tmp_path: Path) -> None:
    text = "0 0 60\n20 0 0\n100 0 0\n"
    found = read_round_trips(written(tmp_path, text), fills_zeros=True)
    assert found[0, 1] == 10_000
    assert found[1, 2] == found[2, 1] == 5_000


def test_a_square_of_zeros_has_nothing_to_fill_from(tmp_path: Path) -> None:
    with pytest.raises(OverlayError, match="line 1, column 2: a round trip of 0 between two hosts, the first of 2"):
        read_round_trips(written(tmp_path, "0 0\n0 0\n"), fills_zeros=True)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0 40\n20 0\n30 30\n", "trips.txt: has 3 rows of 2 numbers; give a square"),
        ("# a\n0 40 1\n20 0\n", "trips.txt, line 3: has 2 numbers, and line 2 has 3"),
        ("0 nan\n20 0\n", "trips.txt, line 1, column 2: is nan, so no round trip is known"),
        ("0 20\ninf 0\n", "trips.txt, line 2, column 1: is inf, so no round trip is known"),
        ("0 20\n\n-3 0\n", "trips.txt, line 3, column 1: -3 is negative"),
        ("0 20\nhost 0\n", "trips.txt, line 2, column 1: 'host' is no number"),
        ("0 20\n0 0\n", "trips.txt, line 2, column 1: a round trip of 0 between two hosts; fill it in"),
        ("0 5,5\n5 0\n", "trips.txt, line 1, column 1: '0 5' is no number"),
        ("0\n", "trips.txt: has 1 rows; give the round trips between two hosts or more"),
        ("", "trips.txt: has 0 rows"),
        ("0 90000\n90000 0\n", "hardly milliseconds; say their unit: us, or ms if they are"),
    ],
)
def test_what_is_no_square_of_round_trips_is_refused(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(OverlayError, match=told):
        read_round_trips(written(tmp_path, text))


def test_a_unit_that_is_said_is_believed_unless_nobody_could_wait_so_long(tmp_path: Path) -> None:
    near = written(tmp_path, "0 0.4\n0.4 0\n")
    assert read_round_trips(near, "ms")[0, 1] == 200
    assert read_round_trips(near, "s")[0, 1] == 200_000
    far = written(tmp_path, SQUARE)
    assert read_round_trips(far, "us")[0, 1] == 20
    with pytest.raises(OverlayError, match="median round trip would be 70 s; say a smaller unit than s"):
        read_round_trips(far, "s")


def test_one_round_trip_of_hours_is_named(tmp_path: Path) -> None:
    with pytest.raises(OverlayError, match="line 3, column 1: a round trip of 83 minutes is more than an hour"):
        read_round_trips(written(tmp_path, "0 40 40\n40 0 40\n5000000 40 0\n"), "ms")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"nothing.txt: cannot be read"):
        read_round_trips(tmp_path / "nothing.txt")
