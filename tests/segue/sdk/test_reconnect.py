"""When a client comes back, where, and when it does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.kernel.backoff import Backoff
from infra.kernel.codes import ALL, BY_NAME, Code
from segue.sdk.errors import ConnectionLost, Refused
from segue.sdk.reconnect import Reconnect


class Always:
    """A generator that draws the same number each time."""

    def __init__(self, number: float) -> None:
        self._number = number

    def random(self) -> float:
        return self._number


def reconnect(*urls: str, renews_token: bool = False) -> Reconnect:
    return Reconnect(urls or ("a",), Backoff(base_s=1.0, cap_s=8.0), Always(1.0), stable_s=5.0, renews_token=renews_token)


LOST = ConnectionLost("gone")


def test_the_delay_grows_while_nothing_lasts_and_the_addresses_take_turns() -> None:
    core = reconnect("a", "b")
    tried = []
    for now_s in range(5):
        tried.append((core.url, core.ended(LOST, now_s)))
    assert tried == [("a", 1.0), ("b", 2.0), ("a", 4.0), ("b", 8.0), ("a", 8.0)]


def test_only_a_session_that_lasted_resets_the_delay() -> None:
    core = reconnect()
    core.ended(LOST, 0)
    core.welcomed(10)
    assert core.ended(LOST, 14.9) == 2.0
    core.welcomed(20)
    assert core.ended(LOST, 25) == 1.0


def test_the_delay_that_the_server_asks_for_is_kept() -> None:
    assert reconnect().ended(ConnectionLost("draining", BY_NAME["going-away"], retry_after_s=3.25), 0) == 3.25


def test_clients_that_were_told_the_same_at_the_handshake_do_not_come_back_together() -> None:
    """DPS-26: 503 with `Retry-After`."""
    core = reconnect()
    assert [core.ended(ConnectionLost("HTTP 503", retry_after_s=2.0), now_s) for now_s in range(4)] == [3.0, 4.0, 6.0, 10.0]


def test_one_that_was_closed_for_flooding_waits_longer_each_time() -> None:
    core = reconnect()
    flooding = ConnectionLost("too fast", BY_NAME["flooding"])
    assert [core.ended(flooding, now_s) for now_s in range(4)] == [1.0, 2.0, 4.0, 8.0]


@pytest.mark.parametrize("code", ALL, ids=lambda code: code.name)
def test_the_code_table_decides_whether_to_come_back(code: Code) -> None:
    core = reconnect()
    if code.reconnect:
        core.ended(ConnectionLost("why", code), 0)
    else:
        with pytest.raises(Refused, match=f"{code.name}: why"):
            core.ended(ConnectionLost("why", code), 0)


def test_an_expired_token_is_renewed_after_a_welcome_only_and_only_by_a_function() -> None:
    expired = ConnectionLost("expired", BY_NAME["token-expired"])
    core = reconnect(renews_token=True)
    core.welcomed(0)
    core.ended(expired, 60)
    with pytest.raises(Refused):  # the fresh one has expired, too: another one will not be better
        core.ended(expired, 61)
    fixed = reconnect()
    fixed.welcomed(0)
    with pytest.raises(Refused):
        fixed.ended(expired, 60)


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 100)), max_size=30))
def test_no_life_of_a_client_makes_the_delay_longer_than_the_cap(life: list[tuple[bool, float]]) -> None:
    core, now_s = reconnect("a", "b", "c"), 0.0
    for is_welcomed, lasts_s in life:
        if is_welcomed:
            core.welcomed(now_s)
        now_s += lasts_s
        assert 0 <= core.ended(LOST, now_s) <= 8.0
        assert core.url in ("a", "b", "c")
