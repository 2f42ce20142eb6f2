"""examples/follow.html in a real browser, against a server that plays a script."""

import json
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import pytest_asyncio

import segue
from infra.kernel.codes import ALL
from tests.support.browser import Browser, find_browser
from tests.support.inbox_model import InboxModel
from tests.support.scripted_server import Message, Peer, ScriptedServer, error, event, subscribed, welcome

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGE = Path(__file__).resolve().parents[2] / "examples" / "follow.html"
BOB = "hm://presence/user/bob/"
AGO = (("hm://presence/user/eve/", 2_000), (BOB, 1_000))
TOLD = "document.querySelector('#notice span').textContent"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with Browser(find_browser()) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def server(browser: Browser) -> AsyncIterator[ScriptedServer]:
    async with ScriptedServer() as running:
        yield running
        await browser.value("sessionStorage.clear()")  # the next test is somebody else
        await browser.call("Page.navigate", url="about:blank")


def address(server: ScriptedServer, friends: str = "bob") -> str:
    return f"{PAGE.as_uri()}?{urlencode({'url': server.url, 'friends': friends})}#token=secret"


async def connected(browser: Browser, server: ScriptedServer, friends: str = "bob") -> Peer:
    """Opens the page by its address in `browser`; it connects to `server` without a click, and follows `friends`."""
    await browser.open(address(server, friends))
    peer = await server.next_peer()
    await browser.until(phase("connected"))
    return peer


def phase(name: str) -> str:
    return f"document.getElementById('page').dataset.phase === '{name}'"


def rows(count: int) -> str:
    return f"document.querySelectorAll('#feed li').length === {count}"


async def feed(browser: Browser) -> list[str]:
    """Returns the text of the feed, newest first, without the times."""
    found: list[str] = await browser.value(
        "[...document.querySelectorAll('#feed li')].map((row) => (row.querySelector('.what') ?? row).textContent)"
    )
    return found


async def test_a_friend_is_followed_and_what_is_played_appears(browser: Browser, server: ScriptedServer) -> None:
    peer = await connected(browser, server, "bob, eve")
    assert peer.hello == {"op": "hello", "token": "secret", "client": "browser", "device": "desktop"}
    assert (await peer.heard("subscribe"))["topics"] == [BOB, "hm://presence/user/eve/"]
    await peer.send(event(BOB, 1, payload={"artist": "Björk", "track": "Jóga"}))
    await browser.until(rows(1))
    assert await feed(browser) == ["bob played BjörkJóga"]
    assert await browser.value("document.querySelector('#feed .site').textContent") == "sto"
    assert await browser.value("document.querySelector('#now li .what').textContent") == "bobBjörk · Jóga"
    assert await browser.value("document.querySelector('#state [role=status]').textContent") == "Live · alice at sto"
    assert browser.problems == []


async def test_the_token_leaves_the_address_bar(browser: Browser, server: ScriptedServer) -> None:
    await connected(browser, server)
    assert "secret" not in await browser.value("location.href")


async def test_the_form_connects_as_well(browser: Browser, server: ScriptedServer) -> None:
    await browser.open(PAGE.as_uri())
    fields = {"url": server.url.removesuffix("/v1/connect"), "token": "typed", "friends": f"bob {BOB} hm://presence/user/eve/"}
    await browser.value(
        f"""(() => {{
            const form = document.getElementById("setup");
            for (const [name, value] of Object.entries({json.dumps(fields)})) form.elements[name].value = value;
            form.querySelector("button").click();
        }})()"""
    )
    peer = await server.next_peer()
    assert peer.hello["token"] == "typed"
    assert (await peer.heard("subscribe"))["topics"] == [BOB, "hm://presence/user/eve/"]


async def test_what_friends_did_before_is_there_at_once(browser: Browser, server: ScriptedServer) -> None:
    """SB-31: nobody looks at an empty page while friends have played; and what comes live later is not shown twice."""
    eve = "hm://presence/user/eve/"
    before = [{name: event(topic, 1, id=topic, ts=ts)[name] for name in ("topic", "ts", "id", "kind", "payload")} for topic, ts in AGO]
    server.answers["last"] = lambda message: {"op": "last", "id": message["id"], "events": before}
    peer = await connected(browser, server, f"bob,eve,{eve.replace('eve', 'ann')},hm://playlist/user/bob/mix/")
    assert (await peer.heard("last"))["topics"] == [BOB, eve, "hm://presence/user/ann/"]
    await browser.until(rows(2))
    assert [words.split()[0] for words in await feed(browser)] == ["eve", "bob"]
    await peer.send(event(BOB, 1, id=BOB, ts=AGO[1][1]))
    await peer.send(event(BOB, 2, id="new", ts=AGO[0][1] + 1))
    await browser.until(rows(3))
    peer.drop()
    peer = await server.next_peer()
    await peer.heard("subscribe")
    assert "last" not in peer.waiting()
    assert browser.problems == []


