"""The example scripts, run as a reader would run them."""

import asyncio
import sys
from pathlib import Path

from tests.support.scripted_broker import ScriptedBroker
from tests.support.scripted_server import ScriptedServer, event

ROOT = Path(__file__).resolve().parents[2]
BOB = "hm://presence/user/bob/"
DEADLINE_S = 60.0


async def run(script: str, *arguments: str) -> asyncio.subprocess.Process:
    command = [sys.executable, "-X", "utf8", str(ROOT / "examples" / script), *arguments]
    return await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, cwd=ROOT, env={"PYTHONPATH": str(ROOT)})


async def test_follow_prints_what_friends_play() -> None:
    async with ScriptedServer() as server, asyncio.timeout(DEADLINE_S):
        process = await run("follow.py", server.url, "secret", "bob", "eve")
        try:
            peer = await server.next_peer()
            assert (await peer.heard("subscribe"))["topics"] == [BOB, "hm://presence/user/eve/"]
            await peer.send(event(BOB, 1))
            assert process.stdout is not None
            assert (await process.stdout.readline()).decode() == f"{BOB} play {{'artist': 'Björk'}}\n"
        finally:
            process.kill()
            await process.communicate()


async def test_publish_sends_one_event_for_each_artist() -> None:
    async with ScriptedBroker() as broker, asyncio.timeout(DEADLINE_S):
        process = await run("publish.py", broker.url, "secret", "bob", "Björk", "Portishead")
        printed, _ = await process.communicate()
    assert printed.decode() == "Result(accepted=2, rejected=())\n"
    assert [sent["payload"] for sent in broker.requests[0].events] == [{"artist": "Björk"}, {"artist": "Portishead"}]
