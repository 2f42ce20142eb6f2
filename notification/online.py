"""Presence, asked who is online (spec 8): for a batch of users at once, over links."""

import asyncio
from collections.abc import Collection
from typing import Final

import msgspec

from infra.kernel.errors import Unavailable
from infra.kernel.frames import Reply
from infra.runtime.call_client import CallClient
from infra.runtime.link import Link

from .core import UNKNOWN

TIMEOUT_S: Final = 2.0
# Of more users than this the rest is asked when these are answered.
AT_ONCE: Final = 1000

_ENCODE: Final = msgspec.msgpack.Encoder().encode


class Online:
    """The presence nodes of the site, `expected` of them.

    Each is asked, because any may hold the leases of a user; what they say is united. Where no presence service is configured
    nobody is online. `unanswered` counts the questions without a full answer.
    """

    def __init__(self, expected: int) -> None:
        self.unanswered = 0
        self._expected = expected
        self._links: set[Link] = set()
        self._calls = CallClient(TIMEOUT_S)

    def missing(self) -> str | None:
        """Returns why not all nodes can be asked now; None when they can."""
        left = self._expected - len(self._links)
        return f"no link to {left} of {self._expected} presence nodes" if left > 0 else None

    def link_up(self, link: Link) -> None:
        """Notes that a presence node can be asked."""
        self._links.add(link)

    def link_down(self, link: Link) -> None:
        """Notes that a presence node is lost, and with it what it was asked."""
        self._links.discard(link)
        self._calls.link_down(link)

    def reply(self, link: Link, reply: Reply) -> None:
        """Notes what a presence node has answered."""
        self._calls.reply(link, reply)

    async def ask(self, users: Collection[str]) -> dict[str, int]:
        """Returns the bits of each user. Where a node does not answer in time, a user whom no other node knows is `UNKNOWN`."""
        names = list(users)
        bits: dict[str, int] = {}
        for start in range(0, len(names), AT_ONCE):
            some = names[start : start + AT_ONCE]
            answers = await asyncio.gather(*(self._call(link, some) for link in list(self._links)))
            is_whole = len(answers) >= self._expected and all(len(each) == len(some) for each in answers)
            self.unanswered += not is_whole
            if is_whole and len(answers) == 1:  # the usual case, in one step for all users
                bits.update(zip(some, answers[0], strict=True))
                continue
            for index, user in enumerate(some):
                found = 0
                for answer in answers:
                    found |= answer[index] if len(answer) == len(some) else 0
                bits[user] = found if found or is_whole else UNKNOWN
        return bits

    async def _call(self, link: Link, users: list[str]) -> bytes:
        """Returns one byte for each user; nothing if there was no answer."""
        try:
            reply = await self._calls.call(link, "whereabouts", _ENCODE(users), queue="whereabouts")
        except Unavailable:
            return b""
        return b"" if reply.code else reply.body
