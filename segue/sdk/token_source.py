"""The source of a token: the token itself, or a function (plain or async) that is called each time one is needed."""

import inspect
from collections.abc import Awaitable, Callable

Token = str | Callable[[], str | Awaitable[str]]


async def fresh(token: Token) -> str:
    """Returns the token to use now. Raises what the function raises."""
    if isinstance(token, str):
        return token
    found = token()
    return await found if inspect.isawaitable(found) else found
