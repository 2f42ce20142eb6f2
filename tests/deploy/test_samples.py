"""The sample configuration is complete and consistent, and its three sites work together as they are written."""

import asyncio
import random
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest

from infra.runtime.address import Address
from infra.runtime.tokens import AuthOptions, Keys, Verifier
from segue.cli.up import PORT_BASE
from segue.cluster.factory import RoleFactory
from segue.cluster.process import Process
from segue.cluster.process_file import ProcessFile, read
from segue.cluster.roles import ROLES
from segue.cluster.roles import role_of as role_in_process
from segue.cluster.shape import STORING, Shape
from tests.support.network import NamedTcpNetwork
from tests.support.samples import DEPLOY, SAMPLES, SECRET, options_of, role_of, service_token, user_token
from tests.support.social_desk import SocialDesk
from tests.support.user import User, feed

DEADLINE_S = 60.0
DEFAULT = re.compile(r"^# (\w+ = .+)$", re.MULTILINE)
NOT_SET = re.compile(r"# (\w+) \(not set\): ")
# The lines of a table that a sample does not have, but shows: `[notification.email]`.
OPTIONAL = re.compile(r"^#: ", re.MULTILINE)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_is_named_after_its_site_and_node(path: Path) -> None:
    options = options_of(path)
    assert path.stem == f"{options.site}-{options.slot if role_of(path) == 'broker' else options.node}"


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_every_commented_default_is_the_default(path: Path, tmp_path: Path) -> None:
    """Taking every "# " away changes nothing, with and without the tables that are only shown."""
    text = path.read_text(encoding="utf-8")
    for variant in {text, OPTIONAL.sub("", text)}:
        assert parsed(DEFAULT.sub(r"\1", variant), role_of(path), tmp_path) == parsed(variant, role_of(path), tmp_path)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_names_every_option_that_there_is(path: Path, tmp_path: Path) -> None:
    """Also those of the tables that are only shown. What has no default that could be written is named as not set, in its table."""
    text, role = OPTIONAL.sub("", path.read_text(encoding="utf-8")), role_of(path)
    tables = tomllib.loads(DEFAULT.sub(r"\1", text))
    file, options = parsed(text, role, tmp_path)
    structs = {name: getattr(file, name) for name in file.__struct_fields__} | {role: options}
    found = {name: unnamed(struct, tables[name], name) for name, struct in structs.items()}
    assert set().union(*found.values()) == not_set(text)


def parsed(text: str, role: str, folder: Path) -> tuple[ProcessFile, Any]:
    """Returns what a process of `role` would read from a file in `folder` with this `text`."""
    path = folder / "sample.toml"
    path.write_text(text, encoding="utf-8")
    return read(path, role, {})


def not_set(text: str) -> set[str]:
    """Returns the dotted names of the options of which a text says that they are not set."""
    table, found = "", set()
    for line in text.splitlines():
        if header := re.fullmatch(r"\[([\w.]+)\]", line):
            table = header[1]
        elif named := NOT_SET.match(line):
            found.add(f"{table}.{named[1]}")
    return found


def unnamed(options: Any, table: dict[str, Any], at: str) -> set[str]:
    """Yields the dotted names of the `options` that `table` does not show, at any depth; `at` is the name of the table."""
    found = set()
    for name in options.__struct_fields__:
        if name not in table:
            found.add(f"{at}.{name}")
        elif hasattr(getattr(options, name), "__struct_fields__"):
            found |= unnamed(getattr(options, name), table[name], f"{at}.{name}")
    return found


def test_all_sites_have_the_same_processes_and_one_has_those_that_serve_all() -> None:
    nodes: dict[str, set[str]] = {}
    for path in SAMPLES:
        site, _, node = path.stem.partition("-")
        nodes.setdefault(site, set()).add(node)
    central = {"n1", "playlist1", "social1", "artist1", "decision1"}
    assert nodes.pop("sto") - central == {"b1", "b2", "a1", "p1", "ap1"}
    assert nodes == {site: {"b1", "b2", "a1", "p1", "ap1"} for site in ("lon", "ash")}


def test_whoever_is_dialled_listens_exactly_there() -> None:
    """The broker tables of all sites agree. Every address that a role names is some role's, at a site that serves it."""
    everybody = [(role_of(path), options_of(path)) for path in SAMPLES]
    listening = {options.listen: (role, options.site) for role, options in everybody if role != "accesspoint"}
    table = next(options.sites for role, options in everybody if role == "broker")
    for role, options in everybody:
        if role in ("broker", "decision"):
            assert options.sites == table
        elif hasattr(options, "brokers"):
            assert options.brokers == table[options.site]
        for address, whom in dialled(role, options):
            assert listening[address] == whom
    named = {address: ("broker", site) for site, slots in table.items() for address in slots.values()}
    assert named == {address: who for address, who in listening.items() if who[0] == "broker"}


