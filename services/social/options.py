"""Options of a social service."""

from typing import ClassVar

import msgspec

from infra.kernel.access import Listening, Visibility
from infra.kernel.errors import ConfigError
from infra.kernel.roles import SOCIAL

from ..options import ServiceOptions
from .store import MAX_CONTACTS


class SocialOptions(ServiceOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of one social service.

    - `brokers`: slot -> link address of each broker of the site. They tell it of revocations and bans; without any, it hears of none.
    - `playlist`: link addresses of playlist services. With any, all who follow a user follow the playlists of that user too.
    - `max_contacts`: how many contacts a user's address books at one provider may have in all.
    - `default_listening`: who sees what users play who have not said so: "everyone", "followers", "friends" or "nobody".
    - `default_playlist`: who sees playlists of which nothing was said: "private", "followers" or "public".
    - `new_followers_per_hour`: of how many new followers a user is told in an hour, by each node; 0: of none.
    - `vouchers`: the services that may say who a user is at a provider, by the names in their tokens.
    - `wall`: where posts of users who opted in go: a URL that takes them as JSON, or a file that gets a line for each.
    """

    role: ClassVar[str] = SOCIAL
    brokers: dict[str, str] = msgspec.field(default_factory=dict)
    notification: list[str] = msgspec.field(default_factory=lambda: ["http://127.0.0.1:7720"])
    listen: str = "127.0.0.1:7824"
    door: str = "127.0.0.1:7731"
    admin: str = "127.0.0.1:7796"
    playlist: list[str] = msgspec.field(default_factory=list)
    default_listening: Listening = Listening.FRIENDS
    default_playlist: Visibility = Visibility.PUBLIC
    vouchers: list[str] = msgspec.field(default_factory=lambda: ["operator"])
    new_followers_per_hour: int = 20
    wall: str = ""
    max_contacts: int = MAX_CONTACTS

    def check(self) -> None:
        """Raises ConfigError when a field cannot be used."""
        if not 1 <= self.max_contacts <= MAX_CONTACTS:
            raise ConfigError(f"social.max_contacts {self.max_contacts}: it is 1 to {MAX_CONTACTS}")
        if self.new_followers_per_hour < 0:
            raise ConfigError(f"social.new_followers_per_hour {self.new_followers_per_hour}: it is 0 or more")
        super().check()
