"""What the commands of `segue admin` have in common: how they reach a broker, and how they print."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final, TypeVar

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from infra.kernel.printable import printable
from segue.sdk.operator import Operator
from segue.sdk.operator_answers import OrderOutcome

from ..access import Access, access_options
from ..as_json import show
from ..palette import QUIET

OPERATOR: Final = "operator"
T = TypeVar("T")

operator_options = access_options(url="http://127.0.0.1:7710", peer="broker", whose="service")


def operated(access: Access, work: Callable[[Operator], Awaitable[T]]) -> T:
    """Returns what `work` returns, which gets an Operator. Raises ClickException that says what to do first."""

    async def run() -> T:
        async with Operator(access.urls, access.as_service(OPERATOR), ca_file=access.ca) as operator:
            return await work(operator)

    return access.run(run())


def show_table(columns: Sequence[str], rows: Iterable[Sequence[str]], none: str) -> None:
    """Prints a table that is safe for a terminal, or `none` where there are no rows."""
    shown = [[Text(printable(each)) for each in row] for row in rows]
    if not shown:
        click.echo(none)
        return
    table = Table(box=box.SIMPLE_HEAD)
    for n, column in enumerate(columns):
        table.add_column(column, no_wrap=n == 0, overflow="fold")  # the first one is what other commands ask for
    for row in shown:
        table.add_row(*row)
    Console().print(table)


def show_outcome(outcome: OrderOutcome, done: str, as_json: bool) -> None:
    """Prints what came of an order, and on standard error who has not answered."""

    def tell(outcome: OrderOutcome) -> None:
        click.echo(f"{done}: {outcome.sessions} sessions")
        show_missing(outcome)

    show(outcome, as_json, tell)


def show_missing(outcome: OrderOutcome) -> None:
    """Prints on standard error who has not answered, if somebody has not."""
    if outcome.partial:
        click.echo(f"no answer from {printable(', '.join(outcome.missing))}: they may have done it or not; ask again", err=True)


def show_kept(kept: str) -> None:
    """Prints on standard error that a restart forgets it, where the broker keeps it in memory only."""
    if kept == "memory":
        text = Text("kept in memory only: a restart of all brokers forgets it (broker.state names a folder)", style=QUIET)
        Console(stderr=True).print(text)
