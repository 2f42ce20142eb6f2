"""`segue prefs`, `segue devices` and `segue why`, against a real notification module."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path

import pytest
from click.testing import CliRunner

from segue.cli.command_line import cli
from segue.sdk.settings import SettingsClient
from tests.support.cluster import Cluster
from tests.support.stored import decided

Run = Callable[..., Coroutine[None, None, str]]
ENDPOINT = "https://push.example.org/send/a"
KEYS = {
    "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    "auth": "BTBZMqHH6r4Tts7J_aSIgg",
}


@pytest.fixture
async def c(state: Path) -> AsyncIterator[Cluster]:
    async with Cluster(sites=1, state=state / "store") as c:
        yield c


@pytest.fixture
def run(c: Cluster, state: Path) -> Run:
    """Returns what runs a command of ann at the notification module."""

    async def said(*arguments: str) -> str:
        command = [*arguments, "--user", "ann", "--url", where(c), "--state", str(state)]
        result = await asyncio.to_thread(CliRunner().invoke, cli, command)
        assert result.exit_code == 0, result.output
        return result.output

    return said


def where(c: Cluster) -> str:
    return f"http://{c.of('notification')[0].address}"


async def test_what_is_not_named_stays_as_it_was_set(run: Run) -> None:
    """SB-43."""
    assert await run("prefs", "show") == "mails go to: nowhere\ndigest: off\nno push: never (UTC)\n"
    await run("prefs", "set", "--email", "ann@example.org", "--quiet", "22:00-07:00", "--digest", "weekly", "--mute", "artist:a1")
    await run("prefs", "set", "--refuse", "new-track:email", "--mute", "user:bob", "--unmute", "artist:a1")
    assert (await run("prefs", "set", "--want", "new-track:push")).splitlines() == [
        "mails go to: ann@example.org",
        "digest: weekly on monday at 08:00",
        "no push: 22:00 to 07:00 (UTC)",
        "new-track by email: refused",
        "new-track by push: wanted",
        "muted: user:bob",
    ]
    held = json.loads(await run("prefs", "set", "--email", "none", "--quiet", "never", "--json"))
    assert (held["email"], held["quiet"], held["digest"], held["muted"]) == (None, None, "weekly", ["user:bob"])
    assert await run("prefs", "reset") == "mails go to: nowhere\ndigest: off\nno push: never (UTC)\n"


async def test_devices_are_listed_and_removed(c: Cluster, run: Run) -> None:
    async with SettingsClient(where(c), c.token("ann")) as ann:
        await ann.add_device(ENDPOINT, KEYS)
    assert await run("devices", "list") == f"{ENDPOINT}\n"
    assert json.loads(await run("devices", "list", "--json")) == {"endpoint": ENDPOINT}
    assert await run("devices", "remove", ENDPOINT) == "no pushes go there\n"
    assert await run("devices", "list") == ""


async def test_why_names_the_event_the_ways_and_the_rules(c: Cluster, run: Run) -> None:
    notice = {"id": "album-7", "topic": "hm://notifications/feed/bjork%new-album/", "kind": "album", "payload": {"a": 1}}
    assert (await c.notify(notice | {"followers": ["ann"]}))[0] == 202
    await decided(c, 1)
    head, ways, rules, *_ = (await run("why", "album-7")).splitlines()
    assert head == "album-7: album on hm://notifications/feed/bjork%new-album/"
    found = json.loads(await run("why", "album-7", "--json"))
    assert ways == f"went by: {', '.join(found['types'])}"
    assert rules == f"decided by: {', '.join(found['reasons'])}"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [(["--quiet", "22:00"], "22:00-07:00, or never"), (["--refuse", "new-album"], "CLASS:CHANNEL, such as new-album:push")],
)
def test_what_cannot_be_read_says_what_to_write(arguments: list[str], complaint: str) -> None:
    result = CliRunner().invoke(cli, ["prefs", "set", *arguments, "--token", "x", "--url", "http://127.0.0.1:1"])
    assert (result.exit_code, complaint in result.output) == (2, True), result.output
