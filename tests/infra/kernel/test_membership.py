"""A site's brokers agree on who is alive, whatever happens to them, and go on agreeing."""

import random
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from infra.kernel.frames import View
from infra.kernel.membership import Membership, Timing

TIMING = Timing()
BEAT_S = 0.25
SILENT_S = 2.0
# The slowest way: silence is noticed, then a newcomer waits, then the news goes round.
AGREED_S = TIMING.dead_s + TIMING.grace_s + 4 * BEAT_S
LEAVE_S = 6.0
# So long four steps take at most, each as soon as all have said in a heartbeat that the one before is done; or one that leaves late.
STEPPED_S = 12.0


class Simulation:
    """Brokers that exchange heartbeats, each on a clock of its own, over links that can be cut.

    `cuts`: pairs that cannot reach each other. `deaf`: the part of heartbeats that is lost on the way. `issued`: all views,
    with their issuers; that numbers never fall and the lowest of the view issues is checked on the way.
    `steps`: in how many steps a broker comes or leaves. Each says in its heartbeats how far it is, and is as far as its view some time
    after it has heard of it. `stuck`: those that never are.
    `tells`: each says in its heartbeats whom it does not hear.
    `leaving`: slots whose process has said goodbye; `left`: all such processes.
    `met`: which process each has met last under the name of another one.
    """

    def __init__(self, count: int, seed: int, steps: int = 1) -> None:
        self.steps = steps
        self.stuck: set[str] = set()
        self.knows, self.tells = True, False
        self.slots = [f"b{n}" for n in range(1, count + 1)]
        self.rng = random.Random(seed)
        self.now = 100.0
        self.lives: dict[str, Membership] = {}
        self.leaving: set[str] = set()
        self.left: set[Membership] = set()
        self.cuts: set[frozenset[str]] = set()
        self.links: dict[frozenset[str], float] = {}
        self.met: dict[tuple[Membership, str], Membership] = {}
        self.deaf = 0.0
        self.issued: list[tuple[str, View]] = []
        self.last: dict[str, int] = {}

    def start(self, slot: str) -> None:
        """Starts a new process. It replaces the links of the one before."""
        self.leaving.discard(slot)
        for link in [link for link in self.links if slot in link]:
            self.unlink(link)
        self.last[slot] = 0
        self.lives[slot] = Membership(
            slot, self.slots, self.clock(slot), TIMING, base=int(self.now * 1000), steps=self.steps, leave_s=LEAVE_S
        )
        self.lives[slot].told(slot, 0, knows=self.knows)

    def restart(self, slot: str) -> None:
        """Starts a process again; only what is dead can be started."""
        if slot in self.slots and slot not in self.lives:
            self.start(slot)

    def remind(self) -> None:
        """Has others, such as aggregators, tell those who live the newest view that there was."""
        for slot in self.lives if self.issued else ():
            self.lives[slot].offer(max((view for _, view in self.issued), key=lambda view: view.order))

    def renew(self) -> None:
        """Starts all brokers again, at once: none of the new processes has met one of those before. Others tell them what they know."""
        for slot in self.slots:
            self.crash(slot)
        for slot in self.slots:
            self.start(slot)
        self.remind()

    def cut(self, pairs: set[frozenset[str]]) -> None:
        self.cuts = pairs

    def lose(self, part: float) -> None:
        self.deaf = part

    def clock(self, slot: str) -> float:
        """Returns the time of a node: monotonic clocks have nothing to do with each other."""
        return self.now + 1000 * self.slots.index(slot)

    def crash(self, slot: str, is_noticed: bool = True) -> None:
        """Kills a broker. The others notice a broken link at once, or find out by the silence."""
        self.lives.pop(slot, None)
        for link in [link for link in self.links if slot in link]:
            if is_noticed:
                self.unlink(link)

    def leave(self, slot: str) -> None:
        """Drains a broker, which tells those that it can reach."""
        if slot in self.lives:
            self.leaving.add(slot)
            self.left.add(self.lives[slot])
            for each in self.reachable(slot):
                self.lives[each].leave(slot, self.clock(each))
            self.lives[slot].leave(slot, self.clock(slot))

    def reachable(self, slot: str) -> list[str]:
        return [each for each in self.lives if each != slot and frozenset({slot, each}) in self.links]

    def link(self, one: str, other: str) -> None:
        self.links[frozenset({one, other})] = self.now
        for me, peer in ((one, other), (other, one)):
            if self.met.setdefault((self.lives[me], peer), self.lives[peer]) is not self.lives[peer]:
                self.met[self.lives[me], peer] = self.lives[peer]
                self.lives[me].rejoin(peer, self.clock(me))
            self.lives[me].told(peer, 0, knows=self.knows)
            if peer in self.leaving:
                self.lives[me].leave(peer, self.clock(me))
            self.hear(me, peer, self.lives[peer].view)

    def unlink(self, link: frozenset[str]) -> None:
        del self.links[link]
        for slot in link & self.lives.keys():
            (peer,) = link - {slot}
            self.lives[slot].link_lost(peer)

    def hear(self, me: str, peer: str, view: View) -> None:
        self.lives[me].heard(peer, self.clock(me))
        self.lives[me].told(peer, self.done(peer), knows=self.knows, unheard=self.unheard(peer), anew=self.lives[peer].anew)
        self.lives[me].offer(view)
        self.tick(me)

    def done(self, slot: str) -> int:
        """Returns the view under which nothing is left to do for `slot`; sometimes it is not so far yet."""
        return 0 if slot in self.stuck or self.rng.random() < 0.3 else self.lives[slot].view.number

    def unheard(self, slot: str) -> list[str] | None:
        return self.lives[slot].unheard(self.clock(slot)) if self.tells else None

    def tick(self, slot: str) -> None:
        broker = self.lives[slot]
        broker.told(slot, self.done(slot), knows=self.knows, unheard=self.unheard(slot), anew=broker.anew)
        before = broker.view
        broker.forget_replaced(self.clock(slot))
        if broker.tick(self.clock(slot)):
            # As far as it knows: another one may be there again by a new process, which it has not met yet.
            stay = [each for each in broker.view.slots if self.met.get((broker, each), self.lives.get(each)) not in self.left]
            assert next((each for each in stay if each in before.slots), stay[0]) == slot, "the lowest of the view that stays issues"
            assert broker.view.is_sound
            self.issued.append((slot, broker.view))
        assert broker.view.number >= self.last[slot], "numbers never fall"
        self.last[slot] = broker.view.number

    def run(self, seconds: float) -> None:
        end = self.now + seconds
        while self.now < end:
            self.now += BEAT_S * self.rng.uniform(0.9, 1.1)
            for one, other in combinations(sorted(self.lives), 2):
                self.keep_link(frozenset({one, other}), one, other)
            for link in [link for link, heard in self.links.items() if self.now - heard > SILENT_S]:
                self.unlink(link)
            for slot in self.rng.sample(sorted(self.lives), len(self.lives)):
                self.tick(slot)

    def keep_link(self, link: frozenset[str], one: str, other: str) -> None:
        if link in self.cuts:
            return
        if link not in self.links:
            self.link(one, other)
        for me, peer in ((one, other), (other, one)):
            if self.rng.random() >= self.deaf:
                self.links[link] = self.now
                self.hear(me, peer, self.lives[peer].view)

    def views(self) -> set[View]:
        return {broker.view for broker in self.lives.values()}

    def check_agreement(self) -> None:
        """Checks that there is one view for all, of exactly those who live and stay, and that nothing more happens to it.

        Where nobody stays, nobody issues a view, and the last one may be on its way to where it goes.
        """
        self.cut(set())
        self.lose(0.0)
        self.run(AGREED_S + STEPPED_S)
        agreed = self.views()
        if stayers := tuple(sorted(self.lives.keys() - self.leaving)):
            assert all(view.is_there for view in agreed)
            assert [view.slots for view in agreed] == [stayers]
        issued = len(self.issued)
        self.run(5 * AGREED_S)
        assert (self.views(), len(self.issued)) == (agreed, issued)


