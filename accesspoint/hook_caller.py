"""The caller of the hook: questions over HTTP, a bounded number of them at a time."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Final

from infra.kernel.errors import ConfigError, Refused, Unavailable
from infra.runtime.context import Context
from infra.runtime.ending import end_all, end_tasks
from infra.runtime.outgoing.client import OutgoingClient
from infra.runtime.outgoing.resolver import NotCallable
from infra.runtime.renewal import renewed
from infra.runtime.secret_file import read_secret
from infra.runtime.tls.contexts import client_context

from .authorization.hook_arbiter import HookReplied
from .authorization.hook_messages import MAX_ANSWER_BYTES, HookReply
from .authorization.hook_options import HookOptions

QUIET_S: Final = 10.0
_JSON: Final = {"Content-Type": "application/json"}
_BUSY: Final = "so many questions wait for the server that says who may do this that no more are asked; try again"


class HookCaller:
    """The connections to the hook (see `HookOutlet`).

    Calls beyond `max_open` wait for a connection, and that is part of their time. Raises ConfigError for files that cannot be used.
    """

    def __init__(self, options: HookOptions, context: Context) -> None:
        self._most = options.max_open + options.max_waiting
        self._secret_file = options.secret_file
        self._read()
        self._client = OutgoingClient(
            context.outgoing,
            timeout_s=options.timeout_s,
            max_answer_bytes=MAX_ANSWER_BYTES,
            max_connections=options.max_open,
            context=client_context(options.ca_file) if options.ca_file else None,
        )
        self._log, self._now = context.log, context.now
        self._tasks: set[asyncio.Task[None]] = set()
        self._quiet_until_s: dict[str, float] = {}

    @property
    def on_hang_up(self) -> Callable[[], None] | None:
        """What SIGHUP does: the secret is read again, and shown from the next question on. None without one."""
        return self._renew if self._secret_file is not None else None

    def _renew(self) -> None:
        renewed("the secret of the hook", self._read, self._log)

    def _read(self) -> None:
        self._headers = _JSON | _authorization(self._secret_file)

    @property
    def open(self) -> int:
        """How many questions are under way or wait for their turn."""
        return len(self._tasks)

    def post(self, url: str, body: bytes, then: HookReplied) -> None:
        """See `HookOutlet`."""
        if len(self._tasks) >= self._most:
            then(Refused("unavailable", _BUSY), self._now())
            return
        task = asyncio.get_running_loop().create_task(self._call(url, body, then), name="a question to the hook")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _call(self, url: str, body: bytes, then: HookReplied) -> None:
        reply = await self._replied(url, body)
        try:
            then(reply, self._now())
        except Exception:
            self._log.exception("an answer of the hook could not be handled", url=url)

    async def _replied(self, url: str, body: bytes) -> HookReply | Refused:
        try:
            answer = await self._client.post(url, body, self._headers)
        except (NotCallable, Unavailable) as error:
            self.complain(url, str(error))
            # Clients are not told where the server is.
            return Refused("unavailable", "the server that says who may do this cannot be reached now; try again")
        return HookReply(answer.status, answer.body, answer.is_whole)

    def complain(self, url: str, reason: str) -> None:
        """See `HookOutlet`. It is a line in the log, one for each URL in `QUIET_S`."""
        now_s = self._now()
        if now_s >= self._quiet_until_s.get(url, now_s):
            self._quiet_until_s[url] = now_s + QUIET_S
            self._log.warning("the hook does not answer as it should; what depends on it is refused", url=url, reason=reason)

    async def close(self) -> None:
        """Ends all questions, which are answered no more. May be called twice."""
        await end_all(lambda: end_tasks(*self._tasks), self._client.close)


def _authorization(path: Path | None) -> dict[str, str]:
    if path is None:
        return {}
    secret = read_secret(path)
    if not all(0x21 <= byte <= 0x7E for byte in secret):
        raise ConfigError(f"{path} holds bytes that no HTTP header can; write letters and digits: openssl rand -hex 32 > {path}")
    return {"Authorization": f"Bearer {secret.decode('ascii')}"}
