"""The source of a token: the token itself, or a function (plain or async) that is called each time one is needed."""

import inspect
from collections.abc import Awaitable, Callable, Iterable, Sequence

# Subscription tokens for some topics, from a function (plain or async) that knows whom to ask.
TokensFor = Callable[[Sequence[str]], Iterable[str] | Awaitable[Iterable[str]]]
Token = str | Callable[[], str | Awaitable[str]]


async def fresh(token: Token) -> str:
    """Returns the token to use now. Raises what the function raises."""
    if isinstance(token, str):
        return token
    found = token()
    return await found if inspect.isawaitable(found) else found


async def fresh_for(topics: Sequence[str], tokens_for: TokensFor | None) -> list[str]:
    """Returns the subscription tokens for `topics`; none where nobody makes them. Raises what the function raises."""
    if tokens_for is None:
        return []
    found = tokens_for(topics)
    return list(await found if inspect.isawaitable(found) else found)
