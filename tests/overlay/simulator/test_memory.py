"""More nodes than memory are refused before they are tried."""

from pathlib import Path

import pytest

from overlay.simulator import memory
from overlay.simulator.compiled import COMPILED
from overlay.simulator.errors import OverlayError
from overlay.simulator.memory import check_memory, free_bytes, needed_bytes
from overlay.simulator.systems import SYSTEMS, new_system
from tests.support.even_workload import even_workload


def test_what_does_not_fit_is_told_with_both_sizes_and_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_bytes", lambda: 2_000_000_000)
    check_memory("x", SYSTEMS, 10_000, 160_000)
    with pytest.raises(
        OverlayError, match=r"^trace: 1,000,000 nodes with 16,000,000 subscriptions take about .* GB in poldercast, and 2\.0 GB"
    ):
        check_memory("trace", SYSTEMS, 1_000_000, 16_000_000)


def test_free_is_what_the_system_says_can_be_had(tmp_path: Path) -> None:
    told = tmp_path / "meminfo"
    told.write_text("MemTotal: 100 kB\nMemAvailable:     70 kB\n")
    assert free_bytes(told) == 70 * 1024
    assert free_bytes(tmp_path / "none") > 1 << 20


def held_bytes(value: object) -> int:
    """Returns the bytes of all arrays in a state and in its parts."""
    return sum(map(held_bytes, value)) if isinstance(value, tuple) else int(getattr(value, "nbytes", 0))


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_estimate_is_of_the_size_of_the_state(name: str) -> None:
    nodes, each = 3000, 12
    system = new_system(name, even_workload(nodes=nodes, topics=300, each=each, seed=1), 1, COMPILED)
    held = held_bytes(system.state)  # type: ignore[attr-defined]
    assert held / 2 < needed_bytes(name, nodes, nodes * each) < 4 * held, held
