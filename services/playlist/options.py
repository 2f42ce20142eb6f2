"""Options of a playlist service."""

from typing import ClassVar

import msgspec

from infra.kernel.capture_options import CaptureOptions
from infra.kernel.errors import ConfigError
from infra.kernel.roles import PLAYLIST

from ..options import ServiceOptions


class PlaylistOptions(ServiceOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of one playlist service.

    - `brokers`: slot -> link address of each broker of the site.
    - `presence`: link addresses of the site's presence services. Without any there are no lines in friend feeds.
    - `social`: link addresses of the site's social services. Without any nobody is a friend.
    """

    role: ClassVar[str] = PLAYLIST
    brokers: dict[str, str]
    presence: list[str] = msgspec.field(default_factory=list)
    social: list[str] = msgspec.field(default_factory=list)
    notification: list[str] = msgspec.field(default_factory=lambda: ["http://127.0.0.1:7720"])
    listen: str = "127.0.0.1:7823"
    door: str = "127.0.0.1:7730"
    admin: str = "127.0.0.1:7795"
    capture: CaptureOptions = CaptureOptions()
    max_playlists: int = 5_000

    def check(self) -> None:
        """Raises ConfigError when fields contradict each other."""
        if not self.brokers:
            raise ConfigError('playlist.brokers is empty; name each broker of the site, such as b1 = "127.0.0.1:7811"')
        super().check()
