"""The script of a replay: what a trace says becomes steps, in order, for the users who were chosen."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from analytics.errors import NotSupported, TraceError
from analytics.trace import Trace
from segue.cli.replay.script import Script, ScriptStep, script
from tests.support.traces import BARE, write

PERIOD = msgspec.structs.replace(BARE, start_ms=1_000_000, end_ms=1_060_000)
U1, U2, U3 = (f"hm://presence/user/u{number}/" for number in (1, 2, 3))
SAID = {"time_ms": [1_010_000, 1_005_000, 1_020_000], "service": ["presence"] * 3, "topic": [1, 2, 9], "kind": ["pause", None, None]}
PAIRS = {"subscriber": [1, 1, 2], "service": ["presence"] * 3, "topic": [2, 3, 1]}


def made(
    path: Path, *, users: int = 10, from_s: float = 0, seconds: float | None = None, service: str = "presence", **tables: Any
) -> Script:
    """Makes a trace in the folder `path`. Returns the script of it for these arguments."""
    return script(Trace.open(write(path / "t", PERIOD, **tables)), service=service, users=users, from_s=from_s, seconds=seconds, seed=1)


def test_without_a_log_all_are_there_from_the_start_and_events_nobody_follows_are_left_out(tmp_path: Path) -> None:
    found = made(tmp_path, subscriptions=PAIRS, publications=SAID)
    assert (found.users, found.pairs, found.publications, found.left_out, found.seconds) == (("u1", "u2"), 3, 2, 1, 60)
    assert list(found) == [
        ScriptStep(0, "connect", "u1"),
        ScriptStep(0, "connect", "u2"),
        ScriptStep(0, "subscribe", "u1", (U2, U3)),
        ScriptStep(0, "subscribe", "u2", (U1,)),
        ScriptStep(5, "publish", "", (U2,), "play"),
        ScriptStep(10, "publish", "", (U1,), "pause"),
    ]


def test_with_a_log_people_come_and_go_and_what_came_before_the_start_stands(tmp_path: Path) -> None:
    rows = [
        (1_000_000, 1, 2, "subscribe"),
        (1_004_000, 1, 3, "subscribe"),
        (1_006_000, 1, 2, "unsubscribe"),
        (1_030_000, 1, 3, "unsubscribe"),
    ]
    columns = dict(zip(("time_ms", "subscriber", "topic", "action"), map(list, zip(*rows, strict=True)), strict=True))
    log = columns | {"service": ["presence"] * 4}
    found = made(tmp_path, subscription_log=log, publications=SAID)
    assert list(found) == [
        ScriptStep(0, "connect", "u1"),
        ScriptStep(0, "subscribe", "u1", (U2,)),
        ScriptStep(4, "subscribe", "u1", (U3,)),
        ScriptStep(5, "publish", "", (U2,), "play"),
        ScriptStep(6, "unsubscribe", "u1", (U2,)),
        ScriptStep(30, "unsubscribe", "u1", (U3,)),
        ScriptStep(30, "disconnect", "u1"),
    ]
    later = script(Trace.open(tmp_path / "t"), service="presence", users=10, from_s=5.5, seconds=10, seed=1)
    assert [step.what for step in later] == ["connect", "subscribe", "unsubscribe"]
    assert later.steps[1] == ScriptStep(0, "subscribe", "u1", (U2, U3))


def test_the_same_seed_takes_the_same_users(tmp_path: Path) -> None:
    pairs = {"subscriber": list(range(100)), "service": ["presence"] * 100, "topic": [200] * 100}
    trace = Trace.open(write(tmp_path / "t", PERIOD, subscriptions=pairs, publications=SAID))
    one, same, other = (script(trace, service="presence", users=5, from_s=0, seconds=None, seed=seed).users for seed in (1, 1, 2))
    assert one == same != other
    assert len(one) == 5


def test_what_cannot_be_replayed_says_why(tmp_path: Path) -> None:
    with pytest.raises(NotSupported, match="no publications with times"):
        made(tmp_path, subscriptions=PAIRS)
    trace = Trace.open(write(tmp_path / "u", PERIOD, subscriptions=PAIRS, publications=SAID))
    with pytest.raises(NotSupported, match="nobody follows a topic of playlist; choose another --service"):
        script(trace, service="playlist", users=1, from_s=0, seconds=None, seed=1)
    with pytest.raises(TraceError, match="its period is shorter"):
        script(trace, service="presence", users=1, from_s=60, seconds=None, seed=1)