async def test_a_reload_goes_on_until_somebody_disconnects(browser: Browser, server: ScriptedServer) -> None:
    await connected(browser, server)
    await browser.open(PAGE.as_uri())
    assert (await server.next_peer()).hello["token"] == "secret"
    await browser.until(phase("connected"))
    await browser.value("document.getElementById('leave').click()")
    await browser.open(PAGE.as_uri())
    assert await browser.value(phase("idle"))
    assert await browser.value("document.getElementById('setup').elements.token.value") == ""


async def test_an_address_that_never_answered_is_no_lost_connection(browser: Browser, server: ScriptedServer) -> None:
    query = urlencode({"url": "ws://127.0.0.1:1", "friends": "bob"})
    await browser.open(f"{PAGE.as_uri()}?{query}#token=secret")
    await browser.until(phase("waiting"))
    assert await browser.value(TOLD) == "nobody answers at ws://127.0.0.1:1/v1/connect: is an access point running there?"
    browser.problems.clear()  # the browser says so, too
    peer = await connected(browser, server)
    peer.drop()
    await browser.until(phase("waiting"))
    assert await browser.value(TOLD) == "the connection was lost"


MARKUP = "<img src=x onerror='window.hacked = 1'><script>window.hacked = 1</script>"


@pytest.mark.parametrize(
    "fields",
    [
        {"payload": {"artist": MARKUP, "track": MARKUP}},
        {"payload": {MARKUP: MARKUP}},
        {"kind": MARKUP},
        {"site": MARKUP},
        {"id": MARKUP},
        {"topic": f"hm://presence/user/{MARKUP}"},
        {"ts": MARKUP},
    ],
    ids=lambda fields: "-".join(fields),
)
async def test_markup_in_an_event_stays_text(browser: Browser, server: ScriptedServer, fields: dict[str, Any]) -> None:
    peer = await connected(browser, server)
    await peer.send(event(BOB, 1) | fields)
    await peer.send(event(BOB, 2, id="last"))
    await browser.until(rows(2))
    assert await browser.value("document.querySelectorAll('main img, main script').length") == 0
    assert await browser.value("window.hacked === undefined")
    assert browser.problems == []


@pytest.mark.parametrize(
    "drop", [lambda peer: peer.drop(), lambda peer: peer.fail("going-away", 4000, reconnect_in_ms=1)], ids=["cut", "drained"]
)
async def test_a_lost_connection_comes_back_with_all_topics(browser: Browser, server: ScriptedServer, drop: Callable[[Peer], Any]) -> None:
    """SB-60, for the browser."""
    peer = await connected(browser, server)
    await peer.send(event(BOB, 1))
    await browser.until(rows(1))
    if dropping := drop(peer):
        await dropping
    peer = await server.next_peer()
    assert (await peer.heard("subscribe"))["topics"] == [BOB]
    await browser.until(phase("connected"))
    await peer.send(event(BOB, 900))
    await browser.until(rows(2))  # what was missed meanwhile is unknown: no gap is claimed


async def test_a_code_that_forbids_it_is_shown_and_not_tried_again(browser: Browser, server: ScriptedServer) -> None:
    peer = await connected(browser, server)
    await peer.fail("token-expired", 4201)
    await browser.until(phase("failed"))
    assert await browser.value(TOLD) == "token-expired: because of token-expired"
    assert await browser.value("!document.getElementById('setup').hidden")


async def test_a_reconnect_can_be_hurried(browser: Browser, server: ScriptedServer) -> None:
    peer = await connected(browser, server)
    await peer.fail("going-away", 4000, reconnect_in_ms=600_000)
    await browser.until(phase("waiting"))
    left = re.fullmatch(r"in (\d+) s", await browser.value("document.getElementById('left').textContent"))
    assert left is not None
    assert 500 < int(left[1]) <= 600  # by how much it is less is the machine's matter
    await browser.value("document.querySelector('#notice button').click()")
    await server.next_peer()


async def test_disconnecting_ends_it(browser: Browser, server: ScriptedServer) -> None:
    await connected(browser, server)
    await browser.value("document.getElementById('leave').click()")
    assert await browser.value(phase("idle"))
    assert await browser.value("document.querySelector('#board').hidden && !document.querySelector('#setup').hidden")


