"""A headless Chromium, driven over the Chrome DevTools Protocol."""

import asyncio
import base64
import itertools
import os
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Final, Self

import aiohttp
import pytest

NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
FLAGS: Final = (
    "--headless=new",
    "--remote-debugging-port=0",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
DEADLINE_S: Final = 60.0


def find_browser() -> str:
    """Returns the path of a Chromium. Where there is none the test is skipped, and fails if CI says that nothing may be skipped."""
    for name in NAMES:
        if path := shutil.which(name):
            return path
    message = (
        f"NO BROWSER, pages and elements are not tested; they need one of {', '.join(NAMES)} on the PATH (Debian: apt install chromium)"
    )
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)


class Tab:
    """A tab of a browser. `send` calls a command of the protocol in the session of the tab."""

    def __init__(self, send: Callable[..., Awaitable[dict[str, Any]]], session_id: str | None) -> None:
        self._send, self._session_id = send, session_id

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Calls a command of the protocol. Raises AssertionError with the browser's words if it fails."""
        return await self._send(self._session_id, method, params)

    async def open(self, url: str) -> None:
        """Goes to `url`; a fresh document each time, even if only the part behind # differs."""
        for each in ("about:blank", url):
            await self.call("Page.navigate", url=each)
            await self.until(f"location.href.startsWith({each.partition('#')[0]!r}) && document.readyState === 'complete'")

    async def value(self, expression: str) -> Any:
        """Returns the value of a JavaScript expression; it waits for a promise."""
        answer = await self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    async def until(self, condition: str) -> None:
        """Waits until a JavaScript condition holds; it is looked at whenever the document changes."""
        await self.value(
            f"""new Promise((resolve) => {{
                const look = () => {{ if ({condition}) {{ observer.disconnect(); resolve(); }} }};
                const observer = new MutationObserver(look);
                observer.observe(document, {{ subtree: true, childList: true, attributes: true, characterData: true }});
                addEventListener("load", look);
                look();
            }})"""
        )

    async def within(self, condition: str) -> None:
        """Waits until a JavaScript condition holds. It is looked at once a frame, for a shadow tells the document of no change.

        Raises TimeoutError with what the page shows instead.
        """
        try:
            await self.value(
                f"new Promise((resolve) => {{ const look = () => ({condition} ? resolve() : requestAnimationFrame(look)); look(); }})"
            )
        except TimeoutError as error:
            error.add_note(f"waited for {condition}\nand saw {await self.value('document.body.innerText')}")
            raise

    async def screenshot(self, *, width: int = 1200, height: int = 860, is_dark: bool = False) -> bytes:
        """Returns a PNG of the page, `width` by `height` pixels, in the dark scheme if `is_dark`."""
        await self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        await self.call("Emulation.setEmulatedMedia", features=[scheme, {"name": "prefers-reduced-motion", "value": "reduce"}])
        image = await self.call("Page.captureScreenshot", format="png")
        return base64.b64decode(image["data"])

    async def close(self) -> None:
        """Closes the tab."""
        await self.call("Page.close")


class Browser(Tab):
    """One browser process with a profile of its own, and its first tab. `problems` has what any tab complains of."""

    def __init__(self, binary: str) -> None:
        super().__init__(self._call, None)
        self.problems: list[str] = []
        self._binary = binary
        self._profile = tempfile.TemporaryDirectory(prefix="segue-browser-", ignore_cleanup_errors=True)
        self._http = aiohttp.ClientSession()
        self._ids = itertools.count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._watched: dict[str, asyncio.Queue[dict[str, Any]]] = {}

    async def __aenter__(self) -> Self:
        command = [self._binary, *FLAGS, f"--user-data-dir={self._profile.name}", "about:blank"]
        self._process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE)
        try:
            async with asyncio.timeout(DEADLINE_S):
                self._socket = await self._http.ws_connect(await self._debugger_url(), max_msg_size=0)
                self._draining = asyncio.create_task(self._drain())
                self._reading = asyncio.create_task(self._read())
                await self._attach()
        except BaseException:
            await self._stop()
            raise
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._session_id = None
        try:
            await self.call("Browser.close")
        finally:
            self._reading.cancel()
            await self._socket.close()
            await self._stop()
            self._draining.cancel()

    async def new_tab(self) -> Tab:
        """Opens a tab in a window of its own, so that it is not in the background."""
        target = await self._call(None, "Target.createTarget", {"url": "about:blank", "newWindow": True})
        tab = Tab(self._call, await self._attached(target["targetId"]))
        await self._listen(tab)
        return tab

    def watch(self, method: str) -> asyncio.Queue[dict[str, Any]]:
        """Returns the queue of the parameters of all events of this name from now on, in whatever tab."""
        return self._watched.setdefault(method, asyncio.Queue())

    async def _call(self, session_id: str | None, method: str, params: dict[str, Any]) -> dict[str, Any]:
        call_id = next(self._ids)
        answer = self._answers[call_id] = asyncio.get_running_loop().create_future()
        session = {"sessionId": session_id} if session_id else {}
        await self._socket.send_json({"id": call_id, "method": method, "params": params, **session})
        async with asyncio.timeout(DEADLINE_S):
            found = await answer
        assert "error" not in found, f"{method}: {found['error']}"
        result: dict[str, Any] = found["result"]
        return result

    async def _debugger_url(self) -> str:
        assert self._process.stderr is not None
        async for line in self._process.stderr:
            if b"DevTools listening on " in line:
                return line.rpartition(b" ")[2].decode().strip()
        raise AssertionError(f"{self._binary} ended before it could be driven")

    async def _drain(self) -> None:
        """Reads what else it complains of, for a full pipe would stop it."""
        assert self._process.stderr is not None
        while await self._process.stderr.read(1 << 16):
            pass

    async def _attach(self) -> None:
        targets = await self.call("Target.getTargets")
        page = next(target for target in targets["targetInfos"] if target["type"] == "page")
        self._session_id = await self._attached(page["targetId"])
        await self._listen(self)

    async def _attached(self, target_id: str) -> str:
        """Returns the session of a tab."""
        session_id: str = (await self._call(None, "Target.attachToTarget", {"targetId": target_id, "flatten": True}))["sessionId"]
        return session_id

    async def _listen(self, tab: Tab) -> None:
        for domain in ("Page", "Runtime", "Log"):
            await tab.call(f"{domain}.enable")
        await tab.call("Emulation.setFocusEmulationEnabled", enabled=True)  # keys reach it whichever window is in front

    async def _read(self) -> None:
        async for frame in self._socket:
            message = frame.json()
            if (watched := self._watched.get(message.get("method", ""))) is not None:
                watched.put_nowait(message["params"])
            match message.get("method"):
                case None:
                    if not (answer := self._answers.pop(message["id"])).done():  # who has given up waiting needs none
                        answer.set_result(message)
                case "Runtime.exceptionThrown":
                    self.problems.append(str(message["params"]["exceptionDetails"]))
                case "Log.entryAdded":
                    self.problems.append(str(message["params"]["entry"]["text"]))

    async def _stop(self) -> None:
        try:
            async with asyncio.timeout(DEADLINE_S):
                await self._process.wait()
        finally:
            if self._process.returncode is None:
                self._process.kill()
                await self._process.wait()
            await self._http.close()
            self._profile.cleanup()
