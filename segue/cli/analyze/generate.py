"""`segue analyze generate`."""

import os
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import click
from rich.console import Console
from rich.progress import Progress
from rich.text import Text

from ..palette import GREEN, QUIET
from .bars import Bars

if TYPE_CHECKING:
    from infra.kernel.manifest import Manifest

_MOST_ROWS: Final = 10_000_000


class _Scale(click.ParamType[float]):
    name = "scale"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            return float(Fraction(str(value)))
        except (ValueError, ZeroDivisionError):
            self.fail(f"{value}: must be a number or a fraction, as 0.01 or 1/100", param, ctx)


class _Rows(click.ParamType[int | None]):
    """A number of rows; None is all of them."""

    name = "rows"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        if value == "all":
            return None
        try:
            rows = int(value)
        except ValueError:
            rows = -1
        if rows < 0:
            self.fail(f"{value}: must be a number of rows, 0 for none, or all", param, ctx)
        return rows


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--profile", "name", type=click.Choice(["spotify", "twitter"]), default="spotify", show_default=True, help="Which workload.")
@click.option("--scale", type=_Scale(), default="1/100", show_default=True, help="Share of the published size, as 0.01 or 1/100.")
@click.option("--seed", type=int, default=1, show_default=True, help="The same seed gives the same bytes.")
@click.option(
    "--publications",
    type=_Rows(),
    default=_MOST_ROWS,
    metavar="N",
    help=f"About how many events to write, or all. [default: {_MOST_ROWS:,}]",
)
@click.option(
    "--sessions",
    type=_Rows(),
    metavar="N",
    help=f"About how many rows of log-ins, and of what they begin and end, or all. [default: {_MOST_ROWS:,}; twitter: 0]",
)
@click.option("--processes", type=click.IntRange(min=1), help="How many work at it. [default: one for each core]")
@click.pass_context
def generate(
    context: click.Context,
    folder: Path,
    name: Literal["spotify", "twitter"],
    scale: float,
    seed: int,
    publications: int | None,
    sessions: int | None,
    processes: int | None,
) -> None:
    """Make a trace DIR like those that were never published (docs/generator.md)."""
    from analytics.generator.job import generate
    from analytics.generator.profile import profile

    if context.get_parameter_source("sessions") is click.core.ParameterSource.DEFAULT:
        # Of Twitter no coming and going was published.
        sessions = _MOST_ROWS if name == "spotify" else 0
    console = Console()
    start_s = time.perf_counter()
    with Progress(console=console, transient=True) as bars:
        manifest = generate(
            folder,
            profile(name, scale, seed),
            publications=publications,
            sessions=sessions,
            processes=processes or os.cpu_count() or 1,
            progress=Bars(bars).show,
        )
    _print(folder, manifest, time.perf_counter() - start_s, console)


def _print(folder: Path, manifest: "Manifest", took_s: float, console: Console) -> None:
    for table, info in manifest.tables.items():
        part = "" if info.fraction == 1 else f" ({info.fraction:.3g} of all, by {info.sampled_by})"
        console.print(Text(f"{info.rows:>12,} {table}{part}"))
    for note in manifest.notes:
        console.print(Text(f"- {note}", style=QUIET), soft_wrap=True)
    size_bytes = sum(file.stat().st_size for file in folder.rglob("*.parquet"))
    console.print(Text(f"{folder}: {took_s:.1f} s, {size_bytes / 1e6:,.1f} MB{_memory()}", style=GREEN), soft_wrap=True)
    console.print(Text(f"Next: segue analyze characterize {folder}"), soft_wrap=True)


def _memory() -> str:
    """Returns, in words, the most memory that one of the processes had. Only Unix tells it."""
    if sys.platform == "win32":
        return ""
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    peak_bytes = unit * max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return f", peak memory of a process {peak_bytes / 1e9:.2f} GB"
