"""The drivers of the two SDKs: each makes one client do what a scenario says, and hands on what it returns and tells.

Names are those of the Python SDK, times are milliseconds (`retry_in_ms`).
"""

import asyncio
import dataclasses
import json
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Protocol, Self

import msgspec

import segue
from tests.support.node import PACKAGE, built

Value = Any
# Calls of an inbox, not of its client.
IN_INBOX: Final = ("more", "select", "archive", "unarchive", "delete", "mark_read", "mark_unread")
_LINE_BYTES: Final = 1 << 20


class FailedCallError(Exception):
    """A call that raised. `kind` is the name of the error, `code` that of its code."""

    def __init__(self, kind: str, code: str | None, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind, self.code = kind, code


class Driver(Protocol):
    """A driver of one client at a time. `told` has a queue for each kind of news."""

    told: defaultdict[str, asyncio.Queue[Value]]

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None: ...

    async def call(self, name: str, args: dict[str, Any]) -> Value:
        """Returns what the call `name` returns. Raises FailedCallError."""


class PythonDriver:
    """The driver of `segue.Client`, in this process."""

    def __init__(self) -> None:
        self.told: defaultdict[str, asyncio.Queue[Value]] = defaultdict(asyncio.Queue)
        self._client: segue.Client | None = None
        self._inbox: segue.NotificationInbox | None = None
        self._reading: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._close()

    async def call(self, name: str, args: dict[str, Any]) -> Value:
        """Returns what the call `name` returns. Raises FailedCallError."""
        try:
            return plain(await self._calls(name, args))
        except segue.SegueError as failed:
            code = getattr(failed, "code", None)
            raise FailedCallError(type(failed).__name__, code.name if code else None, str(failed)) from failed

    def _calls(self, name: str, args: dict[str, Any]) -> Awaitable[Any]:
        if name == "connect":
            return self._connect(**args)
        if name == "close":
            return self._close()
        if name in IN_INBOX:
            return self._at_inbox(name, **args)
        if name == "api":
            return self._ask(**args)
        assert self._client is not None
        client = self._client
        calls: dict[str, Callable[..., Awaitable[Any]]] = {
            "act": lambda kind, fields: client.act(kind, **fields),
            "offloaded": self._offloaded,
            "topics": self._topics,
            "notifications": self._notifications,
            "seen": self._seen,
            "unread": self._unread,
            "inbox": self._open_inbox,
        }
        return calls.get(name, getattr(client, name, None))(**args)  # type: ignore[misc]

    async def _connect(self, *, urls: list[str], tokens: list[str], subscription_tokens: list[str] | None = None, **args: Any) -> None:
        each = list(tokens)
        token: str | Callable[[], str] = each[0] if len(each) == 1 else lambda: each.pop(0) if len(each) > 1 else each[0]
        options = {name: args.pop(name) for name in ("client", "device", "user", "private") if name in args}
        backoff = args.pop("backoff")
        times = {name.removesuffix("_ms") + "_s" if name.endswith("_ms") else name: _seconds(name, value) for name, value in args.items()}
        self._client = segue.Client(
            urls,
            token,
            on_state=self._state,
            on_gap=self._teller("gap"),
            on_ended=self._teller("ended"),
            on_friends=self._teller("friends"),
            on_offloaded=self._teller("offloaded"),
            on_announcement=self._teller("announcement"),
            subscription_tokens=(lambda _: subscription_tokens) if subscription_tokens is not None else None,
            options=segue.ClientOptions(
                backoff=segue.Backoff(base_s=backoff["base_ms"] / 1000, cap_s=backoff["cap_ms"] / 1000),
                **times,
            ),
            **{"client": "browser", **options},
        )
        await self._client.__aenter__()
        self._reading.append(asyncio.create_task(self._read(self._client)))

    async def _close(self) -> None:
        if self._inbox is not None:
            await self._inbox.__aexit__(None, None, None)
            self._inbox = None
        if self._client is not None:
            await self._client.close()
        await asyncio.gather(*self._reading, return_exceptions=True)

    async def _ask(
        self, *, urls: str | dict[str, str], token: str, part: str, method: str, args: Sequence[Any], named: Mapping[str, Any] = {}
    ) -> Any:
        where = urls if isinstance(urls, str) else segue.ApiUrls(**urls)
        typed = [msgspec.convert(each, segue.NotificationPreferences) for each in args] if method == "set_preferences" else args
        async with segue.Api(where, token) as api:
            found = getattr(getattr(api, part), method)(*typed, **named)
            return [each async for each in found] if hasattr(found, "__aiter__") else await found

    async def _offloaded(self) -> list[str]:
        assert self._client is not None
        return sorted(self._client.offloaded)

    async def _topics(self) -> list[str]:
        assert self._client is not None
        return sorted(self._client.topics)

    async def _notifications(self) -> None:
        assert self._client is not None
        self._reading.append(asyncio.create_task(self._ring(self._client)))

    async def _ring(self, client: segue.Client) -> None:
        async for notification in client.notifications():
            self._tell("notification", notification)

    async def _open_inbox(self, page: int) -> None:
        assert self._client is not None
        self._inbox = segue.NotificationInbox(self._client, page=page)
        await self._inbox.__aenter__()

    async def _at_inbox(self, name: str, *, marks: Sequence[int] = (), **args: Any) -> Any:
        assert self._inbox is not None
        if name == "select":
            return self._inbox.select(**{"class_" if each == "class" else each: value for each, value in args.items()})
        return await getattr(self._inbox, name)(*marks, **args)

    async def _seen(self, mark: int) -> None:
        assert self._client is not None
        self._client.seen(mark)

    async def _unread(self) -> int:
        assert self._client is not None
        return self._client.unread

    async def _read(self, client: segue.Client) -> None:
        async for event in client:
            self._tell("event", event)

    def _teller(self, name: str) -> Callable[[Any], None]:
        return lambda news: self._tell(name, news)

    def _tell(self, name: str, news: Any) -> None:
        self.told[name].put_nowait(plain(news))

    def _state(self, state: segue.State) -> None:
        told = {each.name: plain(getattr(state, each.name)) for each in dataclasses.fields(state)}
        self.told["state"].put_nowait(told | {"retry_in_ms": state.retry_in_s * 1000})


def plain(value: Any) -> Any:
    """Returns `value` as JSON would have it, under the names of the SDK. A name such as `class_` is without its underscore."""
    if isinstance(value, msgspec.Struct):
        return {name.rstrip("_"): plain(getattr(value, name)) for name in value.__struct_fields__}
    return [plain(each) for each in value] if isinstance(value, tuple | list) else value


def _seconds(name: str, value: Any) -> Any:
    return value / 1000 if name.endswith("_ms") else value


class NodeDriver:
    """The driver of the client in `clients/js`: a process of its own, spoken to in lines of JSON."""

    def __init__(self) -> None:
        self.told: defaultdict[str, asyncio.Queue[Value]] = defaultdict(asyncio.Queue)
        self._answers: dict[int, asyncio.Future[Value]] = {}

    async def __aenter__(self) -> Self:
        program = built() / "conformance" / "driver.js"
        self._process = await asyncio.create_subprocess_exec(
            "node", str(program), cwd=PACKAGE, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=_LINE_BYTES
        )
        self._reading = asyncio.create_task(self._read())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._process.wait()
        await self._reading

    async def call(self, name: str, args: dict[str, Any]) -> Value:
        """Returns what the call `name` returns. Raises FailedCallError."""
        assert self._process.stdin is not None
        number = len(self._answers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        self._process.stdin.write(json.dumps({"call": number, "name": name, "args": args}).encode() + b"\n")
        return await answer

    async def _read(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            said = json.loads(line)
            if "told" in said:
                self.told[said["told"]].put_nowait(said["value"])
            elif "error" in said:
                self._answers[said["call"]].set_exception(FailedCallError(**said["error"]))
            else:
                self._answers[said["call"]].set_result(said["value"])
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(FailedCallError("Ended", None, "the driver's process has ended; what it printed says why"))
