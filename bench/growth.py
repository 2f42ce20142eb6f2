"""`python -m bench.growth RUNS.json SVG` draws seconds over pairs out of `python -m bench traces traces_twitter --json RUNS.json`."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import matplotlib as mpl
import msgspec
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from .runner import Record

STEPS: Final = (
    ("generate_s", "generate", "o-"),
    ("characterize_s", "characterize", "s--"),
    ("duckdb_s", "DuckDB, distributions alone", "^:"),
)
COLOURS: Final = {"spotify": "#0b6e62", "twitter": "#b7410e"}


class Runs(msgspec.Struct, frozen=True):
    """The part of the file that is drawn."""

    runs: list[Record]


def draw(records: Sequence[Record], path: Path) -> None:
    """Writes the plot of `records` to `path`. A grey line shows what linear growth is."""
    figure = Figure(figsize=(8, 5), layout="constrained")
    FigureCanvasSVG(figure)
    axes = figure.add_subplot(xscale="log", yscale="log", xlabel="pairs (subscriber, topic)", ylabel="seconds, two cores")
    for profile, colour in COLOURS.items():
        rows = [each.figures for each in records if each.benchmark == f"traces of {profile}"]
        for key, name, style in STEPS:
            if known := [row for row in rows if key in row]:
                axes.plot([row["pairs"] for row in known], [row[key] for row in known], style, color=colour, label=f"{profile}: {name}")
    axes.plot([1e6, 1e9], [1.5, 1500], color="#888888", linewidth=0.8, label="linear")
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.legend(frameon=False, fontsize=9)
    with mpl.rc_context({"svg.hashsalt": "growth", "svg.fonttype": "none"}):
        figure.savefig(path, format="svg", metadata={"Date": None})


if __name__ == "__main__":
    draw(msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=Runs).runs, Path(sys.argv[2]))