def whole(count: int = 3, steps: int = 1) -> Simulation:
    """Returns a site whose brokers agree."""
    site = Simulation(count, seed=1, steps=steps)
    for slot in site.slots:
        site.start(slot)
    site.check_agreement()
    return site


SLOTS = st.sampled_from(["b1", "b2", "b3", "b4", "b5"])
PAIRS = st.sets(st.builds(lambda one, other: frozenset({one, other}), SLOTS, SLOTS))
HAPPENINGS = st.one_of(
    st.tuples(st.just("restart"), SLOTS),
    st.tuples(st.just("crash"), SLOTS, st.booleans()),
    st.tuples(st.just("leave"), SLOTS),
    st.tuples(st.just("remind")),
    st.tuples(st.just("renew")),
    st.tuples(st.just("cut"), PAIRS),
    st.tuples(st.just("lose"), st.sampled_from([0.0, 0.3, 0.7])),
    st.tuples(st.just("run"), st.sampled_from([BEAT_S, 1.0, 3.0, 6.0])),
)


@given(st.lists(HAPPENINGS, max_size=16), st.integers(2, 5), st.integers(0, 2**16), st.sampled_from([1, 4, 8]), st.booleans())
@example(
    [("run", 5.0), ("leave", "b1"), ("remind",), ("crash", "b1"), ("restart", "b1"), ("crash", "b1", False), ("run", 1.0)], 2, 3342, 8, True
)
@settings(max_examples=80)
def test_after_any_history_all_who_live_agree_on_exactly_who_lives(
    history: list[tuple[Any, ...]], count: int, seed: int, steps: int, tells: bool
) -> None:
    """Crashes, restarts, partitions that need not be clean, lost heartbeats, brokers that leave; at once and in steps (DPS-15)."""
    site = Simulation(count, seed, steps)
    site.tells = tells
    for slot in site.slots:
        site.start(slot)
    for happening, *details in history:
        getattr(site, happening)(*details)
    site.check_agreement()
    assert site.lives.keys() <= site.leaving or {256} == {share for view in site.views() for share in view.share_of.values()}


@pytest.mark.parametrize("is_noticed", [True, False])
def test_a_dead_brokers_slot_is_given_up_in_time(is_noticed: bool) -> None:
    """SB-59: within `suspect_s` of a broken link, within `dead_s` of silence; five seconds are promised for everything."""
    site = whole()
    site.crash("b2", is_noticed)
    site.run(TIMING.suspect_s if is_noticed else TIMING.dead_s)
    site.run(2 * BEAT_S)
    assert {view.slots for view in site.views()} == {("b1", "b3")}


