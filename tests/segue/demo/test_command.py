"""The demo as a whole, small and real: clients on WebSockets, three sites, and a count of friends made by hand."""

import asyncio
import io
import json
import os
import sys
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from segue.cli.command_line import cli
from segue.cluster.shape import SITES
from segue.demo.dataset import Dataset, checkout_folder
from segue.demo.listening import schedule
from segue.demo.outcome import DemoOutcome
from segue.demo.placement import place
from segue.demo.plan import DemoPlan
from segue.demo.run import run
from segue.demo.show import Show

KEYS = ["events", "expected", "delivered", "lost", "duplicated", "latency_ms", "cross_site_share", "rss_mb", "seconds"]
DEADLINE_S = 90.0


def plan(**changes: Any) -> DemoPlan:
    """Returns a plan: sixty users for a second, but for `changes`."""
    usual: dict[str, Any] = {"data": checkout_folder(), "users": 60, "sites": 3, "seconds": 1.0, "speed": 1.0, "rate_per_s": 300.0}
    return DemoPlan(**(usual | {"seed": 1, "has_processes": False} | changes))


def players(dataset: Dataset, of: DemoPlan) -> list[str]:
    """Returns who plays, in order, when `of` is run."""
    dataset = dataset.subset(of.users or len(dataset.friends), of.rng("users"))
    plays = schedule(dataset, duration_s=of.seconds, rng=of.rng("plays"), speed=of.speed, rate_per_s=of.rate_per_s)
    return [play.user for play in plays]


def friends_by_hand(dataset: Dataset, of: DemoPlan) -> dict[str, int]:
    """Returns how many friends each user has among those who take part: nested loops over the friendships, nothing of the demo's."""
    here = set(dataset.subset(of.users or len(dataset.friends), of.rng("users")).friends)
    return {user: sum(1 for other in here if other in dataset.friends[user]) for user in here}


def other_sites_by_hand(dataset: Dataset, of: DemoPlan) -> dict[str, int]:
    """Returns at how many sites, besides their own, each user has friends."""
    here = dataset.subset(of.users or len(dataset.friends), of.rng("users"))
    site_of = place(here.friends, here.total_plays(), SITES[: of.sites], of.rng("places")).site_of
    return {user: len({site_of[friend] for friend in here.friends[user]} - {site_of[user]}) for user in here.friends}


async def played(of: DemoPlan) -> tuple[dict[str, Any], str]:
    """Returns the JSON of a run, and what was told of it."""
    told = io.StringIO()
    async with asyncio.timeout(DEADLINE_S):
        outcome = await run(of, Show(Console(file=told)))
    return outcome.document(), told.getvalue()


@pytest.mark.slow
async def test_every_play_reaches_every_friend_at_every_site_once(lastfm: Dataset) -> None:
    """SB-18, SB-26: on real friendships at three sites, counted by hand. SB-24: an event goes once to each other site that has a
    friend of the player, and to no other."""
    small = plan()
    document, _ = await played(small)
    who, friends = players(lastfm, small), friends_by_hand(lastfm, small)
    assert document["events"] == len(who) > 200
    assert document["expected"] == document["delivered"] == sum(friends[user] for user in who) > 500
    assert (document["lost"], document["duplicated"], document["misrouted"], document["refused"]) == (0, 0, 0, 0)
    assert document["site_messages"] == sum(map(other_sites_by_hand(lastfm, small).__getitem__, who)) > 0
    assert 0 < document["cross_site_share"] < 1
    assert document["latency_ms"]["local"]["p50"] <= document["latency_ms"]["local"]["p99"] <= document["latency_ms"]["local"]["max"]


@pytest.mark.slow
async def test_one_site_and_a_higher_speed_are_exact_too(lastfm: Dataset) -> None:
    small = plan(users=40, sites=1, speed=4.0, rate_per_s=100.0, seed=7)
    document, told = await played(small)
    assert document["expected"] == document["delivered"] == sum(map(friends_by_hand(lastfm, small).__getitem__, players(lastfm, small)))
    assert (document["site_messages"], document["cross_site_share"]) == (0, 0.0)
    assert "40 in sto; 0% of deliveries will cross" in told


@pytest.mark.slow
async def test_nobody_hears_what_they_must_not(lastfm: Dataset) -> None:
    """AUTH-4, AUTH-5, AUTH-8: after a block, under `nobody` and in a private session, counted by hand."""
    document, _ = await played(plan(sites=2))
    private = document["privacy"]
    assert document["policy"] == "social"
    friends = friends_by_hand(lastfm, plan())
    ranked = sorted(friends, key=lambda user: (-friends[user], user))
    here = lastfm.subset(60, plan().rng("users")).friends
    silent, secret, blocker = ranked[:3]
    blocked = next(user for user in here[blocker] if user not in (silent, secret))
    as_before = next(user for user in ranked[3:] if user != blocked)
    assert private["expected"] == private["delivered"] == 5 * (friends[blocker] + friends[blocked] + friends[as_before] - 2) > 0
    assert private["withheld"] == 5 * (friends[silent] + friends[secret] + 2)
    assert private["ended"] == private["told"] == friends[silent] + 2
    assert private["attempts"] == private["refused"] == private["ended"] + 20
    assert (private["overheard"], private["duplicated"]) == (0, 0)


