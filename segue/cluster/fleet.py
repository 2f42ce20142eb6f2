"""A fleet: the roles of a shape as real processes on real TCP, each with a configuration file of its own.

The files are as an operator would write them. They stay in the given directory, so that they can be read.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from itertools import groupby
from pathlib import Path
from typing import Any, Final, Self

import msgspec
import tomli_w

from infra.kernel.roles import NOTIFICATION
from infra.runtime.tls.contexts import TlsOptions

from .link_files import link_auth, make_link_secret
from .ports import Ports, until_free
from .role_spec import RoleOptions
from .roles import ROLES, in_start_order, role_of

START_S: Final = 60.0
STOP_S: Final = 10.0
# Returns the address that a process is told for another one, from both names and the address at which that one listens.
Way = Callable[[str, str, str], Awaitable[str]]


class Child:
    """A running process of one role. `door` and `admin` are its addresses."""

    def __init__(self, options: RoleOptions, process: asyncio.subprocess.Process, ready: dict[str, Any]) -> None:
        self.options, self.process = options, process
        self.role: str = ready["role"]
        self.site = options.site
        self.node = options.node
        self.door: str = ready["door"]
        self.admin: str = ready["admin"]


class Fleet:
    """The processes of `options`: `async with Fleet(options, secret_file, directory) as fleet:`. Leaving stops all that was started.

    Their tokens are signed with the secret in `secret_file`; their configuration files lie in `directory`, and so does the secret by
    which they prove their links, unless there is an authority (`make_link_authority`).

    - `tls`: how their doors are opened; in plain without it.
    - `way`: how they reach each other; without it, where they listen.
    """

    def __init__(
        self, options: Sequence[RoleOptions], secret_file: Path, directory: Path, tls: TlsOptions | None = None, way: Way | None = None
    ) -> None:
        self._options = in_start_order(options)
        self._secret_file, self._directory, self._tls = secret_file, directory, tls or TlsOptions()
        self._way = way
        self._stack = AsyncExitStack()
        self._book: dict[str, str] = {}
        self.children: list[Child] = []

    async def __aenter__(self) -> Self:
        try:
            make_link_secret(self._directory)
            ports = self._stack.enter_context(Ports())
            self._book = address_book(self._options, ports)
            for _, together in groupby(self._options, key=lambda each: ROLES[role_of(each)].notifies):
                self.children += await asyncio.gather(*(self._start(options, self._book) for options in together))
        except BaseException:
            await self.stop()
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.stop()

    def of(self, role: str, site: str | None = None) -> list[Child]:
        """Returns the children of one role, at one site or at all."""
        return [child for child in self.children if child.role == role and site in (None, child.site)]

    async def _start(self, options: RoleOptions, book: dict[str, str]) -> Child:
        role, book = role_of(options), await self._book_of(options, book)
        http = "http" if self._tls.certificate is None else "https"
        if ROLES[role].notifies:  # notification modules come earlier in the start order, so their doors are open by now
            book = book | {f"{child.site}/{child.node}": f"{http}://{child.door}" for child in self.of(NOTIFICATION)}
        path = write_config(options, book, self._secret_file, self._directory, self._tls)
        arguments = ["-m", "segue", role, "--config", str(path), "--json", "--shared-ports"]
        # It gets a session of its own. Ctrl-C reaches only the process that started the fleet, which stops the others in order.
        process = await asyncio.create_subprocess_exec(sys.executable, *arguments, stdout=asyncio.subprocess.PIPE, start_new_session=True)
        self._stack.push_async_callback(_stop, process)
        assert process.stdout is not None
        async with asyncio.timeout(START_S):
            line = await process.stdout.readline()
        if not line:
            raise ChildProcessError(f"the {role} with {path} did not start; its last words are above")
        return Child(options, process, msgspec.json.decode(line))

    async def _book_of(self, options: RoleOptions, book: dict[str, str]) -> dict[str, str]:
        """Returns the addresses that one process is told."""
        if self._way is None:
            return book
        me = f"{options.site}/{options.node}"
        others = {name: await self._way(me, name, address) for name, address in book.items() if name != me}
        return book | others

    async def start_again(self, former: Child) -> Child:
        """Returns a new process in the place of one that has ended, at the same addresses.

        Raises ChildProcessError, and TimeoutError when somebody else keeps the address of its door.
        """
        options: Any = former.options
        if hasattr(options, "door"):
            await until_free(former.door, START_S)
            options = msgspec.structs.replace(options, door=former.door)
        child = await self._start(options, self._book)
        self.children[self.children.index(former)] = child
        return child

    async def stop(self) -> None:
        """Stops every process, the last one first. May be called twice."""
        await self._stack.aclose()


def address_book(options: Sequence[RoleOptions], ports: Ports) -> dict[str, str]:
    """Returns an address for each name under which one of the roles takes links."""
    names = [getattr(each, "listen", None) for each in options]  # access points take no links
    return {name: ports.take() for name in names if name is not None}


def write_config(
    options: RoleOptions,
    book: dict[str, str],
    secret_file: Path,
    folder: Path,
    tls: TlsOptions | None = None,
) -> Path:
    """Writes the configuration of one process into `folder`, and returns its path.

    `book` has the address for each name in `options`; tokens are checked with the secret in `secret_file`; doors are opened as `tls`
    says. Links are proved by what is in `folder` (`link_auth`). Raises OSError, and ConfigError.
    """
    role = role_of(options)
    table = _with_addresses(_plain(options), book) | {"admin": "127.0.0.1:0"}
    path = folder / f"{options.site}-{options.node}.toml"
    shared = {"auth": {"secret_file": str(secret_file)}, "log": {"level": "warning"}, "tls": _plain(tls or TlsOptions())}
    path.write_text(tomli_w.dumps(shared | {"link_auth": link_auth(folder, options), role: table}))
    return path


def _plain(options: RoleOptions | TlsOptions) -> dict[str, Any]:
    """Returns `options` as a table of a file. What is not set is not there."""
    plain: dict[str, Any] = msgspec.to_builtins(options, enc_hook=str)  # a Path
    return _without_none(plain)


def _without_none(table: dict[str, Any]) -> dict[str, Any]:
    return {key: _without_none(value) if isinstance(value, dict) else value for key, value in table.items() if value is not None}


def _with_addresses(value: Any, book: dict[str, str]) -> Any:
    """Returns `value` with every name of `book` replaced by its address."""
    if isinstance(value, dict):
        return {key: _with_addresses(each, book) for key, each in value.items()}
    if isinstance(value, list):
        return [_with_addresses(each, book) for each in value]
    return book.get(value, value) if isinstance(value, str) else value


async def _stop(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.terminate()
        try:
            await asyncio.wait_for(process.wait(), STOP_S)
        except TimeoutError:
            process.kill()
            await process.wait()
