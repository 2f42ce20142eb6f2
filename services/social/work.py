"""What the social service does with its open store: handlers of requests, and the courier that keeps its promises."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

from infra.kernel.roles import SOCIAL
from infra.runtime.callers import Answerer
from infra.runtime.context import Context
from infra.runtime.ending import end_all
from infra.runtime.http.web import Route

from ..barring import Barring
from ..neighbours import Neighbours
from ..outbox import OutboxRelay
from .calls import answers
from .courier import SocialCourier
from .follower_news import FollowerNews
from .friends import Friends
from .handlers import SocialHandlers
from .options import SocialOptions
from .privacy import Privacy, PrivacyDefaults
from .privacy_calls import privacy_answers
from .privacy_handlers import PrivacyHandlers
from .privacy_settings import PrivacySettings
from .store import SocialStores
from .wall import wall_of


class SocialWork:
    """The work of one social service (see `ServiceWork`)."""

    def __init__(self, options: SocialOptions, stores: SocialStores, neighbours: Neighbours, context: Context) -> None:
        self.stores = stores
        self._wall = wall_of(options.wall, context.outgoing) if options.wall else None
        # The courier makes friends, and friends promise what the relay has the courier do: this breaks the circle.
        promised = asyncio.Event()
        self.barring = Barring()

        def now_ms() -> int:
            return int(context.wall() * 1000)

        friends = Friends(
            stores.follows,
            stores.social,
            stores.privacy,
            self.barring,
            promised.set,
            partial(asyncio.sleep, 0),
            has_playlists=bool(options.playlist),
            has_wall=self._wall is not None,
            has_bell=bool(options.notification) and options.new_followers_per_hour > 0,
            now_ms=now_ms,
        )
        privacy = Privacy(stores.privacy, stores.follows, PrivacyDefaults(options.default_listening, options.default_playlist))
        settings = PrivacySettings(stores.privacy, friends, self.barring, now_ms)
        self._followed = FollowerNews(privacy, neighbours.notifier, options.new_followers_per_hour, context.now)
        self._courier = SocialCourier(friends, privacy, stores.follows, neighbours, self._followed, self._wall)
        self._relay = OutboxRelay(stores.outbox, self._courier.perform, context, neighbours.loops, news=promised)
        self._handlers = SocialHandlers(friends, options.vouchers)
        self._privacy_handlers = PrivacyHandlers(stores.privacy, privacy, settings)
        self._answers = answers(friends, stores.follows) | privacy_answers(privacy, settings)

    def routes(self) -> list[Route]:
        """See `ServiceWork`."""
        return self._handlers.routes() + self._privacy_handlers.routes()

    def answers(self) -> Mapping[str, Answerer]:
        """See `ServiceWork`."""
        return self._answers

    def start(self) -> None:
        """See `ServiceWork`."""
        self._relay.start()

    async def close(self) -> None:
        """See `ServiceWork`."""
        await end_all(self._relay.close, self._wall.close if self._wall is not None else None)

    def counters(self) -> dict[str, Any]:
        """See `ServiceWork`."""
        own = {
            "social_joined_total": self._courier.joined,
            "social_followed_total": self._followed.told,
            "social_followed_untold_total": self._followed.untold,
            "social_barred_total": self.barring.told,
            "social_posted_total": self._courier.posted,
        }
        return own | self._relay.counters(SOCIAL)
