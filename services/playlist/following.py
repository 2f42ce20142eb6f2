"""Following: who may see a playlist may follow it, also when that is being taken from them at the same time."""

from collections.abc import Sequence

from infra.kernel.topics import Topic

from ..follows import FollowStore
from .viewers import Viewers


async def follow_seen(follows: FollowStore, viewers: Viewers, user: str, topics: Sequence[Topic]) -> list[bool]:
    """Lets `user` follow those of `topics` that they may see; returns which ones these are. Raises as both do that it asks.

    What is new is asked about once more. Whoever was kept out meanwhile was taken off before they were on, and would follow it again
    when they are let in (`Pruning`).
    """
    seen = await viewers.seen(user, topics)
    new = await follows.add(user, [topic for topic, sees in zip(topics, seen, strict=True) if sees])
    try:
        still = await viewers.seen(user, new)
    except BaseException:
        await follows.remove(user, new)  # nobody can say it; the client asks again
        raise
    gone = {topic for topic, sees in zip(new, still, strict=True) if not sees}
    if gone:
        await follows.remove(user, list(gone))
    return [sees and topic not in gone for topic, sees in zip(topics, seen, strict=True)]