async def command(*arguments: str) -> tuple[int | None, str, str]:
    """Returns the exit code of `segue demo`, and what it wrote."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "segue", "demo", *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONWARNINGS": "error"},
    )
    try:
        async with asyncio.timeout(DEADLINE_S):
            out, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode, out.decode(), err.decode()


@pytest.mark.slow
async def test_the_command_writes_plain_text_to_a_pipe_and_the_summary_as_json(tmp_path: Path) -> None:
    file = tmp_path / "demo.json"
    code, out, err = await command("--users", "60", "--seconds", "1", "--rate", "200", "--json", str(file))
    assert (code, err) == (0, "")
    document = json.loads(file.read_text(encoding="utf-8"))
    assert list(document)[: len(KEYS)] == KEYS
    assert list(document["latency_ms"]) == ["local", "cross_site"]
    assert all(list(each) == ["p50", "p99", "max"] for each in document["latency_ms"].values())
    assert document["rss_mb"] > 10
    assert out.replace("\n", "").isprintable()
    first = ["data", "place", "friends", "cluster", "connect", "follow", "play", "drain", "privacy"]
    second = ["fans", "album", "post", "morning", "single"]
    assert [line.split()[0] for line in out.splitlines()[:14]] == first + second
    assert "✓ Every play reached every friend exactly once." in out
    assert "policy social: friends hear what friends play" in out
    assert document["release"]["lost"] == 0 < document["release"]["pulled"]
    assert "✓ Every release reached every follower" in out


@pytest.mark.slow
def test_a_run_that_went_wrong_ends_with_1_and_still_writes_its_summary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def spoiled(of: DemoPlan, show: Show) -> DemoOutcome:
        return replace(await run(of, show), refused=1, refusal="unavailable: no broker took the event")

    monkeypatch.setattr("segue.demo.command.run", spoiled)
    monkeypatch.setattr("segue.demo.command.configure", lambda *_: None)
    file = tmp_path / "demo.json"
    result = CliRunner().invoke(cli, ["demo", "--users", "20", "--sites", "1", "--seconds", "0.1", "--json", str(file)])
    assert result.exit_code == 1
    assert "✗ 1 plays were refused, the last because of: unavailable: no broker took the event." in " ".join(result.output.split())
    assert json.loads(file.read_text(encoding="utf-8"))["refused"] == 1


@pytest.mark.slow
@pytest.mark.e2e
async def test_roles_as_processes_are_exact_too(tmp_path: Path) -> None:
    file = tmp_path / "demo.json"
    code, out, _ = await command("--users", "30", "--sites", "1", "--seconds", "1", "--rate", "100", "--processes", "--json", str(file))
    assert code == 0, out
    document = json.loads(file.read_text(encoding="utf-8"))
    assert document["delivered"] == document["expected"] > 0
    assert "each a process of its own" in out
    assert document["release"]["lost"] == 0 < document["release"]["pulled"]
    assert document["release"]["rows_written"] == document["release"]["rows"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--users", "0"], "0 is not in the range x>=1"),
        (["--sites", "4"], "4 is not in the range 1<=x<=3"),
        (["--speed", "0"], "0.0 is not in the range x>0"),
        (["--store", "paper"], "'paper' is not one of 'sqlite', 'cassandra'"),
        (["--json", "no-such-folder/demo.json"], "No such file or directory"),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_starts(arguments: list[str], said: str) -> None:
    result = CliRunner().invoke(cli, ["demo", *arguments])
    assert result.exit_code == 2
    assert said in result.output


async def test_more_users_than_there_are_and_missing_data_are_told() -> None:
    code, _, err = await command("--users", "5000")
    assert (code, err) == (2, "segue: cannot take 5000 users of the 1892 in the data; ask for 1 to 1892\n")
    code, _, err = await command("--data", "no-such-folder")
    assert code == 2
    assert err.startswith("segue: no-such-folder/friends.tsv.gz is missing; name the folder")


def test_the_same_seed_decides_the_same_and_each_thing_on_its_own() -> None:
    assert plan().rng("users").random() == plan(seconds=inf).rng("users").random() != plan().rng("plays").random()
    assert plan().rng("plays").random() != plan(seed=2).rng("plays").random()


def test_the_page_counts_nothing_so_it_has_no_figures(tmp_path: Path) -> None:
    ended = CliRunner().invoke(cli, ["demo", "--page", "--json", str(tmp_path / "figures.json")])
    assert ended.exit_code == 2
    assert "leave one of them out" in ended.output
