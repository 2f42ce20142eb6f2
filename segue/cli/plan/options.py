"""The options of both commands: a trace, which topics of it, and where the report goes."""

from pathlib import Path
from typing import Final

import click

from infra.kernel.trace import SERVICES

from ..output_file import OutputFile

FOLDER: Final = click.Path(path_type=Path, file_okay=False)
TRACE: Final = click.argument("trace", type=FOLDER)
SERVICE: Final = click.option(
    "--service", type=click.Choice(SERVICES), default="presence", show_default=True, help="Whose topics and subscribers."
)
OUT: Final = click.option("--out", type=FOLDER, help="Folder of the report; TRACE-plan without it.")
JSON: Final = click.option("--json", type=OutputFile(), help="Write all numbers to this file.")
