"""Options of an access point."""

from typing import Final

import msgspec

from infra.kernel.capture_options import CaptureOptions
from infra.kernel.errors import ConfigError
from infra.kernel.interest import MAX_LINKS
from infra.kernel.link_timing import LinkTiming
from infra.kernel.option_checks import check_at_least, check_numbers
from infra.kernel.origins import check_origins
from infra.kernel.places import VisitorLimits
from infra.kernel.roles import ARTIST, DECISION, NOTIFICATION, PLAYLIST, PRESENCE, SOCIAL

from .authorization.arbiter import Policy
from .authorization.hook_options import HookOptions

# The links of the decision service are not for calls of clients.
SERVICES: Final = (PRESENCE, NOTIFICATION, PLAYLIST, ARTIST, SOCIAL, DECISION)
# The first must be at least so many times the second, or what is said would happen.
CONTRADICTIONS: Final = (
    # Each client is looked at once in half a `ping_s`.
    ("silent_s", "ping_s", 2, "quiet clients would be cut off before they are asked, or could answer"),
    ("silent_s", "stalled_s", 1, "clients that do not read would be taken for silent before they are too slow"),
    ("max_calls_bytes", "max_message_bytes", 1, "some requests could never be relayed"),
    ("max_bytes_per_s", "max_message_bytes", 1, "clients would be too fast with one long message"),
    ("max_topics_per_s", "max_topics_per_message", 1, "clients would be too fast with one long message"),
)


class AccessPointOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of one access point. Every default is here; units are in the names.

    - `aggregators`: link addresses; it uses one of them at a time.
    - `services`: the name of a service (`SERVICES`) -> its link addresses: presence of this site, the others of any. Without
      "notification" sessions have no inbox.
    """

    site: str
    node: str
    aggregators: list[str]
    services: dict[str, list[str]] = {}
    door: str = "127.0.0.1:7700"
    admin: str = "127.0.0.1:7790"
    link: LinkTiming = LinkTiming()
    capture: CaptureOptions = CaptureOptions()
    reuse_port: bool = False
    # Whether brokers hear about how many clients follow each topic, so that an overloaded one can send first what is worth most.
    tells_followers: bool = False
    # How much may wait while it goes from one aggregator to another; beyond it that ends at once.
    move_bytes: int = 16 << 20
    # From where clients may come: how many from each address, and pages of which origins; see `check_origin`.
    visitors: VisitorLimits = VisitorLimits()
    allowed_origins: list[str] = []
    # What a client may do.
    max_connections: int = 250_000
    max_message_bytes: int = 256 << 10
    max_topics_per_message: int = 2_000
    max_topics: int = 10_000
    # What a client may send a second; after a pause twice as much at once. A faster one is not read for a while, and one that goes on
    # for `flooding_s` in spite of that is closed.
    max_messages_per_s: int = 200
    max_bytes_per_s: int = 512 << 10
    max_topics_per_s: int = 5_000
    flooding_s: float = 5.0
    # Strangers: what a hello may be long, how long it may take, and how many connections may be without one. Of more, the oldest go.
    max_hello_bytes: int = 16 << 10
    hello_s: float = 10.0
    max_unfinished: int = 1_000
    # Nobody has more than a part of it all. Acts of a user are counted over all their connections here.
    max_connections_per_user: int = 50
    max_user_acts_per_s: int = 200
    max_calls_per_client: int = 32
    # Who may see what: see `docs/authorization.md`. "social" where there is a social service, else it must be said.
    policy: Policy | None = None
    max_verdicts: int = 100_000
    hook: HookOptions | None = None
    # How long an answer may take before it says less: `partial`, or an error.
    install_s: float = 2.0
    call_s: float = 5.0
    max_calls: int = 10_000
    max_calls_bytes: int = 64 << 20
    # Catching up: in what time all sessions are pulled for after a break, and how many a second at most.
    catch_up_s: float = 12.0
    catch_up_per_s: float = 2_000.0
    # Silence: a ping after `ping_s`, the end after `silent_s`.
    ping_s: float = 30.0
    silent_s: float = 75.0
    # Slowness: kernel buffer, our buffer, what is kept beyond both, and for how long.
    send_buffer_bytes: int = 64 << 10
    write_buffer_bytes: int = 64 << 10
    outbox_bytes: int = 256 << 10
    stalled_s: float = 10.0
    # Draining: how long others are told not to send anybody here before the first client is sent away, how many are then sent away a
    # second, how long the last of them may take to go, and how long they are asked to wait at most.
    drain_wait_s: float = 0.0
    drain_per_s: float = 500.0
    drain_s: float = 10.0
    reconnect_within_ms: int = 5_000

    @property
    def effective_policy(self) -> Policy:
        """What decides who may see what. Where nothing is said, that is the social service, and without one nobody sees anything."""
        return self.policy or "social"

    def check(self) -> None:
        """Raises ConfigError when fields contradict each other."""
        if not self.aggregators:
            raise ConfigError('accesspoint.aggregators is empty; name at least one link address, such as ["127.0.0.1:7801"]')
        if len(self.aggregators) > MAX_LINKS:
            raise ConfigError(
                f"accesspoint.aggregators names {len(self.aggregators)}, but no broker takes more than {MAX_LINKS}: name fewer"
            )
        if strange := sorted(set(self.services) - set(SERVICES)):
            raise ConfigError(f"accesspoint.services names {strange[0]}; there are {', '.join(SERVICES)}")
        self._check_policy()
        check_numbers("accesspoint", self, ("install_s", "move_bytes", "write_buffer_bytes", "reconnect_within_ms", "drain_wait_s"))
        self.link.check_in("accesspoint")
        self.visitors.check_in("accesspoint")
        check_origins("accesspoint.allowed_origins", self.allowed_origins)
        for key, other, times, why in CONTRADICTIONS:
            check_at_least(f"accesspoint.{key}", getattr(self, key), f"accesspoint.{other}", getattr(self, other), why, times)

    def _check_policy(self) -> None:
        """Raises ConfigError where nobody could say who may see what."""
        if self.policy is None and SOCIAL not in self.services:
            raise ConfigError(
                "accesspoint.policy is not set, and accesspoint.services names no social service that could say who may see what: "
                'name one, or write policy = "token" (tokens say it), "hook" (a server of yours does) or "open" (everybody sees everything)'
            )
        if self.policy == "social" and SOCIAL not in self.services:
            raise ConfigError('accesspoint.policy is "social", but accesspoint.services names no social service: add its link addresses')
        if self.policy == "hook" and self.hook is None:
            raise ConfigError(
                'accesspoint.policy is "hook", but there is no table [accesspoint.hook] that says whom to ask: '
                'add it, with subscribe = "https://backend.example.com/segue/subscribe"'
            )
        if self.hook is not None:
            self._check_hook(self.hook)

    def _check_hook(self, hook: HookOptions) -> None:
        hook.check()
        why = "a question that failed could not be asked once more"
        check_at_least("accesspoint.call_s", self.call_s, "accesspoint.hook.timeout_s", hook.timeout_s, why, 2)
