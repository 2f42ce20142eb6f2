"""What becomes of questions: answered, in doubt, failed, late, too many."""

from typing import Final

import pytest

from accesspoint.authorization.questions import MAX_OPEN, MAX_OPEN_OF_USER, Questions, Verdicts
from infra.kernel.access import MAX_ASKED
from infra.kernel.errors import Refused
from infra.kernel.topics import Topic, user_topic
from tests.support.scripted_arbiter import ScriptedArbiter

BOB, CID = user_topic("bob"), user_topic("cid")
NO: Final = Refused("forbidden", "no")
LOST: Final = Refused("unavailable", "the link is gone")
TIMEOUT_S: Final = 5.0


class Desk:
    """Questions, whoever answers them, and the verdicts that came."""

    def __init__(self, *, is_there: bool = True) -> None:
        self.arbiter = ScriptedArbiter(is_there=is_there)
        self.questions = Questions(self.arbiter, TIMEOUT_S)
        self.came: list[Verdicts] = []

    def ask(self, *topics: Topic, user: str = "ann", now_s: float = 0.0) -> None:
        self.questions.ask(user, "c1", topics, now_s, self.came.append)

    @property
    def codes(self) -> list[dict[Topic, str]]:
        return [{topic: verdict.code.name if verdict else "" for topic, verdict in verdicts.items()} for verdicts in self.came]


def test_a_question_is_asked_once_for_each_topic_and_answered_once() -> None:
    desk = Desk()
    desk.ask(BOB, CID, BOB)
    (asked,) = desk.arbiter.waiting
    assert (asked.user, asked.client, list(asked.topics), len(desk.questions)) == ("ann", "c1", [BOB, CID], 1)
    desk.arbiter.answer([NO, None])
    assert (desk.came, len(desk.questions), desk.questions.asked) == ([{BOB: NO, CID: None}], 0, 2)
    asked.then([None, None])  # an answer that comes twice
    desk.questions.tick(TIMEOUT_S)
    assert len(desk.came) == 1


def test_very_many_topics_are_asked_about_in_parts_and_the_verdicts_come_together() -> None:
    desk = Desk()
    desk.ask(*(user_topic(f"u{n}") for n in range(MAX_ASKED + 1)))
    assert [len(asked.topics) for asked in desk.arbiter.waiting] == [MAX_ASKED, 1]
    desk.arbiter.answer(index=1)
    assert desk.came == []
    desk.arbiter.answer()
    assert [len(verdicts) for verdicts in desk.came] == [MAX_ASKED + 1]


@pytest.mark.parametrize("doubt", ["pair", "owner", "all"])
def test_an_answer_that_may_be_older_than_a_change_is_asked_for_again(doubt: str) -> None:
    """AUTH-4, AUTH-5: the answer overtakes the news of the change, or the other way round."""
    desk = Desk()
    desk.ask(BOB, CID)
    match doubt:
        case "pair":
            desk.questions.changed("bob", "ann")
        case "owner":
            desk.questions.changed_for_all("bob")
        case "all":
            desk.questions.changed_at_all()
    desk.arbiter.answer()
    assert desk.came == []
    assert list(desk.arbiter.waiting[0].topics) == ([BOB, CID] if doubt == "all" else [BOB])
    desk.arbiter.answer([NO, None] if doubt == "all" else [NO])
    assert desk.came == [{CID: None, BOB: NO}]


def test_changes_of_others_put_nothing_in_doubt() -> None:
    desk = Desk()
    desk.ask(BOB)
    desk.questions.changed("bob", "eve")
    desk.questions.changed("cid", "ann")
    desk.questions.changed_for_all("cid")
    desk.arbiter.answer()
    assert desk.came == [{BOB: None}]


def test_what_nobody_could_be_asked_waits_for_somebody_and_is_in_no_doubt() -> None:
    desk = Desk(is_there=False)
    desk.ask(BOB)
    desk.questions.changed_at_all()
    assert desk.arbiter.waiting == []
    desk.arbiter.is_there = True
    desk.questions.go_on(1.0)
    desk.questions.go_on(1.0)
    desk.arbiter.answer()
    assert (desk.came, desk.arbiter.waiting) == ([{BOB: None}], [])


def test_a_failure_is_tried_again_at_another_node_and_then_told() -> None:
    """AUTH-10: nobody sees what nobody has allowed."""
    desk = Desk()
    desk.ask(BOB)
    desk.arbiter.answer(LOST)
    desk.arbiter.answer(LOST)
    assert desk.came == [{BOB: LOST}]
    assert desk.arbiter.waiting == []


def test_a_failure_with_nobody_left_waits() -> None:
    desk = Desk()
    desk.ask(BOB)
    desk.arbiter.is_there = False
    desk.arbiter.answer(LOST)
    desk.questions.go_on(1.0)
    assert desk.arbiter.waiting == []
    assert (desk.came, len(desk.questions)) == ([], 1)
    desk.questions.tick(TIMEOUT_S - 0.1)
    assert desk.came == []
    desk.questions.tick(TIMEOUT_S)
    assert desk.codes == [{BOB: "unavailable"}]


def test_what_is_late_is_unavailable_and_what_was_answered_in_time_is_not() -> None:
    """AUTH-10."""
    desk = Desk()
    desk.ask(*(user_topic(f"u{n}") for n in range(MAX_ASKED)), BOB)
    desk.ask(CID, now_s=1.0)
    desk.arbiter.answer()
    desk.questions.tick(TIMEOUT_S)
    assert [code for code in desk.codes[0].values() if code] == ["unavailable"]
    assert desk.codes[0][BOB] == "unavailable"
    assert len(desk.questions) == 1
    desk.arbiter.answer()  # too late
    desk.arbiter.answer()
    assert desk.codes[1:] == [{CID: ""}]


def test_one_user_may_have_so_many_questions_open_and_the_others_have_theirs() -> None:
    """DPS-26."""
    desk = Desk()
    for _ in range(MAX_OPEN_OF_USER):
        desk.ask(BOB)
    with pytest.raises(Refused, match="rate-limited"):
        desk.ask(BOB)
    desk.ask(BOB, user="eve")
    desk.arbiter.answer()
    desk.ask(BOB)


def test_so_many_questions_are_open_in_all() -> None:
    """DPS-26."""
    desk = Desk(is_there=False)
    for n in range(MAX_OPEN):
        desk.ask(BOB, user=f"u{n}")
    with pytest.raises(Refused, match="unavailable"):
        desk.ask(BOB, user="eve")
    assert len(desk.questions) == MAX_OPEN
