"""Brokers of one site, with copies, as one of them meets the processes of the others."""

from types import SimpleNamespace
from typing import Any

import pytest

from broker.mesh import Mesh
from broker.options import BrokerOptions
from broker.window_bounds import WindowBounds
from infra.kernel.frames import HIGHEST_TAG, Hello, Settled, View
from infra.kernel.membership import Timing
from infra.kernel.topics import Kind
from infra.runtime.link import Link
from tests.support.recording_wire import RecordingWire

SLOTS = ("b1", "b2", "b3")
TIMING = Timing()
BEAT_S = 0.5
FULL, LEFT = View(1, SLOTS), View(2, ("b1", "b2"))
ANEW, GROWN = View(3, SLOTS, (256, 256, 0), (256, 256, 256)), View(4, SLOTS)


def a_node() -> Any:
    """Returns what a mesh needs to know of a node that dials nobody."""
    return SimpleNamespace(now_s=0.0, links=set())


class OneMesh:
    """The brokers of a site as b2 sees them; b1 issues views.

    - `views`: those that hold here, one after the other.
    - `let_in`: whether this process may have served something under the one before each.
    """

    def __init__(self, *slots: str, rows: int = 0) -> None:
        self.node = a_node()
        self.views: list[View] = []
        self.let_in: list[bool] = []
        options = BrokerOptions(
            site="sto",
            slot="b2",
            sites={"sto": {slot: f"127.0.0.1:{n}" for n, slot in enumerate(slots or SLOTS, 1)}},
            window={Kind.PLAYLIST: WindowBounds(copies=1)},
        )
        self.mesh = Mesh(options, self.node, 0, self.follow, lambda: rows)

    def follow(self) -> None:
        self.views.append(self.mesh.view)
        self.let_in.append(self.mesh.is_let_in)

    def meet(self, slot: str, process: int, view: View = FULL) -> None:
        """Has a `process` call, whose hello names `view`. It is linked in the other direction, too."""
        link = Link(RecordingWire(), Hello("broker", slot, "sto", process, 1, view, tags=HIGHEST_TAG), None, self.node.now_s, Link.flush)
        self.mesh.client.links[slot] = link
        self.mesh.join(link)
        self.mesh.offer(view)

    def go_on(self, seconds: float, *heard: str) -> None:
        """Lets time pass in which some are heard."""
        end_s = self.node.now_s + seconds
        while self.node.now_s < end_s:
            self.node.now_s += BEAT_S
            for slot in heard:
                self.mesh.heard(slot)
            self.mesh.tick()


def linked() -> OneMesh:
    """Returns the brokers of a site where each has met the first process of each, a while ago."""
    one = OneMesh()
    one.meet("b1", 1)
    one.meet("b3", 3)
    one.go_on(5.0, "b1", "b3")
    assert one.views == [FULL]
    return one


@pytest.mark.parametrize("views", [[LEFT, ANEW, GROWN], [LEFT, ANEW], [ANEW]])
def test_who_meets_a_new_process_when_that_has_come_into_the_view_does_not_take_it_for_one_that_was_just_replaced(
    views: list[View],
) -> None:
    """DPS-18, DPS-19: it was put out once more, 1 s later, and clients heard of a split where there was none."""
    one = linked()
    one.mesh.lost("b3")
    for view in views:
        one.go_on(BEAT_S, "b1")
        one.mesh.offer(view)
    one.meet("b3", 33, views[-1])
    one.go_on(2 * TIMING.grace_s, "b1", "b3")
    assert one.views == [FULL, *views]


def test_who_meets_it_with_the_view_into_which_it_came_does_not_either() -> None:
    """DPS-18: somebody who was cut off hears of that view from the new process itself."""
    one = linked()
    one.mesh.lost("b3")
    one.meet("b3", 33, ANEW)
    one.go_on(2 * TIMING.grace_s, "b1", "b3")
    assert one.views == [FULL, ANEW]


