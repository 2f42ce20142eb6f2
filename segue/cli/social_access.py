"""How commands about friends and privacy get in: as a user, at a social service."""

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import click

from segue.sdk.social import Social

from .access import Access, access_options

Result = TypeVar("Result")
Command = Callable[..., None]

_USER: Final = click.option("--user", help="Whose it is; needed unless there is a --token.")


def social_options(command: Command) -> Command:
    """Gives a command `--user` and what `access_options` gives."""
    return _USER(access_options(url="http://127.0.0.1:7731", peer="social service")(command))


def at_social(access: Access, user: str | None, work: Callable[[Social], Awaitable[Result]]) -> Result:
    """Returns what `work` returns, done as `user`. Raises ClickException that says what to do."""

    async def run() -> Result:
        async with Social(access.urls, access.as_user(user, "whose it is"), ca_file=access.ca) as social:
            return await work(social)

    return access.run(run())
