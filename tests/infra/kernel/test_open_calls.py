"""The table of open calls, against a dumb twin that looks at every call each time."""

from dataclasses import dataclass, field
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.kernel.errors import Refused
from infra.kernel.frames import Reply
from infra.kernel.open_calls import OpenCalls, refusal_of

MAX_CALLS, MAX_BYTES, TIMEOUT_S = 4, 10, 5.0
PEERS = st.sampled_from(["p1", "p2", "p3"])
NUMBERS = st.integers(0, 12)
OPEN = st.tuples(st.just("open"), PEERS, st.integers(0, 6))
REPLY = st.tuples(st.just("reply"), PEERS, NUMBERS)
LOST = st.tuples(st.just("lost"), PEERS, st.none())
GIVE_UP = st.tuples(st.just("give up"), st.none(), NUMBERS)
LATER = st.tuples(st.just("later"), st.none(), st.integers(0, 4))


@dataclass
class Twin:
    """The calls that should be open, and how each other one has ended."""

    calls: dict[int, tuple[str, float, int]] = field(default_factory=dict)
    ended: list[tuple[int, str]] = field(default_factory=list)

    def has_room(self, size_bytes: int) -> bool:
        return len(self.calls) < MAX_CALLS and self.bytes() + size_bytes <= MAX_BYTES

    def bytes(self) -> int:
        return sum(size_bytes for _, _, size_bytes in self.calls.values())

    def end(self, numbers: list[int], how: str) -> None:
        for n in numbers:
            if self.calls.pop(n, None) is not None:
                self.ended.append((n, how))


def told(n: int, outcome: Reply | Refused) -> tuple[int, str]:
    return n, "reply" if isinstance(outcome, Reply) else outcome.reason


@given(st.lists(st.one_of(OPEN, OPEN, OPEN, REPLY, REPLY, LOST, GIVE_UP, LATER), max_size=60))
@settings(max_examples=300)
def test_each_call_ends_once_and_as_the_twin_says(steps: list[tuple[str, str, int]]) -> None:
    table: OpenCalls[str] = OpenCalls(MAX_CALLS, MAX_BYTES, TIMEOUT_S)
    twin, ended, now_s, last = Twin(), list[tuple[int, str]](), 0.0, 0
    for kind, peer, number in steps:
        match kind:
            case "open" if twin.has_room(number):
                n = table.open(peer, number, now_s, lambda outcome, n=last + 1: ended.append(told(n, outcome)))  # type: ignore[misc]
                assert n == last + 1
                last, twin.calls[n] = n, (peer, now_s + TIMEOUT_S, number)
            case "open":
                with pytest.raises(Refused, match="unavailable: too many"):
                    table.open(peer, number, now_s, lambda outcome: pytest.fail("it was not opened"))
            case "reply":
                table.reply(peer, Reply(number, "", "", b""))
                twin.end([n for n, (asked, _, _) in twin.calls.items() if (n, asked) == (number, peer)], "reply")
            case "lost":
                table.lost(peer, Refused("unavailable", "gone"))
                twin.end([n for n, (asked, _, _) in twin.calls.items() if asked == peer], "gone")
            case "give up":
                table.give_up(number)
                twin.calls.pop(number, None)
            case _:
                now_s += number
                table.tick(now_s)
                twin.end([n for n, (_, due_s, _) in twin.calls.items() if due_s <= now_s], "no answer within 5 s")
        assert ended == twin.ended
        assert (len(table), table.open_bytes) == (len(twin.calls), twin.bytes())
        assert table.due_s == min((due_s for _, due_s, _ in twin.calls.values()), default=None)


def test_one_that_goes_wrong_at_its_end_stops_no_other_and_does_not_end_again() -> None:
    table: OpenCalls[str] = OpenCalls(9, 9, TIMEOUT_S)
    ended: list[int] = []

    def fail(outcome: Reply | Refused) -> None:
        ended.append(0)
        raise RuntimeError("a defect")

    for end in (partial(table.lost, "p1", Refused("unavailable")), partial(table.tick, 99.0)):
        table.open("p1", 0, 0.0, fail)
        table.open("p1", 0, 0.0, lambda outcome: ended.append(1))
        with pytest.raises(RuntimeError, match="a defect"):
            end()
        end()
    assert (ended, len(table)) == ([0, 1, 0, 1], 0)


def test_what_is_told_that_a_call_has_ended_may_make_the_next_one() -> None:
    table: OpenCalls[str] = OpenCalls(1, 0, TIMEOUT_S)
    outcomes: list[Reply | Refused] = []

    def then(outcome: Reply | Refused) -> None:
        outcomes.append(outcome)
        table.open("p1", 0, 9.0, outcomes.append)

    table.open("p1", 0, 0.0, then)
    table.tick(9.0)
    assert (len(outcomes), len(table)) == (1, 1)
    table.reply("p1", Reply(2, "", "", b"two"))
    assert outcomes[1:] == [Reply(2, "", "", b"two")]


def test_an_outcome_is_a_refusal_if_it_has_a_code_and_one_that_nobody_knows_is_a_defect() -> None:
    own = Refused("unavailable")
    assert refusal_of(own) is own
    assert refusal_of(Reply(1, "", "", b"")) is None
    known, unknown = refusal_of(Reply(1, "bad-field", "no", b"")), refusal_of(Reply(1, "x" * 1000, "why\n", b""))
    assert known is not None
    assert unknown is not None
    assert (known.code.name, known.reason, unknown.code.name) == ("bad-field", "no", "internal-error")
    assert unknown.reason == f"the service has answered with an unknown code, {'x' * 40}: why\\u000a"
