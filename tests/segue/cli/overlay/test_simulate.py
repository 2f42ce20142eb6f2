"""`segue overlay simulate`."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from overlay.simulator.errors import OverlayError
from segue.cli.overlay.command import overlay
from segue.cli.overlay.simulate import CSV, PAGE


def test_a_graph_of_friends_becomes_a_page_with_one_figure(tmp_path: Path) -> None:
    out, numbers = tmp_path / "out", tmp_path / "numbers.json"
    done = CliRunner().invoke(overlay, ["simulate", "--nodes", "200", "--out", str(out), "--json", str(numbers)], catch_exceptions=False)
    assert done.exit_code == 0
    assert "99 % of the rings are complete after" in done.output
    assert "<svg" in (out / PAGE).read_text()
    found = json.loads(numbers.read_text())
    assert (found["nodes"], found["pairs"]) == (200, 3200)
    assert len((out / CSV).read_text().splitlines()) == 1 + len(found["points"])
    assert found["points"][-1]["missing_links"] == 0


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    """OV-2."""
    files = []
    for name, seed in (("a", "3"), ("b", "3"), ("c", "4")):
        arguments = ["simulate", "--nodes", "200", "--cycles", "5", "--seed", seed, "--out", str(tmp_path / name)]
        assert CliRunner().invoke(overlay, arguments, catch_exceptions=False).exit_code == 0
        files.append(((tmp_path / name / CSV).read_bytes(), (tmp_path / name / PAGE).read_bytes()))
    assert files[0] == files[1] != files[2]


def test_a_list_of_edges_is_simulated_as_well(tmp_path: Path) -> None:
    edges = tmp_path / "edges"
    edges.write_text("".join(f"{one} {other}\n" for one in range(30) for other in range(30) if one != other and (one + other) % 3))
    done = CliRunner().invoke(overlay, ["simulate", str(edges), "--out", str(tmp_path / "out")], catch_exceptions=False)
    assert done.exit_code == 0
    assert "30 nodes" in done.output


def test_what_cannot_be_simulated_leaves_no_folder(tmp_path: Path) -> None:
    arguments = ["simulate", str(tmp_path / "nothing"), "--out", str(tmp_path / "out")]
    with pytest.raises(OverlayError, match="there is no such file or folder"):
        CliRunner().invoke(overlay, arguments, catch_exceptions=False)
    assert list(tmp_path.iterdir()) == []
