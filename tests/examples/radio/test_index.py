"""Segue Radio in Chromium: two users in three tabs, on the users of the demo."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any, Final
from urllib.parse import urlsplit

import pytest

from tests.support.axe import judge
from tests.support.browser import Browser, Tab, find_browser
from tests.support.radio import friends, go, logged_in, press, radio

DEADLINE_S: Final = 110.0
TRACKS: Final = ("Radiohead", "Björk", "Portishead", "Air")
# What stands before Radiohead when both moves are made. A track is moved before another, so which comes first decides where Air stands.
BOTH_MOVES: Final = (("Air", "Björk"), ("Björk", "Air"))
FEED: Final = "[...document.querySelectorAll('.feed > .row')].map((row) => row.querySelector('.words').innerText)"
ORDER: Final = "[...document.querySelectorAll('.tracks > .row')].map((row) => row.querySelectorAll('.words .line')[1].textContent)"
BADGE: Final = "document.querySelector('segue-bell').shadowRoot.getElementById('badge').textContent"
PLAYING: Final = "[...document.querySelectorAll('.player .now .line')].map((line) => line.textContent)"


@pytest.fixture
async def link() -> AsyncIterator[str]:
    async with radio() as found:
        yield found


async def plays(tab: Tab) -> str:
    """Has the user play something else; returns how feeds of friends show it."""
    before = await tab.value(PLAYING)
    await press(tab, ".player .controls button:last-child")
    await tab.within(f"String({PLAYING}) !== {','.join(before)!r}")
    track, artist = await tab.value(PLAYING)
    return f"{track} · {artist}"


async def hears(tab: Tab, shown: str) -> None:
    await tab.within(f"{FEED}.some((words) => words.startsWith({shown!r}))")


async def drags(tab: Tab, from_: int, to: int) -> None:
    """Drags a track with the mouse, from one position to another."""
    grips = "[...document.querySelectorAll('.grip')].map((grip) => grip.getBoundingClientRect())"
    places = await tab.value(f"{grips}.map(({{x, y, width, height}}) => [x + width / 2, y + height / 2])")
    (x, y), (_, end) = places[from_], places[to]
    mouse: dict[str, Any] = {"button": "left", "clickCount": 1}
    await tab.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, **mouse)
    for step in range(1, 5):
        await tab.call(
            "Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y + (end - y) * step / 4 + (3 if end > y else -3), **mouse, buttons=1
        )
    await tab.call("Input.dispatchMouseEvent", type="mouseReleased", x=x, y=end, **mouse)


async def key(tab: Tab, name: str) -> None:
    for type_ in ("keyDown", "keyUp"):
        await tab.call("Input.dispatchKeyEvent", type=type_, key=name, code=name)


@pytest.mark.e2e
async def test_friends_hear_each_other_and_hide_and_part(link: str) -> None:
    """SB-4, SB-31: what friends play is there on opening, comes live in every tab, and not from a private session."""
    ann, bob = friends()
    async with asyncio.timeout(DEADLINE_S), Browser(find_browser()) as one:
        two, three = await one.new_tab(), await one.new_tab()
        await logged_in(one, link, ann)
        await one.within(f"{FEED}.some((words) => words.includes({bob!r}))")  # the last thing that bob did, before anything is new
        await asyncio.gather(logged_in(two, link, bob), logged_in(three, link, ann))
        first = await plays(two)
        await asyncio.gather(hears(one, first), hears(three, first))
        await press(two, ".private")
        await two.within("document.querySelector('.private').getAttribute('aria-pressed') === 'true'")
        hidden = await plays(two)
        await press(two, ".private")
        await two.within("document.querySelector('.private').getAttribute('aria-pressed') === 'false'")
        shown = await plays(two)
        await asyncio.gather(hears(one, shown), hears(three, shown))
        assert not [words for words in await one.value(FEED) if words == f"{hidden}\n{bob} plays"]
        await go(one, f"user/{bob}", ".profile .pill")
        await press(one, f".profile [aria-label='Stop following {bob}']")
        await one.within(f"document.querySelector('.profile [aria-label=\"Follow {bob}\"]')")
        await go(one, "", ".feed")
        theirs = f"\n{bob} "
        await one.within(f"!{FEED}.some((words) => words.includes({theirs!r}))")
        await go(one, f"user/{bob}", ".profile .pill")
        await press(one, f".profile [aria-label='Follow {bob}']")
        await go(one, "", ".feed")
        await hears(one, shown)
        again = await plays(two)
        await hears(one, again)
        await two.within(f"{BADGE} === '1'")  # that ann follows again
        await go(two, "inbox", ".notifications > .row")
        assert await two.value("document.querySelector('.notifications .words').innerText.split('\\n').slice(0, 2)") == [
            ann,
            "Follows you now",
        ]
        assert one.problems == []


@pytest.mark.e2e
async def test_whoever_logs_in_after_another_has_the_page_for_themselves(link: str) -> None:
    """What the page of the first listened to has ended: their views are drawn no more, and ask nobody anything."""
    ann, bob = friends()
    async with asyncio.timeout(DEADLINE_S), Browser(find_browser()) as one:
        await logged_in(one, link, ann)
        for user in (bob, ann):
            await press(one, ".who .icon-button")
            await one.within("document.querySelector('.person')")
            await one.value(f"document.getElementById('who').value = {user!r}; document.querySelector('.login-form').requestSubmit()")
            await one.within("document.querySelector('.phase.connected')")
        listening = "getEventListeners(window).hashchange.length"
        found = await one.call("Runtime.evaluate", expression=listening, includeCommandLineAPI=True, returnByValue=True)
        assert found["result"]["value"] == 1


@pytest.mark.e2e
async def test_two_windows_reorder_a_playlist_at_once(link: str) -> None:
    """SB-33: with the mouse and with the keyboard; all windows come to one order that has both moves."""
    ann, bob = friends()
    async with asyncio.timeout(DEADLINE_S), Browser(find_browser()) as one:
        two, three = await one.new_tab(), await one.new_tab()
        await asyncio.gather(logged_in(one, link, ann), logged_in(two, link, bob), logged_in(three, link, ann))
        await go(one, "playlists", "#name")
        await one.value("document.getElementById('name').value = 'Autumn drive'; document.querySelector('form.bar').requestSubmit()")
        await one.within("document.querySelector('.profile h2')?.textContent === 'Autumn drive'")
        for count, artist in enumerate(TRACKS, 1):
            await one.within("document.querySelector('.card > form.bar:not([hidden])')")
            await one.value(
                f"document.querySelector('[list]').value = {artist!r}; document.querySelector('.card > form.bar').requestSubmit()"
            )
            await one.within(f"{ORDER}.length === {count}")
        await one.within(f"[...document.querySelectorAll('.profile option')].some(({{value}}) => value === {bob!r})")
        await one.value(
            f"const choice = document.querySelector('.profile select'); choice.value = {bob!r}; choice.dispatchEvent(new Event('change'))"
        )
        await one.within(f"document.querySelector('.profile select').options[0].textContent === {f'With {bob}'!r}")
        path = (await one.value("location.hash"))[1:]
        for tab in (two, three):
            await go(tab, path, ".tracks > .row")
            await tab.within(f"{ORDER}.length === {len(TRACKS)}")
        await two.value("document.querySelectorAll('.grip')[0].focus()")
        await asyncio.gather(drags(one, 3, 0), key(two, "ArrowDown"))  # Air before Radiohead, Radiohead below Björk
        both = [json.dumps([*first, "Radiohead", "Portishead"], ensure_ascii=False, separators=(",", ":")) for first in BOTH_MOVES]
        await asyncio.gather(*(tab.within(f"{both}.includes(JSON.stringify({ORDER}))") for tab in (one, two, three)))
        order = await one.value(f"JSON.stringify({ORDER})")
        await asyncio.gather(*(tab.within(f"JSON.stringify({ORDER}) === {order!r}") for tab in (two, three)))
        focused = await two.value("document.activeElement.getAttribute('aria-label')")
        assert "Radiohead, 3 of 4" in focused  # the keyboard stays with the track that it moves
        assert [each for each in one.problems if "409 (Conflict)" not in each] == []  # one of the two came second, and was made anew


@pytest.mark.e2e
async def test_an_album_is_in_the_bell_in_a_mail_and_pushed(link: str) -> None:
    """SB-5, SB-8: in the bell of every tab, read on one is read on all; who is away is mailed and pushed; and they are told why."""
    ann, _ = friends()
    async with asyncio.timeout(DEADLINE_S), Browser(find_browser()) as one:
        two = await one.new_tab()
        await asyncio.gather(logged_in(one, link, ann), logged_in(two, link, ann))
        await go(one, "artists", ".follow")
        await press(one, ".follow")
        await press(one, ".release")
        await asyncio.gather(*(tab.within(f"{BADGE} === '1'") for tab in (one, two)))
        await two.value("document.querySelector('segue-bell').shadowRoot.getElementById('bell').click()")
        await asyncio.gather(*(tab.within(f"{BADGE} === ''") for tab in (one, two)))
        await two.close()

        await go(one, "inbox", ".enable")
        await one.within(
            "[...document.querySelectorAll('.pill')].some((pill) => pill.textContent.startsWith('Send mails') && !pill.hidden)"
        )
        await one.value("[...document.querySelectorAll('.pill')].find((pill) => pill.textContent.startsWith('Send mails')).click()")
        await press(one, ".enable")  # nobody has allowed this page to show notifications, so the radio's own push service takes them
        await one.within("document.querySelector('.enable').hidden && document.body.innerText.includes(\"The radio's own push service\")")
        registered = one.watch("ServiceWorker.workerRegistrationUpdated")
        await one.call("ServiceWorker.enable")
        parts = urlsplit(link)
        await one.call("Browser.grantPermissions", origin=f"{parts.scheme}://{parts.netloc}", permissions=["notifications"])
        await one.value("[...document.querySelectorAll('.pill')].find((pill) => pill.textContent === 'Step away').click()")
        await one.within("document.querySelector('.away button')")
        await go(one, "artists", ".release:not([hidden])")
        await press(one, ".release:not([hidden])")
        await go(one, "inbox", ".mails > .row")
        assert "Paper Suns" in await one.value("document.querySelector('.mail pre').textContent")
        await one.within("document.body.innerText.includes('Shown by the service worker')")
        shown = "navigator.serviceWorker.ready.then((each) => each.getNotifications()).then((all) => all.map(({body}) => body))"
        assert await one.value(shown) == ["Paper Suns"]
        # What a push service of a vendor would do: it hands the service worker a push, whether or not a page is open.
        found = (await registered.get())["registrations"][0]["registrationId"]
        push = json.dumps({"title": "New album by Air", "body": "Moon Safari", "id": "moon"})
        await one.call("ServiceWorker.deliverPushMessage", origin=f"{parts.scheme}://{parts.netloc}", registrationId=found, data=push)
        await one.value(f"(async () => {{ while ((await {shown}).length < 2) await new Promise(requestAnimationFrame); }})()")

        await press(one, ".away button")
        await one.within(f"document.querySelector('.phase.connected') && {BADGE} === '1'")
        await press(one, ".why summary")
        await one.within("document.querySelector('.why dd')")
        assert "offline-row" in await one.value("document.querySelector('.why').textContent")
        rows = "document.querySelectorAll('.notifications > .row').length"
        await one.within(f"{rows} === 2")
        await press(one, ".notifications [aria-label='Mark as read']")
        await one.within(f"{BADGE} === ''")
        await press(one, ".notifications [aria-label='Mark as unread']")
        await one.within(f"{BADGE} === '1'")
        await press(one, ".notifications [aria-label='Archive']")
        await one.within(f"{BADGE} === '' && {rows} === 1")
        await press(one, ".folders :last-child")
        await one.within(f"{rows} === 1 && document.querySelector('.notifications').innerText.includes('Paper Suns')")
        await press(one, ".notifications [aria-label='Take out of the archive']")
        await press(one, ".folders :first-child")
        await one.within(f"{rows} === 2 && {BADGE} === '1'")
        await go(one, "settings", "segue-preferences")
        await one.within("document.querySelector('segue-preferences').shadowRoot.querySelector('input[type=email]')")
        held = "document.querySelector('segue-preferences').shadowRoot.querySelector('input[type=email]').value"
        assert await one.value(held) == f"{ann}@radio.example"
        assert one.problems == []


@pytest.mark.e2e
async def test_nobody_is_kept_out(link: str) -> None:
    """Names, roles and contrast of every view, as axe-core judges them, in the light and in the dark; and nothing is cut off, from right to
    left or on a telephone."""
    ann, bob = friends()
    async with asyncio.timeout(DEADLINE_S), Browser(find_browser()) as one:
        await one.open(link)
        await one.within("document.querySelector('.person')")
        await judged(one)
        await logged_in(one, link, ann)
        shown = {"": ".feed > .row", "friends": ".rows > .row", f"user/{bob}": ".profile", "playlists": "#name", "artists": ".follow"}
        shown |= {"inbox": ".enable", "settings": "segue-preferences"}
        for path, selector in shown.items():
            await go(one, path, selector)
            await judged(one)
            for direction in ("rtl", "ltr"):
                await one.value(f"document.documentElement.dir = {direction!r}")
                for width in (390, 820, 1440):
                    await one.call("Emulation.setDeviceMetricsOverride", width=width, height=844, deviceScaleFactor=1, mobile=False)
                    wide = (
                        "[document.documentElement, document.querySelector('.middle')].map((each) => each.scrollWidth - each.clientWidth)"
                    )
                    assert await one.value(wide) == [0, 0], (path, direction, width)


async def judged(tab: Tab) -> None:
    """Has axe-core look at the page in both schemes."""
    for scheme in ("light", "dark"):
        motion = {"name": "prefers-reduced-motion", "value": "reduce"}
        await tab.call("Emulation.setEmulatedMedia", features=[motion, {"name": "prefers-color-scheme", "value": scheme}])
        await judge(tab)
