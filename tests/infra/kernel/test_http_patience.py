"""infra.kernel.http_patience: how long a connection may keep us waiting, and for what."""

import math

import pytest

from infra.kernel.http_patience import Awaited, HttpPatience, Waiting

PATIENCE = HttpPatience(head_s=10, body_s=60, reading_s=30, next_s=75, end_s=5)


@pytest.mark.parametrize(
    ("awaited", "limit_s"), [(Awaited.HEAD, 10), (Awaited.BODY, 60), (Awaited.READING, 30), (Awaited.NEXT, 75), (Awaited.END, 5)]
)
def test_each_thing_that_a_client_owes_us_has_its_time(awaited: Awaited, limit_s: float) -> None:
    """DPS-26: nothing that a client keeps us waiting for lasts for ever."""
    waiting = Waiting(100.0)
    if awaited is not Awaited.HEAD:
        assert not waiting.is_over(awaited, PATIENCE, 100.0)
    assert not waiting.is_over(awaited, PATIENCE, 100.0 + limit_s - 0.1)
    assert waiting.is_over(awaited, PATIENCE, 100.0 + limit_s)


def test_nobody_is_cut_off_while_we_work() -> None:
    waiting = Waiting(0.0)
    assert not waiting.is_over(Awaited.ANSWER, PATIENCE, 0.0)
    assert not waiting.is_over(Awaited.ANSWER, PATIENCE, 1e9)
    assert PATIENCE.limit_s(Awaited.ANSWER) == math.inf


def test_a_head_that_comes_in_drops_gets_no_more_time_and_a_body_does() -> None:
    head, body = Waiting(0.0), Waiting(0.0)
    body.is_over(Awaited.BODY, PATIENCE, 0.0)
    for now_s in range(1, 10):
        head.heard(now_s)
        body.heard(now_s)
    assert head.is_over(Awaited.HEAD, PATIENCE, 10.0)
    assert not body.is_over(Awaited.BODY, PATIENCE, 68.9)
    assert body.is_over(Awaited.BODY, PATIENCE, 69.0)


def test_what_follows_has_its_own_time() -> None:
    waiting = Waiting(0.0)
    assert not waiting.is_over(Awaited.NEXT, PATIENCE, 9.0)
    assert not waiting.is_over(Awaited.HEAD, PATIENCE, 80.0)
    assert waiting.is_over(Awaited.HEAD, PATIENCE, 90.0)
