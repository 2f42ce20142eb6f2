"""All who hold one topic, asked about again: in which batches, what ends by it, and what an older answer is worth."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from accesspoint.authorization.audience_rechecks import BATCH, ENDED_AT_ONCE, MAX_OPEN, AudienceRechecks
from infra.kernel.errors import Refused
from infra.kernel.topics import Topic, user_topic
from tests.support.scripted_arbiter import ScriptedArbiter

BOB: Final = user_topic("bob")
NO: Final = Refused("forbidden", "no")
LOST: Final = Refused("unavailable", "the link is gone")
FANS: Final = [f"u{n}" for n in range(10 * BATCH + 1)]


class Watch:
    """Rechecks of audiences; what they ended, and whom they had asked about one by one."""

    def __init__(self) -> None:
        self.arbiter = ScriptedArbiter()
        self.ended: list[str] = []
        self.each: list[tuple[str, str]] = []
        self.steps: list[Callable[[], None]] = []
        self.rechecks = AudienceRechecks(self.arbiter, self._end, self._ask_each, self.steps.append)

    def _end(self, topic: Topic, why: Refused, users: Sequence[str]) -> None:
        assert (topic, why) == (BOB, NO)
        self.ended += users

    def _ask_each(self, pairs: Iterator[tuple[str, str]], now_s: float) -> None:
        self.each += pairs

    def turn(self) -> None:
        steps, self.steps[:] = list(self.steps), []
        for step in steps:
            step()

    def turns(self) -> None:
        while self.steps:
            self.turn()

    def answer(self, verdict: Refused | Callable[[str], Refused | None] | None) -> int:
        """Answers the oldest question; returns about how many users it was."""
        asked = self.arbiter.of_users.pop(0)
        asked.then([verdict(user) if callable(verdict) else verdict for user in asked.users])
        return len(asked.users)


def test_a_hundred_thousand_are_asked_about_in_batches_with_few_questions_open() -> None:
    """AUTH-5."""
    watch = Watch()
    watch.rechecks.want(BOB, FANS, 0.0)
    sizes = []
    watch.turns()
    assert len(watch.arbiter.of_users) == MAX_OPEN
    while watch.arbiter.of_users:
        sizes.append(watch.answer(lambda user: NO if user.endswith("7") else None))
        watch.turns()
        assert len(watch.arbiter.of_users) <= MAX_OPEN
    assert sizes == [BATCH] * 10 + [1]
    assert watch.ended == [user for user in FANS if user.endswith("7")]
    assert (watch.rechecks.is_idle, watch.rechecks.asked, watch.each) == (True, len(FANS), [])


def test_in_each_turn_of_the_loop_one_batch_is_asked_about_or_ended() -> None:
    watch = Watch()
    watch.rechecks.want(BOB, FANS, 0.0)
    watch.turn()
    assert len(watch.arbiter.of_users) == 1
    watch.answer(NO)
    assert watch.ended == []
    watch.turn()
    assert len(watch.ended) == ENDED_AT_ONCE


def test_after_another_change_all_are_asked_about_again_and_older_answers_end_nothing() -> None:
    """AUTH-5: the answer may be from before the change."""
    watch = Watch()
    watch.rechecks.want(BOB, FANS[:3], 0.0)
    watch.turns()
    old = watch.arbiter.of_users.pop()
    watch.rechecks.want(BOB, FANS[:3], 1.0)
    old.then([NO] * 3)
    watch.turns()
    assert watch.ended == []
    watch.answer(lambda user: NO if user == "u2" else None)
    watch.turns()
    assert (watch.ended, watch.rechecks.is_idle) == (["u2"], True)


def test_what_was_refused_and_has_not_ended_yet_is_asked_about_again_too() -> None:
    watch = Watch()
    watch.rechecks.want(BOB, FANS[:3], 0.0)
    watch.turns()
    watch.arbiter.of_users.pop().then([NO] * 3)
    assert not watch.rechecks.is_idle
    watch.rechecks.want(BOB, FANS[:3], 1.0)
    watch.turns()
    watch.answer(None)
    watch.turns()
    assert (watch.ended, watch.rechecks.is_idle) == ([], True)


def test_where_nobody_answers_about_many_each_is_asked_about() -> None:
    """A social service of an older version; and while there is none, everything is asked when there is."""
    watch = Watch()
    watch.rechecks.want(BOB, FANS[:3], 0.0)
    watch.turns()
    watch.arbiter.of_users.pop().then(LOST)
    watch.turns()
    assert (watch.each, watch.rechecks.is_idle) == ([(user, "bob") for user in FANS[:3]], True)
    watch.rechecks.want(BOB, FANS[:3], 0.0)
    watch.turns()
    watch.arbiter.is_there = False
    watch.rechecks.clear()
    watch.arbiter.of_users.pop().then(LOST)
    watch.turns()
    assert (len(watch.each), watch.ended, watch.rechecks.is_idle) == (3, [], True)


def test_a_topic_that_nobody_holds_is_asked_about_with_nobody() -> None:
    watch = Watch()
    watch.rechecks.want(BOB, [], 0.0)
    watch.turns()
    assert (watch.arbiter.of_users, watch.rechecks.is_idle) == ([], True)
