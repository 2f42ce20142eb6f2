"""The engine is away for a while: who is online and quiet learns of what was stored meanwhile, though nothing else comes."""

from pathlib import Path

import pytest

from tests.support.cluster import Cluster
from tests.support.stored import album, configured
from tests.support.user import User


def items(user: User) -> list[str]:
    """The ids of all that reached the device, live or as an answer to a pull that it did not make."""
    live = [event["id"] for event in user.events if event["kind"] == "notification"]
    return live + [item["id"] for answer in user.answers if answer["op"] == "notifications" for item in answer["items"]]


async def hello_pulled(user: User) -> None:
    """The pull at hello was answered: what comes now comes by itself."""
    await user.answer(lambda message: message["op"] == "notifications")


@pytest.mark.parametrize("ends", [("sto/a1", "sto/b1"), ("sto/ap1", "sto/a1"), ("sto/b1", "lon/b1")])
async def test_what_was_lost_on_a_broken_link_is_shown_when_it_is_back(tmp_path: Path, ends: tuple[str, str]) -> None:
    """The broker has taken the live copy, and nobody behind it wanted it."""
    async with Cluster(sites=2, state=tmp_path, change=configured()) as c:
        site = "lon" if "lon/b1" in ends else "sto"
        async with c.user("ann", site) as ann:
            await hello_pulled(ann)
            c.partition(*ends)
            await c.until(lambda: not c.linked(*ends))
            assert (await c.notify(album(1, "ann")))[0] == 202
            await c.until(lambda: c.of("notification")[0].counters()["notification_live_total"] == 1)
            (broker,) = c.of("broker", "sto")
            await c.until(lambda: sum(broker.counters()[f"broker_events_{how}_total"] for how in ("matched", "unmatched")) == 1)
            assert items(ann) == []
            c.heal()
            await ann.until(lambda: items(ann) == ["bjork-1"])


@pytest.mark.parametrize("dead", ["sto/a1", "sto/b1"])
async def test_what_was_stored_while_a_node_was_dead_is_shown_when_it_is_back(tmp_path: Path, dead: str) -> None:
    async with Cluster(sites=1, state=tmp_path, change=configured()) as c, c.user("ann") as ann:
        await hello_pulled(ann)
        await c.crash(dead)
        assert (await c.notify(album(1, "ann")))[0] == 202
        await c.until(lambda: c.of("notification")[0].counters()["notification_live_total"] == 1)
        assert items(ann) == []
        await c.restart(dead)
        await ann.until(lambda: "bjork-1" in items(ann))
