"""Peers: the other presence nodes, of this site and of others, and what is asked of all of them at once. Pure.

Which users another node knows depends on the access points, so all are asked. A node that does not answer in time counts as one
that knows nothing, and is counted.
"""

from collections.abc import Callable, Collection
from functools import partial
from typing import Final

from infra.kernel.errors import Refused
from infra.kernel.frames import NOBODY, Call, Reply
from infra.kernel.open_calls import OpenCalls
from infra.kernel.outlet import Outlet

# More questions than this wait for no further answers: nobody else is asked until some are done.
MAX_QUESTIONS: Final = 10_000
# Answers that wait for those of others. One that finds no room counts as none.
MAX_ANSWER_BYTES: Final = 64 << 20
_QUEUE: Final = "presence"
_LOST: Final = Refused("unavailable", "the node went away before it answered")

# Called once with the answers that came.
Done = Callable[[list[bytes]], None]


class _Question:
    """A question to several peers: the answers that came, and how many may still come."""

    __slots__ = ("answers", "done", "waiting")

    def __init__(self, waiting: int, done: Done) -> None:
        self.waiting, self.done = waiting, done
        self.answers: list[bytes] = []


class PresencePeers:
    """Open questions to the nodes at `addresses`. `unanswered` counts the answers that did not come."""

    def __init__(
        self,
        addresses: Collection[str],
        timeout_s: float,
        max_answer_bytes: int = MAX_ANSWER_BYTES,
        max_questions: int = MAX_QUESTIONS,
    ) -> None:
        self.addresses = addresses
        self.unanswered = 0
        self._answer_bytes, self._max_answer_bytes = 0, max_answer_bytes
        self._questions, self._max_questions = 0, max_questions
        self._links: dict[str, Outlet] = {}
        # The bound on questions bounds the calls; their body is one for all, and the links hold it.
        self._calls: OpenCalls[str] = OpenCalls(max_questions * len(addresses), 0, timeout_s)

    def link_up(self, address: str, link: Outlet) -> None:
        """Notes that a peer can be asked."""
        self._links[address] = link

    def link_down(self, address: str) -> None:
        """Notes that a peer is lost, and with it the answers that it owes."""
        self._links.pop(address, None)
        self._calls.lost(address, _LOST)

    def ask(self, op: str, body: bytes, now_s: float, done: Done) -> None:
        """Asks all peers for `op` with `body`, at `now_s`.

        `done` is called when all have answered or are late, perhaps before this returns.
        """
        asked = self._links if self._questions < self._max_questions else {}
        self.unanswered += len(self.addresses) - len(asked)
        if not asked:
            done([])
            return
        question = _Question(len(asked), done)
        self._questions += 1
        for address, link in asked.items():
            n = self._calls.open(address, 0, now_s, partial(self._answered, question))
            link.send(Call(n, NOBODY, "", op, body, _QUEUE))

    def reply(self, address: str, reply: Reply) -> None:
        """Notes that a peer has answered, or refused to."""
        self._calls.reply(address, reply)

    def tick(self, now_s: float) -> None:
        """Goes on without the peers that have not answered in time."""
        self._calls.tick(now_s)

    def _answered(self, question: _Question, outcome: Reply | Refused) -> None:
        question.waiting -= 1
        answer = outcome.body if isinstance(outcome, Reply) and not outcome.code else None
        if answer is None or self._answer_bytes + len(answer) > self._max_answer_bytes:
            self.unanswered += 1
        else:
            self._answer_bytes += len(answer)
            question.answers.append(answer)
        if not question.waiting:
            self._questions -= 1
            self._answer_bytes -= sum(map(len, question.answers))
            question.done(question.answers)
