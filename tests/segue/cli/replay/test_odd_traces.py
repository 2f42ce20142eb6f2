"""Every valid trace, however odd, is played again: there is an outcome, or a sentence that says why there is none."""

import tempfile
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings

from analytics.errors import TraceError
from analytics.trace import Trace
from infra.kernel.trace import SERVICES
from segue.cli.replay.ledger import ReplayLedger
from segue.cli.replay.player import TracePlayer
from segue.cli.replay.script import Script, script
from segue.cluster.tokens import user_token
from segue.sdk.publisher import Publisher
from tests.support.cluster import SECRET, Cluster
from tests.support.odd_traces import ODD_TRACES, OddTrace, odd_traces
from tests.support.samples import service_token

SECOND_S = 1.0


def scripts(trace: OddTrace, folder: Path) -> list[Script]:
    """Yields what can be played of each service. The others say in a sentence why they cannot."""
    found = []
    for service in SERVICES:
        try:
            found.append(script(Trace.open(trace.write(folder / service)), service=service, users=100, from_s=0, seconds=None, seed=1))
        except TraceError as reason:
            if not str(reason).strip():
                raise
    return found


def check(found: Script) -> None:
    """Checks that all users are named once, and that every step has its time within the period."""
    assert len(set(found.users)) == len(found.users)
    for step in found:
        assert 0 <= step.at_s <= found.seconds


@pytest.mark.parametrize("name", ODD_TRACES)
def test_a_named_one_becomes_a_script_or_a_sentence(name: str, tmp_path: Path) -> None:
    for found in scripts(ODD_TRACES[name], tmp_path):
        check(found)


@settings(max_examples=40)
@given(trace=odd_traces())
def test_so_does_whatever_is_made_up(trace: OddTrace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for found in scripts(trace, Path(folder)):
            check(found)


async def test_those_that_can_be_played_lose_nothing(tmp_path: Path) -> None:
    async with Cluster(sites=1) as cluster:
        urls, door = [f"ws://{cluster.of('accesspoint')[0].address}"], f"http://{cluster.of('broker')[0].address}"
        async with Publisher(door, service_token("presence")) as publisher:
            for number, trace in enumerate(ODD_TRACES.values()):
                for found in scripts(trace, tmp_path / str(number))[:1]:
                    ledger = ReplayLedger()
                    async with TracePlayer(urls, publisher, partial(user_token, SECRET), ledger, f"r{number}") as player:
                        await player.play(found, max(1.0, found.seconds / SECOND_S))
                        await player.drain(10)
                    totals = ledger.totals()
                    assert (totals.missing, totals.duplicated, totals.misrouted, player.failures) == (0, 0, 0, 0)
