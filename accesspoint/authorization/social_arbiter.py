"""The social service as the arbiter: one call about all topics of a question. Pure."""

from collections.abc import Sequence
from typing import Final

import msgspec

from infra.kernel.access import refusal, rule_of
from infra.kernel.errors import Refused
from infra.kernel.frames import Reply
from infra.kernel.roles import SOCIAL
from infra.kernel.topics import Topic, owner_of

from ..calls import Calls
from .arbiter import Then

_ENCODE: Final = msgspec.msgpack.Encoder().encode
_NUMBERS: Final = msgspec.msgpack.Decoder(list[int])


class SocialArbiter:
    """The social service behind `calls`. `nodes` is how many nodes of it are configured."""

    def __init__(self, calls: Calls, nodes: int) -> None:
        self._calls, self._nodes = calls, nodes

    @property
    def is_there(self) -> bool:
        """Whether any node is linked."""
        return self._calls.has(SOCIAL)

    @property
    def tells_changes(self) -> bool:
        """Whether all nodes are linked: each tells what was changed at it, and nothing else."""
        return self._calls.count(SOCIAL) == self._nodes

    def ask(self, user: str, client: str, topics: Sequence[Topic], now_s: float, then: Then) -> None:
        """See `Arbiter`."""

        def answered(result: Reply | Refused) -> None:
            then(_answers(topics, result))

        try:
            self._calls.call(SOCIAL, "may-see", user, client, _ENCODE(topics), now_s, answered)
        except Refused as refused:
            then(refused)

    def ask_again(self, user: str, topics: Sequence[Topic], now_s: float, then: Then) -> None:
        """See `Arbiter`."""
        self.ask(user, "", topics, now_s, then)

    def ask_of_users(self, topic: Topic, users: Sequence[str], now_s: float, then: Then) -> None:
        """See `Arbiter`. A node of an older version does not know the call, and says so."""

        def answered(result: Reply | Refused) -> None:
            then(_answers_of_users(topic, len(users), result))

        try:
            self._calls.call(SOCIAL, "who-may-see", owner_of(topic), "", _ENCODE((topic, users)), now_s, answered)
        except Refused as refused:
            then(refused)


def _answers_of_users(topic: Topic, asked: int, result: Reply | Refused) -> list[Refused | None] | Refused:
    if isinstance(result, Refused):
        return result
    if result.code or len(result.body) != asked:
        return Refused("unavailable", f"the social service does not say who may see this: {result.reason}")
    verdicts = {number: refusal(rule_of(number), topic) if number else None for number in set(result.body)}
    return [verdicts[number] for number in result.body]


def _answers(topics: Sequence[Topic], result: Reply | Refused) -> list[Refused | None] | Refused:
    if isinstance(result, Refused):
        return result
    if result.code:
        return Refused("unavailable", f"the social service does not say who may see this: {result.reason}")
    try:
        numbers = _NUMBERS.decode(result.body)
    except msgspec.DecodeError:
        numbers = []
    if len(numbers) != len(topics):
        return Refused("unavailable", "the social service has answered something else")
    return [refusal(rule_of(number), topic) if number else None for topic, number in zip(topics, numbers, strict=True)]
