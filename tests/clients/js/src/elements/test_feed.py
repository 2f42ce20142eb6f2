"""`<segue-feed>` in a real browser, against a server that plays a script."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.support.browser import Browser
from tests.support.element_page import ElementPage
from tests.support.scripted_server import TIME_MS, Message, Peer, ScriptedServer, error, event, subscribed

pytestmark = pytest.mark.asyncio(loop_scope="module")

BOB = "hm://presence/user/bob/"
EVE = "hm://presence/user/eve/"
ROOT = "document.querySelector('segue-feed').shadowRoot"
ROWS = f"[...{ROOT}.querySelectorAll('li')].map((row) => (row.querySelector('.what') ?? row).textContent)"


@pytest_asyncio.fixture(loop_scope="module")
async def server() -> AsyncIterator[ScriptedServer]:
    async with ScriptedServer() as running:
        running.answers["last"] = last
        yield running


def last(message: Message) -> Message:
    played = {"topic": EVE, "ts": TIME_MS, "id": "before", "kind": "play", "payload": {"artist": "Moloko", "track": "Indigo"}}
    return {"op": "last", "id": message["id"], "events": [played] if EVE in message["topics"] else []}


async def opened(browser: Browser, page: ElementPage, server: ScriptedServer, friends: str) -> Peer:
    """Opens a page with a feed of `friends`, in `browser`, and returns its connection to `server` when it follows them."""
    page.body = f"<segue-feed url='{server.url}' token='secret' friends='{friends}'></segue-feed>"
    await browser.open(page.url)
    peer = await server.next_peer()
    await peer.heard("subscribe")
    await peer.heard("last")
    return peer


async def shows(browser: Browser, *rows: str) -> None:
    """Waits until the feed has these rows."""
    await browser.within(f"JSON.stringify({ROWS}) === JSON.stringify({list(rows)})")


async def test_it_begins_with_what_friends_did_and_goes_on_with_what_they_do(
    browser: Browser, page: ElementPage, server: ScriptedServer
) -> None:
    peer = await opened(browser, page, server, "bob, eve")
    await shows(browser, "eve playsIndigo · Moloko")
    await peer.send(event(BOB, 1, payload={"artist": "Björk", "track": "Jóga"}))
    await peer.send(event(EVE, 9, id="before"))
    await shows(browser, "bob playsJóga · Björk", "eve playsIndigo · Moloko")
    assert await browser.value(f"{ROOT}.querySelector('[role=status]').textContent") == "Live"
    assert browser.problems == []


async def test_what_is_missing_is_said(browser: Browser, page: ElementPage, server: ScriptedServer) -> None:
    peer = await opened(browser, page, server, "bob")
    await peer.send(event(BOB, 1))
    await peer.send(event(BOB, 4))
    await shows(browser, "bob playsBjörk", "2 events are missing here", "bob playsBjörk")


async def test_a_lost_connection_is_said_and_comes_back(browser: Browser, page: ElementPage, server: ScriptedServer) -> None:
    peer = await opened(browser, page, server, "bob")
    await browser.until("document.querySelector('segue-feed').getAttribute('phase') === 'connected'")
    peer.drop()
    await browser.until("document.querySelector('segue-feed').getAttribute('phase') === 'waiting'")
    peer = await server.next_peer()
    assert (await peer.heard("subscribe"))["topics"] == [BOB]
    await browser.until("document.querySelector('segue-feed').getAttribute('phase') === 'connected'")


async def test_markup_in_an_event_stays_text(browser: Browser, page: ElementPage, server: ScriptedServer) -> None:
    peer = await opened(browser, page, server, "bob")
    markup = "<img src=x>"
    await peer.send(event(BOB, 1, kind=markup, payload={"track": markup}))
    await shows(browser, f"bob {markup}{markup}")
    assert await browser.value(f"{ROOT}.querySelectorAll('img').length") == 0


async def test_all_friends_are_followed_whoever_they_are_from_time_to_time(
    browser: Browser, page: ElementPage, server: ScriptedServer
) -> None:
    """SB-6."""
    page.body = f"<segue-feed url='{server.url}' token='secret' friends='*'></segue-feed>"
    await browser.open(page.url)
    peer = await server.next_peer()
    assert (await peer.heard("subscribe"))["follow"] == "friends"
    await peer.send({"op": "followed", "topics": [BOB], "left": [], "beyond": 0, "whole": True})
    await peer.send(event(BOB, 1, payload={"artist": "Björk", "track": "Jóga"}))
    await shows(browser, "bob playsJóga · Björk")
    while EVE not in (await asked_for_last(peer, server))["topics"]:
        pass
    await shows(browser, "eve playsIndigo · Moloko", "bob playsJóga · Björk")
    assert browser.problems == []


async def asked_for_last(peer: Peer, server: ScriptedServer) -> Message:
    """Tells the client that eve is a friend, and returns the question for last events that it asks then, or has asked before."""
    await peer.send({"op": "followed", "topics": [EVE], "left": [], "beyond": 0, "whole": True})
    return await peer.heard("last")


async def test_another_attribute_follows_others(browser: Browser, page: ElementPage, server: ScriptedServer) -> None:
    await opened(browser, page, server, "bob")
    await browser.value("document.querySelector('segue-feed').setAttribute('friends', 'eve')")
    peer = await server.next_peer()
    assert (await peer.heard("subscribe"))["topics"] == [EVE]
    await shows(browser, "eve playsIndigo · Moloko")


REFUSED = f"[...{ROOT}.getElementById('refused').children].map((line) => line.textContent)"


async def told_as_refused(browser: Browser, *lines: str) -> None:
    """Waits until the feed says that these are refused."""
    await browser.within(f"JSON.stringify({REFUSED}) === JSON.stringify({list(lines)})")


async def test_what_is_refused_is_said_and_the_rest_is_shown(browser: Browser, page: ElementPage, server: ScriptedServer) -> None:
    def some(message: Message) -> Message:
        rejected = [{"topic": BOB, "code": "forbidden", "number": 4204, "reason": "bob lets nobody hear"}]
        rejected.append({"topic": "elsewhere", "code": "bad-topic", "number": 4109, "reason": "no such topic"})
        return {**subscribed(message), "rejected": rejected}

    server.answers["subscribe"] = some
    where = f"url='{server.url}' token='secret'"
    page.body = f"<segue-feed {where} friends='bob eve' topics='elsewhere'></segue-feed>"
    try:
        await browser.open(page.url)
        await told_as_refused(browser, "You may not hear what bob does.", "Not followed: elsewhere (no such topic)")
        await shows(browser, "eve playsIndigo · Moloko")
        peer = await server.next_peer()
        await peer.send(event(BOB, 1))
        await told_as_refused(browser, "Not followed: elsewhere (no such topic)")
    finally:
        server.answers["subscribe"] = subscribed


async def test_what_the_user_may_hear_no_longer_is_said(browser: Browser, page: ElementPage, server: ScriptedServer) -> None:
    page.language = "sv"
    peer = await opened(browser, page, server, "bob eve")
    await peer.send({"op": "ended", "topics": [{"topic": BOB, "code": "forbidden", "number": 4204, "reason": "no longer"}]})
    await told_as_refused(browser, "Du får inte höra vad bob gör.")


async def test_who_is_refused_by_name_is_shown_as_soon_as_they_are_a_friend(
    browser: Browser, page: ElementPage, server: ScriptedServer
) -> None:
    """SB-6: that took a reload of the page."""

    def refuses_eve(message: Message) -> Message:
        rejected = [{"topic": EVE, "code": "forbidden", "number": 4204, "reason": "eve lets friends hear"}]
        return {**subscribed(message), "rejected": rejected if EVE in message["topics"] else []}

    server.answers["subscribe"] = refuses_eve
    try:
        peer = await opened(browser, page, server, "bob eve")
        await told_as_refused(browser, "You may not hear what eve does.")
        while "follow" not in await peer.heard("subscribe"):
            pass
        await peer.send({"op": "followed", "topics": ["hm://presence/user/dan/"], "left": [], "beyond": 0, "whole": True})
        await peer.send({"op": "followed", "topics": [EVE], "left": [], "beyond": 0, "whole": True})
        await shows(browser, "eve playsIndigo · Moloko")
        await told_as_refused(browser)
        await peer.send(event("hm://presence/user/dan/", 1))
        await peer.send(event(EVE, 1))
        await shows(browser, "eve playsBjörk", "eve playsIndigo · Moloko")
        await peer.send({"op": "followed", "topics": [], "left": [EVE], "beyond": 0, "whole": True})
        await told_as_refused(browser, "You may not hear what eve does.")
        assert browser.problems == []
    finally:
        server.answers["subscribe"] = subscribed


async def test_where_presence_cannot_be_asked_what_friends_do_is_shown_all_the_same(
    browser: Browser, page: ElementPage, server: ScriptedServer
) -> None:
    server.answers["last"] = lambda message: error("unavailable", 4300, id=message["id"], reason="presence does not answer")
    peer = await opened(browser, page, server, "bob")
    await peer.send(event(BOB, 1))
    await shows(browser, "bob playsBjörk")
    await peer.send({"op": "gap", "topics": [BOB], "reason": "evicted"})
    await peer.heard("last")
    await peer.send(event(BOB, 2))
    await browser.within(f"{ROWS}.length > 1")
    await told_as_refused(browser)
    assert browser.problems == []


async def test_where_nobody_can_say_who_the_friends_are_that_is_said(browser: Browser, page: ElementPage, server: ScriptedServer) -> None:
    server.answers["subscribe"] = lambda message: error("unavailable", 4300, id=message["id"], reason="there is no social service")
    page.body = f"<segue-feed url='{server.url}' token='secret' friends='*'></segue-feed>"
    try:
        await browser.open(page.url)
        await told_as_refused(browser, "Not followed: friends (there is no social service)")
    finally:
        server.answers["subscribe"] = subscribed


async def test_a_row_stays_the_same_element_when_others_come(browser: Browser, page: ElementPage, server: ScriptedServer) -> None:
    peer = await opened(browser, page, server, "bob")
    await peer.send(event(BOB, 1))
    await shows(browser, "bob playsBjörk")
    await browser.value(f"window.kept = {ROOT}.querySelector('li'); 0")
    await peer.send(event(BOB, 2))
    await shows(browser, "bob playsBjörk", "bob playsBjörk")
    assert await browser.value(f"[...{ROOT}.querySelectorAll('li')].indexOf(window.kept)") == 1
