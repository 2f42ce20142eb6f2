"""How commands about what a user has get in: as that user, at a service; and how they print what it answers."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Any, Final, TypeVar

import click
import msgspec

from infra.kernel.printable import printable
from segue.sdk.service_client import ServiceClient
from segue.sdk.social import Social

from .access import Access, Peer, access_options

C = TypeVar("C", bound=ServiceClient)
Result = TypeVar("Result")
Command = Callable[..., None]

_USER: Final = click.option("--user", help="Whose it is; needed unless there is a --token.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print what the service answers: one line of JSON for each.")


def user_options(*, url: str, peer: Peer) -> Callable[[Command], Command]:
    """Returns a decorator that gives a command `--user` and what `access_options` gives."""
    return lambda command: _USER(access_options(url=url, peer=peer)(command))


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


def show_all(answers: Iterable[Result], as_json: bool, tell: Callable[[Result], str]) -> None:
    """Prints each answer on a line that is safe for a terminal: as JSON, or in the words of `tell`."""
    words: Callable[[Any], str] = _as_json if as_json else tell
    for each in answers:
        click.echo(printable(words(each)))


def _as_json(answer: Any) -> str:
    return msgspec.json.encode(answer).decode()
