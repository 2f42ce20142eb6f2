"""Who is asked about again, in what order, how many at a time, and what ends by it."""

from collections.abc import Callable, Iterator
from typing import Final

from accesspoint.authorization.rechecks import LOOKED_AT, MAX_OPEN, RETRY_S, Rechecks
from infra.kernel.errors import Refused
from infra.kernel.topics import Topic, user_topic
from tests.support.scripted_arbiter import ScriptedArbiter

BOB, CID = user_topic("bob"), user_topic("cid")
NO: Final = Refused("forbidden", "no")
LOST: Final = Refused("unavailable", "the link is gone")


class Watch:
    """Rechecks of users who all hold the feeds of bob and cid."""

    def __init__(self) -> None:
        self.arbiter = ScriptedArbiter()
        self.ended: list[tuple[str, dict[Topic, Refused]]] = []
        self.steps: list[Callable[[], None]] = []
        self.rechecks = Rechecks(
            self.arbiter, lambda user: [BOB, CID], lambda user, refused: self.ended.append((user, refused)), self.steps.append
        )

    def turn(self) -> None:
        steps, self.steps[:] = list(self.steps), []
        for step in steps:
            step()

    @property
    def asked(self) -> list[tuple[str, list[Topic]]]:
        return [(each.user, list(each.topics)) for each in self.arbiter.waiting]


def test_what_is_named_in_one_turn_is_asked_together_and_only_what_is_refused_ends() -> None:
    """AUTH-4, AUTH-5."""
    watch = Watch()
    watch.rechecks.want("ann", "bob", 0.0)
    watch.rechecks.want("ann", "cid", 0.0)
    watch.rechecks.want("eve", "bob", 0.0)
    assert watch.rechecks.concerns("ann")
    watch.turn()
    assert watch.asked == [("ann", [BOB, CID]), ("eve", [BOB])]
    watch.arbiter.answer([None, NO])
    watch.arbiter.answer()
    assert watch.ended == [("ann", {CID: NO})]
    assert watch.rechecks.is_idle
    assert watch.rechecks.asked == 3
    assert watch.steps == []


def test_all_that_a_user_holds_includes_what_is_of_one_owner_in_whatever_order() -> None:
    for owners in (["bob", None], [None, "bob"]):
        watch = Watch()
        for owner in owners:
            watch.rechecks.want("ann", owner, 0.0)
        watch.turn()
        assert watch.asked == [("ann", [BOB, CID])]


def test_who_is_named_comes_before_everybody_and_so_many_questions_are_open_at_a_time() -> None:
    watch = Watch()
    watch.rechecks.want_all([f"u{n}" for n in range(MAX_OPEN + 5)], 0.0)
    watch.rechecks.want("ann", "bob", 0.0)
    watch.turn()
    assert (len(watch.asked), watch.asked[0][0]) == (MAX_OPEN, "ann")
    assert watch.steps == []  # the answers wake it
    while watch.arbiter.waiting:
        watch.arbiter.answer()
        watch.turn()
    assert watch.rechecks.is_idle
    assert watch.rechecks.asked == 1 + 2 * (MAX_OPEN + 5)


def test_very_many_followers_are_looked_at_over_several_turns() -> None:
    watch = Watch()
    taken = 0

    def followers() -> Iterator[tuple[str, str]]:
        nonlocal taken
        for n in range(2 * LOOKED_AT):
            taken += 1
            yield f"u{n}", "bob"

    watch.rechecks.want_followers(followers(), 0.0)
    watch.turn()
    assert (taken, watch.asked) == (LOOKED_AT, [])
    assert watch.rechecks.concerns("somebody")  # they may be among those that are not found yet
    watch.turn()
    watch.turn()
    assert (taken, len(watch.asked)) == (2 * LOOKED_AT, MAX_OPEN)


def test_after_a_failure_all_of_the_user_is_asked_again_but_not_at_once() -> None:
    watch = Watch()
    watch.rechecks.want("ann", "bob", 1.0)
    watch.turn()
    watch.arbiter.answer(LOST)
    watch.rechecks.tick(1.0 + RETRY_S / 2)
    assert watch.steps == []
    assert not watch.rechecks.is_idle
    watch.rechecks.tick(1.0 + RETRY_S)
    watch.turn()
    assert watch.asked == [("ann", [BOB, CID])]


def test_nothing_stays_to_be_asked_where_nobody_is_there() -> None:
    """What stands stands; when somebody is there again everything is asked."""
    watch = Watch()
    watch.rechecks.want("ann", "bob", 0.0)
    watch.turn()
    watch.rechecks.want_all(["eve"], 0.0)
    watch.arbiter.is_there = False
    watch.rechecks.clear()
    watch.arbiter.answer(LOST)
    watch.turn()
    assert (watch.ended, watch.rechecks.is_idle, watch.asked) == ([], True, [])
