"""The specification of a role: all that composition knows of one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from .imported import Imported

if TYPE_CHECKING:
    from infra.runtime.context import Context
    from infra.runtime.metrics import Metric, Value
    from infra.runtime.tokens import Verifier


class RoleOptions(Protocol):
    """The options of any role: the keys that they all have."""

    @property
    def site(self) -> str:
        """The site where it runs."""

    @property
    def node(self) -> str:
        """Its name, which no other node of its site has."""

    @property
    def admin(self) -> str:
        """The address of the admin door of its process."""


class Role(Protocol):
    """A role, as its process knows it; `metrics.Observed` is what operators see of it."""

    @property
    def role(self) -> str:
        """Its name in the registry."""

    @property
    def node(self) -> str:
        """The name of this node at its site."""

    @property
    def site(self) -> str:
        """The site where it runs."""

    async def start(self) -> None:
        """Opens its doors and its links."""

    async def close(self) -> None:
        """Ends it. May be called twice."""

    def ready(self) -> str | None:
        """Returns why it is not ready; None when it is."""

    def counters(self) -> "dict[str, Value]":
        """Returns the values of its metrics by name."""


class DrainingRole(Role, Protocol):
    """A role that lets its clients and peers go in peace before it is closed."""

    async def drain(self) -> None:
        """Takes nothing new and answers what was asked."""


class RenewingRole(Role, Protocol):
    """A role that reads files of its own again while it runs."""

    @property
    def on_hang_up(self) -> Callable[[], None] | None:
        """What SIGHUP does; None where there is nothing to read again. It is known when the role has been started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """The credentials of a process: what checks tokens, and what makes them.

    - `verifier`: checks the tokens that come to its doors.
    - `token`: makes the token with which a service, given by name, shows itself to others. Raises ConfigError where it cannot.
    """

    verifier: "Verifier"
    token: Callable[[str], str]


Options = TypeVar("Options", bound=RoleOptions)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleSpec(Generic[Options]):
    """The entry of one role.

    - `name`: its name in commands, configuration files, hellos, metrics and logs.
    - `help`: what its command does, in one line.
    - `options`: the type of its options, which are the table `name` of a configuration file.
    - `metrics`: its table of metrics.
    - `make`: makes it from its options, its context and the credentials of its process.
    - `captures`: it writes down the workload as `capture`, one of its options, says.
    - `drains`: it is a DrainingRole.
    - `renews`: it is a RenewingRole.
    - `checks_tokens`: its doors check tokens, so its process needs keys.
    - `notifies`: it posts to the notification modules that `notification`, one of its options, names. It starts after them.
    - `shares_door`: several processes of it can have one door.
    """

    name: str
    help: str
    options: "Imported[type[Options]]"
    metrics: "Imported[tuple[Metric, ...]]"
    make: "Callable[[Options, Context, Credentials], Role]"
    captures: bool = False
    drains: bool = False
    renews: bool = False
    checks_tokens: bool = False
    notifies: bool = False
    shares_door: bool = False
