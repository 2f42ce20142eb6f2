"""Who owns which shard: never two at once, whatever fails, and always somebody again."""

import math
from collections.abc import Iterator

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from infra.kernel.errors import Unavailable
from notification.epoch import height_of
from notification.ownership.core import NOBODY, UNCLAIMED, Claims, NodeRecord, Ownership, Steps
from notification.shards import SHARDS

LEASE_S = 5.0
BEAT_S = 1.0
WALL_US = 1_790_000_000_000_000


class Table:
    """The store's tables; each method is one atomic operation of the port."""

    def __init__(self) -> None:
        self.claims = UNCLAIMED
        self.members: dict[str, NodeRecord] = {}

    def beat(self, member: NodeRecord, last: int) -> bool:
        known = self.members.get(member.node)
        if (known.counter if known else 0) != last:
            return False
        self.members[member.node] = member
        return True

    def bury(self, node: str, counter: int) -> bool:
        if node not in self.members or self.members[node].counter != counter:
            return False
        del self.members[node]
        return True

    def claim(self, claims: Claims, version: int) -> bool:
        if self.claims.version != version:
            return False
        assert claims.version > version
        self.claims = claims
        return True


class Driver:
    """One life of a node: a generator that does one thing with the store at each step, as the keeper does. `clock` may run fast or
    slow, `wall_us` says anything."""

    def __init__(self, name: str, table: Table, rate: float) -> None:
        self.core = Ownership(name, LEASE_S)
        self.table, self.rate = table, rate
        self.now_s = 0.0
        self.wall_us = WALL_US
        self.lost: list[tuple[object, ...]] = []
        self.losing = ""
        self.steps = self.run()

    def acts_on(self) -> set[int]:
        """Shards that it may decide for at this moment: those that are leaving are its own until they are given up."""
        return self.core.owned if self.core.is_valid(self.now_s) else set()

    def run(self) -> Iterator[None]:
        core = self.core
        while True:
            started_s, counter = self.now_s, core.next_counter(self.wall_us)
            yield
            done = self.ask("beat", NodeRecord(core.node, "sto", core.node, counter), core.counter)
            yield  # the answer takes its time
            if done:
                core.beaten(counter, started_s)
            claims = self.table.claims
            yield
            members = list(self.table.members.values())
            yield
            steps = core.read(claims, members, self.now_s, self.wall_us)
            if core.is_buried:
                return
            if done:
                yield from self.do(steps)
            if core.handing_over:
                yield
                core.handed_over(set(core.handing_over))

    def do(self, steps: Steps) -> Iterator[None]:
        version = self.core.claims.version
        for member in steps.bury:
            yield
            self.ask("bury", member.node, member.counter)
        if steps.claims is not None:
            yield
            self.ask("claim", steps.claims, version)

    def ask(self, op: str, *values: object) -> bool:
        """Does a write, or loses it: then it may be done later (`late`), or never."""
        if op == self.losing:
            self.lost.append((op, *values))
            return False
        return bool(getattr(self.table, op)(*values))

    def late(self) -> None:
        """Lets a write arrive that was given up as lost."""
        if self.lost:
            op, *values = self.lost.pop(0)
            getattr(self.table, str(op))(*values)


class Nodes(RuleBasedStateMachine):
    """Up to four nodes that crash, pause, lose writes, and come to the store in any order."""

    @initialize()
    def empty(self) -> None:
        self.table = Table()
        self.drivers: list[Driver] = []
        self.lives = 0
        self.height = 0
        # The number under which each shard was written last.
        self.numbers = [0] * SHARDS

    @rule(rate=st.sampled_from([0.75, 1.0, 1.25]))
    def start(self, rate: float) -> None:
        if len(self.drivers) < 4:
            self.lives += 1
            self.drivers.append(Driver(f"n{self.lives}", self.table, rate))

    @rule(which=st.integers(0, 3), steps=st.integers(1, 12))
    def go(self, which: int, steps: int) -> None:
        if which < len(self.drivers):
            driver = self.drivers[which]
            for _ in range(steps):
                self.step(driver)

    def step(self, driver: Driver) -> None:
        if next(driver.steps, "end") == "end" and driver in self.drivers:
            self.drivers.remove(driver)  # it was buried, and begins anew
        self.one_owner()

    @rule(seconds=st.sampled_from([0.3, 1.0, 2.6, 5.1]))
    def wait(self, seconds: float) -> None:
        for driver in self.drivers:
            driver.now_s += seconds * driver.rate

    @rule(which=st.integers(0, 3))
    def crash(self, which: int) -> None:
        if which < len(self.drivers):
            del self.drivers[which]

    @rule(which=st.integers(0, 3), op=st.sampled_from(["", "beat", "claim", "bury"]))
    def lose(self, which: int, op: str) -> None:
        if which < len(self.drivers):
            self.drivers[which].losing = op

    @rule(which=st.integers(0, 3))
    def late(self, which: int) -> None:
        if which < len(self.drivers):
            self.drivers[which].late()

    @rule(which=st.integers(0, 3), jump_s=st.integers(-(10**6), 10**6))
    def jump(self, which: int, jump_s: int) -> None:
        if which < len(self.drivers):
            self.drivers[which].wall_us += jump_s * 1_000_000

    @invariant()
    def one_owner(self) -> None:
        """Checks that a shard has one owner, whose writes bear a higher number than those of any owner before it."""
        acting: dict[int, str] = {}
        for driver in self.drivers:
            for shard in driver.acts_on():
                assert acting.setdefault(shard, driver.core.node) == driver.core.node
            if driver.acts_on():
                self.write(driver)

    @invariant()
    def the_height_never_sinks(self) -> None:
        """Checks what tells a store that was put back from one that nodes work on."""
        height = height_of(0, self.table.claims, self.table.members.values())
        assert height >= self.height
        self.height = height

    def write(self, driver: Driver) -> None:
        number = driver.core.fence(driver.now_s).number
        for shard in driver.acts_on():
            assert number >= self.numbers[shard]
            self.numbers[shard] = number

    def teardown(self) -> None:
        """Checks that all shards are owned by living nodes within a bound when nothing fails any more."""
        for driver in self.drivers:
            driver.losing = ""
        if self.drivers:
            self.recover(math.ceil((LEASE_S / 0.75 + 10 * BEAT_S) / BEAT_S))

    def recover(self, beats: int) -> None:
        for _ in range(beats):
            for driver in list(self.drivers):
                for _ in range(12):
                    self.step(driver)
            self.wait(BEAT_S)
        assert not self.drivers or all(owner in {each.core.node for each in self.drivers} for owner in self.table.claims.owners)


