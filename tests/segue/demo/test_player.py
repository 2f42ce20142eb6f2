"""The player: each play at its time, each refusal remembered."""

import asyncio

from segue.demo.crowd import Crowd
from segue.demo.listening import Play
from segue.demo.oracle import Ledger
from segue.demo.player import GRACE_S, MOST_UNANSWERED, Player

FOLLOWERS = {"ann": ("bob", "cyd")}


def play(at_s: float) -> Play:
    return Play(at_s, "ann", 7, "Björk", 3)


def player() -> tuple[Player, Ledger]:
    """Returns a player whose users are not connected, so that every play is refused."""
    ledger = Ledger(FOLLOWERS, dict.fromkeys(("ann", "bob", "cyd"), "sto"))
    crowd = Crowd({"ann": "ws://127.0.0.1:1"}, lambda user: "token", ledger.received)
    return Player(crowd, ledger, FOLLOWERS), ledger


async def test_a_play_that_is_refused_is_counted_and_expected_of_nobody() -> None:
    one, ledger = player()
    assert await one.run([play(0.0), play(0.01)], 1.0) == 0.0
    await one.answered()
    assert (one.refused, one.refusal.startswith("not connected")) == (2, True)
    assert (ledger.summary().events, ledger.summary().expected, ledger.summary().excused) == (2, 0, 4)
    assert list(one.recent) == [(play(0.0), 2), (play(0.01), 2)]


async def test_plays_are_done_no_earlier_than_their_time() -> None:
    loop = asyncio.get_running_loop()
    one, _ = player()
    began_s = loop.time()
    await one.run([play(0.0), play(0.05)], 1.0)
    assert loop.time() - began_s >= 0.05


async def test_plays_that_are_too_late_are_left_out() -> None:
    one, ledger = player()
    behind_s = await one.run([play(0.0), play(0.0)], -GRACE_S)
    assert 0 < behind_s < 1
    assert ledger.events == 0


async def test_more_plays_at_once_than_may_wait_for_an_answer_are_all_done() -> None:
    one, ledger = player()
    await one.run([play(0.0)] * (MOST_UNANSWERED + 50), 1.0)
    await one.answered()
    assert ledger.events == one.refused == MOST_UNANSWERED + 50
