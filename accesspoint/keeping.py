"""Keeping: what the brokers of a site keep of the past, as they have told. Pure."""

from infra.kernel.frames import Keeps
from infra.kernel.topics import Topic, kind_of


class Keeping:
    """The kinds of topics whose events are kept.

    - `kinds`: kind -> what of them, and for how long; empty while nobody has told.
    - `longest_s`: for how long any of them are.
    """

    def __init__(self) -> None:
        self.kinds: dict[str, dict[str, object]] = {}
        self.longest_s = 0.0

    def learn(self, frame: Keeps) -> None:
        """Takes over what an aggregator tells."""
        self.kinds = {kind: {"keep": keep, "seconds": seconds} for kind, (keep, seconds) in frame.kinds.items()}
        self.longest_s = max((seconds for _, seconds in frame.kinds.values()), default=0.0)

    def has(self, topic: Topic) -> bool:
        """Returns whether events of `topic` are kept."""
        return kind_of(topic) in self.kinds
