"""The engine is away for a while: who is online and quiet learns of what was stored meanwhile, though nothing else comes."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from notification import retelling, teller
from notification.email import EmailOptions
from tests.support.cluster import Cluster
from tests.support.smtp import ScriptedSmtp
from tests.support.stored import album, configured, me
from tests.support.user import User


def items(user: User) -> list[str]:
    """Returns the ids of all that reached the device, live or as an answer to a pull that it did not make."""
    live = [event["id"] for event in user.events if event["kind"] == "notification"]
    return live + [item["id"] for answer in user.answers if answer["op"] == "notifications" for item in answer["items"]]


async def hello_pulled(user: User) -> None:
    """Waits until the pull at hello was answered: what comes now comes by itself."""
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


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the times until a copy is given up, and until it goes again, a hundred times shorter."""
    monkeypatch.setattr(teller, "TRY_S", 0.1)
    monkeypatch.setattr(retelling, "AGAIN_MS", 100)


async def standing(c: Cluster, user: str, event: str, state: str) -> dict[str, Any]:
    """Returns what `why` says of the live copy of `event` for `user`, once it is in this `state`."""
    async with asyncio.timeout(30):
        while True:
            _, why = await me(c, user, "GET", f"why/{event}")
            for line in why.get("sent", ()):
                if (line["channel"], line["state"]) == ("live", state):
                    return dict(why)


@pytest.mark.usefixtures("hasty")
async def test_copies_that_no_broker_took_go_again_as_the_newest_and_why_tells_it(tmp_path: Path) -> None:
    """The module alone is cut off from the brokers; nothing breaks between them and the device."""
    async with Cluster(sites=1, state=tmp_path, change=configured()) as c, c.user("ann") as ann:
        await c.presence_knows()
        await hello_pulled(ann)
        c.partition("sto/n1", "sto/b1")
        await c.until(lambda: not c.linked("sto/n1", "sto/b1"))
        for number in (1, 2):
            assert (await c.notify(album(number, "ann")))[0] == 202
        for number in (1, 2):
            why = await standing(c, "ann", f"bjork-{number}", "waiting")
            assert "+live" in why["reasons"]
        assert items(ann) == []
        c.heal()
        await ann.until(lambda: "bjork-2" in items(ann))
        for number in (1, 2):
            await standing(c, "ann", f"bjork-{number}", "delivered")
        assert len(items(ann)) == len(set(items(ann)))


@pytest.mark.usefixtures("hasty")
async def test_who_goes_offline_before_any_broker_took_the_copy_gets_the_mail(tmp_path: Path) -> None:
    """Being online when it was decided must not cost the mail; being online still forbids it (SB-41)."""
    async with ScriptedSmtp() as smtp:
        email = EmailOptions(host="127.0.0.1", port=smtp.port, sender="Segue <notify@example.org>", starttls="never")
        async with Cluster(sites=1, state=tmp_path, change=configured(email=email)) as c:
            await c.presence_knows()
            async with c.user("ann") as ann:
                await hello_pulled(ann)
                await me(c, "ann", "PUT", "preferences", {"email": "ann@example.org"})
                c.partition("sto/n1", "sto/b1")
                await c.until(lambda: not c.linked("sto/n1", "sto/b1"))
                assert (await c.notify(album(1, "ann")))[0] == 202
                why = await standing(c, "ann", "bjork-1", "waiting")
                assert (smtp.mails, items(ann)) == ([], [])
                assert "desktop" in why["reasons"]
            why = await standing(c, "ann", "bjork-1", "dropped")
            await c.until(lambda: [recipient for recipient, _ in smtp.mails] == ["ann@example.org"])
            c.heal()


@pytest.mark.usefixtures("hasty")
async def test_a_copy_that_waits_outlives_its_module(tmp_path: Path) -> None:
    async with Cluster(sites=1, state=tmp_path, change=configured()) as c, c.user("ann") as ann:
        await c.presence_knows()
        await hello_pulled(ann)
        c.partition("sto/n1", "sto/b1")
        await c.until(lambda: not c.linked("sto/n1", "sto/b1"))
        assert (await c.notify(album(1, "ann")))[0] == 202
        await standing(c, "ann", "bjork-1", "waiting")
        await c.leave("sto/n1")
        await c.start("sto/n1")
        c.heal()
        await ann.until(lambda: items(ann) == ["bjork-1"])