@pytest.mark.parametrize("slot", ["b1", "b3"])
def test_a_restart_that_is_fast_enough_changes_no_view(slot: str) -> None:
    site = whole()
    agreed, issued = site.views(), len(site.issued)
    site.crash(slot)
    site.run(TIMING.suspect_s - 2 * BEAT_S)
    site.start(slot)
    site.check_agreement()
    assert (site.views(), len(site.issued)) == (agreed, issued)


def test_a_broker_that_starts_alone_waits_before_it_takes_the_whole_ring() -> None:
    site = Simulation(3, seed=1)
    site.start("b2")
    site.run(TIMING.grace_s + TIMING.suspect_s - BEAT_S)
    assert site.views() == {View(0, ())}
    site.run(2 * BEAT_S)
    assert {view.slots for view in site.views()} == {("b2",)}


def test_a_site_of_one_broker_is_whole_at_once() -> None:
    site = Simulation(1, seed=1)
    site.start("b1")
    site.tick("b1")
    assert {view.slots for view in site.views()} == {("b1",)}


def test_brokers_that_start_together_issue_one_view() -> None:
    site = whole(5)
    assert [(issuer, view.slots) for issuer, view in site.issued] == [("b1", ("b1", "b2", "b3", "b4", "b5"))]


def test_after_a_partition_the_higher_view_wins_and_the_next_one_is_above_both() -> None:
    site = whole(4)
    site.cuts = {frozenset({one, other}) for one in ("b1", "b2") for other in ("b3", "b4")}
    site.run(AGREED_S)
    assert {view.slots for view in site.views()} == {("b1", "b2"), ("b3", "b4")}
    highest = max(view.number for view in site.views())
    site.check_agreement()
    (agreed,) = site.views()
    assert (agreed.slots, agreed.number > highest) == (("b1", "b2", "b3", "b4"), True)


def test_a_broker_that_leaves_is_out_of_the_view_without_waiting_and_does_not_issue_it() -> None:
    site = whole()
    site.leave("b1")
    site.run(2 * BEAT_S)
    assert {view.slots for view in site.views()} == {("b2", "b3")}
    assert site.issued[-1][0] == "b2"
    site.crash("b1")
    site.start("b1")
    site.check_agreement()
    assert {view.slots for view in site.views()} == {("b1", "b2", "b3")}


def test_a_site_that_restarts_as_a_whole_goes_on_above_every_number_it_had() -> None:
    """Other sites remember its last view and take over only higher ones."""
    site = whole()
    for _ in range(20):
        site.crash("b3")
        site.run(AGREED_S)
        site.start("b3")
        site.run(AGREED_S)
    (before,) = site.views()
    for slot in site.slots:
        site.crash(slot)
    site.now += 1
    site.start("b2")
    site.check_agreement()
    (after,) = site.views()
    assert (after.slots, after.number > before.number) == (("b2",), True)


@given(st.permutations([View(1, ("b1",)), View(1, ("b2",)), View(1, ("b1", "b2")), View(0, ("b3",)), View(2, ())]), st.data())
def test_whatever_the_order_of_offers_the_same_view_is_kept(offers: list[View], data: st.DataObject) -> None:
    """Equal numbers are decided the same way everywhere; what is not higher changes nothing."""
    broker = Membership("b1", ["b1", "b2"], 0.0, TIMING)
    for view in (*offers, *data.draw(st.lists(st.sampled_from(offers)))):
        before = broker.view
        assert broker.offer(view) == (broker.view != before)
        assert (broker.view.number, broker.view.slots) >= (before.number, before.slots)
    assert broker.view == View(2, ())


def test_frames_from_slots_that_are_not_configured_mean_nothing() -> None:
    broker = Membership("b1", ["b1", "b2"], 0.0, TIMING)
    broker.heard("b9", 0.0)
    broker.link_lost("b9")
    broker.rejoin("b9", 0.0)
    assert broker.alive(0.0) == ("b1",)


def alive_over_time(broker: Membership, until_s: float) -> Iterator[tuple[float, tuple[str, ...]]]:
    for n in range(int(until_s * 100)):
        yield n / 100, broker.alive(n / 100)


@pytest.mark.parametrize(("is_suspected", "limit_s"), [(False, TIMING.dead_s), (True, TIMING.suspect_s)])
def test_a_slot_is_alive_for_exactly_as_long_as_the_rule_says(is_suspected: bool, limit_s: float) -> None:
    broker = Membership("b1", ["b1", "b2"], 0.0, TIMING)
    broker.heard("b2", 0.0)
    if is_suspected:
        broker.link_lost("b2")
    last = max(now for now, alive in alive_over_time(broker, 4.0) if alive == ("b1", "b2"))
    assert last == pytest.approx(limit_s)
    broker.heard("b2", 4.0)
    assert broker.alive(4.0 + TIMING.dead_s) == ("b1", "b2")


@pytest.mark.parametrize("shares", [(0, 0, 0), (256, 256)])
def test_a_view_in_which_nobody_owns_anything_or_a_share_is_missing_is_passed_over(shares: tuple[int, ...]) -> None:
    site = whole()
    (agreed,) = site.views()
    assert not site.lives["b2"].offer(View(agreed.number + 1, agreed.slots, shares))
    assert site.views() == {agreed}


def shares_of(site: Simulation, slot: str, since: int = 0) -> list[int]:
    """Returns the shares that `slot` had in the views that were issued since, one after the other."""
    found = [view.share_of[slot] for _, view in site.issued[since:] if slot in view.slots]
    return [share for share, before in zip(found, [None, *found], strict=False) if share != before]


