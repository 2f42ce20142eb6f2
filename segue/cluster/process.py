"""One process: any set of roles, composed, started in order, drained and stopped (design 3)."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Self, TypeGuard

from infra.runtime.ending import end_all
from infra.runtime.renewal import all_of

from .factory import RoleFactory
from .role_spec import DrainingRole, RenewingRole, Role, RoleOptions
from .roles import ROLES, in_start_order


class Process:
    """The roles of one process: `async with Process(factory, options) as process:` runs them while the block runs.

    Leaving closes them in reverse order; `drain` first lets clients and other brokers go gracefully. Cancelling the
    entering closes what was started.
    """

    def __init__(self, factory: RoleFactory, options: Iterable[RoleOptions]) -> None:
        self.roles: list[Role] = []
        self._factory = factory
        self._options = in_start_order(options)

    async def __aenter__(self) -> Self:
        try:
            for options in self._options:
                role: Role = self._factory.make(options)
                self.roles.append(role)
                await role.start()
                self._factory.started(role)
        except BaseException as error:
            try:
                await self.close()
            except Exception as trouble:  # why it did not start matters more
                error.add_note(f"and closing what had been started raised {trouble!r}")
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    def of(self, role: str, site: str | None = None) -> list[Any]:
        """Returns the roles of one kind, of one site or of all, in the order of their options."""
        return [each for each in self.roles if each.role == role and site in (None, each.site)]

    @property
    def on_hang_up(self) -> Callable[[], None] | None:
        """What SIGHUP does to the roles, which have been started; None where none of them has anything to read again."""
        return all_of(*(role.on_hang_up for role in self.roles if _renews(role)))

    async def drain(self) -> None:
        """Drains access points first: clients are sent away while everything still works. Raises as `end_all`."""
        await end_all(*(role.drain for role in reversed(self.roles) if _drains(role)))

    async def close(self) -> None:
        """Closes all roles. Raises as `end_all`. May be called twice."""
        await end_all(*(role.close for role in reversed(self.roles)))

    async def settled(self, timeout_s: float = 10.0) -> None:
        """Waits until every role is ready. Raises TimeoutError that says which are not."""
        deadline = asyncio.get_running_loop().time() + timeout_s
        while waiting := {f"{role.role} {role.site}/{role.node}": why for role in self.roles if (why := role.ready())}:
            if asyncio.get_running_loop().time() > deadline:
                raise TimeoutError(f"not ready after {timeout_s:g} s: {waiting}")
            await asyncio.sleep(0.005)


def _drains(role: Role) -> TypeGuard[DrainingRole]:
    return ROLES[role.role].drains


def _renews(role: Role) -> TypeGuard[RenewingRole]:
    return ROLES[role.role].renews
