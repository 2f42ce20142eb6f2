"""A whole cluster in one process captures: what is in the trace is what clients and services did."""

import random
import time
from collections import Counter
from hashlib import blake2b
from pathlib import Path
from typing import Any

import aiohttp
import pyarrow.parquet as pq

from infra.kernel.capture_options import CaptureOptions
from infra.kernel.manifest import MANIFESTS, Manifest, decode, merge
from infra.kernel.pseudonym import pseudonym
from infra.kernel.topics import parse_topic
from infra.kernel.trace import TABLES
from infra.runtime.tokens import issue
from segue.cluster.factory import RoleFactory
from segue.cluster.process import Process
from segue.cluster.shape import Shape
from tests.support.cluster import SECRET
from tests.support.eventually import eventually
from tests.support.user import User, feed

PLAYLIST = "hm://playlist/user/bobolink/playlist/summerhits/"
ALBUMS = "hm://notifications/feed/bjoerkish%new-album/"
DEADLINE_S = 60.0
NAMES = ("annabella", "bobolink", "summerhits", "bjoerkish")


def shape(tmp_path: Path, capture: CaptureOptions) -> Shape:
    services = ("playlist", "social", "artist")
    (tmp_path / "catalogue.jsonl").touch()
    catalogue = str(tmp_path / "catalogue.jsonl")
    return Shape(
        sites=("sto", "lon"),
        brokers=2,
        notification=1,
        services=services,
        policy="open",
        state=tmp_path / "store",
        catalogue=catalogue,
        capture=capture,
    )


def process(tmp_path: Path, capture: CaptureOptions) -> Process:
    return Process(RoleFactory.local(SECRET, random.Random(1)), shape(tmp_path, capture).options())


def user_token(user: str) -> str:
    return issue(SECRET, user=user, ttl_s=3600, now_s=time.time())


def service_token(service: str) -> str:
    return issue(SECRET, service=service, ttl_s=3600, now_s=time.time())


class Company:
    """A running process, and what its users do."""

    def __init__(self, process: Process, http: aiohttp.ClientSession) -> None:
        self._process, self._http = process, http

    def user(self, name: str, site: str, device: str = "desktop") -> User:
        return User(self._process.of("accesspoint", site)[0].address, user_token(name), {"device": device})

    async def ask(self, method: str, role: str, path: str, token: str, body: Any = None) -> None:
        url = f"http://{self._process.of(role)[0].address}{path}"
        async with self._http.request(method, url, json=body, headers={"Authorization": f"Bearer {token}"}) as answer:
            assert answer.status < 300, await answer.text()

    async def until_published(self, changes: int) -> None:
        """Waits until so many changes of playlists were handed to the brokers."""
        (playlists,) = self._process.of("playlist")
        await eventually(lambda: playlists.counters()["playlist_published_total"] >= changes, deadline_s=DEADLINE_S)


async def live(company: Company) -> None:
    """Plays a story: annabella listens on two devices at sto, and bobolink plays at lon.

    Once it is published a second time with the same id.
    """
    async with company.user("annabella", "sto") as desktop, company.user("bobolink", "lon") as bob:
        async with company.user("annabella", "sto", "mobile") as phone:
            await desktop.follow("bobolink", "annabella")
            await phone.follow("bobolink")
            await bob.ask("act", kind="play", track="1")
            event = {"topic": feed("bobolink"), "kind": "pause", "payload": {}, "id": "x1"}
            for _ in range(2):
                await company.ask("POST", "broker", "/v1/events", service_token("presence"), event)
            for device in (desktop, phone):
                await device.heard(2)
        await desktop.ask("unsubscribe", topics=[feed("bobolink")])


async def stored(company: Company) -> None:
    """Plays a story: annabella follows an artist and a playlist without a connection; both have news. Then annabella leaves the artist."""
    ann, bob = user_token("annabella"), user_token("bobolink")
    await company.ask("POST", "playlist", "/v1/playlists", bob, {"id": "summerhits", "name": "Summer"})
    await company.ask("PUT", "playlist", "/v1/playlists/bobolink/summerhits/follow", ann)
    await company.ask("PUT", "artist", "/v1/artists/bjoerkish/follow", ann)
    change = {"change": {"op": "add", "tracks": ["1"]}}
    await company.ask("POST", "playlist", "/v1/playlists/bobolink/summerhits/changes", bob, change)
    notice = {"id": "n1", "topic": ALBUMS, "kind": "album", "payload": {}, "followers": ["annabella", "bobolink"]}
    for _ in range(2):
        await company.ask("POST", "notification", "/v1/notifications", service_token("artist"), notice)
    await company.ask("DELETE", "artist", "/v1/artists/bjoerkish/follow", ann)