TestNodes = Nodes.TestCase
TestNodes.settings = settings(max_examples=60, stateful_step_count=40)


def joined(table: Table, *names: str) -> list[Driver]:
    """Nodes that have all come to rest."""
    drivers = [Driver(name, table, 1.0) for name in names]
    for _ in range(10):
        settle(*drivers)
    return drivers


def settle(*drivers: Driver, seconds: float = 0.5) -> None:
    for driver in drivers:
        driver.now_s += seconds
        for _ in range(12):
            next(driver.steps)


def test_shards_are_shared_and_each_has_one_owner() -> None:
    drivers = joined(Table(), "n1", "n2", "n3")
    assert sorted(shard for driver in drivers for shard in driver.core.owned) == list(range(SHARDS))
    assert all(8 <= len(driver.core.owned) <= 40 for driver in drivers)


def test_a_dead_nodes_shards_are_owned_again_after_the_lease_and_no_others_move() -> None:
    table = Table()
    first, second, third = joined(table, "n1", "n2", "n3")
    before = first.core.owned | set(), second.core.owned | set()
    for _ in range(9):
        settle(first, second)
    assert "n3" in table.claims.owners
    for _ in range(6):
        settle(first, second)
    assert "n3" not in table.members
    assert first.core.owned | second.core.owned == set(range(SHARDS))
    assert first.core.owned > before[0]
    assert second.core.owned > before[1]
    assert not third.core.is_valid(third.now_s + 7.5)


def test_a_node_that_was_stalled_goes_on_if_nobody_buried_it() -> None:
    (alone,) = joined(Table(), "n1")
    alone.now_s += 60
    with pytest.raises(Unavailable, match="another may own"):
        alone.core.fence(alone.now_s)
    settle(alone)
    assert alone.core.fence(alone.now_s).node == "n1"
    assert len(alone.acts_on()) == SHARDS


def test_the_former_life_of_a_node_is_buried_at_once() -> None:
    table = Table()
    joined(table, "n1")
    again = Driver("n1-again", table, 1.0)
    again.core = Ownership("n1-again", LEASE_S, dead=["n1"])
    again.steps = again.run()
    for _ in range(4):
        settle(again, seconds=0.0)
    assert len(again.core.owned) == SHARDS
    assert set(table.members) == {"n1-again"}


def test_a_node_that_resigns_leaves_its_shards_to_nobody() -> None:
    table = Table()
    first, _ = joined(table, "n1", "n2")
    claims = first.core.resigned(WALL_US)
    assert claims.version > table.members["n1"].counter
    assert set(claims.owners) == {NOBODY, "n2"}


def test_a_hand_over_that_is_done_late_finds_nobody_at_work() -> None:
    """Its answer was lost; the one who was to have the shard died; and the first must not go on before that write can do nothing."""
    table = Table()
    (first,) = joined(table, "n1")
    second = Driver("n2", table, 1.0)
    settle(second, seconds=0.0)
    first.losing = "claim"
    while not first.lost:
        settle(first, second)
    given = set(range(SHARDS)) - first.core.owned
    assert given
    for _ in range(14):
        settle(first)
        assert not given & first.core.owned
    first.losing = ""
    for _ in range(4):
        settle(first)
    first.late()
    assert set(table.claims.owners) == {"n1"}
    assert first.core.owned == set(range(SHARDS))


def test_who_takes_over_from_a_node_whose_clock_was_ahead_writes_under_higher_numbers() -> None:
    table = Table()
    first, second = joined(table, "n1", "n2")
    first.wall_us += 10**12
    settle(first)
    number = first.core.fence(first.now_s).number
    for _ in range(16):
        settle(second)
    assert "n1" not in table.members
    assert second.core.owned == set(range(SHARDS))
    assert second.core.fence(second.now_s).number > number
