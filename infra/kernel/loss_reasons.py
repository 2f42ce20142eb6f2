"""Why somebody cannot be told that they have missed nothing: the reasons, in one table. `docs/recovery.md` has the same."""

from enum import StrEnum
from typing import Final


class LossReason(StrEnum):
    """The reasons why something of a topic is missing, or may be."""

    NO_WINDOW = "no-window"
    EXPIRED = "expired"
    EVICTED = "evicted"
    TOO_MUCH = "too-much"
    OWNER_LOST = "owner-lost"
    SPLIT = "split"
    OTHER_SITE = "other-site"
    OFFLOADED = "offloaded"
    LATE = "late"


EXPLAINED: Final = {
    LossReason.NO_WINDOW: "events of this kind of topic are not kept",
    LossReason.EXPIRED: "the client was away for longer than events are kept, or says neither a point nor a number; "
    "or its access point was cut off so soon that it had no point itself",
    LossReason.EVICTED: "all topics together needed more memory than windows may take",
    LossReason.TOO_MUCH: "more was missed than is kept of one topic, is served at once, or had room on the way",
    LossReason.OWNER_LOST: "the broker that had the events was lost, or another one owns the topic now and does not have them",
    LossReason.SPLIT: "two parts of the site served the topic apart, also where a broker that hung was taken for dead",
    LossReason.OTHER_SITE: "the point is of another site, and the numbers do not show that nothing is missing",
    LossReason.OFFLOADED: "the topic was out of real time, so its events were not delivered",
    LossReason.LATE: "the broker did not answer in time (`install_s`)",
}