def shares_of_a_new_process(slot: str) -> list[int]:
    """Returns the shares of `slot`, whose process had begun to leave, ended before it was out, and is started again."""
    site = whole(3, steps=4)
    site.stuck = {"b3"}
    site.leave(slot)
    site.run(BEAT_S)
    site.crash(slot)
    since = len(site.issued)
    site.start(slot)
    site.stuck = set()
    site.check_agreement()
    return shares_of(site, slot, since)


def test_who_comes_to_a_view_begins_with_nothing_and_grows_in_steps() -> None:
    """DPS-15."""
    site = whole(3, steps=4)
    site.crash("b2")
    site.run(AGREED_S)
    since = len(site.issued)
    site.start("b2")
    site.check_agreement()
    assert shares_of(site, "b2", since) == [0, 64, 128, 192, 256]
    assert {view.goal_of["b2"] for _, view in site.issued[since:]} == {256}


def test_who_leaves_shrinks_in_steps_and_is_out_when_it_has_nothing() -> None:
    """DPS-15: also the lowest one, whose leaving the next one looks after."""
    site = whole(3, steps=4)
    since = len(site.issued)
    site.leave("b1")
    site.check_agreement()
    assert shares_of(site, "b1", since) == [256, 192, 128, 64]
    assert {view.slots for view in site.views()} == {("b2", "b3")}


def test_no_step_is_taken_while_one_broker_is_not_done_with_the_last() -> None:
    """DPS-15: and they go on when it is."""
    site = whole(3, steps=4)
    site.crash("b2")
    site.run(AGREED_S)
    site.stuck = {"b3"}
    site.start("b2")
    site.run(AGREED_S + STEPPED_S)
    assert {view.share_of["b2"] for view in site.views()} == {0}
    site.stuck = set()
    site.check_agreement()
    assert {view.share_of["b2"] for view in site.views()} == {256}


def test_who_leaves_for_too_long_is_out_at_once() -> None:
    site = whole(3, steps=4)
    site.stuck = {"b3"}
    site.leave("b2")
    site.run(LEAVE_S - 2 * BEAT_S)
    assert all("b2" in view.slots for view in site.views())
    site.run(4 * BEAT_S)
    assert {view.slots for view in site.views()} == {("b1", "b3")}


@pytest.mark.parametrize("steps_before", [1, 2, 3])
def test_when_the_issuing_broker_dies_the_next_one_goes_on_where_it_was(steps_before: int) -> None:
    """DPS-15: the view says where it goes."""
    site = whole(4, steps=4)
    site.crash("b3")
    site.run(AGREED_S)
    site.start("b3")
    while site.issued[-1][1].share_of.get("b3", 0) < 64 * steps_before:
        site.run(BEAT_S)
    since = len(site.issued)
    site.crash("b1")
    site.check_agreement()
    shares = shares_of(site, "b3", since)
    assert shares == sorted(shares)
    assert shares[-1] == 256
    assert {issuer for issuer, _ in site.issued[since:]} == {"b2"}


def test_a_broker_that_dies_is_out_at_once_whatever_step_is_taken() -> None:
    site = whole(4, steps=4)
    site.leave("b4")
    site.stuck = {"b2"}
    site.crash("b3")
    site.run(TIMING.suspect_s + 2 * BEAT_S)
    assert all("b3" not in view.slots and "b4" in view.slots for view in site.views())


def test_where_somebody_knows_nothing_of_shares_there_are_no_steps() -> None:
    """A site in which one node is of an older version: it would reckon with full shares."""
    site = whole(3, steps=4)
    site.crash("b2")
    site.run(AGREED_S)
    site.knows = False
    site.start("b2")
    site.check_agreement()
    site.leave("b3")
    site.check_agreement()
    assert all(not view.shares and not view.goal for _, view in site.issued)


def test_a_process_that_comes_back_before_its_slot_is_out_begins_anew() -> None:
    """It left, was stopped, and is started again: its place in the view was that of the one before."""
    assert shares_of_a_new_process("b2")[-5:] == [0, 64, 128, 192, 256]


def test_a_process_that_comes_back_before_its_slot_is_out_begins_anew_also_when_it_is_the_lowest() -> None:
    """DPS-15: it ended while it left. The new process took that over, gave away what was left, and stayed in the view with nothing."""
    assert shares_of_a_new_process("b1")[-5:] == [0, 64, 128, 192, 256]


@pytest.mark.parametrize("slot", ["b1", "b2"])
def test_a_process_that_is_started_in_place_of_one_that_was_to_have_nothing_begins_anew(slot: str) -> None:
    """DPS-15: a plan had left it nothing, and it was killed and started again before it was missed (docs/ring.md)."""
    site = whole(3, steps=4)
    site.lives["b3"].aim({slot: 0})
    site.run(STEPPED_S)
    assert {view.share_of[slot] for view in site.views()} == {0}
    site.crash(slot)
    since = len(site.issued)
    site.start(slot)
    site.check_agreement()
    assert shares_of(site, slot, since)[-5:] == [0, 64, 128, 192, 256]


def started_anew(site: Simulation, *slots: str) -> None:
    """Ends and starts `slots` together. Others, such as aggregators, tell them the newest view that there was."""
    for slot in slots:
        site.crash(slot)
    for slot in slots:
        site.start(slot)
    site.remind()


