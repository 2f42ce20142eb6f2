"""`segue notify` and `segue listen --notifications`, against a real cluster in this process."""

import asyncio
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from segue.cli.command_line import cli
from tests.support.cluster import Cluster

TOPIC = "hm://notifications/feed/bjork%new-album/"
DEADLINE_S = 60.0


async def segue(*arguments: str, stdin: bytes = b"") -> tuple[int | None, str, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "segue",
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(DEADLINE_S):
        out, err = await process.communicate(stdin)
    return process.returncode, out.decode(), err.decode()


async def test_what_is_notified_is_found_by_who_comes_later(state: Path, tmp_path: Path) -> None:
    """And a repetition with the same id tells nobody twice."""
    async with Cluster(sites=1, state=tmp_path / "store") as c:
        url = f"http://{c.of('notification')[0].address}"
        access = ("--url", url, "--state", str(state))
        what = ("notify", TOPIC, "--kind", "album", "--payload", '{"album": "Post"}', "--id", "post-1")
        assert await segue(*what, "--to", "alice,bob", *access) == (0, "post-1 stored for 2 followers\n", "")
        code, said, _ = await segue(*what, "--file", "-", *access, stdin=b"alice\nbob\n")
        assert (code, said) == (0, "post-1 stored for 2 followers, which had been told already\n")
        point = f"ws://{c.of('accesspoint')[0].address}"
        code, heard, _ = await segue("listen", "--notifications", "--user", "alice", "--count", "1", "--url", point, "--state", str(state))
        assert code == 0
        assert TOPIC in heard
        assert "Post" in heard


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["hm://presence/user/bob/", "--kind", "play", "--to", "ann"], "segue publish"),
        ([TOPIC, "--kind", "album"], "--to alice,bob or --file"),
        ([TOPIC, "--kind", "album", "--to", "ann", "--payload", "[]"], "must be a JSON object"),
        ([TOPIC, "--kind", "album", "--to", "ann", "--url", "http://127.0.0.1:1"], "nobody answers at http://127.0.0.1:1"),
    ],
)
def test_what_cannot_work_says_what_would(arguments: list[str], complaint: str, state: Path) -> None:
    result = CliRunner().invoke(cli, ["notify", *arguments, "--state", str(state)])
    assert result.exit_code != 0
    assert complaint in result.output
