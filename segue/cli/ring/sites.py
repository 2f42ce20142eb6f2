"""The sites whose rings are looked at: an operator's way to a broker of each."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import TypeVar

from segue.sdk.operator import Operator
from segue.sdk.operator_answers import StandingRing

from ..access import Access
from ..admin.operating import OPERATOR

Sites = dict[str, tuple[Operator, StandingRing]]
T = TypeVar("T")


def at_sites(access: Access, work: Callable[[Sites], Awaitable[T]]) -> T:
    """Returns what `work` returns, which gets, for each site, an Operator and the ring as it stands.

    Of several addresses of one site the first is taken. Raises ClickException that says what to do first.
    """

    async def run() -> T:
        async with AsyncExitStack() as stack:
            sites: Sites = {}
            for url in access.urls:
                operator = await stack.enter_async_context(Operator(url, access.as_service(OPERATOR), ca_file=access.ca))
                state = await operator.ring()
                sites.setdefault(state.site, (operator, state))
            return await work(sites)

    return access.run(run())
