"""`segue analyze import`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from infra.kernel.printable import printable
from infra.kernel.suggestion import suggest

from ..palette import QUIET

if TYPE_CHECKING:
    from infra.kernel.manifest import Manifest


def _list(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if not wanted:
        return
    from analytics.figures import FIGURES
    from analytics.importers.formats import FORMATS

    # A paragraph each: five columns would be unreadable in 80.
    console = Console(highlight=False)
    for form in FORMATS.values():
        missing = [key for key in FIGURES if key in form.limits]
        console.print(Text(form.key, style="bold"))
        told = {"PATH": form.path, "is read": form.becomes, "supports": ", ".join(form.supported), "does not": ", ".join(missing)}
        for what, text in told.items():
            console.print(Padding(Text.assemble((f"{what}: ", QUIET), text), (0, 0, 0, 4)))
    context.exit()


@click.command("import")
@click.argument("name", metavar="FORMAT")
@click.argument("path", type=click.Path(path_type=Path))
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--src", default="", metavar="COLUMN", help="edges: the column of who follows, by name or number; the first if no header tells."
)
@click.option("--dst", default="", metavar="COLUMN", help="edges: the column of who is followed; the second if no header tells.")
@click.option("--weight", default="", metavar="COLUMN", help="edges: a column of whole numbers, added up to each topic's events.")
@click.option("--undirected", is_flag=True, help="edges: each row holds both ways.")
@click.option("--list", is_flag=True, is_eager=True, expose_value=False, callback=_list, help="Say which formats there are.")
def importing(name: str, path: Path, folder: Path, *, src: str, dst: str, weight: str, undirected: bool) -> None:
    """Make the trace DIR of a published data set at PATH (docs/trace.md)."""
    from analytics.importers.edge_columns import EdgeOptions
    from analytics.importers.formats import FORMATS
    from analytics.importers.importing import import_trace

    if name not in FORMATS:
        raise click.UsageError(f"there is no format {name!r}; {suggest(name, FORMATS)}")
    asked = EdgeOptions(src, dst, weight, undirected)
    console = Console()
    with console.status(f"reading {path}"):
        manifest = import_trace(FORMATS[name], path, folder, asked=asked if any(asked) else None)
    _print(manifest, console)
    console.print(Text(f"Next: segue analyze characterize {folder}"), soft_wrap=True)


def _print(manifest: "Manifest", console: Console) -> None:
    for table, info in manifest.tables.items():
        console.print(Text(printable(f"{info.rows:>12,} {table}")))
    for note in manifest.notes:
        console.print(Text(printable(f"- {note}")))
    for reason in dict.fromkeys(manifest.limits.values()):
        keys = ", ".join(key for key, found in manifest.limits.items() if found == reason)
        console.print(Text(printable(f"- no {keys}: {reason}"), style=QUIET))
