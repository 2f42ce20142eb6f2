"""Where a token comes from: it is given, or a function (plain or async) is asked for one each time it is needed."""

import inspect
from collections.abc import Awaitable, Callable

Token = str | Callable[[], str | Awaitable[str]]


async def fresh(token: Token) -> str:
    """The token to use now. Raises what the function raises."""
    if isinstance(token, str):
        return token
    found = token()
    return await found if inspect.isawaitable(found) else found
