"""Artist monitoring as a whole: a real role, its HTTP door, links in memory, and a real HTTP intake."""

import asyncio
import json
import random
import signal
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest
from structlog.testing import capture_logs

from infra.kernel.backoff import Backoff
from infra.kernel.errors import Refused, Unavailable
from infra.runtime.cassandra.client import Cassandra
from infra.runtime.context import Context
from infra.runtime.logs import get_logger
from infra.runtime.loops import METRICS as LOOPS
from infra.runtime.tokens import AuthOptions, Keys, Verifier
from infra.runtime.wire.memory import MemoryNetwork
from services.artist import schedule
from services.artist.core import DAY_S, CatalogueItem
from services.artist.metrics import METRICS
from services.artist.options import ArtistOptions
from services.artist.server import ArtistService
from tests.services.artist.contract_intake import ContractIntake
from tests.services.scripted_service import ScriptedService
from tests.support.cluster import FAST
from tests.support.eventually import eventually
from tests.support.openapi_page import OpenapiPage
from tests.support.samples import SECRET, service_token, user_token

ROOT = Path(__file__).resolve().parents[3]
PAGE = OpenapiPage("openapi-artist.json")
FEED = "hm://notifications/feed/{}%{}/"


class House:
    """An artist service `role` with a catalogue file; `now_s` is its clock. `point` is an access point that is linked to it."""

    def __init__(self, folder: Path, intake: ContractIntake) -> None:
        self.catalogue = folder / "catalogue.jsonl"
        self.lines: list[str] = []
        self.now_s = time.time()
        self.intake, self._folder = intake, folder
        self.network = MemoryNetwork()
        self.point = ScriptedService(self.network, "accesspoint", "sto/ap1")
        self.role: ArtistService

    async def start(self, **options: Any) -> None:
        """Starts the service, also anew after `role.close`. By itself it does nothing, unless `options` have an `at`."""
        wanted = {"at": "", "notification": [self.intake.url]} | options
        shape = ArtistOptions(
            site="sto",
            node="m1",
            listen="sto/m1",
            door="127.0.0.1:0",
            link=FAST,
            path=str(self._folder),
            catalogue=str(self.catalogue),
            **wanted,
        )
        verifier = Verifier(AuthOptions(), Keys(secret=SECRET), lambda: None)
        log = get_logger("artist", "m1", "sto")
        context = Context(network=self.network, log=log, rng=random.Random(1), wall=lambda: self.now_s)
        self.role = ArtistService(shape, context, verifier, service_token)
        await self.role.start()

    def release(self, artist: str, *ids: str, kind: str = "album") -> None:
        """Adds these items to the catalogue."""
        self.lines += [json.dumps({"artist": artist, "name": "N", "type": kind, "id": each, "title": f"T {each}"}) for each in ids]
        self.catalogue.write_text("\n".join(self.lines) + "\n", encoding="utf-8")

    async def ask(self, method: str, path: str, token: str = "", **kwargs: Any) -> tuple[int, Any]:
        """Status and document, which are as docs/openapi-artist.json describes them; as ann without a token."""
        headers = {"Authorization": f"Bearer {token or user_token('ann')}"}
        url = f"http://{self.role.address}/v1/artists{path}"
        async with aiohttp.ClientSession() as http, http.request(method, url, headers=headers, **kwargs) as answer:
            document = await answer.json() if answer.content_type == "application/json" else None
        PAGE.check_answer(method, f"/v1/artists{path}", answer.status, document)
        return answer.status, document

    async def call(self, user: str, op: str, *topics: str) -> None:
        """Relays a subscription, as an access point does."""
        await eventually(lambda: not self.point.peers.missing())
        await self.point.peers.call("artist", user, op, msgspec.json.encode({"topics": topics}))

    def told(self) -> list[tuple[str, list[str]]]:
        """Returns which item was told to whom, in order of the items."""
        return sorted((head["payload"]["id"], sorted(self.intake.followers[n].elements())) for n, head in self.intake.heads.items())


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with ContractIntake() as intake:
        house = House(tmp_path, intake)
        async with house.point:
            house.point.dial("artist", "sto/m1")
            yield house
            await house.role.close()


