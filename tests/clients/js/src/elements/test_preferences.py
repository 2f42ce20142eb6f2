"""`<segue-preferences>` in a real browser, against a server that keeps what it is told."""

from typing import Any

import pytest

from tests.support.browser import Browser
from tests.support.element_page import ElementPage

pytestmark = pytest.mark.asyncio(loop_scope="module")

HELD: dict[str, Any] = {
    "email": None,
    "channels": {"new-album": {"email": False}},
    "muted": ["user:bob"],
    "tz": "UTC",
    "quiet": None,
    "digest": "off",
    "digest_at": "08:00",
    "digest_day": "friday",
}
ROOT = "document.querySelector('segue-preferences').shadowRoot"
STATUS = f"{ROOT}.getElementById('status').textContent"


async def opened(browser: Browser, page: ElementPage) -> None:
    page.preferences = dict(HELD)
    page.body = f"<segue-preferences url='{page.url.rstrip('/')}' token='secret'></segue-preferences>"
    await browser.open(page.url)
    await browser.within(f"customElements.get('segue-preferences') && {ROOT}.querySelector('table')")


def field(name: str) -> str:
    return f"{ROOT}.querySelector('[name=\\'{name}\\']')"


async def choose(browser: Browser, name: str, value: str) -> None:
    await browser.value(f"{field(name)}.value = '{value}'; {field(name)}.dispatchEvent(new Event('change', {{ bubbles: true }}))")


async def test_what_is_set_is_shown_with_a_name_for_each_box(browser: Browser, page: ElementPage) -> None:
    await opened(browser, page)
    boxes = f"[...{ROOT}.querySelectorAll('td input')]"
    assert await browser.value(f"{boxes}.filter((box) => !box.checked).map((box) => box.ariaLabel)") == ["New albums: Mail"]
    assert await browser.value(f"{boxes}.length") == 18
    assert browser.problems == []


async def test_a_change_is_saved_at_once_and_the_rest_stays(browser: Browser, page: ElementPage) -> None:
    await opened(browser, page)
    await browser.value(f"{field('playlist push')}.focus(); {field('playlist push')}.click()")
    await browser.within(f"{STATUS} === 'Saved'")
    assert page.preferences["channels"] == {"new-album": {"email": False}, "playlist": {"push": False}}
    zone = await browser.value("Intl.DateTimeFormat().resolvedOptions().timeZone")
    assert {name: page.preferences[name] for name in ("muted", "digest_day", "tz")} == {
        "muted": ["user:bob"],
        "digest_day": "friday",
        "tz": zone,
    }
    assert await browser.value(f"{ROOT}.activeElement.name") == "playlist push"


async def test_times_are_asked_for_where_there_are_any(browser: Browser, page: ElementPage) -> None:
    await opened(browser, page)
    await browser.value(f"{field('quiet')}.click()")
    await browser.within(f"{field('from')}?.value === '22:00'")
    await choose(browser, "to", "06:30")
    await choose(browser, "digest", "weekly")
    await browser.within(f"{field('day')}?.value === 'friday'")
    await choose(browser, "day", "sunday")
    await choose(browser, "email", "ann@example.org")
    await browser.within(f"{field('email')}.value === 'ann@example.org' && {field('day')}.value === 'sunday'")
    while page.preferences["email"] is None:
        await browser.value("new Promise(requestAnimationFrame)")
    assert page.preferences["quiet"] == {"from": "22:00", "to": "06:30"}
    assert (page.preferences["digest"], page.preferences["digest_day"]) == ("weekly", "sunday")


async def test_what_is_refused_is_said_and_shown_as_it_was(browser: Browser, page: ElementPage) -> None:
    await opened(browser, page)
    page.refusal = "no such class"
    await browser.value(f"{field('playlist push')}.click()")
    await browser.within(f"{STATUS}.startsWith('Not saved') && {STATUS}.includes('no such class')")
    assert await browser.value(f"{field('playlist push')}.checked") is True


async def test_it_speaks_the_language_of_the_page(browser: Browser, page: ElementPage) -> None:
    page.language = "sv"
    await opened(browser, page)
    assert await browser.value(f"{ROOT}.querySelector('tbody th').textContent") == "Nya album"


WEBHOOK = {"id": "a1", "url": "https://example.org/", "made_ms": 1, "previous_until_ms": 0}


async def test_webhooks_have_a_column_for_those_who_have_any(browser: Browser, page: ElementPage) -> None:
    page.webhooks = [WEBHOOK]
    await opened(browser, page)
    assert await browser.value(f"[...{ROOT}.querySelectorAll('thead th')].map((each) => each.textContent)") == [
        "Here",
        "Push",
        "Mail",
        "Webhooks",
    ]
    await browser.value(f"{field('playlist webhook')}.click()")
    await browser.within(f"{STATUS} === 'Saved'")
    assert page.preferences["channels"] == {"new-album": {"email": False}, "playlist": {"webhook": False}}
    page.webhooks = []
    await browser.open(page.url)
    await browser.within(f"{ROOT}?.querySelectorAll('thead th').length === 4 && !{field('playlist webhook')}.checked")


async def test_what_the_form_does_not_show_stays_as_it_is(browser: Browser, page: ElementPage) -> None:
    kept = {"of-tomorrow": {"push": False}, "playlist": {"by-pigeon": False}}
    await opened(browser, page)
    page.preferences = {**HELD, "channels": kept}
    await browser.open(page.url)
    await browser.within(f"customElements.get('segue-preferences') && {ROOT}.querySelector('table')")
    await browser.value(f"{field('playlist push')}.click()")
    await browser.within(f"{STATUS} === 'Saved'")
    assert page.preferences["channels"] == {"of-tomorrow": {"push": False}, "playlist": {"by-pigeon": False, "push": False}}


async def test_what_cannot_be_loaded_is_said_and_tried_again(browser: Browser, page: ElementPage) -> None:
    page.refusal, page.preferences = "not today", dict(HELD)
    page.body = f"<segue-preferences url='{page.url.rstrip('/')}' token='secret'></segue-preferences>"
    await browser.open(page.url)
    await browser.within(f"customElements.get('segue-preferences') && {STATUS}.startsWith('The settings could not be loaded')")
    assert "not today" in await browser.value(STATUS)
    page.refusal = ""
    await browser.value(f"{ROOT}.getElementById('again').click()")
    await browser.within(f"{ROOT}.querySelector('table') && {STATUS} === '' && {ROOT}.getElementById('again').hidden")


async def test_a_failure_that_comes_late_says_nothing_of_what_was_loaded_since(browser: Browser, page: ElementPage) -> None:
    page.preferences = dict(HELD)
    page.body = f"<segue-preferences url='{page.url.rstrip('/')}' token='secret'></segue-preferences>"
    await browser.open(page.url)
    await browser.within(f"customElements.get('segue-preferences') && {ROOT}.querySelector('table') && {STATUS} === ''")
    slow = "{ preferences: () => new Promise((_, reject) => { window.late = reject; }), webhooks: async () => [] }"
    await browser.value(f"void (document.querySelector('segue-preferences').settings = {slow})")
    await browser.value("void (document.querySelector('segue-preferences').settings = undefined)")
    await browser.within(f"{STATUS} === ''")
    await browser.value("(late(new Error('too late')), new Promise((resolve) => setTimeout(resolve)))")
    assert await browser.value(f"[{STATUS}, {ROOT}.getElementById('again').hidden]") == ["", True]
