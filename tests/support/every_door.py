"""Every HTTP door that there is: one of each role of the registry that listens for HTTP, and the admin door."""

import asyncio
import random
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import msgspec

from infra.runtime.address import Address
from infra.runtime.http.admin import Admin
from infra.runtime.http.admin_access import AdminAccess
from infra.runtime.http.web_limits import WebLimits
from segue.cluster.factory import RoleFactory
from segue.cluster.process import Process
from segue.cluster.roles import ROLES, role_of
from segue.cluster.shape import STORING, Shape
from tests.support.samples import SECRET
from tests.support.web_place import RawHttp

ADMIN: Final = "admin"
DEADLINE_S: Final = 20.0

_STATUS_LINE: Final = re.compile(rb"HTTP/1\.[01] (\d{3}) [A-Za-z -]*\r\n")


def has_door(role: str) -> bool:
    """Returns whether a role of the registry listens for HTTP."""
    return "door" in ROLES[role].options.get().__struct_fields__


def is_on_aiohttp(door: str) -> bool:
    """Returns whether a door stands on aiohttp, and not on the engine's own server."""
    return door == ADMIN or "web" in ROLES[door].options.get().__struct_fields__


DOORS: Final = (*(role for role in ROLES if has_door(role)), ADMIN)
ON_AIOHTTP: Final = tuple(door for door in DOORS if is_on_aiohttp(door))


class OpenedDoor:
    """A door at a real address."""

    def __init__(self, name: str, address: str) -> None:
        self.name = name
        self.address = address.removeprefix("http://")

    def connect(self, from_host: str = "127.0.0.1") -> RawHttp:
        """Returns a connection to the door, from one of this machine's addresses."""
        return RawHttp(*Address.parse(self.address), from_host)

    async def say(self, request: bytes) -> bytes:
        """Sends `request`, after which the door closes; returns everything that comes back until it does."""
        async with asyncio.timeout(DEADLINE_S), self.connect() as connection:
            connection.send(request)
            return await connection.ended()

    async def is_well(self) -> bool:
        """Returns whether somebody else, from an address of their own, gets an answer."""
        async with asyncio.timeout(DEADLINE_S), self.connect("127.0.0.77") as other:
            other.send(b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n")
            return (await other.answer())[0] == 404


@asynccontextmanager
async def opened(door: str, folder: Path, **limits: Any) -> AsyncIterator[OpenedDoor]:
    """Opens the `door` while the block runs. It keeps its files in `folder`.

    `limits` are for a door on aiohttp. Of an engine's door only `visitors` are limited.
    """
    catalogue = folder / "catalogue.jsonl"
    catalogue.touch()
    shape = Shape(notification=1, services=tuple(STORING), state=folder, catalogue=str(catalogue))
    factory = RoleFactory.local(SECRET, random.Random(1))
    options = [_limited(each, limits) for each in shape.options() if role_of(each) == door]
    async with AsyncExitStack() as stack:
        process = await stack.enter_async_context(Process(factory, options))
        if door != ADMIN:
            yield OpenedDoor(door, process.of(door)[0].address)
            return
        access = AdminAccess(factory.tokens())
        admin = await stack.enter_async_context(Admin(process.roles, "127.0.0.1", 0, access=access, limits=WebLimits(**limits)))
        yield OpenedDoor(door, admin.address)


def statuses(said: bytes) -> list[int]:
    """Returns the status of each answer in what a door has said."""
    return [int(status) for status in _STATUS_LINE.findall(said)]


def _limited(options: Any, limits: dict[str, Any]) -> Any:
    if limits and hasattr(options, "web"):
        return msgspec.structs.replace(options, web=WebLimits(**limits))
    return msgspec.structs.replace(options, visitors=limits["visitors"]) if "visitors" in limits else options