async def start_knowing(house: House, *artists: str, **options: Any) -> None:
    """Starts a service that knows `artists`, whom ann follows."""
    await house.start(**options)
    for artist in artists:
        house.release(artist, f"old-{artist}")
        await house.ask("PUT", f"/{artist}/follow")
    await house.role.work.job.run_once()


async def test_each_new_item_is_announced_once_to_all_followers_of_its_feed(house: House) -> None:
    """SB-35, SB-8: album, track and playlist; a second run of the same day announces 0."""
    await start_knowing(house, "a1", "a2")
    await house.call("bob", "follow", FEED.format("a1", "new-album"))
    house.release("a1", "al")
    house.release("a1", "tr", kind="track")
    house.release("a2", "pl", kind="playlist")
    tally = await house.role.work.job.run_once()
    assert (tally.announced, tally.learned, tally.finished) == (3, 0, True)
    assert house.told() == [("al", ["ann", "bob"]), ("pl", ["ann"]), ("tr", ["ann"])]
    assert (await house.role.work.job.run_once()).announced == 0
    assert house.intake.posts.total() == 3
    (album,) = (head for head in house.intake.heads.values() if head["kind"] == "album")
    assert (album["topic"], album["producer"]) == (FEED.format("a1", "new-album"), "a1")
    assert album["payload"] == {"artist": "a1", "name": "N", "id": "al", "title": "T al", "released": ""}


async def test_the_first_run_learns_an_artist_in_silence(house: House) -> None:
    """The old albums are no news; what comes later is."""
    await house.start()
    house.release("a1", "1", "2")
    tally = await house.role.work.job.run_once()
    assert (tally.learned, tally.announced, house.intake.posts.total()) == (2, 0, 0)
    house.release("a1", "3")
    house.release("a2", "1")
    tally = await house.role.work.job.run_once()
    assert (tally.learned, tally.announced, house.told()) == (1, 1, [("3", [])])


async def test_the_first_run_announces_all_where_that_is_wanted(house: House) -> None:
    await house.start(announce_first=True)
    house.release("a1", "1", "2")
    assert (await house.role.work.job.run_once()).announced == 2


async def test_an_audience_of_thousands_goes_out_in_pages_and_nobody_is_doubled(house: House) -> None:
    """SB-37: exactly the followers of the feed."""
    await start_knowing(house, "a1")
    topic = FEED.format("a1", "new-album")
    users = [f"u{n}" for n in range(2500)]
    for first in range(0, len(users), 250):  # each is answered within its time, however slow the machine is
        await asyncio.gather(*(house.call(user, "follow", topic) for user in users[first : first + 250]))
    house.release("a1", "new")
    await house.role.work.job.run_once()
    assert house.told() == [("new", sorted([*users, "ann"]))]


async def test_a_run_that_is_killed_in_the_middle_is_finished_by_the_next_one_with_nothing_twice(house: House) -> None:
    """SB-35: the answer to the third item is lost with the process; the intake drops what it has had."""
    await start_knowing(house, "a1")
    house.release("a1", *(f"n{n}" for n in range(6)))
    house.intake.stops_at = 3
    with pytest.raises(Unavailable):
        await house.role.work.job.run_once()
    assert len(house.intake.heads) == 3
    await house.role.close()
    await house.start()
    tally = await house.role.work.job.run_once()
    assert (tally.run, tally.announced) == (2, 4)
    assert house.told() == [(f"n{n}", ["ann"]) for n in range(6)]
    assert sorted(house.intake.posts.values()) == [1, 1, 1, 1, 1, 2]
    assert (await house.role.work.job.run_once()).announced == 0


@pytest.mark.slow
async def test_a_process_that_is_killed_in_the_middle_of_a_run_costs_nothing(house: House) -> None:
    """SB-35: kill -9 of a real process while the intake has taken the third item and not answered yet."""
    await start_knowing(house, "a1")
    house.release("a1", *(f"n{n}" for n in range(5)))
    await house.role.close()
    command = [sys.executable, "-m", "tests.services.artist.run_artist", str(house.catalogue), house.intake.url, SECRET.decode()]
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT)
    house.intake.stops_at, house.intake.on_stop = 3, process.kill
    assert await process.wait() == -signal.SIGKILL
    assert len(house.intake.heads) == 3
    await house.start()
    assert (await house.role.work.job.run_once()).announced == 3
    assert house.told() == [(f"n{n}", ["ann"]) for n in range(5)]
    assert (await house.role.work.job.run_once()).announced == 0