async def test_missing_numbers_show_as_a_gap_and_skipped_ones_do_not(browser: Browser, server: ScriptedServer) -> None:
    peer = await connected(browser, server)
    for message in (event(BOB, 1), event(BOB, 4, skipped=2), event(BOB, 7)):
        await peer.send(message)
    await browser.until(rows(4))
    assert (await feed(browser))[1] == "2 events were missed here"


async def test_an_epoch_without_a_beginning_shows_that_something_may_be_missed(browser: Browser, server: ScriptedServer) -> None:
    """DPS-1: one that goes on from the epoch before shows nothing."""
    peer = await connected(browser, server)
    for message in (event(BOB, 1), event(BOB, 1, epoch=8, after=[7, 1], id="b"), event(BOB, 1, epoch=9, id="c")):
        await peer.send(message)
    await browser.until(rows(4))
    assert (await feed(browser))[1] == "something may be missed here"


def keeping(server: ScriptedServer, **again: Any) -> None:
    """Makes `server` one that recovers; `again` are the fields of the answers to those who come back."""
    server.answers["hello"] = lambda message: welcome(message) | {"window": {"user": {"keep": "latest", "seconds": 120}}}
    first = {"recovered": True, "lost": [], "replayed": 0, "point": "p1"}
    server.answers["subscribe"] = lambda message: subscribed(message) | first | (again if "point" in message else {})


@pytest.mark.parametrize(
    ("again", "said"),
    [
        ({"replayed": 3}, "3 recovered"),
        ({"recovered": False, "lost": [{"topic": BOB, "reason": "expired"}]}, "something was missed"),
    ],
)
async def test_what_became_of_what_was_missed_is_said(browser: Browser, server: ScriptedServer, again: dict[str, Any], said: str) -> None:
    """DPS-5: who comes back says a point and numbers."""
    keeping(server, **again)
    peer = await connected(browser, server)
    assert (await peer.heard("subscribe"))["recover"] is True
    await peer.send(event(BOB, 5))
    await browser.until(rows(1))
    peer.drop()
    asked = await (await server.next_peer()).heard("subscribe")
    assert (asked["point"], asked["since"]) == ("p1", {BOB: {"sto": [7, 5]}})
    await browser.until(rows(2))
    assert (await feed(browser))[0] == said


async def test_a_gap_that_no_number_shows_is_said(browser: Browser, server: ScriptedServer) -> None:
    """DPS-8: and its point is the next one to come back with."""
    keeping(server)
    peer = await connected(browser, server)
    await peer.heard("subscribe")  # whose answer has a point, too
    await peer.send(event(BOB, 5))
    await peer.send({"op": "gap", "topics": [BOB], "reason": "owner-lost", "point": "p2"})
    await browser.until(rows(2))
    assert (await feed(browser))[0] == "something was missed"
    peer.drop()
    asked = await (await server.next_peer()).heard("subscribe")
    assert (asked["point"], asked["since"]) == ("p2", {})


async def test_an_event_that_comes_twice_is_shown_once(browser: Browser, server: ScriptedServer) -> None:
    """SB-50."""
    peer = await connected(browser, server)
    for message in (event(BOB, 1), event(BOB, 1), event(BOB, 2)):
        await peer.send(message)
    await browser.until("document.getElementById('count').textContent === '2 events'")
    assert await browser.value(rows(2))


async def test_a_line_about_a_playlist_names_it(browser: Browser, server: ScriptedServer) -> None:
    """As the playlist service says it in the feed of whoever changed it."""
    peer = await connected(browser, server)
    mix = {"topic": "hm://playlist/user/ann/playlist/mix/", "event": "e1", "change": "add"}
    await peer.send(event(BOB, 1, kind="playlist", payload=mix))
    await browser.until("document.querySelectorAll('#feed li').length === 1")
    assert await feed(browser) == ["bob changed the playlist mix"]


async def test_the_feed_holds_the_newest_fifty(browser: Browser, server: ScriptedServer) -> None:
    """Spec 3.1: a fixed number of entries, newest first."""
    peer = await connected(browser, server)
    for seq in range(1, 121):
        await peer.send(event(BOB, seq, payload={"artist": f"artist {seq}"}))
    await browser.until("document.getElementById('count').textContent === '120 events'")
    shown = await feed(browser)
    assert [shown[0], shown[-1], len(shown)] == ["bob played artist 120", "bob played artist 71", 50]