@pytest.mark.parametrize("leaving", [("b1",), ("b3",), ("b1", "b3"), ("b2", "b3"), ("b1", "b2", "b3")])
@pytest.mark.parametrize("leaving_s", [BEAT_S, 3.0])
@pytest.mark.parametrize("steps", [1, 4])
def test_where_all_are_started_again_in_the_steps_of_some_that_left_nobody_stays_without_a_share(
    leaving: tuple[str, ...], leaving_s: float, steps: int
) -> None:
    """DPS-15: nobody has met the former processes. The view that others remember left them nothing, as a plan of an operator does."""
    site = whole(3, steps=steps)
    site.stuck = {"b2"}
    for slot in leaving:
        site.leave(slot)
    site.run(leaving_s)
    site.stuck = set()
    started_anew(site, "b1", "b2", "b3")
    site.check_agreement()
    assert [view.share_of for view in site.views()] == [dict.fromkeys(site.slots, 256)]


def test_where_who_issues_views_is_new_one_that_left_and_is_back_stays_not_without_a_share_though_another_one_knows_of_it() -> None:
    """DPS-15: b3 knows that b1 was started again, and leaves it to b2 to put it out. For b2, which is new, b1 is there and issues views."""
    site = whole(3, steps=4)
    site.stuck = {"b3"}
    site.leave("b1")
    site.run(BEAT_S)
    site.stuck = set()
    started_anew(site, "b1", "b2")
    site.check_agreement()
    assert [view.share_of for view in site.views()] == [dict.fromkeys(site.slots, 256)]
    site.crash("b2")
    since = len(site.issued)
    site.run(AGREED_S)
    assert {issuer for issuer, _ in site.issued[since:]} == {"b1"}, "b3 takes it for over no more"


@pytest.mark.parametrize("steps", [1, 4])
def test_one_that_left_and_is_back_is_not_put_out_much_later_by_who_has_heard_it_leave(steps: int) -> None:
    """DPS-19: without copies. Who issued views was new, and let it go on; when that one died, clients heard of a split for its sake."""
    site = whole(3, steps=steps)
    site.crash("b1")
    site.leave("b3")
    started_anew(site, "b1", "b3")
    site.check_agreement()
    since = len(site.issued)
    site.crash("b1")
    site.check_agreement()
    assert [view.slots for _, view in site.issued[since:]] == [("b2", "b3")]


def test_who_comes_does_not_put_out_one_that_left_and_is_back_and_that_those_in_the_view_have_kept() -> None:
    """DPS-19: without copies. It heard it leave from outside the view, and the others have been started again since."""
    broker = Membership("b1", ["b1", "b2", "b3"], 0.0, TIMING)
    broker.offer(View(1, ("b2", "b3")))
    broker.heard("b3", 3.0)
    broker.leave("b3", 3.0)
    broker.rejoin("b3", 3.1)
    kept = View(2, ("b1", "b2", "b3"), (0, 256, 256), (256, 256, 256))
    assert broker.offer(kept)
    for slot in kept.slots:
        broker.heard(slot, 4.0)
        broker.told(slot, 1, knows=True)
    assert not broker.tick(4.0)
    assert broker.view == kept


def test_a_plan_that_comes_after_a_process_has_begun_anew_is_kept() -> None:
    """What an operator wants of a process holds for it, whatever a former one was to have."""
    site = whole(3, steps=4)
    site.lives["b1"].aim({"b2": 0})
    site.run(STEPPED_S)
    started_anew(site, "b1", "b3")
    site.check_agreement()
    assert [view.share_of for view in site.views()] == [{"b1": 256, "b2": 0, "b3": 256}], "b2 is still the one for which it was meant"
    started_anew(site, "b1", "b2", "b3")
    site.check_agreement()
    assert [view.share_of for view in site.views()] == [dict.fromkeys(site.slots, 256)]
    site.lives["b1"].aim({"b2": 0})
    site.check_agreement()
    assert [view.share_of for view in site.views()] == [{"b1": 256, "b2": 0, "b3": 256}]


def test_who_left_and_is_back_is_not_put_out_when_another_broker_begins_to_issue() -> None:
    """One that does not issue forgets, too, that a process was over, when its slot is out of the view."""
    site = whole(3, steps=4)
    site.leave("b3")
    site.check_agreement()
    site.crash("b3")
    site.start("b3")
    site.check_agreement()
    since = len(site.issued)
    site.leave("b1")
    site.check_agreement()
    assert all("b3" in view.slots for _, view in site.issued[since:])


def test_who_is_new_takes_nobody_for_an_older_version_who_has_not_called_yet() -> None:
    """DPS-15: started again before it was missed, it gave everybody full shares. Nobody had a link to it by which topics could go to it."""
    view = View(1, ("b1", "b2", "b3"), (0, 256, 224), (0, 256, 0))
    broker = Membership("b1", view.slots, 0.0, TIMING, steps=8)
    broker.told("b1", 0, knows=True)
    broker.offer(view)

    def hear(now: float) -> bool:
        broker.heard("b2", now)
        broker.heard("b3", now)
        return broker.tick(now)

    assert not hear(0.01), "they have answered, and will call"
    broker.told("b2", 1, knows=True)
    assert not hear(0.02)
    broker.told("b3", 1, knows=True)
    broker.told("b1", 1, knows=True)
    broker.leave("b3", 0.03)
    assert hear(0.03)
    assert broker.view.share_of == {"b1": 0, "b2": 256, "b3": 192}