def dialled(role: str, options: Any) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yields the addresses, besides those of brokers, that a role dials, and whom (role, site) it must find there."""
    if role == "accesspoint":
        yield from ((address, ("aggregator", options.site)) for address in options.aggregators)
        assert options.services.keys() == {"presence", "notification", "decision", *STORING}
    for service, addresses in getattr(options, "services", {}).items():
        yield from ((address, (service, options.site if service == "presence" else "sto")) for address in addresses)
    for site, addresses in getattr(options, "peers", {}).items():
        yield from ((address, ("presence", site)) for address in addresses)
    for service in ("presence", "social", "playlist"):
        yield from ((address, (service, options.site)) for address in getattr(options, service, ()))


def test_services_notify_where_a_notification_module_has_its_door() -> None:
    doors = [f"http://{path.stem}:{Address.parse(options_of(path).door).port}" for path in SAMPLES if role_of(path) == "notification"]
    for service in STORING:
        assert [options_of(path).notification for path in SAMPLES if role_of(path) == service] == [doors]


async def test_the_roles_of_one_host_find_each_other_with_one_file(tmp_path: Path) -> None:
    """Each role takes its table of `one-host.toml`; the doors are the ones that `segue up` has, here on free ports."""
    options: list[Any] = [read(DEPLOY / "one-host.toml", role, {})[1] for role in ROLES]
    shape = Shape(notification=1, services=tuple(STORING), port_base=PORT_BASE)
    assert {role_in_process(each): each.door for each in options if hasattr(each, "door")} == {
        role_in_process(each): each.door for each in shape.options() if hasattr(each, "door")
    }
    async with Process(parts(), [moved(each, tmp_path) for each in options]) as process:
        await process.settled()


def moved(options: Any, folder: Path) -> Any:
    """Returns options with the HTTP address at a free port, what is stored in `folder`, and the intake of this very process."""
    changes: dict[str, Any] = {}
    if hasattr(options, "door"):
        changes["door"] = "127.0.0.1:0"
    if hasattr(options, "path"):
        changes["path"] = type(options.path)(folder)
    if hasattr(options, "state"):
        changes["state"] = folder
    if hasattr(options, "notification"):
        changes["notification"] = ["sto/n1"]
    return msgspec.structs.replace(options, **changes)


async def test_three_sites_made_from_the_samples_carry_events_to_each_other(tmp_path: Path) -> None:
    """Every role on real TCP with the sample's own options; only doors go to free ports, and files to a folder of this test. What
    a service has stored at sto reaches a client at lon, too: live, and from the store."""
    options = [moved(options_of(path), tmp_path) for path in SAMPLES]
    async with asyncio.timeout(DEADLINE_S), Process(parts(), options) as process, aiohttp.ClientSession() as http:
        await process.settled()
        (london,), (stockholm,) = process.of("accesspoint", "lon"), process.of("accesspoint", "sto")
        await SocialDesk(http, process.of("social")[0].address).befriend("ann", "bob")
        async with User(london.address, user_token("ann")) as ann, User(stockholm.address, user_token("bob")) as bob:
            while (await ann.follow("bob"))["installed"] != "all":
                pass  # sites that have not found each other yet: it said `partial` after two seconds
            assert (await bob.ask("act", kind="play", track="Jóga"))["op"] == "ok"
            for broker in process.of("broker", "ash"):
                await pause(http, broker.address, "bob")
            events = await ann.heard_of("bob", 3)
            assert [(event["site"], event["kind"]) for event in events] == [("sto", "play"), ("ash", "pause"), ("ash", "pause")]
            await check_the_stored_path(process, http, ann)


async def check_the_stored_path(process: Process, http: aiohttp.ClientSession, ann: User) -> None:
    """Makes a playlist of bob that `ann` follows over a link, and changes it. The change is stored for ann, and ann is told."""
    (playlist,) = process.of("playlist")
    headers, url = {"Authorization": f"Bearer {user_token('bob')}"}, f"http://{playlist.address}/v1/playlists"
    async with http.post(url, json={"id": "summer", "name": "Summer"}, headers=headers) as answer:
        assert answer.status == 201
    topic = "hm://playlist/user/bob/playlist/summer/"
    assert (await ann.ask("subscribe", topics=[topic]))["op"] == "subscribed"
    change = {"change": {"op": "add", "tracks": ["Jóga"]}}
    async with http.post(f"{url}/bob/summer/changes", json=change, headers=headers) as answer:
        assert answer.status == 200
    item = await stored_change(ann, "add")
    assert (item["topic"], item["class"], item["payload"]["by"]) == (topic, "playlist", "bob")


async def stored_change(user: User, op: str) -> dict[str, Any]:
    """Waits until the change `op` is stored for `user`, and returns it. Another change may be there: a user to whom a service tells of the
    creation is looked up a moment later, and a follower who was quicker than that is told.
    """
    while True:
        events = len(user.events)
        items: list[dict[str, Any]] = (await user.pull(since=0))["items"]
        if found := [item for item in items if item["class"] == "playlist" and item["payload"]["change"]["op"] == op]:
            return found[0]
        await user.heard(events + 1)


def parts() -> RoleFactory:
    """Returns what roles are made from: real TCP under the names of the files, and tokens of `SECRET`."""
    verifier = Verifier(AuthOptions(), Keys(secret=SECRET), lambda: None)
    return RoleFactory(NamedTcpNetwork(), verifier, random.Random(1), token=service_token)


async def pause(http: aiohttp.ClientSession, broker: str, user: str) -> None:
    """Publishes at `broker` that `user` pauses, as the presence service; `http` sends it."""
    headers = {"Authorization": f"Bearer {service_token('presence')}"}
    event = {"topic": feed(user), "kind": "pause", "payload": {}}
    async with http.post(f"http://{broker}/v1/events", json=event, headers=headers) as answer:
        assert (answer.status, await answer.json()) == (202, {"accepted": 1, "rejected": []})
