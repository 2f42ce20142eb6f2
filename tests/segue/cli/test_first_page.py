"""The first page of `segue up`: when there is one, and where its mails go."""

import random
from collections.abc import Sequence

import pytest

from infra.kernel.errors import ConfigError
from infra.kernel.roles import NOTIFICATION
from infra.runtime.door_opener import DoorOpener
from infra.runtime.tokens import Keys
from segue.cli.first_page import MAILBOX_PATIENCE, first_page, mailbox
from segue.cluster.factory import RoleFactory
from segue.cluster.process import Process
from segue.cluster.roles import role_of
from segue.cluster.shape import Shape
from segue.mailbox.server import MailServer

KEYS = Keys(secret=b"s" * 32)


async def link(shape: Shape, roles: Sequence[str] = ("broker", "aggregator", "accesspoint")) -> str | None:
    """Returns the address of the page where `roles` of `shape` run; None where there is none."""
    options = [each for each in shape.options() if role_of(each) in roles]
    async with Process(RoleFactory.local(KEYS, random.Random(1)), options) as process:
        async with first_page(process, shape, KEYS, DoorOpener(), None) as page:
            return page.link if page is not None else None


async def test_there_is_a_page_where_clients_can_connect() -> None:
    assert (await link(Shape()) or "").startswith("http://127.0.0.1:")
    assert await link(Shape(), ["broker"]) is None


async def test_there_is_none_where_other_machines_reach_the_doors() -> None:
    async with Process(RoleFactory.local(KEYS, random.Random(1)), Shape().options()) as process:
        async with first_page(process, Shape(host="0.0.0.0"), KEYS, DoorOpener(), None) as page:
            assert page is None


async def test_mails_go_to_the_mailbox_if_it_is_wanted() -> None:
    async with mailbox(Shape(notification=1), is_wanted=False) as (shape, letters):
        assert (shape.email, letters) == (None, None)
    async with mailbox(Shape(notification=1), is_wanted=True) as (shape, letters):
        (options,) = [each for each in shape.options() if role_of(each) == NOTIFICATION]
        assert shape.email is not None
        assert (options.email, options.patience) == (shape.email, MAILBOX_PATIENCE)  # type: ignore[attr-defined]
        assert letters is not None


async def test_a_port_that_is_taken_is_said() -> None:
    async with MailServer(lambda *_: None) as server:
        with pytest.raises(ConfigError, match="--mail cannot listen on 127"):
            async with mailbox(Shape(port_base=server.port - 25), is_wanted=True):
                pass
