"""Options of an artist monitoring service."""

from typing import ClassVar

import msgspec

from infra.kernel.capture_options import CaptureOptions
from infra.kernel.errors import ConfigError
from infra.kernel.roles import ARTIST

from ..options import ServiceOptions
from .core import time_of_day_s


class ArtistOptions(ServiceOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of one artist monitoring service.

    - `brokers`: slot -> link address of each broker of the site. They tell it of revocations and bans; without any, it hears of none.
    - `catalogue`: path or URL of JSON lines.
    - `at`: the time of day, in UTC, at which the job runs. With "" it runs only when it is asked to. One node of all sites has one.
    - `announce_first`: the items of an artist who was never seen are announced, instead of learned in silence.
    """

    role: ClassVar[str] = ARTIST
    brokers: dict[str, str] = msgspec.field(default_factory=dict)
    notification: list[str] = msgspec.field(default_factory=lambda: ["http://127.0.0.1:7720"])
    listen: str = "127.0.0.1:7825"
    door: str = "127.0.0.1:7732"
    admin: str = "127.0.0.1:7797"
    capture: CaptureOptions = CaptureOptions()
    catalogue: str
    at: str = "06:00"
    announce_first: bool = False

    def check(self) -> None:
        """Raises ConfigError when a field cannot be used."""
        if not self.catalogue:
            raise ConfigError('artist.catalogue is empty; name a file or a URL of JSON lines, such as "catalogue.jsonl"')
        if self.at:
            time_of_day_s(self.at)
        super().check()
