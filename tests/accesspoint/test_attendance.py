"""Presence knows exactly who is connected here, whatever comes, goes, is linked and is lost."""

from collections import Counter
from collections.abc import Callable

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from accesspoint import attendance
from accesspoint.attendance import Attendance, Client
from accesspoint.messages import MAX_CLIENT_CHARS
from infra.kernel.codec import MAX_FRAME_BYTES, encode
from infra.kernel.frames import Frame, Gone, Here
from infra.kernel.ring import Ring
from infra.kernel.topics import MAX_ID
from tests.support.recording_session import never


class PresenceNode:
    """The knowledge of one presence node on one link, from the frames alone."""

    def __init__(self) -> None:
        self.known: dict[Client, int] = {}
        self.frames = 0
        self.largest_bytes = 0

    def send(self, frame: Frame) -> None:
        self.frames += 1
        self.largest_bytes = max(self.largest_bytes, len(encode(frame)))
        if isinstance(frame, Here):
            self.known.update(zip(zip(frame.users, frame.clients, strict=True), frame.devices, strict=True))
        elif isinstance(frame, Gone):
            for client in zip(frame.users, frame.clients, strict=True):
                self.known.pop(client, None)


CLIENTS = st.tuples(st.sampled_from(["ann", "bob", "cyd", "dan"]), st.sampled_from(["", "c1", "c2"]))
ADDRESSES = st.sampled_from(["p1", "p2", "p3"])


class Attending(RuleBasedStateMachine):
    """Connections come and go, some under the same name; presence nodes too."""

    def __init__(self) -> None:
        super().__init__()
        self.wakes = 0
        self.attendance = Attendance(self.soon)
        self.here: Counter[tuple[Client, bool]] = Counter()
        self.nodes: dict[str, PresenceNode] = {}

    def soon(self, step: Callable[[], None]) -> None:
        self.wakes += 1

    @rule(client=CLIENTS, mobile=st.booleans())
    def arrive(self, client: Client, mobile: bool) -> None:
        self.here[client, mobile] += 1
        self.attendance.arrive(client, mobile)

    @precondition(lambda self: self.here)
    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        client, mobile = data.draw(st.sampled_from(sorted(self.here)))
        self.here[client, mobile] -= 1
        self.here = +self.here
        self.attendance.leave(client, mobile)

    @rule()
    def report(self) -> None:
        self.wakes = 0
        self.attendance.report()

    @rule(address=ADDRESSES)
    def node_up(self, address: str) -> None:
        if address not in self.nodes:
            self.nodes[address] = PresenceNode()
            self.attendance.node_up(address, self.nodes[address])
            self.wakes = 0

    @rule(address=ADDRESSES)
    def node_down(self, address: str) -> None:
        self.nodes.pop(address, None)
        self.attendance.node_down(address)
        self.wakes = 0

    @invariant()
    def each_node_knows_who_is_here_and_its_own_and_nobody_else(self) -> None:
        """Finds no ghosts and nobody missing, as soon as what was to be done in the next turn is done."""
        expected: dict[str, dict[Client, int]] = {address: {} for address in self.nodes}
        ring = Ring(self.nodes)
        for client, mobile in self.here:
            owner = ring.owner(client[0].encode())
            if owner is not None:
                expected[owner][client] = expected[owner].get(client, 0) | (2 if mobile else 1)
        if self.wakes == 0:
            assert {address: node.known for address, node in self.nodes.items()} == expected
        assert self.wakes <= 1
        assert len(self.attendance) == len({client for client, _ in self.here})


Attending.TestCase.settings = settings(max_examples=60, stateful_step_count=40)
TestAttending = Attending.TestCase


def test_who_comes_and_goes_in_one_turn_is_told_in_one_frame_of_each_kind() -> None:
    steps: list[Callable[[], None]] = []
    book, node = Attendance(steps.append), PresenceNode()
    book.node_up("p1", node)
    for n in range(100):
        book.arrive((f"u{n}", ""), False)
    (report,) = steps
    report()
    for n in range(100):
        book.leave((f"u{n}", ""), False)
        book.arrive((f"v{n}", ""), True)
    (_, report) = steps
    report()
    assert (node.frames, len(steps)) == (3, 2)
    book.arrive(("v1", ""), True)  # a second tab is no news
    report()
    assert (node.frames, len(steps)) == (3, 2)


def test_a_node_that_comes_up_is_told_of_everybody_in_frames_of_bounded_size() -> None:
    book, node = Attendance(never), PresenceNode()
    for n in range(attendance.BULK + 1):
        book.arrive((f"{n:0{MAX_ID}}", "\N{GRINNING FACE}" * MAX_CLIENT_CHARS), False)
    book.node_up("p1", node)
    assert (node.frames, len(node.known)) == (2, attendance.BULK + 1)
    assert node.largest_bytes < MAX_FRAME_BYTES
