"""Calls that others make: answered in order for each user, bounded, and never with silence."""

import asyncio

from infra.kernel.frames import NOBODY, Call, Reply
from infra.runtime.callers import Callers
from infra.runtime.logs import get_logger
from tests.support.eventually import eventually


class RecordingLink:
    """A link that keeps replies."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []

    def send(self, frame: Reply) -> None:
        self.replies.append(frame)


async def test_calls_of_one_user_are_answered_in_order_and_those_of_others_meanwhile() -> None:
    gates = {"ann": asyncio.Event(), "bob": asyncio.Event()}
    done: list[str] = []

    async def answer(call: Call) -> bytes:
        await gates[call.user].wait()
        done.append(f"{call.user}{call.n}")
        return b""

    callers, link = Callers({"follow": answer}, get_logger("x", "x", "sto")), RecordingLink()
    for n, user in enumerate(("ann", "ann", "bob", "ann")):
        callers.take(link, Call(n, user, "", "follow", b""))  # type: ignore[arg-type]
    gates["bob"].set()
    await eventually(lambda: done == ["bob2"])
    gates["ann"].set()
    await eventually(lambda: len(link.replies) == 4)
    assert done == ["bob2", "ann0", "ann1", "ann3"]
    assert callers.answered == {"follow": 4}
    await callers.close()


async def test_calls_of_nobody_wait_for_those_of_their_own_queue_only() -> None:
    gates = {"append-1": asyncio.Event(), "append-2": asyncio.Event()}

    async def answer(call: Call) -> bytes:
        await gates[call.queue].wait()
        return b""

    callers, link = Callers({"append": answer}, get_logger("x", "x", "sto")), RecordingLink()
    for n, queue in enumerate(("append-1", "append-2", "append-1")):
        callers.take(link, Call(n, NOBODY, "", "append", b"", queue))  # type: ignore[arg-type]
    gates["append-2"].set()
    await eventually(lambda: [reply.n for reply in link.replies] == [1])
    gates["append-1"].set()
    await eventually(lambda: [reply.n for reply in link.replies] == [1, 0, 2])
    await callers.close()


async def test_too_many_calls_are_turned_away_and_a_defect_is_no_silence() -> None:
    gate = asyncio.Event()

    async def answer(call: Call) -> bytes:
        await gate.wait()
        raise RuntimeError("a defect")

    callers, link = Callers({"follow": answer}, get_logger("x", "x", "sto"), max_waiting=2), RecordingLink()
    for n in range(3):
        callers.take(link, Call(n, f"u{n}", "", "follow", b""))  # type: ignore[arg-type]
    assert [(reply.n, reply.code) for reply in link.replies] == [(2, "unavailable")]
    gate.set()
    await eventually(lambda: len(link.replies) == 3)
    assert {reply.code for reply in link.replies[1:]} == {"internal-error"}
    await callers.close()


async def test_no_more_bytes_wait_than_may_whoever_sends_them() -> None:
    gate = asyncio.Event()

    async def answer(call: Call) -> bytes:
        await gate.wait()
        return b""

    callers, link = Callers({"follow": answer}, get_logger("x", "x", "sto"), max_bytes=10), RecordingLink()
    for n, size_bytes in enumerate((6, 4, 1)):
        callers.take(link, Call(n, f"u{n % 2}", "", "follow", b"x" * size_bytes))  # type: ignore[arg-type]
    assert [(reply.n, reply.code) for reply in link.replies] == [(2, "unavailable")]
    gate.set()
    await eventually(lambda: len(link.replies) == 3)
    callers.take(link, Call(3, "ann", "", "follow", b"x" * 10))  # type: ignore[arg-type]
    await eventually(lambda: len(link.replies) == 4)
    assert [reply.code for reply in link.replies[1:]] == ["", "", ""]
    await callers.close()


async def test_a_call_that_comes_after_the_end_is_refused_and_not_begun() -> None:
    """The links of a role are closed after its callers."""

    async def answer(call: Call) -> bytes:
        raise AssertionError("nobody is there to answer")

    callers, link = Callers({"follow": answer}, get_logger("x", "x", "sto")), RecordingLink()
    await callers.close()
    callers.take(link, Call(1, "ann", "", "follow", b""))  # type: ignore[arg-type]
    assert [(reply.n, reply.code) for reply in link.replies] == [(1, "unavailable")]
