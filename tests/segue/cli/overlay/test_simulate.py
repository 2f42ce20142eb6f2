"""`segue overlay simulate`."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from analytics.errors import TraceError
from infra.kernel.errors import SegueError
from overlay.simulator import memory
from overlay.simulator.errors import OverlayError
from segue.cli.overlay.command import overlay
from segue.cli.overlay.simulate import CSV, PAGE
from segue.cli.overlay.source import SYSTEM_NAMES


def simulate(*arguments: str) -> Result:
    return CliRunner().invoke(overlay, ["simulate", *arguments], catch_exceptions=False)


def edges(path: Path, nodes: int = 30) -> str:
    """Writes a list of edges, and returns its path."""
    path.write_text("".join(f"{one} {other}\n" for one in range(nodes) for other in range(nodes) if one != other and (one + other) % 3))
    return str(path)


def test_a_graph_of_friends_becomes_a_page_a_file_and_numbers(tmp_path: Path) -> None:
    out, numbers = tmp_path / "out", tmp_path / "numbers.json"
    done = simulate("--nodes", "200", "--events", "20", "--out", str(out), "--json", str(numbers))
    assert done.exit_code == 0
    assert "on all events reach everybody" in done.output
    assert "<svg" in (out / PAGE).read_text()
    found = json.loads(numbers.read_text())
    assert (found["nodes"], found["pairs"]) == (200, 3200)
    assert len((out / CSV).read_text().splitlines()) == 1 + len(found["cycles"])
    assert found["cycles"][-1]["incomplete_rings"] == 0


@pytest.mark.parametrize("system", SYSTEM_NAMES)
def test_the_same_seed_gives_the_same_bytes(system: str, tmp_path: Path) -> None:
    """OV-2."""
    files = []
    trace = edges(tmp_path / "edges")
    for name, seed in (("a", "3"), ("b", "3"), ("c", "4")):
        arguments = [trace, "--system", system, "--cycles", "3", "--events", "10", "--seed", seed]
        assert simulate(*arguments, "--out", str(tmp_path / name)).exit_code == 0
        files.append(((tmp_path / name / CSV).read_bytes(), (tmp_path / name / PAGE).read_bytes()))
    assert files[0] == files[1] != files[2]


def test_a_sample_of_a_list_of_edges_is_simulated_with_a_larger_fanout_and_fewer_neighbours(tmp_path: Path) -> None:
    more = ("--sample", "20", "--fanout", "4", "--ring", "2", "--cycles", "40")
    done = simulate(edges(tmp_path / "edges"), *more, "--out", str(tmp_path / "out"), "--json", str(tmp_path / "json"))
    assert "20 nodes" in done.output
    assert json.loads((tmp_path / "json").read_text())["cycles"][-1]["copies"] > 2


@pytest.mark.parametrize(
    ("content", "error", "told"),
    [
        (None, OverlayError, "there is no such file or folder"),
        ("", SegueError, "edges"),
        ("a b\nc\n", TraceError, "edges"),
        ("1 1\n", SegueError, "edges"),
        ("1 2\n", OverlayError, "one node"),
    ],
    ids=["nothing there", "no pairs", "half a pair", "one who follows themselves", "one node"],
)
def test_what_cannot_be_simulated_is_told_by_its_file_and_leaves_no_folder(
    content: str | None, error: type[Exception], told: str, tmp_path: Path
) -> None:
    trace = tmp_path / "edges"
    if content is not None:
        trace.write_text(content)
    with pytest.raises(error, match=told) as raised:
        simulate(str(trace), "--out", str(tmp_path / "out"))
    assert str(trace) in str(raised.value)
    assert [each.name for each in tmp_path.iterdir()] == ["edges"][: content is not None]


def test_more_nodes_than_memory_are_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_bytes", lambda: 10_000_000_000)
    with pytest.raises(OverlayError, match=r"friends, 900,000,000: .* 10\.0 GB are free; take fewer nodes"):
        simulate("--nodes", "900000000", "--out", str(tmp_path / "out"))
    assert list(tmp_path.iterdir()) == []


def test_an_odd_ring_is_refused_and_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(OverlayError, match="ring is 3: half of the neighbours have higher ids and half lower, so give 2, 4, 6"):
        simulate("--nodes", "200", "--ring", "3", "--out", str(tmp_path / "out"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--fanout", "1"], "--fanout"),
        (["--system", "scribe", "--fanout", "3"], "are settings of poldercast"),
        (["--system", "chord"], "--system"),
        (["--sample", "1"], "--sample"),
        (["--nodes", "1"], "--nodes"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused_before_anything_is_written(arguments: list[str], told: str, tmp_path: Path) -> None:
    done = simulate(*arguments, "--out", str(tmp_path / "out"))
    assert done.exit_code == 2
    assert told in done.output
    assert list(tmp_path.iterdir()) == []