def test_who_is_new_does_not_wait_for_ever_for_one_that_does_not_call() -> None:
    broker = Membership("b1", ["b1", "b2"], 0.0, TIMING, steps=8)
    broker.told("b1", 0, knows=True)
    broker.offer(View(1, ("b1", "b2"), (0, 256), (0, 256)))
    for now in (TIMING.grace_s, TIMING.grace_s + TIMING.suspect_s):
        broker.heard("b2", now)
        assert broker.tick(now) is (now > TIMING.grace_s), "its link to the former process may be half open for as long as it is not missed"
    assert broker.view == View(2, ("b1", "b2"))


@pytest.mark.parametrize("me", ["b1", "b2"])
def test_who_is_new_leaves_nobody_out_of_a_view_who_takes_the_former_process_for_alive(me: str) -> None:
    """DPS-8: it had lost its power. One that had not noticed that yet refused it, and was out of the view 11 ms before it did."""
    view = View(1, ("b1", "b2", "b3"))
    late = "b1" if me == "b2" else "b2"
    broker = Membership(me, view.slots, 0.0, TIMING)

    def hear(now: float) -> bool:
        broker.heard("b3", now)
        broker.offer(view)
        return broker.tick(now)

    assert not any(hear(n * BEAT_S) for n in range(1, int((TIMING.grace_s + TIMING.suspect_s) / BEAT_S)))
    broker.heard(late, TIMING.grace_s + TIMING.suspect_s - BEAT_S)
    assert not hear(TIMING.grace_s + TIMING.suspect_s)
    assert broker.view == view


@pytest.mark.parametrize("me", ["b1", "b2"])
def test_who_is_new_and_knows_no_view_issues_none_beside_those_who_take_the_former_process_for_alive(me: str) -> None:
    """DPS-19: it had lost its power, and nobody told it the view. It took the whole ring 0.2 s before it was let in, and told a split."""
    view = View(1, ("b1", "b2", "b3"))
    broker = Membership(me, view.slots, 0.0, TIMING, base=1000)
    is_found_s = TIMING.grace_s + TIMING.suspect_s - BEAT_S

    def hear(now: float) -> bool:
        broker.heard("b3", now)  # it is as new, and knows no view either
        return broker.tick(now)

    assert not any(hear(n * BEAT_S) for n in range(1, int(is_found_s / BEAT_S) + 1))
    broker.heard("b1" if me == "b2" else "b2", is_found_s)
    broker.offer(view)
    assert not hear(is_found_s)
    assert not hear(TIMING.grace_s + TIMING.suspect_s)
    assert broker.view == view


def test_who_is_new_and_knows_the_view_waits_for_nobody_who_is_not_in_it() -> None:
    """A slot without a process costs no time when a broker dies."""
    broker = Membership("b1", ["b1", "b2", "b3"], 0.0, TIMING)
    broker.offer(View(1, ("b1", "b2")))
    broker.heard("b2", 0.1)
    assert not broker.tick(TIMING.grace_s)
    assert broker.tick(TIMING.dead_s + 0.2)
    assert broker.view == View(2, ("b1",))


def test_who_is_new_leaves_out_in_time_whom_it_never_hears() -> None:
    """DPS-31: two brokers died, and one of them is back."""
    broker = Membership("b2", ["b1", "b2", "b3"], 0.0, TIMING)
    broker.offer(View(1, ("b1", "b2", "b3")))
    for now in (TIMING.grace_s, TIMING.grace_s + TIMING.suspect_s):
        broker.heard("b3", now)
        broker.tick(now)
    assert broker.view == View(2, ("b2", "b3"))


def test_a_slot_whose_process_was_replaced_is_out_of_the_next_view_also_when_it_is_the_lowest() -> None:
    """DPS-18: the new process does not know what the former one has let out."""
    broker = Membership("b2", ["b1", "b2"], 0.0, Timing())
    broker.offer(View(1, ("b1", "b2")))
    broker.heard("b1", 0.1)
    assert not broker.tick(0.2)
    broker.replaced("b1", 0.3)
    assert broker.tick(0.3)
    assert broker.view == View(2, ("b2",))
    broker.heard("b1", 3.0)
    broker.told("b1", 2, knows=False)
    assert not broker.is_leaving("b1")


def test_a_slot_whose_process_was_replaced_comes_after_its_grace_as_any_other_does() -> None:
    """DPS-18: it was there in the next view, before all others had met the new process. They took it for one that was over."""
    broker = Membership("b1", ["b1", "b2"], 0.0, TIMING)
    broker.offer(View(1, ("b1", "b2")))

    def hear(now: float) -> bool:
        broker.heard("b2", now)
        broker.told("b2", broker.view.number, knows=False)
        return broker.tick(now)

    assert not hear(10.0)
    broker.replaced("b2", 10.1)
    assert hear(10.1)
    assert not hear(10.1 + TIMING.grace_s / 2)
    assert not hear(10.0 + TIMING.grace_s)
    assert hear(10.2 + TIMING.grace_s)
    assert broker.view == View(3, ("b1", "b2"))


