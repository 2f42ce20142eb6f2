"""The sample configuration is complete and consistent, and its three sites work together as they are written."""

import asyncio
import random
import re
import tomllib
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest

from infra.runtime.tokens import AuthOptions, Keys, Verifier
from segue.process import ORDER, Parts, Process
from segue.role import read
from tests.support.network import NamedTcpNetwork
from tests.support.samples import DEPLOY, SAMPLES, SECRET, options_of, role_of, service_token, user_token
from tests.support.user import User, feed

DEADLINE_S = 20.0
DEFAULT = re.compile(r"^# (\w+ = .+)$", re.MULTILINE)
NOT_SET = re.compile(r"^# (\w+) \(not set\): ", re.MULTILINE)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_is_named_after_its_site_and_node(path: Path) -> None:
    options = options_of(path)
    assert path.stem == f"{options.site}-{options.slot if role_of(path) == 'broker' else options.node}"


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_every_commented_default_is_the_default(path: Path, tmp_path: Path) -> None:
    """Taking every "# " away changes nothing."""
    bare = tmp_path / path.name
    bare.write_text(DEFAULT.sub(r"\1", path.read_text(encoding="utf-8")), encoding="utf-8")
    assert read(bare, role_of(path), {}) == read(path, role_of(path), {})


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_names_every_option_that_there_is(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tables = tomllib.loads(DEFAULT.sub(r"\1", text))
    file, options = read(path, role_of(path), {})
    assert unnamed(file.auth, tables["auth"]) == set(NOT_SET.findall(text))
    assert unnamed(file.log, tables["log"]) == set()
    assert unnamed(options, tables[role_of(path)]) == set()


def unnamed(options: Any, table: dict[str, Any]) -> set[str]:
    """The options that a table does not show, at any depth."""
    found = set()
    for name in options.__struct_fields__:
        if name not in table:
            found.add(name)
        elif hasattr(getattr(options, name), "__struct_fields__"):
            found |= unnamed(getattr(options, name), table[name])
    return found


def test_all_sites_have_the_same_processes() -> None:
    nodes: dict[str, set[str]] = {}
    for path in SAMPLES:
        site, _, node = path.stem.partition("-")
        nodes.setdefault(site, set()).add(node)
    assert nodes == {site: {"b1", "b2", "a1", "p1", "ap1"} for site in ("sto", "lon", "ash")}


def test_whoever_is_dialled_listens_exactly_there() -> None:
    """The broker tables of all sites agree, and no role names an address of another site or of nobody."""
    everybody = [(role_of(path), options_of(path)) for path in SAMPLES]
    listening = {options.listen: (role, options.site) for role, options in everybody if role != "accesspoint"}
    table = next(options.sites for role, options in everybody if role == "broker")
    for role, options in everybody:
        match role:
            case "broker":
                assert options.sites == table
            case "accesspoint":
                assert [listening[address] for address in options.aggregators] == [("aggregator", options.site)]
                assert [listening[address] for address in options.services["presence"]] == [("presence", options.site)]
            case _:
                assert options.brokers == table[options.site]
    named = {address: ("broker", site) for site, slots in table.items() for address in slots.values()}
    assert named == {address: who for address, who in listening.items() if who[0] == "broker"}


async def test_the_roles_of_one_host_find_each_other_with_one_file() -> None:
    """Each role takes its table of `one-host.toml`; the doors are the ones that `segue up` has, here on free ports."""
    options: list[Any] = [read(DEPLOY / "one-host.toml", role, {})[1] for role in ORDER]
    doors = [each.door for each in options if hasattr(each, "door")]
    assert doors == ["127.0.0.1:7710", "127.0.0.1:7700"]
    moved = [msgspec.structs.replace(each, door="127.0.0.1:0") if hasattr(each, "door") else each for each in options]
    async with Process(parts(), moved) as process:
        await process.settled()


async def test_three_sites_made_from_the_samples_carry_events_to_each_other() -> None:
    """Every role on real TCP with the sample's own options; only the doors go to free ports of this machine."""
    options = [options_of(path, **({"door": '"127.0.0.1:0"'} if role_of(path) in ("broker", "accesspoint") else {})) for path in SAMPLES]
    async with asyncio.timeout(DEADLINE_S), Process(parts(), options) as process, aiohttp.ClientSession() as http:
        await process.settled()
        (london,), (stockholm,) = process.of("accesspoint", "lon"), process.of("accesspoint", "sto")
        async with User(london.address, user_token("ann")) as ann, User(stockholm.address, user_token("bob")) as bob:
            while (await ann.follow("bob"))["installed"] != "all":
                pass  # sites that have not found each other yet: it said `partial` after two seconds
            assert (await bob.ask("act", kind="play", track="Jóga"))["op"] == "ok"
            for broker in process.of("broker", "ash"):
                await pause(http, broker.address, "bob")
            events = await ann.heard(3)
    assert [(event["site"], event["kind"]) for event in events] == [("sto", "play"), ("ash", "pause"), ("ash", "pause")]


def parts() -> Parts:
    """What roles are made from: real TCP under the names of the files, and tokens of `SECRET`."""
    return Parts(NamedTcpNetwork(), Verifier(AuthOptions(), Keys(secret=SECRET), lambda: None), random.Random(1))


async def pause(http: aiohttp.ClientSession, broker: str, user: str) -> None:
    """Publish that `user` pauses, as the presence service."""
    headers = {"Authorization": f"Bearer {service_token('presence')}"}
    event = {"topic": feed(user), "kind": "pause", "payload": {}}
    async with http.post(f"http://{broker}/v1/events", json=event, headers=headers) as answer:
        assert (answer.status, await answer.json()) == (202, {"accepted": 1, "rejected": []})
