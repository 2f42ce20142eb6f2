"""The bodies that an admin listener answers with, beside the statistics of `infra.runtime.stats`."""

from typing import Annotated, Literal

import msgspec


class Health(msgspec.Struct, frozen=True):
    """A process that runs."""

    status: Literal["ok"]


class RoleReadiness(msgspec.Struct, frozen=True):
    """The readiness of one role."""

    role: str
    node: str
    site: str
    reason: Annotated[str | None, msgspec.Meta(description="Why it is not ready; null when it is.")]


class Readiness(msgspec.Struct, frozen=True):
    """The readiness of a process: that of every role."""

    ready: bool
    roles: list[RoleReadiness]