def test_where_the_lowest_slot_does_not_know_that_a_process_was_replaced_another_one_puts_it_out_once() -> None:
    """DPS-18: the lowest one is new itself, so it has never heard of the former process. The owner waited for its heir for ever."""
    broker = Membership("b2", ["b1", "b2", "b3"], 0.0, TIMING)
    broker.told("b1", 1, knows=False)
    broker.offer(View(1, ("b1", "b2", "b3")))

    def hear(now: float) -> bool:
        broker.heard("b1", now)
        broker.heard("b3", now)
        return broker.tick(now)

    assert not hear(0.1)
    broker.replaced("b3", 0.2)
    assert not hear(0.2 + TIMING.suspect_s), "whoever issues views may know it"
    assert hear(0.3 + TIMING.suspect_s)
    assert broker.view == View(2, ("b1", "b2"))
    assert not hear(0.4 + TIMING.suspect_s)
    assert broker.offer(View(3, ("b1", "b2", "b3")))
    assert not hear(9.0), "it is back as a new process"


def test_who_is_not_in_the_view_puts_nobody_out() -> None:
    broker = Membership("b3", ["b1", "b2", "b3"], 0.0, TIMING)
    broker.offer(View(1, ("b1", "b2")))
    broker.replaced("b2", 0.0)
    for slot in ("b1", "b2"):
        broker.heard(slot, 1.5)
    assert not broker.tick(1.5)


def test_the_lowest_slot_that_others_left_out_comes_back_to_their_view_after_its_grace_as_any_other_does() -> None:
    """DPS-19: by then the others know that it has served topics while they did."""
    b1, b2 = (Membership(slot, ["b1", "b2"], 0.0, TIMING) for slot in ("b1", "b2"))
    for broker, other in ((b1, "b2"), (b2, "b1")):
        broker.offer(View(1, ("b1", "b2")))
        broker.told(other, 1, knows=False)
        broker.heard(other, 9.9)
        broker.offer(View(2, ("b2",)))
        assert not broker.tick(10.0)
        broker.heard(other, 10.1)
    at_s = 10.0 + TIMING.grace_s
    for broker, other in ((b1, "b2"), (b2, "b1")):
        broker.heard(other, at_s)
        assert not broker.tick(at_s - 0.01)
    assert (b1.tick(at_s), b2.tick(at_s)) == (False, True), "it is taken in by those who are there"
    assert b2.view == View(3, ("b1", "b2"))


def test_the_lowest_slot_that_comes_issues_no_view_beside_one_of_those_who_are_there() -> None:
    """DPS-13, DPS-17: it came by a view of its own, beside a step: two views of one number, and one of them was overruled."""
    growing = View(7, ("b2", "b3"), (256, 32), (256, 256))
    lives = {slot: Membership(slot, ["b1", "b2", "b3"], 0.0, TIMING, steps=8) for slot in ("b1", "b2")}
    for me, broker in lives.items():
        broker.offer(growing)
        for slot in ("b1", "b2", "b3"):
            broker.told(slot, 7, knows=True)
            broker.heard(slot, TIMING.grace_s if slot != me else 0.0)
    lives["b2"].heard("b1", 0.1)  # it finds the others a moment after its start
    assert {broker.issuer(TIMING.grace_s) for broker in lives.values()} == {"b2"}
    assert [slot for slot, broker in lives.items() if broker.tick(TIMING.grace_s)] == ["b2"]
    for broker in lives.values():
        broker.offer(View(9, ("b1", "b2", "b3"), (0, 256, 256), (256, 256, 256)))
    assert {broker.issuer(TIMING.grace_s) for broker in lives.values()} == {"b1"}, "from then on it issues them"


def test_the_lowest_slot_that_comes_to_those_of_an_older_version_comes_by_its_own_view() -> None:
    """They leave it to that slot as soon as it may be in the view, so nobody would issue any."""
    broker = Membership("b1", ["b1", "b2"], 0.0, TIMING)
    broker.offer(View(7, ("b2",)))
    broker.met("b2", is_older=True)
    broker.told("b2", 7, knows=True)
    broker.heard("b2", TIMING.grace_s)
    assert broker.tick(TIMING.grace_s)
    assert broker.view.slots == ("b1", "b2")
    broker.offer(View(9, ("b2",)))
    broker.met("b2", is_older=False)
    broker.heard("b2", 3 * TIMING.grace_s)
    assert not broker.tick(3 * TIMING.grace_s)
    assert broker.issuer(3 * TIMING.grace_s) == "b2"


def test_who_comes_issues_views_where_nobody_of_the_view_is_alive() -> None:
    """DPS-8: all who were in it died."""
    broker = Membership("b3", ["b1", "b2", "b3"], 0.0, TIMING)
    broker.offer(View(7, ("b1", "b2")))
    assert not broker.tick(TIMING.grace_s + TIMING.suspect_s - 0.1)
    assert broker.tick(TIMING.grace_s + TIMING.suspect_s)
    assert broker.view == View(8, ("b3",))


def test_one_that_has_left_does_not_come_back_to_the_view_because_a_newcomer_hears_it_and_it_has_not_called() -> None:
    """DPS-15: it leaves before it has called the newcomer, which does not know that. So it got topics again, and ended with them."""
    broker = Membership("b1", ["b1", "b2", "b3"], 0.0, TIMING)
    broker.offer(View(1, ("b2", "b3")))
    broker.offer(View(2, ("b3",)))
    broker.told("b3", 2, knows=True)

    def hear(now: float) -> bool:
        broker.heard("b2", now)
        broker.heard("b3", now)
        return broker.tick(now)

    assert not hear(0.0)
    assert broker.offer(View(3, ("b1", "b3")))
    assert not hear(TIMING.grace_s)
    broker.told("b2", 0, knows=True)
    assert hear(TIMING.grace_s + 0.1), "one that says something of itself may come"
    assert broker.view.slots == ("b1", "b2", "b3")