@pytest.mark.parametrize("views", [[], [LEFT, GROWN]])
def test_who_has_met_the_process_in_the_view_puts_it_out_when_another_one_comes(views: list[View]) -> None:
    """DPS-18: also one that was out of a view, and came back as the same process. Whoever issues views may not know that it is over."""
    one = linked()
    for view in views:
        one.go_on(BEAT_S, "b1", "b3")
        one.mesh.offer(view)
    one.meet("b3", 33)
    one.go_on(TIMING.suspect_s + BEAT_S, "b1", "b3")
    assert one.mesh.view.slots == LEFT.slots
    assert len(one.views) == len(views) + 2


def test_whom_a_link_that_is_half_open_names_is_not_the_one_that_has_come_into_the_view() -> None:
    """DPS-18: the former process lost its power, and nobody has noticed here by the time its slot is in the view again."""
    one = linked()
    one.mesh.offer(LEFT)
    one.go_on(TIMING.grace_s, "b1")
    one.mesh.offer(ANEW)
    one.meet("b3", 33, ANEW)
    one.go_on(2 * TIMING.grace_s, "b1", "b3")
    assert one.views == [FULL, LEFT, ANEW]


def test_a_process_of_a_slot_that_had_left_is_not_put_out_by_who_meets_it_late() -> None:
    """DPS-15: it stood as one that was to be out of the next view, and was, when the broker that issues views left."""
    one = linked()
    one.mesh.membership.leave("b3", one.node.now_s)
    one.mesh.lost("b3")
    one.mesh.offer(LEFT)
    one.go_on(TIMING.grace_s, "b1")
    one.mesh.offer(ANEW)
    one.mesh.offer(GROWN)
    one.meet("b3", 33, GROWN)
    one.go_on(TIMING.grace_s, "b1", "b3")
    one.mesh.membership.leave("b1", one.node.now_s)
    one.go_on(TIMING.grace_s, "b1", "b3")
    assert all("b3" in view.slots for view in one.views[2:])
    assert one.mesh.view.slots == ("b2", "b3")


@pytest.mark.parametrize("later", [[], [View(2, (*SLOTS, "b4"))]])
def test_who_was_in_the_view_by_an_earlier_process_has_served_nothing_under_it(later: list[View]) -> None:
    """DPS-19: an aggregator told it the view before another broker did, or another one followed. Clients heard of a split, and none was."""
    one = OneMesh(*SLOTS, "b4")
    one.mesh.offer(FULL)
    one.meet("b1", 1)
    one.meet("b3", 3)
    for view in later:
        one.mesh.offer(view)
    one.mesh.offer(View(5, ("b1", "b3")))
    one.go_on(TIMING.grace_s, "b1", "b3")
    one.mesh.offer(View(6, SLOTS))
    one.mesh.offer(View(7, ("b1", "b3")))
    assert one.let_in == [False] * (len(later) + 3) + [True]


@pytest.mark.parametrize("views", [[FULL], [View(1, SLOTS, (256, 0, 256), (256, 256, 256))], [View(1, ("b1", "b3")), View(2, SLOTS)]])
def test_who_came_to_a_site_or_began_with_it_has_served_something(views: list[View]) -> None:
    """DPS-19: nobody has put it out for a while, or all have met it, so nobody knows an earlier process."""
    one = OneMesh()
    one.meet("b1", 1, View(0, ()))
    one.meet("b3", 3, View(0, ()))
    for view in views:
        one.mesh.offer(view)
    one.go_on(4.0 if views == [FULL] else BEAT_S, "b1", "b3")
    one.mesh.offer(View(5, ("b1", "b3")))
    assert one.let_in == [False] * len(views) + [True]


def test_who_was_out_of_a_view_may_be_in_the_next_one_by_an_earlier_process() -> None:
    """DPS-19: b1 takes that one for alive, and does not know of this one. When they meet, it puts it out. Clients heard of a split."""
    one = OneMesh()
    one.meet("b3", 3, View(1, ("b1", "b3")))
    for share in (0, 32):
        one.mesh.offer(View(2 + share, SLOTS, (256, share, 256), (256, 256, 256)))
        one.go_on(BEAT_S, "b3")
    one.meet("b1", 1, one.mesh.view)
    one.go_on(BEAT_S, "b1", "b3")
    one.mesh.offer(View(50, ("b1", "b3")))
    assert one.let_in == [False] * 4


