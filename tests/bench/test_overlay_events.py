"""The benchmark of events that take time measures a small burst and the runs of OV-3, and judges them by the targets that were set."""

from pathlib import Path

import pytest

from bench.micro.overlay_events import EventsFigures, EventsPlan, measure
from bench.setting import BenchSetting, two_cores
from bench.suite import BENCHMARKS
from bench.suite.overlay_events import LibP2pFigures, beside, table

GOOD = EventsFigures(
    copies=600_000,
    messages=700_000,
    copies_s=1.0,
    delivered=1.0,
    old_s=2.0,
    new_s=3.0,
    old_deliveries=60_000,
    new_deliveries=60_000,
    times_faster=100.0,
)
PEER = LibP2pFigures(deliveries=580, wanted=580, seconds=8.7)
LOSSY = LibP2pFigures(deliveries=290, wanted=580, seconds=4.35)


# The kernels may have to be compiled first.
@pytest.mark.timeout(900)
def test_all_that_is_asked_for_is_measured() -> None:
    """No test judges whether times are kept."""
    found = measure(EventsPlan(events=3, small=2, small_nodes=30))
    assert (found.delivered, found.old_deliveries, found.new_deliveries) == (1.0, 60_000, 60_000)
    assert found.messages >= found.copies > 3 * 999
    assert min(found.copies_s, found.old_s, found.new_s, found.times_faster) > 0


def test_targets_are_told_beside_what_was_measured() -> None:
    rows = {row[0]: row for row in table(GOOD, PEER).rows}
    assert rows["copies of events a second"][1] == "600,000"
    assert rows["CPU for a delivery in OV-3, v1.1, µs"][1] == "50.0"
    assert rows["the same in py-libp2p's GossipSub, µs"][1] == "15,000"
    assert "overlay_events" in BENCHMARKS


def test_a_peer_that_lost_events_or_did_not_run_says_so() -> None:
    told = [next(row[1] for row in table(GOOD, peer).rows if "libp2p" in row[0]) for peer in (LOSSY, LibP2pFigures(missing="absent"))]
    assert told == ["15,000, 50.0% lost", "absent"]


def with_python(folder: Path, *lines: str) -> BenchSetting:
    """Returns a setting whose directory of peers has a Python that can import everything, and runs these lines of shell for a script."""
    python = folder / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("\n".join(["#!/bin/sh", '[ "$1" = -c ] && exit 0', *lines, ""]))
    python.chmod(0o755)
    server_core, generator_core = two_cores()
    return BenchSetting(server_core=server_core, generator_core=generator_core, state=folder, scratch=folder, peers_dirs=(folder,))


def test_the_peer_is_looked_for_in_a_venv_and_told_how_many_nodes_to_run(tmp_path: Path) -> None:
    setting = with_python(tmp_path, 'echo "{\\"deliveries\\": $2, \\"wanted\\": 580, \\"seconds\\": 8.7}"')
    assert beside(setting, nodes=7) == LibP2pFigures(deliveries=7, wanted=580, seconds=8.7)


def test_a_peer_that_ends_without_a_word_costs_its_row_alone(tmp_path: Path) -> None:
    assert beside(with_python(tmp_path, "echo trio.TooSlowError >&2", "exit 1")).missing == "nothing came: trio.TooSlowError"