async def test_more_artists_than_one_may_follow_are_refused(house: House) -> None:
    await house.start(max_followed=3)
    assert (await house.ask("PUT", "/a1/follow"))[0] == 200
    status, error = await house.ask("PUT", "/a2/follow")
    assert (status, error["code"]) == (400, "too-many-topics")


async def test_the_first_run_goes_on_in_silence_when_it_was_broken_off(house: House) -> None:
    await house.start()
    house.release("a1", "1")
    away = house.catalogue.rename(house.catalogue.with_suffix(".away"))
    with pytest.raises(Unavailable, match=r"catalogue\.jsonl cannot be read"):
        await house.role.work.job.run_once()
    away.rename(house.catalogue)
    tally = await house.role.work.job.run_once()
    assert (tally.run, tally.learned, tally.announced) == (1, 1, 0)


async def test_a_notification_that_is_refused_for_ever_stops_no_other_and_is_not_tried_again(house: House) -> None:
    await start_knowing(house, "a1")
    house.release("a1", "bad", "good")
    house.intake.refuses.add(CatalogueItem(artist="a1", type="album", id="bad", title="").notification_id())
    tally = await house.role.work.job.run_once()
    assert (tally.refused, tally.announced, [item for item, _ in house.told()]) == (1, 1, ["good"])
    assert (await house.role.work.job.run_once()).refused == 0


async def test_lines_that_are_no_items_are_counted_and_the_others_are_taken(house: House) -> None:
    await start_knowing(house, "a1")
    house.lines += ["{", "", '{"artist":"a/1"}']
    house.release("a1", "new", "new")
    tally = await house.role.work.job.run_once()
    assert (tally.wrong, tally.announced) == (2, 1)


async def test_ten_days_show_one_spike_a_day(house: House) -> None:
    """SB-36: the clock is looked at every ten minutes of ten days; items are announced in one of them a day."""
    house.now_s = 20_000.0 * DAY_S
    await house.start(at="06:00")
    house.release("a1", "old")
    await eventually(lambda: house.role.counters()["artist_runs_total"] == 1)
    spikes: dict[int, int] = {}
    for step in range(10 * 144):
        if step % 36 == 0:
            house.release("a1", f"n{step}")
        house.now_s += 600
        before = len(house.intake.heads)
        await house.role.work.schedule.run_if_due()
        await eventually(lambda: not house.role.counters()["artist_running"])  # the service may have looked at its clock, too
        if new := len(house.intake.heads) - before:
            spikes[step] = new
    assert len(spikes) == 10
    assert {step % 144 for step in spikes} == {35}
    assert set(spikes.values()) == {1, 4}


async def test_a_service_that_was_down_at_the_moment_of_the_run_catches_up_when_it_starts(house: House) -> None:
    house.now_s = 20_000.0 * DAY_S
    await house.start(at="06:00")
    house.release("a1", "old")
    await eventually(lambda: house.role.counters()["artist_runs_total"] == 1)
    await house.role.close()
    house.release("a1", "new")
    house.now_s += DAY_S
    await house.start(at="06:00")
    await eventually(lambda: len(house.intake.heads) == 1)


async def test_a_run_that_the_intake_breaks_off_is_taken_up_again_by_itself(house: House) -> None:
    await start_knowing(house, "a1")
    house.release("a1", "new")
    house.intake.down = 2
    await house.role.close()
    house.now_s += DAY_S
    await house.start(at="06:00")
    await eventually(lambda: house.told() == [("new", ["ann"])])
    assert house.role.counters()["artist_runs_failed_total"] == 2