def test_who_has_nothing_in_the_view_yet_has_come_into_it_when_all_who_are_there_have_met_it() -> None:
    """DPS-19: whoever knows an earlier process puts it out when they meet, and gives it nothing first."""
    one = OneMesh()
    one.meet("b3", 3, View(2, SLOTS, (256, 0, 256), (256, 256, 256)))
    one.go_on(BEAT_S, "b3")
    assert not one.mesh.is_let_in
    one.meet("b1", 1, one.mesh.view)
    one.go_on(BEAT_S, "b1", "b3")
    assert one.mesh.is_let_in


def test_who_is_alone_in_the_view_behind_one_without_it_is_let_in_only_where_it_has_issued_that_itself() -> None:
    """DPS-19: it may be told of one that was meant for an earlier process, by somebody who knows no better."""
    issuer, told = OneMesh(), OneMesh()
    for one in (issuer, told):
        for slot in ("b1", "b3"):
            one.meet(slot, int(slot[1:]), View(1, ("b1", "b3")))
            one.mesh.lost(slot)
    told.mesh.offer(View(5, ("b2",)))
    issuer.go_on(TIMING.grace_s)
    told.go_on(TIMING.grace_s)
    assert (issuer.mesh.view.slots, issuer.mesh.is_let_in) == (("b2",), True)
    assert (told.mesh.view.slots, told.mesh.is_let_in) == (("b2",), False)


def test_who_is_in_the_view_by_an_earlier_process_issues_none_before_others_can_have_put_it_out() -> None:
    """DPS-18, DPS-19: it took the next step of that one, in the moment in which b3 put it out. b3 was left out, and told of a split."""
    one = OneMesh()
    found = View(7, ("b2",), (128,), (256,))
    for slot in ("b1", "b3"):
        one.meet(slot, int(slot[1:]), found)
    one.mesh.settled(7, knows=True, taken=0)
    one.go_on(TIMING.grace_s, "b1", "b3")
    assert (one.views, one.mesh.issuer()) == ([found], None)
    one.go_on(TIMING.suspect_s + BEAT_S, "b1", "b3")
    assert one.mesh.view.slots == SLOTS, "nobody knows an earlier process, so it goes on in its place"


def test_who_is_in_the_view_by_an_earlier_process_does_not_let_others_wait_for_one_that_is_gone() -> None:
    """DPS-16: a young site of which one broker died, or was stopped, was without a view until all were let in."""
    one = OneMesh()
    for slot in ("b1", "b3"):
        one.meet(slot, int(slot[1:]), View(7, SLOTS))
    one.mesh.settled(7, knows=True, taken=0)
    one.go_on(TIMING.dead_s + BEAT_S, "b3")
    assert TIMING.dead_s + BEAT_S < TIMING.grace_s + TIMING.suspect_s
    assert one.mesh.view.slots == ("b2", "b3")


def replaced_as_it_came() -> OneMesh:
    """Returns the brokers of a site where b3 was started again when it had come into the view, with nothing yet; b1 does not know that."""
    one = linked()
    for view in (LEFT, ANEW):
        one.go_on(BEAT_S, "b1", "b3")
        one.mesh.offer(view)
    one.meet("b3", 33, ANEW)
    return one


@pytest.mark.parametrize("until_grown_s", [0.0, BEAT_S, TIMING.suspect_s, TIMING.grace_s])
def test_a_process_that_took_the_place_of_one_that_had_nothing_yet_keeps_the_share_that_it_is_given(until_grown_s: float) -> None:
    """DPS-18, DPS-19: it was put out when it had served topics, for the sake of the former one, and a split was told."""
    one = replaced_as_it_came()
    one.go_on(until_grown_s, "b1", "b3")
    one.mesh.offer(GROWN)
    one.go_on(2 * TIMING.grace_s, "b1", "b3")
    assert one.views == [FULL, LEFT, ANEW, GROWN]


