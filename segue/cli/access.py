"""How a command gets in: the options that say where and as whom, and what to do when it is not let in."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeVar

import click

from segue.sdk.errors import ConnectionLost, Refused, SegueError

from .state import default_state

OPEN_S: Final = 3.0

Command = TypeVar("Command", bound=Callable[..., object])


def access_options(*, url: str, peer: str) -> Callable[[Command], Command]:
    """`--url`, `--token` and `--state` for a command that talks to a `peer`."""
    options = (
        click.option("--url", "urls", multiple=True, default=[url], show_default=True, help=f"The {peer}; several are tried in turn."),
        click.option("--token", help="Show this token instead of one made here."),
        click.option("--state", type=click.Path(path_type=Path), default=default_state, help="Where the signing secret is kept."),
    )

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def explained(error: SegueError, urls: Sequence[str]) -> click.ClickException:
    """The error as one that says what to do first."""
    words = [str(error), *getattr(error, "__notes__", ())]
    match error:
        case Refused() if error.code.name in ("bad-token", "token-expired"):
            words.insert(0, "the token is not good here; give the --state that `segue up` was given, or a --token")
        case ConnectionLost() if error.code is None:
            words.insert(0, f"nobody answers at {' or '.join(urls)}; start `segue up` first, or name another address with --url")
    return click.ClickException("\n".join(words))
