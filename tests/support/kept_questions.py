"""A way to a hook that keeps what was asked, for tests of what follows from the answers."""

import json
from typing import Any

from accesspoint.authorization.hook_arbiter import HookReplied
from accesspoint.authorization.hook_messages import HookReply
from infra.kernel.errors import Refused


class KeptQuestions:
    """An outlet that keeps what was asked until `answer` is called."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Any]] = []
        self.complaints: list[str] = []
        self._waiting: list[HookReplied] = []

    def post(self, url: str, body: bytes, then: HookReplied) -> None:
        self.asked.append((url, json.loads(body)))
        self._waiting.append(then)

    def complain(self, url: str, reason: str) -> None:
        self.complaints.append(url)

    def answer(self, document: Any, status: int = 200) -> None:
        self._waiting.pop(0)(HookReply(status, json.dumps(document).encode(), is_whole=True), 1.0)

    def fail(self) -> None:
        self._waiting.pop(0)(Refused("unavailable"), 1.0)
