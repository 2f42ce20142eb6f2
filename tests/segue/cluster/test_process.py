"""A process of several roles: whatever one of them does, the others are drained and closed."""

import asyncio
import random
import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from accesspoint.authorization.hook_options import HookOptions
from accesspoint.options import AccessPointOptions
from infra.kernel.errors import ConfigError
from infra.kernel.roles import AGGREGATOR
from notification.email import EmailOptions
from notification.options import NotificationOptions
from segue.cluster.factory import RoleFactory
from segue.cluster.process import Process
from segue.cluster.role_spec import Role
from segue.cluster.shape import Shape

Method = Callable[[Any], Awaitable[None]]


def make(factory: type[RoleFactory] = RoleFactory) -> Process:
    return Process(factory.local(secrets.token_bytes(32), random.Random(1)), Shape(brokers=2).options())


def failing(process: Process, method: str, *roles: str, called: list[str] | None = None) -> list[str]:
    """Has a method of every role note in `called` that it was, and that of `roles` raise OSError when it has done its work."""
    called = [] if called is None else called

    def watch(role: Any, name: str) -> None:
        whole = getattr(role, method)

        async def step() -> None:
            called.append(name)
            await whole()
            if name in roles:
                raise OSError(f"{name} cannot {method}")

        setattr(role, method, step)

    for role in process.roles:
        if hasattr(role, method):
            watch(role, role.node)
    return called


async def test_a_role_whose_close_raises_leaves_no_other_open() -> None:
    before = asyncio.all_tasks()
    with pytest.raises(OSError, match="a1 cannot close"):
        async with make() as process:
            closed = failing(process, "close", "a1")
    assert closed == ["ap1", "a1", "p1", "b2", "b1"]
    assert asyncio.all_tasks() == before


async def test_what_several_roles_raise_is_raised_together() -> None:
    with pytest.raises(ExceptionGroup) as raised:
        async with make() as process:
            closed = failing(process, "close", "ap1", "b1")
    assert [str(error) for error in raised.value.exceptions] == ["ap1 cannot close", "b1 cannot close"]
    assert len(closed) == 5


async def test_a_role_whose_drain_raises_leaves_no_other_undrained() -> None:
    async with make() as process:
        drained = failing(process, "drain", "ap1", "b2")
        with pytest.raises(ExceptionGroup) as raised:
            await process.drain()
    assert [str(error) for error in raised.value.exceptions] == ["ap1 cannot drain", "b2 cannot drain"]
    assert (drained[0], drained[-2:]) == ("ap1", ["b2", "b1"])


async def test_a_role_that_does_not_start_closes_those_before_it_and_its_reason_comes_first() -> None:
    class UntilAnAggregator(RoleFactory):
        def started(self, role: Role) -> None:
            if role.role == AGGREGATOR:
                failing(process, "close", "b2", called=closed)
                raise ConfigError("no more of them")

    process, closed = make(UntilAnAggregator), list[str]()
    before = asyncio.all_tasks()
    with pytest.raises(ConfigError, match="no more of them") as raised:
        await process.__aenter__()
    assert closed == ["a1", "p1", "b2", "b1"]
    assert "b2 cannot close" in raised.value.__notes__[0]
    assert asyncio.all_tasks() == before


async def test_a_hang_up_reaches_the_roles_that_have_something_to_read_again(tmp_path: Path) -> None:
    """DPS-26. A process in which none has anything stops at it, as ever."""
    path = tmp_path / "hook.key"
    path.write_text("a-secret-of-the-backend-0123456789")
    path.chmod(0o600)
    hook = HookOptions(subscribe="http://127.0.0.1:9/subscribe", secret_file=path)
    email = EmailOptions(host="127.0.0.1", sender="notify@example.org", username="segue", password_file=path)

    def hooked(options: Any) -> Any:
        if isinstance(options, NotificationOptions):
            return msgspec.structs.replace(options, email=email)
        return msgspec.structs.replace(options, policy="hook", hook=hook) if isinstance(options, AccessPointOptions) else options

    async with make() as process:
        assert process.on_hang_up is None
    factory = RoleFactory.local(secrets.token_bytes(32), random.Random(1))
    async with Process(factory, [hooked(options) for options in Shape(notification=1, state=tmp_path).options()]) as process:
        assert process.on_hang_up is not None
        with capture_logs() as lines:
            process.on_hang_up()
            path.write_text("")
            process.on_hang_up()
    assert {(line["event"], line["role"]) for line in lines} >= {
        ("the secret of the hook read again", "accesspoint"),
        ("the password of the mail server not read again; what was there stays", "notification"),
    }