@pytest.mark.parametrize("count", [3, 4, 5])
@pytest.mark.parametrize("steps", [1, 4])
def test_of_two_that_do_not_hear_each_other_the_lower_one_stays_and_nobody_is_outbid(count: int, steps: int) -> None:
    """DPS-18: an owner that alone does not reach its heir would hold its topics for ever. When they hear each other, both are there."""
    for seed, (one, other) in enumerate(combinations([f"b{n}" for n in range(1, count + 1)], 2)):
        site = Simulation(count, seed, steps)
        site.tells = True
        for slot in site.slots:
            site.start(slot)
        site.run(20)
        site.cut({frozenset({one, other})})
        site.run(TIMING.dead_s + 4 * BEAT_S)
        views, issued = {broker.view for broker in site.lives.values()}, len(site.issued)
        assert {view.slots for view in views} == {tuple(slot for slot in site.slots if slot != other)}
        site.run(40)
        assert len(site.issued) == issued, "it is settled"
        site.cut(set())
        site.run(20)
        assert {broker.view.slots for broker in site.lives.values()} == {tuple(site.slots)}


@pytest.mark.parametrize("steps", [1, 4])
def test_who_comes_and_does_not_hear_one_of_the_view_waits_outside(steps: int) -> None:
    """DPS-15, DPS-18: also where it is the lower one. It took the place of a broker that had topics, whose followers heard of a loss."""
    site = Simulation(3, 1, steps)
    site.tells = True
    site.start("b2")
    site.start("b3")
    site.run(20)
    site.cut({frozenset({"b1", "b3"})})
    site.start("b1")
    site.run(20)
    assert {broker.view.slots for broker in site.lives.values()} == {("b2", "b3")}
    assert not [view for _, view in site.issued if "b1" in view.slots]
    site.cut(set())
    site.run(20)
    assert {broker.view.slots for broker in site.lives.values()} == {("b1", "b2", "b3")}


def test_who_is_apart_from_one_that_is_out_itself_may_stay() -> None:
    """DPS-18: as few as possible are left out."""
    site = Simulation(4, 1)
    site.tells = True
    for slot in site.slots:
        site.start(slot)
    site.run(20)
    site.cut({frozenset({"b2", "b3"}), frozenset({"b3", "b4"})})
    site.run(10)
    assert {broker.view.slots for broker in site.lives.values()} == {("b1", "b2", "b4")}


def test_one_that_hears_nobody_for_a_moment_leaves_nobody_out() -> None:
    """DPS-18: two must say the same of each other. So a process that stood still does not cost others their topics."""
    broker = Membership("b1", ["b1", "b2", "b3"], 0.0, TIMING)
    broker.offer(View(1, ("b1", "b2", "b3")))
    for slot in ("b2", "b3"):
        broker.heard(slot, 9.9)
    broker.told("b2", 1, knows=True, unheard=["b1", "b3"])
    broker.told("b3", 1, knows=True, unheard=[])
    assert not broker.tick(10.0)
    broker.told("b3", 1, knows=True, unheard=["b2"])
    assert broker.tick(10.0)
    assert broker.view.slots == ("b1", "b2")


def test_where_brokers_do_not_say_whom_they_hear_nobody_else_hears_for_us() -> None:
    """Those of an older version say nothing: who is silent is dead, as it was."""
    broker = Membership("b2", ["b1", "b2", "b3"], 0.0, TIMING)
    broker.offer(View(1, ("b1", "b2", "b3")))
    broker.heard("b3", 9.9)
    broker.told("b3", 1, knows=True)
    assert broker.tick(10.0)
    assert broker.view.slots == ("b2", "b3")


def test_one_that_leaves_before_it_is_in_the_view_changes_nothing() -> None:
    """DPS-15, DPS-18: it was started and stopped at once. It had not heard one that had not heard it, and that one was left out."""
    broker = Membership("b1", ["b1", "b2", "b3"], 0.0, TIMING, steps=4)
    broker.offer(View(1, ("b1", "b3")))
    broker.told("b1", 1, knows=True, unheard=[])
    for slot in ("b2", "b3"):
        broker.heard(slot, 9.9)
    broker.told("b3", 1, knows=True, unheard=["b2"])
    broker.leave("b2", 9.9)
    assert not broker.tick(10.0), "it has not said that it knows of steps"
    broker.told("b2", 0, knows=True, unheard=["b3"])
    assert not broker.tick(10.0), "nor whom it hears"


def test_who_is_another_process_than_was_heard_waits_as_long_as_any_that_comes() -> None:
    """DPS-15: the former one was asked to stop before it had called. Topics went to the new one before all had found it, and got lost."""
    broker = Membership("b1", ["b1", "b2"], 0.0, TIMING, steps=1)
    broker.offer(View(1, ("b1",)))
    broker.told("b1", 1, knows=True)

    def hear(now: float) -> bool:
        broker.heard("b2", now)
        return broker.tick(now)

    assert not hear(0.1)
    broker.told("b2", 0, knows=True)
    broker.rejoin("b2", 0.0)
    assert not hear(2.0)
    assert not hear(2.0 + TIMING.grace_s), "it has not called yet"
    broker.told("b2", 0, knows=True)
    assert not hear(TIMING.grace_s + 0.2)
    assert hear(2.0 + TIMING.grace_s + 0.1)