def test_who_has_a_share_and_is_started_again_is_put_out_also_when_its_former_process_took_the_place_of_another_one() -> None:
    """DPS-18: what the one before has let out is not known to the last one."""
    one = replaced_as_it_came()
    one.mesh.offer(GROWN)
    one.meet("b3", 34, GROWN)
    one.go_on(2 * TIMING.suspect_s, "b1", "b3")
    assert one.mesh.view.slots == LEFT.slots


def test_who_issues_views_puts_out_a_process_that_took_the_place_of_one_that_had_nothing_yet() -> None:
    """DPS-18: it comes as any other does, when all have had the time to find it."""
    one = replaced_as_it_came()
    one.go_on(TIMING.dead_s + BEAT_S, "b3")
    assert one.mesh.view.slots == ("b2",)


def left_out() -> OneMesh:
    """Returns the brokers of a site of whom b2 has just been left out, so that it leaves nobody out in turn; then b1 falls silent."""
    one = OneMesh()
    one.meet("b1", 1)
    one.meet("b3", 3)
    one.mesh.offer(View(2, ("b1", "b3")))
    one.go_on(BEAT_S, "b3")
    return one


@pytest.mark.parametrize("slots", [("b2", "b3"), ("b3",)])
def test_who_is_out_of_the_view_and_meets_a_process_late_does_not_put_it_out_of_a_view_that_it_has_issued(slots: tuple[str, ...]) -> None:
    """DPS-19: the link took as long as that one waited."""
    one = left_out()
    one.go_on(TIMING.grace_s - BEAT_S, "b3")
    one.meet("b3", 33)
    one.go_on(BEAT_S, "b3")
    one.mesh.offer(View(9, slots))
    one.go_on(BEAT_S, "b3")
    assert one.mesh.view == View(9, slots)


def test_who_is_out_of_the_view_leaves_a_process_alone_that_counts_as_let_in_by_now() -> None:
    """DPS-19: b3 was started again, waited, and took b2 in. That one put it out for the sake of its former process: a split was told."""
    one = left_out()
    one.meet("b3", 33)
    one.go_on(TIMING.grace_s + TIMING.suspect_s, "b3")
    was_replaced = one.mesh.was_replaced("b3", one.mesh.view)
    one.mesh.offer(View(9, ("b2", "b3"), (0, 256), (256, 256)))
    one.go_on(2 * TIMING.grace_s, "b3")
    assert one.mesh.view.slots == ("b2", "b3")
    assert all("b3" in view.slots for view in one.views)
    assert not was_replaced, "what it says of a split by then is heard"


def test_who_is_out_of_the_view_takes_over_from_a_process_that_is_started_again_and_again() -> None:
    """DPS-18: none of them is there for long enough to be let in."""
    one = left_out()
    for process in (33, 34, 35):
        one.meet("b3", process)
        one.go_on(2.0, "b3")
    assert one.mesh.view.slots == ("b2",)


def test_who_issues_the_first_view_of_a_site_has_not_been_there_before() -> None:
    one = OneMesh()
    one.meet("b1", 1, View(0, ()))
    one.mesh.membership.leave("b1", 0.0)
    one.meet("b3", 3, View(0, ()))
    one.go_on(BEAT_S, "b3")
    assert (one.mesh.view.slots, one.mesh.is_let_in) == (("b2", "b3"), True)


def test_who_finds_its_slot_alone_in_the_view_accepts_nothing_while_an_earlier_process_may_be_meant() -> None:
    """DPS-19: it accepted at once, without an heir, was put out, and told nobody of a split, as one that has served nothing."""
    one = OneMesh()
    one.mesh.offer(View(1, ("b2",)))
    one.go_on(1.0)
    assert (one.mesh.is_let_in, one.mesh.ready()) == (False, "the site's view may mean an earlier process")
    one.go_on(TIMING.grace_s + TIMING.suspect_s)
    assert (one.mesh.view.slots, one.mesh.is_let_in, one.mesh.ready()) == (("b2",), True, None)


