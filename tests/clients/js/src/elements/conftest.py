"""One browser for the tests of the elements, and a page for each test."""

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.support.browser import Browser, find_browser
from tests.support.element_page import ElementPage


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with Browser(find_browser()) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def page(browser: Browser) -> AsyncIterator[ElementPage]:
    browser.problems.clear()
    async with ElementPage() as running:
        yield running
        await browser.call("Page.navigate", url="about:blank")
