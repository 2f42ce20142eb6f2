"""Peers: the other presence nodes, of this site and of others, and what is asked of all of them at once.

Which users another node knows depends on the access points, so all are asked. Who does not answer in time counts as one
that knows nothing, and is counted.
"""

from collections.abc import Callable, Collection
from typing import Final

from infra.kernel.announcer import Outlet
from infra.kernel.frames import Call, Reply

# More questions than this wait for no further answers: nobody else is asked until some are done.
MAX_OPEN: Final = 10_000
# Answers that wait for those of others. One that finds no room counts as none.
MAX_ANSWER_BYTES: Final = 64 << 20
_ASKING: Final = "presence"

# Called once with the answers that came.
Done = Callable[[list[bytes]], None]


class _Question:
    __slots__ = ("answers", "done", "due_s", "waiting")

    def __init__(self, waiting: set[str], due_s: float, done: Done) -> None:
        self.waiting = waiting
        self.due_s = due_s
        self.done = done
        self.answers: list[bytes] = []


class Peers:
    """Open questions to the nodes at `addresses`. `unanswered` counts the answers that did not come."""

    def __init__(self, addresses: Collection[str], timeout_s: float, max_answer_bytes: int = MAX_ANSWER_BYTES) -> None:
        self.addresses = addresses
        self.unanswered = 0
        self._timeout_s = timeout_s
        self._answer_bytes, self._max_answer_bytes = 0, max_answer_bytes
        self._links: dict[str, Outlet] = {}
        self._open: dict[int, _Question] = {}
        self._n = 0

    def link_up(self, address: str, link: Outlet) -> None:
        """A peer can be asked."""
        self._links[address] = link

    def link_down(self, address: str) -> None:
        """A peer is lost, and with it the answers that it owes."""
        self._links.pop(address, None)
        for n in [n for n, question in self._open.items() if address in question.waiting]:
            self._strike(n, address)

    def ask(self, op: str, body: bytes, now_s: float, done: Done) -> None:
        """Ask all; `done` is called when all have answered, at the latest in `timeout_s`, perhaps before this returns."""
        asked = self._links if len(self._open) < MAX_OPEN else {}
        self.unanswered += len(self.addresses) - len(asked)
        if not asked:
            done([])
            return
        self._n += 1
        self._open[self._n] = _Question(set(asked), now_s + self._timeout_s, done)
        for link in asked.values():
            link.send(Call(self._n, _ASKING, "", op, body))

    def reply(self, address: str, reply: Reply) -> None:
        """A peer answered, or refused to."""
        self._strike(reply.n, address, None if reply.code else reply.body)

    def tick(self, now_s: float) -> None:
        """Go on without those who have not answered in time."""
        for n, question in list(self._open.items()):
            if question.due_s > now_s:
                break  # they were asked in this order
            for address in list(question.waiting):
                self._strike(n, address)

    def _strike(self, n: int, address: str, answer: bytes | None = None) -> None:
        question = self._open.get(n)
        if question is None or address not in question.waiting:
            return
        question.waiting.remove(address)
        if answer is None or self._answer_bytes + len(answer) > self._max_answer_bytes:
            self.unanswered += 1
        else:
            self._answer_bytes += len(answer)
            question.answers.append(answer)
        if not question.waiting:
            del self._open[n]
            self._answer_bytes -= sum(map(len, question.answers))
            question.done(question.answers)
