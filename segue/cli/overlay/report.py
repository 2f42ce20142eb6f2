"""`segue overlay report`: every figure of the papers drawn anew, and one page with all of them."""

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from rich.console import Console
from rich.text import Text

from ..output_file import OutputFile, write_output
from ..palette import GREEN
from ..plan.outlets import outlet
from .study_bars import study_bars

if TYPE_CHECKING:
    from overlay.report.claims import AnsweredStudy

_PROCESSES: Final = min(2, os.cpu_count() or 1)


@click.command()
@click.option("--quick", is_flag=True, help="A tenth of the published sizes and less: minutes, and the shapes of the figures.")
@click.option("--study", "keys", metavar="NAME", multiple=True, help="Only this study; may be repeated.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Everything random follows from it.")
@click.option("--processes", type=click.IntRange(min=1), default=_PROCESSES, show_default=True, help="So many studies run at a time.")
@click.option("--resume", is_flag=True, help="Take results of an earlier report, of the same code, sizes and seed, as they are.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder of the page and the CSVs; it must not exist yet.")
@click.option("--json", type=OutputFile(), help="Write all numbers and claims to this file.")
def report(*, quick: bool, keys: tuple[str, ...], seed: int, processes: int, resume: bool, out: Path, json: Path | None) -> None:
    """Run all studies of the overlays, and write one page with every published figure beside ours (docs/overlay.md)."""
    from analytics.building import building
    from infra.kernel.suggestion import suggest
    from overlay.report.claims import in_short
    from overlay.report.page import write
    from overlay.report.running import run_studies
    from overlay.report.studies.registry import STUDIES

    known = {each.key: each for each in STUDIES}
    for key in keys:
        if key not in known:
            raise click.UsageError(f"there is no study {key!r}; {suggest(key, known)}")
    studies, console, began_s = [known[key] for key in keys] or STUDIES, outlet(), time.perf_counter()
    with building(out) as folder:
        with study_bars({each.key: each.title for each in studies}, console) as told:
            found = run_studies(studies, "quick" if quick else "full", seed, processes=processes, resume=resume, told=told)
        page = write(folder, found, "quick" if quick else "full", seed)
    console.print(Text(f"{in_short(found)} {time.perf_counter() - began_s:,.0f} s"), soft_wrap=True)
    _write_json(found, json, console)
    console.print(Text(str(out / page.name), style=GREEN), soft_wrap=True)


def _write_json(found: "list[AnsweredStudy]", json: Path | None, console: Console) -> None:
    import msgspec

    if json is not None:
        content = msgspec.json.encode({each.study.key: each.result for each in found})
        write_output(json, msgspec.json.format(content) + b"\n")
        console.print(Text(str(json), style=GREEN), soft_wrap=True)
