"""Calls to nodes of other services over links: what an access point does for its clients, done by a service for itself."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from infra.kernel.codes import BY_NAME
from infra.kernel.errors import Refused, Unavailable
from infra.kernel.frames import Call, Reply
from infra.kernel.ring import Ring
from infra.runtime.link import Link
from infra.runtime.node import Node

MAX_OPEN: Final = 4096
TIMEOUT_S: Final = 5.0
# Codes that say nothing against the call itself.
PASSING: Final = ("unavailable", "draining", "internal-error")

_Open = tuple[Link, "asyncio.Future[bytes]"]


class Peers:
    """Links to the nodes at `addresses` (role -> link addresses), all of one site. A user's calls go to one node of a role, by the
    ring over those that can be reached."""

    def __init__(self, node: Node, site: str, addresses: Mapping[str, Sequence[str]], timeout_s: float = TIMEOUT_S) -> None:
        self._node, self._site, self._timeout_s = node, site, timeout_s
        self._roles = {address: role for role, many in addresses.items() for address in many}
        self._up: dict[str, dict[str, Link]] = {role: {} for role in addresses}
        self._rings: dict[str, Ring] = {role: Ring(()) for role in addresses}
        self._open: dict[int, _Open] = {}
        self._n = 0

    def start(self) -> None:
        """Dial all, and go on doing so."""
        for address, role in self._roles.items():
            self._node.dial(address, role, self._site)

    def concerns(self, link: Link) -> bool:
        """Whether `link` is one of ours."""
        return link.dialled in self._roles

    def link_up(self, link: Link) -> None:
        """A node answered."""
        self._change(link, link)

    def link_down(self, link: Link) -> None:
        """A node is lost, and with it the answers that it owes."""
        self._change(link, None)
        for there, answer in list(self._open.values()):
            if there is link and not answer.done():
                answer.set_exception(Unavailable(f"the {link.peer.role} service went away before it answered"))

    def _change(self, link: Link, now: Link | None) -> None:
        assert link.dialled is not None
        up = self._up[link.peer.role]
        up.pop(link.dialled, None)
        if now is not None:
            up[link.dialled] = now
        self._rings[link.peer.role] = Ring(up)

    def missing(self) -> list[str]:
        """Roles of which no node can be reached."""
        return [role for role, up in self._up.items() if not up]

    def reply(self, reply: Reply) -> None:
        """A node answered a call."""
        _, answer = self._open.get(reply.n, (None, None))
        if answer is None or answer.done():
            return  # it came too late
        if reply.code == "":
            answer.set_result(reply.body)
        elif reply.code in PASSING or reply.code not in BY_NAME:
            answer.set_exception(Unavailable(f"{reply.code}: {reply.reason}"))
        else:
            answer.set_exception(Refused(reply.code, reply.reason))

    async def call(self, role: str, user: str, op: str, body: bytes) -> bytes:
        """The body of the answer of a `role` node to `op` for `user`.

        Raises Refused for what it refuses, Unavailable when no node can be reached or none answers in time; then it may have
        been done. Cancelling gives up the answer.
        """
        address = self._rings[role].owner(user.encode()) if role in self._rings else None
        if address is None:
            raise Unavailable(f"no {role} service can be reached now")
        if len(self._open) >= MAX_OPEN:
            raise Unavailable("too many requests to other services wait for an answer")
        self._n += 1
        n, link = self._n, self._up[role][address]
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._open[n] = link, answer
        try:
            link.send(Call(n, user, "", op, body))
            async with asyncio.timeout(self._timeout_s):
                return await answer
        except TimeoutError:
            raise Unavailable(f"no answer of {role} to {op} within {self._timeout_s:g} s") from None
        finally:
            del self._open[n]
