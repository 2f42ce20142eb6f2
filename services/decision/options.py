"""Options of the decision service. Every default is here; units are in the names."""

import msgspec

from analytics.offloading.plan import MOST, PlanOptions
from infra.kernel.errors import ConfigError
from infra.kernel.link_timing import LinkTiming
from infra.kernel.option_checks import check_numbers
from infra.kernel.roles import DECISION


class DecisionOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of the one decision service of all sites.

    - `sites`: site -> slot -> link address of every broker there is, as in the brokers' files.
    - `listen`: where access points of any site link to.
    - `plan`: what is decided, and how often.
    """

    site: str
    node: str
    sites: dict[str, dict[str, str]]
    plan: PlanOptions = PlanOptions()
    listen: str = "127.0.0.1:7826"
    admin: str = "127.0.0.1:7798"
    link: LinkTiming = LinkTiming()
    # Follows beyond these are not planned for, and counted. Topics that are not known are served.
    max_pairs: int = 20_000_000
    max_topics: int = 2_000_000
    # How long the report of an access point counts when its link is gone.
    keep_s: float = 60.0

    def check(self) -> None:
        """Raises ConfigError when fields contradict each other."""
        if not any(self.sites.values()):
            raise ConfigError('decision.sites is empty; name each broker of each site, such as [decision.sites.sto] b1 = "127.0.0.1:7811"')
        if not (0 < self.max_pairs <= MOST and 0 < self.max_topics <= MOST):
            raise ConfigError(f"decision.max_pairs and max_topics must be from 1 to {MOST}")
        check_numbers(DECISION, self, ("keep_s",))
        self.link.check_in(DECISION)
