"""A topic in a window: which events it has there, and which of its events are missing. Pure."""

from infra.kernel.events import with_skipped
from infra.kernel.topics import Topic

from .window_bounds import WindowBounds
from .window_origins import WindowPlace


class WindowTopic:
    """The part of a window that is about one topic, which has events there.

    - `name`: the topic itself.
    - `only`: the stamp of its one event, if that is kept here; else 0. `several`: else all stamps, rising; None: there never were several.
    - `bytes`: the length of their bodies. `site`: where the newest of them was numbered.
    - `is_latest`: whether only the latest of each site is kept.
    - `lost`: the stamp of the last event that is missing here, although it is not too old.
    - `out`: the stamp of the last event that was not delivered because the topic was out of real time.
    - `replaced`, `replacements`: the newest stamp of an event that a newer one replaced, and how many such there were.
    - `lost_at`, `replaced_at`: where these two were recorded, if that was not here.
    - `unheard`: the stamp up to which something may be missing of what other sites have published.
    """

    __slots__ = (
        "bounds",
        "bytes",
        "is_latest",
        "lost",
        "lost_at",
        "name",
        "only",
        "out",
        "replaced",
        "replaced_at",
        "replacements",
        "several",
        "site",
        "unheard",
    )

    def __init__(self, name: Topic, bounds: WindowBounds) -> None:
        self.name = name
        self.bounds, self.is_latest = bounds, bounds.keep == "latest"
        self.site = b""
        # Most topics have one event: then there is no list, which would cost memory, and time for each event.
        self.several: list[int] | None = None
        self.lost_at: WindowPlace | None = None
        self.replaced_at: WindowPlace | None = None
        self.bytes = self.only = self.lost = self.out = self.replaced = self.replacements = self.unheard = 0

    @property
    def stamps(self) -> list[int]:
        """The stamps of its events, rising, as a list that may be changed."""
        if self.only or self.several is None:
            self.several, self.only = [self.only] if self.only else [], 0
        return self.several

    @property
    def newest(self) -> int:
        """The stamp of its last event; 0 where there is none."""
        return self.only or (self.several[-1] if self.several else 0)

    def told(self, body: bytes, stamp: int) -> bytes:
        """Returns a body for somebody who has got everything up to `stamp`."""
        return with_skipped(body, self.replacements) if self.replaced > stamp else body
