"""Calls to nodes of other services over links: what an access point does for its clients, done by a service for itself."""

from collections.abc import Mapping, Sequence
from typing import Final

from infra.kernel.codes import BY_NAME
from infra.kernel.errors import Refused, Unavailable
from infra.kernel.frames import Reply
from infra.kernel.live_nodes import LiveNodes
from infra.runtime.call_client import CallClient
from infra.runtime.link import Link
from infra.runtime.node import Node

MAX_OPEN: Final = 4096
TIMEOUT_S: Final = 5.0
# Codes that say nothing against the call itself.
PASSING: Final = ("unavailable", "draining", "internal-error")


class ServicePeers:
    """Links to the nodes at `addresses` (role -> link addresses), all of one site. A user's calls go to one node of a role, by the
    ring over those that can be reached."""

    def __init__(self, node: Node, site: str, addresses: Mapping[str, Sequence[str]], timeout_s: float = TIMEOUT_S) -> None:
        self._node, self._site = node, site
        self._roles = {address: role for role, many in addresses.items() for address in many}
        self._up: dict[str, LiveNodes[Link]] = {role: LiveNodes() for role in addresses}
        self._calls = CallClient(timeout_s, MAX_OPEN)

    def start(self) -> None:
        """Dials all nodes, and goes on doing so."""
        for address, role in self._roles.items():
            self._node.dial(address, role, self._site)

    def concerns(self, link: Link) -> bool:
        """Returns whether `link` is one of ours."""
        return link.dialled in self._roles

    def link_up(self, link: Link) -> None:
        """Notes that a node can be called."""
        assert link.dialled is not None
        self._up[link.peer.role].up(link.dialled, link)

    def link_down(self, link: Link) -> None:
        """Notes that a node is lost, and with it the answers that it owes."""
        assert link.dialled is not None
        self._up[link.peer.role].down(link.dialled)
        self._calls.link_down(link)

    def missing(self) -> list[str]:
        """Returns the roles of which no node can be reached."""
        return [role for role, up in self._up.items() if not up]

    def reply(self, link: Link, reply: Reply) -> None:
        """Notes what a node has answered."""
        self._calls.reply(link, reply)

    async def call(self, role: str, user: str, op: str, body: bytes) -> bytes:
        """Returns the body of the answer of a `role` node to `op` for `user`, as `body` says it.

        Raises Refused for what it refuses, Unavailable when no node can be reached or none answers in time; then it may have
        been done. Cancelling gives up the answer.
        """
        node = self._up[role].of(user) if role in self._up else None
        if node is None:
            raise Unavailable(f"no {role} service can be reached now")
        try:
            reply = await self._calls.call(node.link, op, body, user=user)
        except Unavailable as trouble:
            raise Unavailable(f"{role} did not answer {op}: {trouble}") from None
        if reply.code in PASSING or (reply.code and reply.code not in BY_NAME):
            raise Unavailable(f"{reply.code}: {reply.reason}")
        if reply.code:
            raise Refused(reply.code, reply.reason)
        return reply.body
