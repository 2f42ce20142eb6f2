"""The hook as the arbiter: a server of the operator says who may come in, and who may see what. Pure.

What it has answered is believed for a while, and it is asked about the rest. It tells no changes: what a session holds stands until that
session ends, or an operator ends it.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, Protocol

import msgspec

from infra.kernel.errors import Refused
from infra.kernel.topics import Topic, format_topic

from .arbiter import Then
from .hook_cache import HookCache
from .hook_messages import ConnectQuestion, HookReply, TopicsQuestion, read_connect, read_topics
from .hook_options import HookOptions

# Told once: what was answered or why nothing was, and when that was, on the clock that never goes back.
HookReplied = Callable[[HookReply | Refused, float], None]
Decided = Callable[[Refused | None, float], None]

_ENCODE: Final = msgspec.json.Encoder().encode


class HookOutlet(Protocol):
    """The way to the server."""

    def post(self, url: str, body: bytes, then: HookReplied) -> None:
        """Posts `body` to `url`, and calls `then` once, after a bounded time or at once."""

    def complain(self, url: str, reason: str) -> None:
        """Tells the operator what is wrong with an answer of `url`."""


class HookArbiter:
    """The hook of the access point `node` at `site`.

    - `outlet`: leads to the server.
    - `asked`: how many questions it was asked, by kind. `failed`: how many of them had no answer that could be used.
    - `from_cache`: how many topics it need not be asked about.
    """

    is_there = True
    tells_changes = False

    def __init__(self, options: HookOptions, site: str, node: str, outlet: HookOutlet) -> None:
        self.asked: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self.from_cache = 0
        self.cache = HookCache(options.ttl_s, options.max_cached)
        self._options, self._site, self._node, self._outlet = options, site, node, outlet

    @property
    def asks_connect(self) -> bool:
        """Whether it is asked who may come in."""
        return bool(self._options.connect)

    def connect(self, user: str, client: str, device: str, then: Decided) -> None:
        """Asks whether `user` may come in with a `device` called `client`. `then` is called once, with None or why not."""
        self.asked["connect"] += 1

        def replied(reply: HookReply | Refused, now_s: float) -> None:
            refused = reply if isinstance(reply, Refused) else read_connect(reply)
            self._count("connect", self._options.connect, refused)
            then(refused, now_s)

        question = ConnectQuestion(user, client, device, self._site, self._node)
        self._outlet.post(self._options.connect, _ENCODE(question), replied)

    def ask(self, user: str, client: str, topics: Sequence[Topic], now_s: float, then: Then) -> None:
        """See `Arbiter`. An answer is about a user, whichever device they have."""
        known: dict[Topic, Refused | None] = {}
        for topic in topics:
            if (answer := self.cache.get(user, topic, now_s)) is not None:
                known[topic] = answer[0]
        self.from_cache += len(known)
        unknown = [topic for topic in topics if topic not in known]
        if not unknown:
            then([known[topic] for topic in topics])
            return
        self.asked["subscribe"] += 1
        question = TopicsQuestion(user, [format_topic(topic) for topic in unknown], self._site, self._node)
        replied = partial(self._replied, user, topics, unknown, known, now_s, then)
        self._outlet.post(self._options.subscribe, _ENCODE(question), replied)

    def _replied(
        self,
        user: str,
        topics: Sequence[Topic],
        unknown: list[Topic],
        known: dict[Topic, Refused | None],
        asked_s: float,
        then: Then,
        reply: HookReply | Refused,
        now_s: float,
    ) -> None:
        answers = reply if isinstance(reply, Refused) else read_topics(reply, unknown)
        self._count("subscribe", self._options.subscribe, answers)
        if isinstance(answers, Refused):
            then(answers)
            return
        for topic, answer in zip(unknown, answers, strict=True):
            self.cache.put(user, topic, answer, asked_s)
            known[topic] = answer
        then([known[topic] for topic in topics])

    def _count(self, kind: str, url: str, found: object) -> None:
        if isinstance(found, Refused) and found.code.name != "forbidden":
            self.failed[kind] += 1
            self._outlet.complain(url, found.reason)

    def tick(self, now_s: float) -> None:
        """Forgets what is believed no longer."""
        self.cache.tick(now_s)
