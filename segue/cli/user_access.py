"""How commands about what a user has get in: as that user, at a service."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final, TypeVar

import click

from segue.sdk.service_client import ServiceClient
from segue.sdk.social import Social

from .access import Access, Peer, access_options

C = TypeVar("C", bound=ServiceClient)
Result = TypeVar("Result")
Command = Callable[..., None]

_USER: Final = click.option("--user", help="Whose it is; needed unless there is a --token.")


def user_options(*, url: str, peer: Peer) -> Callable[[Command], Command]:
    """Returns a decorator that gives a command `--user` and what `access_options` gives."""
    return lambda command: _USER(access_options(url=url, peer=peer, whose="user")(command))


social_options = user_options(url="http://127.0.0.1:7731", peer="social service")


def at_service(kind: type[C], access: Access, user: str | None, work: Callable[[C], Awaitable[Result]]) -> Result:
    """Returns what `work` returns, which gets a client of `kind`. Raises ClickException that says what to do.

    - `access`: where it asks.
    - `user`: as whom; None where there is a token.
    """

    async def run() -> Result:
        async with kind(access.urls, access.as_user(user, "whose it is"), ca_file=access.ca) as client:
            return await work(client)

    return access.run(run())


def at_social(access: Access, user: str | None, work: Callable[[Social], Awaitable[Result]]) -> Result:
    """Returns what `work` returns, done as `user` at a social service. Raises ClickException that says what to do."""
    return at_service(Social, access, user, work)


async def all_of(source: AsyncIterator[Result]) -> list[Result]:
    """Returns all that `source` yields."""
    return [each async for each in source]