def test_who_may_be_in_the_view_by_an_earlier_process_accepts_nothing_while_it_does_not_hear_all_the_others() -> None:
    """DPS-19: it was cut off right after its start, and accepted events when others had left it out. No split was told when they met."""
    one = OneMesh()
    one.meet("b1", 1)
    one.meet("b3", 3)
    one.go_on(BEAT_S, "b1", "b3")
    assert (one.mesh.is_let_in, one.mesh.ready()) == (False, None)
    one.go_on(TIMING.suspect_s + BEAT_S, "b1")
    assert (one.mesh.may_mean_another(), one.mesh.ready()) == (True, "the site's view may mean an earlier process")
    one.mesh.heard("b3")
    assert (one.mesh.may_mean_another(), one.mesh.ready()) == (False, None)
    one.go_on(TIMING.dead_s, "b1")
    assert (one.mesh.view.slots, one.mesh.is_let_in, one.mesh.ready()) == (SLOTS, True, None), "b1 issues views, and hears b3"


@pytest.mark.parametrize("slots", [("b2",), SLOTS])
def test_who_is_the_only_one_of_its_site_or_has_issued_the_view_waits_for_nobody(slots: tuple[str, ...]) -> None:
    """DPS-15: where nobody else can be, and where nobody was in a view before."""
    one = OneMesh(*slots)
    if slots == SLOTS:
        one.go_on(TIMING.grace_s + TIMING.suspect_s)
    else:
        one.mesh.offer(View(1, ("b2",)))
    one.go_on(BEAT_S)
    assert (one.mesh.view.slots, one.mesh.ready()) == (("b2",), None)


@pytest.mark.parametrize(("rows", "share"), [(0, 32), (50_000, 32), (500_000, 8)])
def test_whoever_issues_views_takes_finer_steps_where_it_has_many_topics(rows: int, share: int) -> None:
    """DPS-15: it has its part of all that the site has."""
    one = OneMesh("b2", "b3", "b4", rows=rows)
    one.meet("b3", 3, View(0, ()))
    one.go_on(5.0, "b3")
    one.meet("b4", 4, View(0, ()))

    def settle() -> None:
        for slot in ("b3", "b4"):
            one.mesh.told(slot, Settled(one.mesh.view.number))
        one.mesh.settled(one.mesh.view.number, knows=True, taken=0)

    settle()
    one.go_on(TIMING.grace_s + BEAT_S, "b3", "b4")
    assert one.mesh.view.share_of == {"b2": 256, "b3": 256, "b4": 0}
    settle()
    assert one.mesh.view.share_of == {"b2": 256, "b3": 256, "b4": share}


def test_whoever_is_in_the_view_in_place_of_one_that_was_to_have_nothing_says_so_and_begins_anew() -> None:
    """DPS-15: b2 and b4 are new. The view that they find says what their former processes were to have, which left."""
    one = OneMesh("b2", "b3", "b4")
    found = View(7, ("b2", "b3", "b4"), (224, 256, 0), (0, 256, 0))
    for slot, process in (("b3", 3), ("b4", 4)):
        one.meet(slot, process, found)
    one.mesh.told("b3", Settled(7))
    one.mesh.told("b4", Settled(7, anew=7))
    one.mesh.settled(7, knows=True, taken=0)
    one.go_on(TIMING.grace_s + TIMING.suspect_s + BEAT_S, "b3", "b4")
    assert one.views[-1].goal_of == {"b2": 256, "b3": 256, "b4": 256}
    assert one.views[-1].share_of == found.share_of, "nobody loses or gets anything before the next step"
    for slot in ("b3", "b4"):
        one.mesh.told(slot, Settled(one.mesh.view.number))
    one.mesh.settled(one.mesh.view.number, knows=True, taken=0)
    assert one.mesh.view.share_of == {"b2": 256, "b3": 256, "b4": 32}
