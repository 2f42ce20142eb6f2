"""`segue analyze import`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from infra.kernel.suggestion import suggest

from ..palette import QUIET

if TYPE_CHECKING:
    from infra.kernel.manifest import Manifest


def _list(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if not wanted:
        return
    from analytics.figures import FIGURES
    from analytics.importers.formats import FORMATS

    table = Table("FORMAT", "PATH", "how it is read", "supports", "does not", box=box.SIMPLE_HEAD, show_lines=True)
    for form in FORMATS.values():
        missing = [key for key in FIGURES if key in form.limits]
        table.add_row(form.key, form.path, form.becomes, ", ".join(form.supported), ", ".join(missing))
    Console().print(table)
    context.exit()


@click.command("import")
@click.argument("name", metavar="FORMAT")
@click.argument("path", type=click.Path(path_type=Path))
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--undirected", is_flag=True, help="Each edge holds both ways (edges only).")
@click.option("--list", is_flag=True, is_eager=True, expose_value=False, callback=_list, help="Say which formats there are.")
def importing(name: str, path: Path, folder: Path, undirected: bool) -> None:
    """Make the trace DIR of a published data set at PATH (docs/trace.md)."""
    from analytics.importers.formats import FORMATS
    from analytics.importers.importing import import_trace

    if name not in FORMATS:
        raise click.UsageError(f"there is no format {name!r}; {suggest(name, FORMATS)}")
    console = Console()
    with console.status(f"reading {path}"):
        manifest = import_trace(FORMATS[name], path, folder, undirected=undirected)
    _print(manifest, console)
    console.print(Text(f"Next: segue analyze characterize {folder}"), soft_wrap=True)


def _print(manifest: "Manifest", console: Console) -> None:
    for table, info in manifest.tables.items():
        console.print(Text(f"{info.rows:>12,} {table}"))
    for note in manifest.notes:
        console.print(Text(f"- {note}"))
    for reason in dict.fromkeys(manifest.limits.values()):
        keys = ", ".join(key for key, found in manifest.limits.items() if found == reason)
        console.print(Text(f"- no {keys}: {reason}", style=QUIET))
