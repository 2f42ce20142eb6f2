"""A store that is put back from a copy, as docs/running.md says: nothing stored stays hidden, whatever marks a device has seen."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import segue
from segue.cli.new_epoch import new_epoch
from tests.notification.test_epoch import copy, put_back
from tests.support.cluster import Cluster
from tests.support.stored import album, stored

NODE = "sto/n1"


def device(c: Cluster, mark_file: Path | None = None) -> segue.Client:
    (point,) = c.of("accesspoint")
    kept = segue.MarkFile(mark_file) if mark_file else None
    return segue.Client(f"ws://{point.address}", c.token("ann"), client="desk", mark_file=kept)


async def show(items: AsyncIterator[Any]) -> tuple[str, int]:
    item = await anext(items)
    return item.id, item.mark


async def told_seen(c: Cluster, mark: int) -> None:
    (module,) = c.of("notification")
    seen: list[int] = []

    async def look() -> None:
        seen[:] = [(await module.stored.store.marks("ann")).get("desk", 0)]

    while seen != [mark]:
        await look()


async def test_a_device_that_has_seen_the_mark_of_a_new_notice_is_shown_it_and_nothing_twice(tmp_path: Path) -> None:
    """Backup, one more notice, restore, a new notice: it has the mark that was seen."""
    async with stored(tmp_path) as c, device(c) as desk:
        items = desk.notifications()
        await c.notify(album(1, "ann"))
        assert await show(items) == ("bjork-1", 1)
        copied = copy(tmp_path)
        await c.notify(album(2, "ann"))
        assert await show(items) == ("bjork-2", 2)
        await told_seen(c, 2)
        await c.leave(NODE)
        put_back(tmp_path, copied)
        await c.restart(NODE)
        await c.settle()
        await c.notify(album(3, "ann"))
        assert await show(items) == ("bjork-3", 2)
        await told_seen(c, 2)
        await c.notify(album(4, "ann"))
        assert await show(items) == ("bjork-4", 3)


async def test_a_device_that_comes_back_with_its_mark_file_is_shown_it_however_many_have_come_since(tmp_path: Path) -> None:
    async with stored(tmp_path) as c:
        async with device(c, tmp_path / "mark") as desk:
            items = desk.notifications()
            await c.notify(album(1, "ann"))
            await show(items)
            copied = copy(tmp_path)
            await c.notify(album(2, "ann"))
            assert await show(items) == ("bjork-2", 2)
        await c.leave(NODE)
        put_back(tmp_path, copied)
        await c.restart(NODE)
        await c.settle()
        await c.notify([album(3, "ann"), album(4, "ann")])
        async with device(c, tmp_path / "mark") as desk:
            items = desk.notifications()
            assert [await show(items) for _ in range(3)] == [("bjork-1", 1), ("bjork-3", 2), ("bjork-4", 3)]


async def test_a_mark_of_another_epoch_is_answered_from_the_beginning_and_moves_nothing(tmp_path: Path) -> None:
    async with stored(tmp_path) as c, c.user("ann") as ann:
        await c.notify([album(1, "ann"), album(2, "ann")])
        await ann.heard(2)
        answer = await ann.ask("pull", since=2)
        epoch = answer["epoch"]
        assert {event["payload"]["epoch"] for event in ann.events} == {epoch}
        assert "reset" not in await ann.ask("pull", since=2, epoch=epoch)
        other = await ann.ask("pull", since=1, epoch=epoch - 1)
        assert ([item["mark"] for item in other["items"]], other["reset"], other["epoch"]) == ([1, 2], True, epoch)
        for op in ("seen", "read"):
            marks = await ann.ask(op, mark=2, epoch=epoch - 1)
            assert (marks["op"], marks["epoch"], marks["seen"], marks["read"], marks["unread"]) == ("marks", epoch, 0, 0, 2)
        assert (await ann.ask("seen", mark=2, epoch=epoch))["seen"] == 2
        assert (await ann.ask("read", mark=2, epoch=epoch))["unread"] == 0


async def test_nodes_that_share_a_store_answer_with_the_same_epoch_also_when_an_operator_begins_one(tmp_path: Path) -> None:
    async with Cluster(sites=1, state=tmp_path / "store", notifications=2) as c:
        one, other = c.of("notification")
        before = one.stored.epoch.number
        assert other.stored.epoch.number == before
        done = await asyncio.to_thread(CliRunner().invoke, new_epoch, ["--state", str(tmp_path)], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        for each in (one, other):
            each.stored.keeper.poke()
        await c.until(lambda: one.stored.epoch.number == other.stored.epoch.number != before)
        assert done.output.endswith(f"the epoch is now {one.stored.epoch.number}\n")


@pytest.mark.parametrize(("arguments", "words"), [(["--set", "notification.node=1"], "--config"), ([], "there is no notification.sqlite")])
def test_a_new_epoch_of_nothing_is_refused(tmp_path: Path, arguments: list[str], words: str) -> None:
    refused = CliRunner().invoke(new_epoch, ["--state", str(tmp_path), *arguments])
    assert refused.exit_code != 0
    assert words in refused.output + str(refused.exception)
    assert list(tmp_path.iterdir()) == []