async def test_a_friend_that_cannot_be_followed_is_named(browser: Browser, server: ScriptedServer) -> None:
    def reject(message: Message) -> Message:
        rejected = {"topic": "hm://presence/user/b%b/", "code": "bad-topic", "number": 4109, "reason": "a user is no %"}
        return subscribed(message) | {"rejected": [rejected]}

    server.answers["subscribe"] = reject
    await connected(browser, server, "bob,b%b")
    await browser.until(f"{TOLD}.includes('hm://presence/user/b%b/ (a user is no %)')")


async def test_more_friends_than_fit_into_one_message_are_sent_in_several(browser: Browser, server: ScriptedServer) -> None:
    server.answers["hello"] = lambda message: welcome(message) | {"limits": {"topics_per_message": 2}}
    peer = await connected(browser, server, "a,b,c")
    sent = [(await peer.heard("subscribe"))["topics"] for _ in range(2)]
    assert [len(topics) for topics in sent] == [2, 1]


@pytest_asyncio.fixture(loop_scope="module")
async def desk(browser: Browser) -> AsyncIterator[ScriptedServer]:
    """Serves stored notifications of the user."""
    async with ScriptedServer(InboxModel()) as running:
        running.answers["last"] = lambda message: {"op": "last", "id": message["id"], "events": []}
        yield running
        await browser.value("sessionStorage.clear()")  # the next test is somebody else
        await browser.call("Page.navigate", url="about:blank")


def store(desk: ScriptedServer, count: int) -> InboxModel:
    assert desk.inbox is not None
    for _ in range(count):
        desk.inbox.store()
    return desk.inbox


def unread(words: str) -> str:
    return f"document.getElementById('unread').textContent === '{words}'"


def notices(count: int) -> str:
    return f"document.querySelectorAll('#inbox li').length === {count}"


async def listed(browser: Browser) -> list[str]:
    found: list[str] = await browser.value("[...document.querySelectorAll('#inbox li .what')].map((row) => row.textContent)")
    return found


CLICK_BELL = "document.getElementById('bell').click()"


async def test_the_bell_names_artists_and_who_changed_a_playlist(browser: Browser, desk: ScriptedServer) -> None:
    """As the services tell it: `artist` is an id there, and a playlist may be changed by others than its owner."""
    await connected(browser, desk)
    await desk.publish(payload={"artist": "a1", "name": "Björk", "id": "al-7", "title": "Fossora"})
    mix: dict[str, Any] = {"topic": "hm://playlist/user/ann/playlist/mix/", "kind": "playlist", "class": "playlist"}
    await desk.publish(**mix, payload={"version": 2, "by": "bob", "name": "Mix", "change": {}})
    await browser.until(unread("2"))
    assert await listed(browser) == ["bob changed a playlistMix", "Björk has a new albumFossora"]


async def test_the_bell_counts_what_was_stored_and_lists_it_newest_first(browser: Browser, desk: ScriptedServer) -> None:
    store(desk, 3)
    await connected(browser, desk)
    await browser.until(unread("3"))
    await desk.publish(payload={"artist": "Björk", "album": "Post"})
    await browser.until(unread("4"))
    assert (await listed(browser))[0] == "Björk has a new albumPost"
    assert await browser.value("document.title.startsWith('(4) ')")
    assert await browser.value("document.getElementById('bell').ariaLabelledByElements[0].textContent") == "Notifications, 4 unread"
    assert browser.problems == []


async def test_the_list_holds_the_newest_fifty_also_those_that_were_seen_before(browser: Browser, desk: ScriptedServer) -> None:
    inbox = store(desk, 130)
    inbox.read_mark, inbox.seen_marks["browser"] = 129, 129
    await connected(browser, desk)
    await browser.until(notices(50))
    shown = await listed(browser)
    assert (shown[0], shown[-1]) == ("Björk has a new albumNo. 130", "Björk has a new albumNo. 81")
    assert await browser.value(unread("1"))


async def test_a_long_absence_is_pulled_to_the_end(browser: Browser, desk: ScriptedServer) -> None:
    store(desk, 130)
    peer = await connected(browser, desk)
    await browser.until("document.querySelector('#inbox li .what')?.textContent === 'Björk has a new albumNo. 130'")
    await browser.until(unread("99+"))
    assert (await peer.heard("seen"))["mark"] in (50, 100, 130)


async def test_a_lost_live_copy_is_pulled_and_shown_once(browser: Browser, desk: ScriptedServer) -> None:
    """SB-50, SB-69."""
    peer = await connected(browser, desk)
    await browser.until(unread(""))
    store(desk, 1)
    item = await desk.publish()
    assert (await peer.heard("pull"))["since"] == 0
    await browser.until(notices(2))
    await desk.tell("notification", item)
    await desk.publish()
    await browser.until(notices(3))
    assert await listed(browser) == [f"Björk has a new albumNo. {number}" for number in (3, 2, 1)]
    await browser.until(unread("3"))


