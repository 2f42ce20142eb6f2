"""`segue admin`, against a whole cluster in this process."""

import asyncio
import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from segue.cli.command_line import cli
from tests.support.cluster import Cluster
from tests.support.user import feed

DEADLINE_S = 60.0


async def segue_admin(c: Cluster, state: Path, *arguments: str) -> tuple[int | None, str, str]:
    """Runs a command against the first broker. Returns its exit code and what it prints."""
    url = f"http://{c.of('broker')[0].address}"
    command = [sys.executable, "-m", "segue", "admin", *arguments, "--url", url, "--state", str(state)]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
    async with asyncio.timeout(DEADLINE_S):
        out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


async def test_an_operator_sees_who_is_here_and_sends_them_away(state: Path) -> None:
    async with Cluster(sites=2) as c, c.user("ann", "lon", client="\x1b[2J") as ann:
        await ann.follow("dan")
        code, out, _ = await segue_admin(c, state, "sessions", "ann")
        assert code == 0
        assert ann.welcome["session"] in out
        assert "\x1b[2J" not in out
        code, out, _ = await segue_admin(c, state, "sessions", "ann", "--json")
        assert [each["topics"] for each in json.loads(out)["listed"]] == [[feed("dan")]]
        assert await segue_admin(c, state, "unsubscribe", "ann", feed("dan")) == (0, "ended the subscription of: 1 sessions\n", "")
        assert await segue_admin(c, state, "announce", "hello", "--payload", '{"a":1}') == (0, "told: 1 sessions\n", "")
        assert (await ann.answer(lambda message: message["op"] == "announcement"))["data"] == {"a": 1}
        assert await segue_admin(c, state, "disconnect", "ann") == (0, "ended: 1 sessions\n", "")
        await ann.ended()
        assert await segue_admin(c, state, "sessions", "ann") == (0, "ann is not connected\n", "")


async def test_an_operator_keeps_users_and_tokens_out(state: Path) -> None:
    async with Cluster(sites=1) as c:
        code, out, err = await segue_admin(c, state, "ban", "ann", "--for", "24h")
        assert (code, "kept in memory only" in err) == (0, True)
        assert out.startswith("ann is kept out until ")
        code, out, _ = await segue_admin(c, state, "bans", "--json")
        assert [each["user"] for each in json.loads(out)] == ["ann"]
        assert (await segue_admin(c, state, "unban", "ann"))[1] == "ann may come in again\n"
        assert (await segue_admin(c, state, "bans"))[1] == "nobody\n"
        assert (await segue_admin(c, state, "revoke", "--jti", "t-1"))[1].startswith("revoked: token t-1, issued before ")
        assert "t-1" in (await segue_admin(c, state, "revocations"))[1]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["disconnect"], "say whom"),
        (["disconnect", "ann", "--session", "1"], "say whom"),
        (["revoke"], "say whose"),
        (["ban", "ann", "--for", "soon"], "no duration"),
        (["sessions", "ann", "--url", "http://127.0.0.1:1"], "start `segue up` first"),
    ],
)
def test_what_cannot_be_meant_is_explained(arguments: list[str], complaint: str, state: Path) -> None:
    result = CliRunner().invoke(cli, ["admin", *arguments, "--state", str(state)])
    assert result.exit_code != 0
    assert complaint in result.output
