"""`python -m tests.docs PAGE`: walks one page as its reader would, in a fresh clone, or in the one at --folder."""

import asyncio
import tempfile
from pathlib import Path

import click

from tests.docs.network import raise_loopback
from tests.docs.order import ROOT
from tests.docs.walk import Walk, clone


@click.command()
@click.argument("page")
@click.option("--folder", type=click.Path(path_type=Path), help="A clone, with what the pages before have made in it.")
def main(page: str, folder: Path | None) -> None:
    """Walk PAGE, such as docs/tokens.md."""
    raise_loopback()
    with tempfile.TemporaryDirectory(prefix="segue-docs-", ignore_cleanup_errors=True) as fresh:
        if folder is None:
            folder = Path(fresh) / "clone"
            clone(folder)
        try:
            asyncio.run(_walk(page, folder))
        except AssertionError as wrong:
            raise click.ClickException(str(wrong)) from wrong


async def _walk(page: str, folder: Path) -> None:
    async with Walk(page, folder) as walk:
        await walk.all((ROOT / page).read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
