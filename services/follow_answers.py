"""Answers to `follow` and `unfollow`, which access points relay from clients' subscriptions (SB-12)."""

from infra.kernel.frames import Call
from infra.kernel.topics import Kind
from infra.runtime.callers import Answerer

from .follows import FollowStore, read_topics


def follow_answers(follows: FollowStore, kinds: frozenset[Kind]) -> dict[str, Answerer]:
    """Returns op -> what answers it from `follows`. Topics of other `kinds` are refused."""

    async def follow(call: Call) -> bytes:
        await follows.add(call.user, read_topics(call.user, call.body, kinds))
        return b""

    async def unfollow(call: Call) -> bytes:
        await follows.remove(call.user, read_topics(call.user, call.body, kinds))
        return b""

    return {"follow": follow, "unfollow": unfollow}
