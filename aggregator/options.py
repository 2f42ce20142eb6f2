"""Options of an aggregator."""

import msgspec

from infra.kernel.errors import ConfigError
from infra.kernel.link_timing import LinkTiming
from infra.kernel.option_checks import check_numbers
from infra.runtime.link import MAX_BYTES, MAX_QUEUED_BYTES, check_bounds


class AggregatorOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of one aggregator. `brokers` maps each slot of its site to a link address."""

    site: str
    node: str
    brokers: dict[str, str]
    listen: str = "127.0.0.1:7801"
    admin: str = "127.0.0.1:7792"
    link: LinkTiming = LinkTiming()
    max_link_queue_bytes: int = MAX_QUEUED_BYTES
    max_link_bytes: int = MAX_BYTES
    drain_s: float = 5.0

    def check(self) -> None:
        """Raises ConfigError when fields contradict each other."""
        if not self.brokers:
            raise ConfigError('aggregator.brokers is empty; name each broker of the site, such as b1 = "127.0.0.1:7811"')
        check_numbers("aggregator", self, ("drain_s",))
        self.link.check_in("aggregator")
        check_bounds("aggregator", self.max_link_queue_bytes, self.max_link_bytes)
