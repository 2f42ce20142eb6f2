"""The hook as the arbiter: a server of the operator says who may come in, and who may see what. Pure.

What it has answered is believed for a while, and it is asked about the rest. It tells no changes, so it is asked again and again about
what sessions hold (see `renewals`).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol

import msgspec

from infra.kernel.errors import Refused
from infra.kernel.topics import Topic, format_topic

from .arbiter import Answers, Then
from .hook_cache import HookCache, RememberedAnswer
from .hook_messages import ConnectQuestion, HookReply, TopicsQuestion, read_connect, read_topics
from .hook_options import HookOptions
from .renewals import Renewals

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
    - `renewals`: when it is asked again about what users hold.
    """

    is_there = True
    tells_changes = False

    def __init__(self, options: HookOptions, site: str, node: str, outlet: HookOutlet) -> None:
        self.asked: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self.from_cache = 0
        self.cache = HookCache(options.ttl_s, options.max_cached)
        self.renewals = Renewals(options.recheck_s, options.grace_s)
        self._options, self._site, self._node, self._outlet = options, site, node, outlet

    @property
    def most_again(self) -> int:
        """How many questions about what users hold may be open at a time: clients who want to follow something must not wait for them."""
        return max(1, self._options.max_open // 2)

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
        remembered = {topic: found for topic in topics if (found := self.cache.get(user, topic, now_s)) is not None}
        self.from_cache += len(remembered)
        unknown = [topic for topic in topics if topic not in remembered]

        def answered(answers: Answers | Refused) -> None:
            if isinstance(answers, Refused):
                then(answers)
                return
            known = remembered | {topic: RememberedAnswer(answer, now_s) for topic, answer in zip(unknown, answers, strict=True)}
            self._note_allowed(user, known.values())
            then([known[topic].answer for topic in topics])

        if unknown:
            self._post("subscribe", user, unknown, now_s, answered)
        else:
            answered([])

    def ask_again(self, user: str, topics: Sequence[Topic], now_s: float, then: Then) -> None:
        """See `Arbiter`."""
        self._post("again", user, topics, now_s, then)

    def ask_of_users(self, topic: Topic, users: Sequence[str], now_s: float, then: Then) -> None:
        """Says that it is asked about users one by one. See `Arbiter`."""
        then(Refused("unavailable", "the hook is asked about one user at a time"))

    def _note_allowed(self, user: str, found: Iterable[RememberedAnswer]) -> None:
        oldest_s = min((each.asked_s for each in found if each.answer is None), default=None)
        if oldest_s is not None:
            self.renewals.allowed(user, oldest_s)

    def _post(self, kind: str, user: str, topics: Sequence[Topic], asked_s: float, then: Then) -> None:
        """Asks the server about all `topics`, and remembers what it answers."""
        self.asked[kind] += 1

        def replied(reply: HookReply | Refused, now_s: float) -> None:
            answers = reply if isinstance(reply, Refused) else read_topics(reply, topics)
            self._count(kind, self._options.subscribe, answers)
            if not isinstance(answers, Refused):
                for topic, answer in zip(topics, answers, strict=True):
                    self.cache.put(user, topic, answer, asked_s)
            then(answers)

        question = TopicsQuestion(user, [format_topic(topic) for topic in topics], self._site, self._node)
        self._outlet.post(self._options.subscribe, _ENCODE(question), replied)

    def _count(self, kind: str, url: str, found: object) -> None:
        if isinstance(found, Refused) and found.code.name != "forbidden":
            self.failed[kind] += 1
            self._outlet.complain(url, found.reason)

    def tick(self, now_s: float) -> None:
        """Forgets what is believed no longer."""
        self.cache.tick(now_s)