async def test_a_page_that_meets_another_epoch_begins_again(browser: Browser, desk: ScriptedServer) -> None:
    """The store was put back: what had a mark that the page has seen is another item now."""
    inbox = store(desk, 1)
    copy = inbox.backup()
    store(desk, 1)
    peer = await connected(browser, desk)
    await browser.until(notices(2))
    assert (await peer.heard("seen"))["mark"] == 2
    inbox.put_back(copy)
    await desk.publish(payload={"artist": "Björk", "album": "Homogenic"}, id="other")
    pull = await peer.heard("pull")
    while (pull["since"], pull["epoch"]) != (2, 1):
        pull = await peer.heard("pull")
    await browser.until("document.querySelector('#inbox li .what')?.textContent === 'Björk has a new albumHomogenic'")
    assert await listed(browser) == ["Björk has a new albumHomogenic", "Björk has a new albumNo. 1"]
    seen = await peer.heard("seen")
    assert (seen["mark"], seen["epoch"], inbox.seen_marks["browser"]) == (2, 2, 2)
    assert browser.problems == []


async def test_a_click_on_the_bell_marks_all_as_read(browser: Browser, desk: ScriptedServer) -> None:
    store(desk, 2)
    peer = await connected(browser, desk)
    await browser.until(unread("2"))
    await browser.value(CLICK_BELL)
    assert (await peer.heard("read"))["mark"] == 2
    await browser.until(unread(""))
    assert await browser.value("document.querySelectorAll('#inbox .unread').length") == 2  # still marked, while they are looked at
    await browser.value(CLICK_BELL)
    await browser.until("document.querySelectorAll('#inbox .unread').length === 0")


async def test_what_another_device_has_read_is_read_here(browser: Browser, desk: ScriptedServer) -> None:
    """SB-51."""
    store(desk, 2)
    await connected(browser, desk)
    await browser.until(unread("2"))
    async with segue.Client(desk.url, "secret", client="phone") as phone:
        await phone.read(1)
        await browser.until(unread("1"))
        await browser.value(CLICK_BELL)
        await browser.until(unread(""))
        await phone.ping()
        assert (phone.unread, phone.read_mark) == (0, 2)


async def test_what_came_while_away_comes_after_a_reconnect(browser: Browser, desk: ScriptedServer) -> None:
    """SB-60, SB-69."""
    peer = await connected(browser, desk)
    await desk.publish()
    await browser.until(unread("1"))
    store(desk, 2)
    peer.drop()
    await browser.until(unread("3"))
    assert await browser.value(notices(3))


async def test_a_module_that_is_away_is_asked_again_and_the_page_does_not_complain(browser: Browser, desk: ScriptedServer) -> None:
    refusals = iter(range(1))

    def refuse(message: Message) -> Message:
        if next(refusals, None) is None:
            del desk.answers["pull"]
        return error("unavailable", 4300, id=message["id"])

    desk.answers["pull"] = refuse
    peer = await connected(browser, desk)
    await peer.send(error("unavailable", 4300))
    store(desk, 1)
    await desk.publish()
    await browser.until(notices(2))
    assert await browser.value("document.getElementById('notice').hidden")


@pytest.mark.parametrize(
    "fields", [{"payload": {"artist": MARKUP, "album": MARKUP}}, {"topic": MARKUP, "payload": {}}, {"class": MARKUP, "kind": MARKUP}]
)
async def test_markup_in_a_notification_stays_text(browser: Browser, desk: ScriptedServer, fields: dict[str, Any]) -> None:
    await connected(browser, desk)
    await desk.publish(**fields)
    await browser.until(notices(1))
    assert await browser.value("document.querySelectorAll('#inbox img, #inbox script').length") == 0
    assert await browser.value("window.hacked === undefined")
    assert browser.problems == []


async def test_the_page_obeys_the_code_table(browser: Browser) -> None:
    rule = re.search(r"^const mayReconnect = (.+);$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert rule is not None
    numbers = json.dumps([code.number for code in ALL])
    assert await browser.value(f"{numbers}.map({rule[1]})") == [code.reconnect for code in ALL]


async def test_the_page_loads_nothing_from_elsewhere() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert re.findall(r"(?:src|href)\s*=\s*[\"'](?!data:)", text) == []
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|@import", text)
