"""The benchmarks of the stored path, with real processes and small numbers, and the sums that they rest on."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from bench.micro import audience, bare_rows, fan_out, intake, marks, path_two, pull
from bench.micro.latencies import Latencies
from bench.micro.notice_sender import lasting, paced
from bench.micro.stored_rows import FILE, audit
from bench.servers.stored import StoredSite, stored
from bench.setting import BenchSetting, two_cores
from bench.suite.stored import program
from notification.store_sqlite import SqliteStore


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> BenchSetting:
    server_core, generator_core = two_cores()
    folder = tmp_path_factory.mktemp("stored")
    return BenchSetting(server_core=server_core, generator_core=generator_core, state=folder, scratch=folder)


@pytest.fixture(scope="module")
def target(setting: BenchSetting) -> Iterator[StoredSite]:
    """Yields one site for all tests, since it is five processes."""
    with stored(setting, "sqlite", 0) as target:
        yield target


@pytest.mark.e2e
@pytest.mark.slow
def test_a_small_fan_out_leaves_one_row_and_one_item_for_each_follower(setting: BenchSetting, target: StoredSite) -> None:
    plan = fan_out.FanOutPlan(target=target, followers=2500, idle_s=0.2, decide_s=20.0)
    figures = program("fan_out", plan, setting.generator_core, fan_out.FanOutFigures)
    assert (figures.audit.wrong, figures.copies_lost) == (0, 0)
    assert figures.decided == 2500
    assert 0 < figures.taken_s <= figures.decided_s
    assert figures.idle.count > 0
    assert figures.during.count > 0


@pytest.mark.e2e
@pytest.mark.slow
def test_notices_are_answered_and_their_copies_and_those_of_the_engine_arrive(setting: BenchSetting, target: StoredSite) -> None:
    """Both paths are timed in the same run."""
    answers = intake.IntakePlan(target=target, followers=5, people=50, rate=20, seconds=0.3, warmup_s=0.1)
    answered = program("intake", answers, setting.generator_core, Latencies)
    assert answered.count > 0
    assert 0 < answered.p50_ms <= answered.p99_ms <= answered.max_ms
    copies = path_two.PathTwoPlan(
        target=target, listeners=4, followers=2, rate=40, batch=4, direct_rate=10, direct_listeners=2, seconds=0.4
    )  # fmt: skip
    heard = program("path_two", copies, setting.generator_core, path_two.PathTwoFigures)
    assert (heard.lost, heard.doubled) == (0, 0)
    assert heard.stored.p50_ms > 0
    assert heard.direct.p50_ms > 0


@pytest.mark.e2e
@pytest.mark.slow
def test_pulls_are_answered_out_of_a_history_that_was_made_before(setting: BenchSetting, target: StoredSite) -> None:
    plan = pull.PullPlan(target=target, users=2, history=30, limit=10, rate=50, seconds=0.3, warmup_s=0.1)
    figures = program("pull", plan, setting.generator_core, pull.PullFigures)
    assert figures.pulls_per_s > 0
    assert 0 < figures.waited.p50_ms <= figures.waited.p99_ms <= figures.waited.max_ms


@pytest.mark.e2e
def test_to_read_all_is_one_write_whatever_the_number_of_items(setting: BenchSetting) -> None:
    """SB-51."""
    assert program("marks", marks.MarksPlan(items=[1, 40]), setting.server_core, marks.MarksFigures).writes == [1, 1]


@pytest.mark.e2e
def test_the_bare_store_writes_a_row_for_each_follower_and_is_timed_with_and_without_the_rest(tmp_path: Path) -> None:
    figures = bare_rows.measure(bare_rows.BareRowsPlan(store="sqlite", followers=1500, path=str(tmp_path)))
    assert figures.logged_per_s > figures.all_per_s > 0
    with closing(sqlite3.connect(tmp_path / bare_rows.FILE)) as db:
        for table in ("events", "decisions", "items", "people"):
            assert db.execute(f"SELECT count(DISTINCT user), count(*) FROM {table}").fetchone() == (1500, 1500)  # noqa: S608 - from here


async def test_an_audit_finds_who_has_no_row_who_has_two_and_who_has_one_in_vain(tmp_path: Path) -> None:
    await (await SqliteStore.open(tmp_path, 3600.0, time.time)).close()
    with closing(sqlite3.connect(tmp_path / FILE)) as db:
        logged, kept = ["ann", "bob", "bob", "eve"], [("ann", 1), ("ann", 2), ("bob", 1), ("joe", 1)]
        db.executemany("INSERT INTO events (part, n, event, user, flags) VALUES (0, ?, 'album-1', ?, 0)", list(enumerate(logged)))
        db.executemany("INSERT INTO items (user, mark, shown, types, event) VALUES (?, ?, 1, '', 'album-1')", kept)
        db.commit()
    found = audit(_beside(tmp_path), "album-1", {"ann", "bob", "joe"})
    assert (found.lost, found.doubled, found.strange) == (1, 1, 1)
    assert (found.items_lost, found.items_doubled, found.wrong) == (0, 1, 4)


def test_an_audience_names_nobody_twice_and_is_the_same_each_time() -> None:
    names = list(audience.names(5000))
    assert len(set(names)) == 5000
    assert list(audience.names(5000)) == names
    assert [len(page) for page in audience.pages(2500)] == [1000, 1000, 500]


async def test_what_is_paced_bears_the_moments_at_which_it_was_due() -> None:
    due_us: list[int] = []

    async def act(number: int, at_us: int) -> None:
        assert number == len(due_us)
        due_us.append(at_us)

    assert await paced(200, lasting(0.1), act) == len(due_us) > 0
    assert {late - early for early, late in pairwise(due_us)} == {5000}


def _beside(folder: Path) -> StoredSite:
    """Returns a site that has a file and no process."""
    return StoredSite(
        clients_at="", publish_at="", notify_at="", admin_at="", pid=0, state="", store="sqlite", path=str(folder), port=0, keyspace=""
    )
