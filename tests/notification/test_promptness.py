"""notification.promptness: who has answered soon, and what they owe who have not."""

from hypothesis import given
from hypothesis import strategies as st

from notification.promptness import OWED_WHEN_SLOW, REMEMBERED, Promptness

SOON_S = 2.0


def after(*answers_s: float) -> bool:
    hosts = Promptness(SOON_S)
    for took_s in answers_s:
        hosts.note("push.example", took_s)
    return hosts.is_prompt("push.example")


def test_a_host_that_nobody_knows_is_prompt_after_one_answer_that_came_soon() -> None:
    assert [after(), after(0.1), after(SOON_S), after(SOON_S + 0.1)] == [False, True, True, False]


def test_a_host_that_has_been_slow_shows_more_than_one_that_nobody_knows() -> None:
    """DPS-26: who answers now and then, to be trusted again, gains nothing."""
    slow = (0.1, 9.0)
    assert not after(*slow)
    assert not after(*slow, *[0.1] * (OWED_WHEN_SLOW - 1))
    assert after(*slow, *[0.1] * OWED_WHEN_SLOW)


@given(st.lists(st.floats(0, 10), max_size=60))
def test_a_host_is_prompt_if_it_has_answered_soon_since_it_was_slow_as_often_as_it_owes(answers_s: list[float]) -> None:
    slow = [n for n, took_s in enumerate(answers_s) if took_s > SOON_S]
    since = len(answers_s) - 1 - slow[-1] if slow else len(answers_s)
    assert after(*answers_s) == (since >= (OWED_WHEN_SLOW if slow else 1))


def test_of_any_number_of_hosts_so_many_are_remembered() -> None:
    hosts = Promptness(SOON_S)
    hosts.note("first", 0.1)
    for n in range(REMEMBERED):
        hosts.note(f"host{n}", 0.1)
    assert not hosts.is_prompt("first")
    assert hosts.is_prompt(f"host{REMEMBERED - 1}")
