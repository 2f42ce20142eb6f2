"""A role that does next to nothing: what the registry of roles does for a new one can be seen on it."""

from typing import Final

import msgspec

from infra.runtime.context import Context
from infra.runtime.metrics import Metric, Value
from segue.cluster.imported import Imported
from segue.cluster.role_spec import Credentials, RoleSpec

METRICS: Final = (Metric("echo_calls_total", "counter", "Calls that came back.", "calls"),)


class EchoOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The least that the options of a role have."""

    site: str
    node: str
    admin: str = "127.0.0.1:0"
    volume: int = 1


class Echo:
    """One echo. `steps` are the methods that its process has called."""

    role = "echo"

    def __init__(self, options: EchoOptions, context: Context) -> None:
        self.site, self.node, self.volume = options.site, options.node, options.volume
        self.context = context
        self.steps: list[str] = []

    async def start(self) -> None:
        """Starts nothing."""
        self.steps.append("start")

    async def drain(self) -> None:
        """Takes nothing new, as ever."""
        self.steps.append("drain")

    async def close(self) -> None:
        """Ends nothing."""
        self.steps.append("close")

    def ready(self) -> str | None:
        """Returns None: an echo is ready."""
        return None

    def counters(self) -> dict[str, Value]:
        """Returns the one metric."""
        return {"echo_calls_total": 7}


def _echo(options: EchoOptions, context: Context, _: Credentials) -> Echo:
    return Echo(options, context)


ECHO: Final = RoleSpec(
    name="echo",
    help="Run an echo, which calls back",
    options=Imported("tests.support.echo_role:EchoOptions"),
    metrics=Imported("tests.support.echo_role:METRICS"),
    make=_echo,
    drains=True,
)
