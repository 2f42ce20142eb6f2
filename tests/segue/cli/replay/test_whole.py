"""A trace is played against a real cluster, and what the ledger says of it is true."""

from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from analytics.trace import Trace
from segue.cli.command_line import cli
from segue.cli.replay.ledger import ReplayLedger
from segue.cli.replay.player import TracePlayer
from segue.cli.replay.script import script
from segue.cluster.tokens import user_token
from segue.sdk.publisher import Publisher
from tests.support.cluster import SECRET, Cluster
from tests.support.samples import service_token
from tests.support.traces import write

from .test_script import PERIOD

SPEED = 600.0


def trace(path: Path) -> Trace:
    """Makes a trace of forty users in a ring who follow the next three. Half of them come late and leave early; each says ten things."""
    pairs = [(user, (user + step) % 40) for user in range(40) for step in (1, 2, 3)]
    begins = [(1_000_000 if user % 2 else 1_020_000, user, topic, "subscribe") for user, topic in pairs]
    ends = [(1_040_000, user, topic, "unsubscribe") for user, topic in pairs if not user % 2]
    columns = zip(*sorted(begins + ends), strict=True)
    log = dict(zip(("time_ms", "subscriber", "topic", "action"), map(list, columns), strict=True)) | {"service": ["presence"] * 180}
    times = [1_000_000 + 150 * number for number in range(400)]
    said = {"time_ms": times, "service": ["presence"] * 400, "topic": [number % 40 for number in range(400)]}
    return Trace.open(write(path, PERIOD, subscription_log=log, publications=said))


async def test_everything_that_must_arrive_does_and_the_rest_is_told_apart(tmp_path: Path) -> None:
    ledger = ReplayLedger()
    found = script(trace(tmp_path / "t"), service="presence", users=100, from_s=0, seconds=None, seed=1)
    async with Cluster(sites=1) as cluster:
        urls = [f"ws://{cluster.of('accesspoint')[0].address}"]
        door = f"http://{cluster.of('broker')[0].address}"
        token = partial(user_token, SECRET)
        async with Publisher(door, service_token("presence")) as publisher, TracePlayer(urls, publisher, token, ledger, "r1") as player:
            await player.play(found, SPEED)
            await player.drain(10)
            assert (player.failures, player.rejected, player.failure) == (0, 0, "")
    totals = ledger.totals()
    assert (totals.events, totals.missing, totals.duplicated, totals.misrouted) == (400, 0, 0, 0)
    # Those who stay get 10 events of each of 3; the others about a third of that.
    assert totals.delivered + totals.excused >= 20 * 30
    assert totals.delivered + totals.in_flux + totals.excused <= 40 * 30


def test_a_trace_that_is_none_is_told_in_one_line(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["replay", str(tmp_path)])
    assert result.exit_code != 0
    assert "is no trace" in str(result.exception)


@pytest.mark.parametrize("wrong", [["--speed", "0"], ["--users", "0"], ["--seconds", "-1"], ["--service", "mail"]])
def test_an_option_that_cannot_be_is_refused(tmp_path: Path, wrong: list[str]) -> None:
    assert CliRunner().invoke(cli, ["replay", str(tmp_path), *wrong]).exit_code == 2