def rows(folder: Path, table: str) -> list[dict[str, Any]]:
    return [row for file in (folder / table).glob("*.parquet") for row in pq.ParquetFile(file).read().to_pylist()]


def files(folder: Path, pattern: str) -> list[Path]:
    return list(folder.rglob(pattern))


def manifest(folder: Path) -> Manifest:
    return merge([decode(each.read_bytes(), str(each)) for each in folder.glob(MANIFESTS)])


async def test_a_trace_says_what_clients_and_services_did_and_names_nobody(tmp_path: Path) -> None:
    """At two sites with every role. A user has one number in all that any role wrote, and each event is there once."""
    folder, key_file = tmp_path / "trace", tmp_path / "capture.key"
    async with process(tmp_path, CaptureOptions(path=str(folder), key_file=str(key_file))) as running, aiohttp.ClientSession() as http:
        await running.settled()
        company = Company(running, http)
        await live(company)
        await stored(company)
        await company.until_published(2)  # it was made, and changed
    key = blake2b(key_file.read_bytes().strip(), digest_size=32).digest()
    ann, bob = (pseudonym(key, name) for name in (b"annabella", b"bobolink"))
    albums = pseudonym(key, parse_topic(ALBUMS))
    playlist = pseudonym(key, parse_topic(PLAYLIST))

    seen = Counter((row["user"], row["site"], row["device"], row["action"]) for row in rows(folder, "sessions"))
    devices = [(ann, "sto", "desktop"), (ann, "sto", "mobile"), (bob, "lon", "desktop")]
    assert seen == {(*each, action): 1 for each in devices for action in ("join", "leave")}

    log = rows(folder, "subscription_log")
    changes = Counter((row["subscriber"], row["service"], row["topic"], row["site"], row["action"]) for row in log)
    both = ("subscribe", "unsubscribe")
    assert changes.pop((ann, "playlist", playlist, None, "subscribe")) == 1
    assert {change: n for change, n in changes.items() if change[1] == "presence"} == {
        (ann, "presence", bob, "sto", each): 1 for each in both
    }
    assert {change: n for change, n in changes.items() if change[2] == albums} == {(ann, "artist", albums, None, each): 1 for each in both}
    assert sum(changes.values()) == 2 + 3 * 2  # one user, and the three feeds of an artist

    published = Counter((row["service"], row["topic"], row["kind"]) for row in rows(folder, "publications"))
    expected = {("presence", bob, "play"): 1, ("presence", bob, "pause"): 1, ("artist", albums, "album"): 1}
    del published["presence", bob, "playlist"]  # lines in feeds about it, which may come later or not at all
    assert published == expected | {("playlist", playlist, "playlist"): 2}

    whole = manifest(folder)
    assert {name: info.rows for name, info in whole.tables.items()} == {name: len(rows(folder, name)) for name in whole.tables}
    assert (whole.sites, whole.origin, whole.dropped) == (("lon", "sto"), "captured", {})
    words = {word for table in TABLES.values() for column in table.columns for word in column.words}
    found = {value for table in whole.tables for row in rows(folder, table) for value in row.values() if isinstance(value, str)}
    assert found <= words | {"sto", "lon", "play", "pause", "album", "playlist"}
    everything = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert [name for name in NAMES if name.encode() in everything] == []


async def test_without_being_asked_nothing_is_captured(tmp_path: Path) -> None:
    async with process(tmp_path, CaptureOptions()) as running, aiohttp.ClientSession() as http:
        await running.settled()
        await live(Company(running, http))
        assert [name for role in running.roles for name in role.counters() if name.startswith("capture")] == []
    assert files(tmp_path, "*.parquet") == files(tmp_path, "*capture*") == []


async def test_every_role_that_captures_counts_what_it_wrote(tmp_path: Path) -> None:
    capture = CaptureOptions(path=str(tmp_path / "trace"), key_file=str(tmp_path / "capture.key"))
    async with process(tmp_path, capture) as running, aiohttp.ClientSession() as http:
        await running.settled()
        await live(Company(running, http))
        counting = {role.role for role in running.roles if "capture_dropped_total" in role.counters()}
    assert counting == {"broker", "accesspoint", "notification", "playlist", "artist"}
    assert running.of("accesspoint", "sto")[0].counters()["capture_rows_total"] == {"sessions": 4, "subscription_log": 2}
