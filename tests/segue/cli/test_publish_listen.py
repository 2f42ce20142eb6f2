"""`segue publish` and `segue listen`, as processes of their own, against a real cluster in this one."""

import asyncio
import json
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from segue.cli.command_line import cli
from segue.cli.listen import tell_ended, tell_friends, tell_gap, tell_offloaded, tell_recovered
from segue.sdk.messages import Ended, FriendNews, Gap, Installed, Offloaded, RejectedTopic
from tests.support.cluster import Cluster
from tests.support.scripted_server import ScriptedServer, event, subscribed, welcome

BOB = "hm://presence/user/bob/"
ARTIST = "hm://notifications/feed/bjork%new-album/"
INBOX = "hm://notifications/inbox/ann/"
DEADLINE_S = 60.0


@asynccontextmanager
async def running(*arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Runs `segue` with these arguments. It is killed if it outlives the block."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "segue", *arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONWARNINGS": "error"},
    )
    try:
        async with asyncio.timeout(DEADLINE_S):
            yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@asynccontextmanager
async def listening(cluster: Cluster, state: Path, *arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Runs `segue listen` of ann to bob; the block begins when it listens."""
    url = f"ws://{cluster.of('accesspoint')[0].address}"
    async with running("listen", BOB, "--user", "ann", "--state", str(state), "--url", url, *arguments) as process:
        assert process.stderr is not None
        while b"listening" not in (line := await process.stderr.readline()):
            assert line, "it ended instead of listening"
        yield process


async def published(cluster: Cluster, state: Path, *arguments: str, file: bytes = b"") -> tuple[int | None, str, str]:
    """Runs `segue publish` at a broker of `cluster`, with the secret in `state`. Returns the exit code and what it wrote."""
    url = f"http://{cluster.of('broker')[0].address}"
    async with running("publish", "--state", str(state), "--url", url, *arguments) as process:
        out, err = await process.communicate(file)
    return process.returncode, out.decode(), err.decode()


@pytest.mark.slow
async def test_what_is_published_is_printed_by_who_listens(state: Path) -> None:
    one = ("--count", "1")
    async with Cluster(sites=1) as c, listening(c, state, *one) as people, listening(c, state, "--json", *one) as machine:
        code, out, err = await published(c, state, BOB, "--kind", "play", "--payload", '{"artist": "Bj\\u001brk"}')
        assert (code, err.count("\n"), "segue act" in err) == (0, 1, True)
        (line, _), (document, _) = await people.communicate(), await machine.communicate()
    assert line.decode().split(" ", 2)[1:] == ["sto", f'{BOB} play {{"artist":"Bj\\u001brk"}}\n']
    event = json.loads(document)
    assert (event["topic"], event["kind"], event["payload"], event["id"]) == (BOB, "play", {"artist": "Bj\x1brk"}, out.strip())


@pytest.mark.slow
async def test_a_stream_is_published_line_by_line_and_rejections_are_told(state: Path) -> None:
    good = [json.dumps({"topic": BOB, "kind": "play", "payload": {"n": n}}) for n in range(3)]
    bad = json.dumps({"topic": "hm://nowhere/", "kind": "play", "payload": {}})
    async with Cluster(sites=1) as c, listening(c, state, "--json", "--count", "3") as listener:
        code, out, err = await published(c, state, "--file", "-", file="\n".join([*good[:2], "", bad, good[2]]).encode())
        heard, _ = await listener.communicate()
    assert (code, out) == (1, "3 accepted, 1 rejected\n")
    past_presence, rejected = err.splitlines()
    assert "segue act" in past_presence
    assert rejected.startswith("event 3 was rejected: bad-topic: ")
    assert [json.loads(line)["payload"]["n"] for line in heard.splitlines()] == [0, 1, 2]


@pytest.mark.slow
async def test_a_refusal_says_what_to_do(state: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """SB-45: a service publishes its own kinds of topics only."""
    async with Cluster(sites=1) as c:
        code, _, err = await published(c, tmp_path_factory.mktemp("other"), BOB, "--kind", "play")
        assert (code, err.startswith("Error: the token is not good here; give the --state that `segue up` was given")) == (1, True)
        code, _, err = await published(c, state, BOB, "--kind", "play", "--service", "playlist")
        assert (code, err.startswith("Error: forbidden: ")) == (1, True)
        code, _, err = await published(c, state, ARTIST, "--kind", "album")
        assert (code, err.startswith("Error: forbidden: "), "segue notify" in err) == (1, True, True)
        code, _, err = await published(c, state, "--file", "-", file=b'{"topic": 1}')
        assert (code, err.startswith("Error: <stdin>, line 1: Expected `str`, got `int`")) == (1, True)


@pytest.mark.slow
async def test_where_nothing_that_was_asked_for_can_be_followed_it_ends_with_the_reason_and_the_next_step(state: Path) -> None:
    async with Cluster(sites=1) as c:
        url = f"ws://{c.of('accesspoint')[0].address}"
        async with running("listen", INBOX, INBOX, "--user", "ann", "--state", str(state), "--url", url) as process:
            out, err = await process.communicate()
        assert (process.returncode, out) == (1, b"")
        assert b"forbidden" in err
        assert b"segue listen --notifications" in err
        assert err.endswith(b"Error: there is nothing to listen to: none of these topics can be followed\n")
        async with listening(c, state, INBOX, "--count", "1") as one_of_two:
            await published(c, state, BOB, "--kind", "play")
            await one_of_two.communicate()
        assert one_of_two.returncode == 0


@pytest.mark.parametrize(
    "arguments",
    [["publish", BOB, "--kind", "play", "--url", "http"], ["listen", BOB, "--user", "ann", "--url", "ws"]],
    ids=["publish", "listen"],
)
@pytest.mark.slow
def test_where_nobody_listens_it_says_how_to_start(arguments: list[str], state: Path) -> None:
    with socket.socket() as bound:  # so nobody else listens there
        bound.bind(("127.0.0.1", 0))
        url = f"{arguments[-1]}://127.0.0.1:{bound.getsockname()[1]}"
        result = CliRunner().invoke(cli, [*arguments[:-1], url, "--state", str(state)])
    assert result.exit_code == 1
    assert f"Error: nobody answers at {url}; start `segue up` first, or name another address" in result.output
    assert f"{url}/v1/" in result.output
    assert result.output.endswith(": Connection refused\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["publish"], "give either a TOPIC with its --kind, or a --file"),
        (["publish", BOB], "give either a TOPIC with its --kind, or a --file"),
        (["publish", BOB, "--kind", "play", "--file", "-"], "give either a TOPIC with its --kind, or a --file"),
        (["publish", BOB, "--kind", "play", "--payload", "[]"], "it must be a JSON object, such as"),
        (["publish", BOB, "--kind", "play", "--payload", "{"], "it must be a JSON object, such as"),
        (["listen", BOB], "say who listens: --user NAME"),
        (["listen"], "Missing argument 'TOPIC...'"),
    ],
)
def test_arguments_that_cannot_work_are_refused(arguments: list[str], said: str) -> None:
    result = CliRunner().invoke(cli, arguments)
    assert (result.exit_code, said in result.output) == (2, True), result.output


def test_what_leaves_real_time_and_comes_back_is_told_beside_the_events(capsys: pytest.CaptureFixture[str]) -> None:
    tell_offloaded(Offloaded(epoch=1, left=(BOB,), every_ms=1500))
    tell_offloaded(Offloaded(epoch=2, left=("hm://\x1b[31m/",), back=(BOB,)))
    assert capsys.readouterr() == (
        "",
        f"out of real time: {BOB}; one event in 1.5 s comes until it is back\n"
        "out of real time: hm://\\u001b[31m/; nothing comes until it is back\n"
        f"back in real time: {BOB}\n",
    )


def test_listen_says_which_topics_are_followed_no_longer(capsys: pytest.CaptureFixture[str]) -> None:
    tell_ended(Ended(topics=(RejectedTopic(BOB, "forbidden", "bob does not show\x1b[31m"),)))
    assert capsys.readouterr() == ("", f"followed no longer: {BOB} (forbidden: bob does not show\\u001b[31m)\n")


def test_listen_says_whether_something_was_missed(capsys: pytest.CaptureFixture[str]) -> None:
    tell_gap(Gap(topics=(BOB,), reason="owner-lost\x1b[2J"))
    for recovered in (True, False, None):
        tell_recovered(Installed(installed="local", recovered=recovered, replayed=3))
    said = capsys.readouterr().err
    assert said.startswith(f"something was missed: {BOB} (owner-lost")
    assert "\x1b" not in said
    assert said.count("3 recovered, nothing was missed") == 1


async def test_listen_follows_friends() -> None:
    """SB-6: an event on a friend's feed comes without its topic being named."""
    async with ScriptedServer() as server:
        async with running("listen", "--friends", "--token", "ann", "--url", server.url, "--count", "1") as process:
            peer = await server.next_peer()
            asked = await peer.next()
            while asked.get("follow") != "friends":
                asked = await peer.next()
            await peer.send({"op": "followed", "topics": [BOB], "left": [], "beyond": 0, "whole": True})
            await peer.send(event(BOB, 1))
            out, err = await process.communicate()
            assert BOB.encode() in out
            assert f"followed: {BOB}".encode() in err


def test_listen_tells_what_comes_and_goes_of_friends(capsys: pytest.CaptureFixture[str]) -> None:
    tell_friends(FriendNews(topics=(BOB,), left=(ARTIST,), beyond=2, whole=False))
    assert capsys.readouterr().err.splitlines() == [
        f"followed: {BOB}",
        f"followed no longer: {ARTIST}",
        "not followed: 2 more of friends, for a connection has no room for more topics",
        "not everybody who knows of friends can be asked now; the others follow by themselves",
    ]


def test_listen_recovers_topics_and_no_notifications() -> None:
    result = CliRunner().invoke(cli, ["listen", "--notifications", "--recover", "x", "--user", "ann"])
    assert (result.exit_code, "--recover is for topics" in result.output) == (2, True), result.output


async def test_listen_goes_on_where_the_last_run_stopped(tmp_path: Path) -> None:
    async with ScriptedServer() as server:
        server.answers["hello"] = lambda message: welcome(message) | {"window": {"user": {"keep": "latest", "seconds": 120}}}
        server.answers["subscribe"] = lambda message: subscribed(message) | {"recovered": True, "lost": [], "replayed": 3, "point": "p1"}
        command = ("listen", BOB, "--token", "secret", "--url", server.url, "--count", "1", "--recover", str(tmp_path / "ann"))
        async with running(*command) as first:
            await (await server.next_peer()).send(event(BOB, 5))
            assert b"recovered" not in (await first.communicate())[1]
        async with running(*command) as second:
            peer = await server.next_peer()
            asked = await peer.heard("subscribe")
            assert (asked["point"], asked["since"]) == ("p1", {BOB: {"sto": [7, 5]}})
            await peer.send(event(BOB, 6))
            assert b"3 recovered, nothing was missed" in (await second.communicate())[1]
