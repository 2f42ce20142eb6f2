"""The elements, as axe-core judges them: names, roles and contrast, in the light and in the dark."""

import time
from typing import Any

import pytest

from tests.support.axe import judge
from tests.support.browser import Browser
from tests.support.element_page import ElementPage
from tests.support.inbox_model import InboxModel
from tests.support.scripted_server import Message, ScriptedServer, event

pytestmark = pytest.mark.asyncio(loop_scope="module")

BOB = "hm://presence/user/bob/"
BELL = "document.querySelector('segue-bell').shadowRoot"
FEED = "document.querySelector('segue-feed').shadowRoot"
PREFERENCES = "document.querySelector('segue-preferences').shadowRoot"
# The page around the elements is not theirs to judge.
RULES = {name: {"enabled": False} for name in ("region", "landmark-one-main", "page-has-heading-one")}
HELD: dict[str, Any] = {
    "email": None,
    "channels": {},
    "muted": [],
    "tz": "UTC",
    "quiet": {"from": "22:00", "to": "07:00"},
    "digest": "weekly",
    "digest_at": "08:00",
    "digest_day": "friday",
}


def nothing_before(message: Message) -> Message:
    return {"op": "last", "id": message["id"], "events": []}


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_nobody_is_kept_out(browser: Browser, page: ElementPage, scheme: str) -> None:
    async with ScriptedServer(InboxModel()) as server:
        server.answers["last"] = nothing_before
        await server.publish(payload={"artist": "Björk", "album": "Post"}, ts=int(time.time() * 1000))
        where = f"url='{server.url}' token='secret'"
        page.preferences = dict(HELD)
        page.body = f"""<header><segue-bell {where}></segue-bell></header><segue-feed {where} friends='bob'></segue-feed>
            <segue-preferences url='{page.url.rstrip("/")}' token='secret'></segue-preferences>"""
        await browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        await browser.open(page.url)
        peer = await server.next_peer()
        await peer.heard("subscribe")
        for number in (1, 4):
            await peer.send(event(BOB, number))
        await browser.within(f"{FEED}?.querySelectorAll('li').length === 3 && {BELL}.querySelectorAll('li').length === 1")
        await browser.within(f"{PREFERENCES}?.querySelector('table')")
        await peer.send({"op": "ended", "topics": [{"topic": BOB, "code": "forbidden", "number": 4204, "reason": "no longer"}]})
        await browser.within(f"{FEED}.getElementById('refused').textContent")
        await judge(browser, RULES)
        await browser.value(f"{BELL}.getElementById('bell').click()")
        await browser.within(f"{BELL}.querySelector('li.unread')")
        await judge(browser, RULES)
        await browser.value(f"{BELL}.querySelector('.more').click()")
        await browser.within(f"{BELL}.getElementById('menu').matches(':popover-open')")
        await judge(browser, RULES)
        await browser.value(f"{BELL}.getElementById('tab-archived').click()")
        await browser.within(f"!{BELL}.getElementById('state').hidden")
        await judge(browser, RULES)