async def test_a_catalogue_that_is_missing_is_complained_about_once_until_it_changes(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "AGAIN", Backoff(base_s=0.001, cap_s=0.001))

    def failed() -> int:
        return int(house.role.counters()["artist_runs_failed_total"])

    with capture_logs() as lines:
        await house.start(at="06:00")
        await eventually(lambda: failed() > 4)
        house.catalogue.mkdir()
        before = failed()
        await eventually(lambda: failed() > before + 4)
    told = [str(line["reason"]) for line in lines if line["log_level"] == "warning"]
    assert [("No such file" in each, "Is a directory" in each) for each in told] == [(True, False), (False, True)]
    assert all(str(house.catalogue) in each and "artist.catalogue" in each for each in told)
    assert [line["event"] for line in lines if "run started" in str(line["event"])] == ["artist run started"]


async def test_following_an_artist_is_durable_and_listed(house: House) -> None:
    """SB-12: what an access point relays and what HTTP does are the same follows."""
    await house.start()
    assert await house.ask("PUT", "/a1/follow") == (200, {"artist": "a1", "types": ["new-album", "new-track", "artist-playlist"]})
    await house.call("ann", "follow", FEED.format("a2", "new-album"))
    await house.call("ann", "follow", FEED.format("a3", "new-album"))
    await house.call("ann", "unfollow", FEED.format("a3", "new-album"))
    await house.role.close()
    await house.start()
    status, page = await house.ask("GET", "/followed?limit=3")
    assert (status, page["topics"]) == (200, [{"artist": "a1", "type": kind} for kind in ("artist-playlist", "new-album", "new-track")])
    _, rest = await house.ask("GET", f"/followed?after={page['next']}")
    assert rest == {"topics": [{"artist": "a2", "type": "new-album"}], "next": None}
    assert await house.ask("DELETE", "/a1/follow") == (204, None)
    assert len((await house.ask("GET", "/followed"))[1]["topics"]) == 1


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("PUT", "/a%20b/follow", 400, "bad-topic"),
        ("GET", "/followed?limit=0", 400, "bad-field"),
        ("GET", "/followed?limit=x", 400, "bad-field"),
    ],
)
async def test_what_is_wrong_in_a_request_is_said(house: House, method: str, path: str, status: int, code: str) -> None:
    await house.start()
    found, error = await house.ask(method, path)
    assert (found, error["code"]) == (status, code)


async def test_only_topics_of_artists_are_followed_here(house: House) -> None:
    await house.start()
    with pytest.raises(Refused, match="bad-topic"):
        await house.call("ann", "follow", "hm://presence/user/bob/")


async def test_the_operator_runs_the_job_and_sees_how_it_went(house: House) -> None:
    await house.start()
    house.release("a1", "1")
    operator = service_token("operator")
    assert await house.ask("GET", "/run", operator) == (200, {"running": False, "last": None})
    assert await house.ask("POST", "/run", operator) == (202, {"started": True})
    await eventually(lambda: house.role.counters()["artist_runs_total"] == 1)
    _, state = await house.ask("GET", "/run", operator)
    assert (state["running"], state["last"]["learned"], state["last"]["finished"]) == (False, 1, True)
    for token in (service_token("playlist"), user_token("ann")):
        status, error = await house.ask("POST", "/run", token)
        assert (status, error["code"]) == (403, "forbidden")


async def test_all_of_it_on_cassandra(house: House, cassandra_store: Cassandra) -> None:
    """SB-35, over a restart in the middle of a run."""
    options = {"store": "cassandra", "cassandra": cassandra_store.options}
    await start_knowing(house, "a1", **options)
    house.release("a1", "n1", "n2", "n3")
    house.intake.stops_at = 2
    with pytest.raises(Unavailable):
        await house.role.work.job.run_once()
    await house.role.close()
    await house.start(**options)
    assert (await house.role.work.job.run_once()).announced == 2
    assert house.told() == [(item, ["ann"]) for item in ("n1", "n2", "n3")]
    assert (await house.role.work.job.run_once()).announced == 0


async def test_everything_that_is_counted_is_described(house: House) -> None:
    await house.start()
    assert house.role.ready() is None
    assert house.role.counters().keys() == {metric.name for metric in (*METRICS, *LOOPS)}
