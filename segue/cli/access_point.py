"""How commands ask an access point something, as a user, over a connection that ends with them."""

from collections.abc import Awaitable, Callable

from segue.sdk.client import Client
from segue.sdk.client_options import ClientOptions

from .access import OPEN_S, Access
from .user_access import Result, user_options

client_options = user_options(url="ws://127.0.0.1:7700/v1/connect", peer="access point")


def at_access_point(
    client: str, access: Access, user: str | None, work: Callable[[Client], Awaitable[Result]], *, who: str = "whose it is"
) -> Result:
    """Returns what `work` returns, which gets a client. Raises ClickException that says what to do.

    - `client`: the name of the client.
    - `access`: where it connects.
    - `user`: as whom; None where there is a token. `who`: what is asked for where there is neither.
    """

    async def run() -> Result:
        options = ClientOptions(open_timeout_s=OPEN_S, ca_file=access.ca)
        async with Client(access.urls, access.as_user(user, who), client=client, options=options) as connection:
            return await work(connection)

    return access.run(run())
