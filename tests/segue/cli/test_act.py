"""`segue act`, as a process of its own, against a real cluster in this one."""

import asyncio
import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from segue.cli.command_line import cli
from tests.support.cluster import Cluster

DEADLINE_S = 60.0


async def acted(cluster: Cluster, *arguments: str) -> tuple[int | None, str]:
    """Returns the exit code of `segue act` as bob, and what it wrote."""
    url = f"ws://{cluster.of('accesspoint')[0].address}"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "segue", "act", *arguments, "--token", cluster.token("bob"), "--url", url),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, "PYTHONWARNINGS": "error"},
    )
    async with asyncio.timeout(DEADLINE_S):
        out, _ = await process.communicate()
    return process.returncode, out.decode()


@pytest.mark.slow
async def test_what_a_user_does_reaches_friends_now_and_those_who_ask_for_the_last_of_it_later() -> None:
    told = {"artist": "Björk", "track": "a=b", "position_s": 12}
    async with Cluster(sites=1) as c, c.user("ann") as ann:
        await ann.follow("bob")
        assert await acted(c, "play", "artist=Björk", "track=a=b", "--payload", '{"position_s":12}') == (0, "")
        await ann.heard(1)
        assert (ann.events[0]["kind"], ann.events[0]["payload"]) == ("play", told)
        async with c.user("eve") as eve:
            last = await eve.ask(op="last", topics=["hm://presence/user/bob/"])
            assert [(event["kind"], event["payload"]) for event in last["events"]] == [("play", told)]


@pytest.mark.slow
async def test_what_users_do_not_do_is_refused_with_what_they_do() -> None:
    async with Cluster(sites=1) as c:
        code, said = await acted(c, "dance")
    assert (code, "kind must be one of play, pause, favourite, playlist" in said) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["play"], "--user NAME"),
        (["play", "artist", "--user", "bob"], "'artist' is no field; write artist=Björk"),
        (["play", "=x", "--user", "bob"], "is no field"),
        (["play", "kind=x", "id=7", "--user", "bob"], "id, kind: a name of the protocol"),
        (["play", "--payload", "7", "--user", "bob"], "it must be a JSON object"),
    ],
)
def test_arguments_that_cannot_work_are_refused(arguments: list[str], said: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["act", *arguments, "--state", str(tmp_path)])
    assert (result.exit_code, said in result.output) == (2, True)
