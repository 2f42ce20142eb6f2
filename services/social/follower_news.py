"""News of followers: a user is told who has begun to follow them, once for each, and of so many in an hour at most."""

from collections.abc import Callable
from typing import Final

import msgspec

from infra.kernel.access import Relation
from infra.kernel.rates import Buckets, Rate
from infra.kernel.topics import format_topic

from ..intake_client import IntakeClient, OutgoingNotification, alone
from .core import followers_topic
from .privacy import Privacy
from .promise import TellFollowed

HOUR_S: Final = 3600.0
# Users who gain followers at once. Those beyond are counted anew.
MOST_USERS: Final = 100_000
_FOLLOW: Final = "follow"


class FollowerNews:
    """The news of their followers, which users get by `notifier`. `per_hour`: so many at most; `now_s` never goes back.

    A follower who stops and begins again is the same news: the module knows it by its id, and it costs nothing of the hour. Of those
    beyond `per_hour` nobody is told; they are on the list of followers.
    """

    def __init__(self, privacy: Privacy, notifier: IntakeClient, per_hour: int, now_s: Callable[[], float]) -> None:
        self.told = self.untold = 0
        self._privacy, self._notifier, self._now_s = privacy, notifier, now_s
        burst = max(1, per_hour)
        self._hours = Buckets[str](Rate(burst / HOUR_S, burst), MOST_USERS)

    async def tell(self, promise: TellFollowed) -> None:
        """Tells the user of `promise` of their follower, unless they follow no more, or one of them blocks the other.

        Raises Unavailable to be called again, and Refused for what will never be possible.
        """
        user, follower = promise.user, promise.follower
        relation = (await self._privacy.relations(follower, [user]))[user]
        if relation not in (Relation.FRIENDS, Relation.FOLLOWER):
            return
        if self._hours.wait_s(user, self._now_s()):
            self.untold += 1
            return
        payload = msgspec.Raw(msgspec.json.encode({"user": follower}))
        news = OutgoingNotification(promise.id, format_topic(followers_topic(user)), _FOLLOW, payload, follower)
        receipt = await self._notifier.notify(news, alone(user))
        if not receipt.duplicate:
            self._hours.allow(user, self._now_s())
            self.told += 1
