"""How commands print what was answered: for people, or as JSON for programs."""

from collections.abc import Callable, Iterable
from typing import TypeVar

import click
import msgspec

from infra.kernel.printable import printable

Answered = TypeVar("Answered")

json_option = click.option("--json", "as_json", is_flag=True, help="Print what is answered as JSON, one line for each.")


def show(answer: Answered, as_json: bool, tell: Callable[[Answered], None]) -> None:
    """Prints an answer: as one line of JSON that is safe for a terminal, or as `tell` prints it for people."""
    if as_json:
        click.echo(printable(msgspec.json.encode(answer).decode()))
    else:
        tell(answer)


def show_all(answers: Iterable[Answered], as_json: bool, tell: Callable[[Answered], str]) -> None:
    """Prints each answer on a line that is safe for a terminal: as JSON, or in the words of `tell`."""
    for each in answers:
        show(each, as_json, lambda answer: click.echo(printable(tell(answer))))
