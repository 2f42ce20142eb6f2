"""The registry of roles: all that processes, configuration files, metrics and the command line know of each.

A new role is one entry here, with a function that makes it. What an entry names is imported when somebody asks for it, so that the
list itself costs nothing: `segue --help` shows it, and a process imports the roles that it runs.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from infra.kernel import roles

from .imported import Imported
from .role_spec import Credentials, Role, RoleOptions, RoleSpec

if TYPE_CHECKING:
    from accesspoint.options import AccessPointOptions
    from aggregator.options import AggregatorOptions
    from broker.options import BrokerOptions
    from infra.runtime.context import Context
    from infra.runtime.metrics import Metric
    from notification.options import NotificationOptions
    from services.artist.options import ArtistOptions
    from services.decision.options import DecisionOptions
    from services.playlist.options import PlaylistOptions
    from services.presence.options import PresenceOptions
    from services.social.options import SocialOptions


def _broker(options: "BrokerOptions", context: "Context", credentials: Credentials) -> Role:
    from broker.server import Broker

    return Broker(options, context, credentials.verifier.service, credentials.verifier.operator)


def _decision(options: "DecisionOptions", context: "Context", _: Credentials) -> Role:
    from services.decision.server import DecisionService

    return DecisionService(options, context)


def _presence(options: "PresenceOptions", context: "Context", _: Credentials) -> Role:
    from services.presence.server import PresenceService

    return PresenceService(options, context)


def _notification(options: "NotificationOptions", context: "Context", credentials: Credentials) -> Role:
    from notification.server import NotificationModule

    return NotificationModule(options, context, credentials.verifier)


def _social(options: "SocialOptions", context: "Context", credentials: Credentials) -> Role:
    from services.social.server import SocialService

    return SocialService(options, context, credentials.verifier, credentials.token)


def _playlist(options: "PlaylistOptions", context: "Context", credentials: Credentials) -> Role:
    from services.playlist.server import PlaylistService

    return PlaylistService(options, context, credentials.verifier, credentials.token)


def _artist(options: "ArtistOptions", context: "Context", credentials: Credentials) -> Role:
    from services.artist.server import ArtistService

    return ArtistService(options, context, credentials.verifier, credentials.token)


def _aggregator(options: "AggregatorOptions", context: "Context", _: Credentials) -> Role:
    from aggregator.server import Aggregator

    return Aggregator(options, context)


def _accesspoint(options: "AccessPointOptions", context: "Context", credentials: Credentials) -> Role:
    from accesspoint.server import AccessPoint

    verifier = credentials.verifier
    return AccessPoint(options, context, verifier.client, verifier.leeway_s, verifier.subscription)


# In the order in which a process starts them. Brokers come first, for the others wait for them. Notification modules come before the
# services that post to them. Access points come last: no client gets in before there is somebody to serve it.
_ENTRIES: "Final[tuple[RoleSpec[Any], ...]]" = (
    RoleSpec(
        name=roles.BROKER,
        help="Run a broker, which numbers events and passes them on",
        options=Imported("broker.options:BrokerOptions"),
        metrics=Imported("broker.metrics:METRICS"),
        make=_broker,
        captures=True,
        drains=True,
        checks_tokens=True,
    ),
    RoleSpec(
        name=roles.DECISION,
        help="Run the decision service, which says what leaves real time",
        options=Imported("services.decision.options:DecisionOptions"),
        metrics=Imported("services.decision.metrics:METRICS"),
        make=_decision,
    ),
    RoleSpec(
        name=roles.PRESENCE,
        help="Run a presence service, which knows what users play",
        options=Imported("services.presence.options:PresenceOptions"),
        metrics=Imported("services.presence.metrics:METRICS"),
        make=_presence,
    ),
    RoleSpec(
        name=roles.NOTIFICATION,
        help="Run a notification module, which stores what must not be lost",
        options=Imported("notification.options:NotificationOptions"),
        metrics=Imported("notification.metrics:METRICS"),
        make=_notification,
        captures=True,
        drains=True,
        renews=True,
        checks_tokens=True,
    ),
    RoleSpec(
        name=roles.SOCIAL,
        help="Run a social service, which knows friends and walls",
        options=Imported("services.social.options:SocialOptions"),
        metrics=Imported("services.social.metrics:METRICS"),
        make=_social,
        drains=True,
        checks_tokens=True,
        notifies=True,
    ),
    RoleSpec(
        name=roles.PLAYLIST,
        help="Run a playlist service, which keeps playlists",
        options=Imported("services.playlist.options:PlaylistOptions"),
        metrics=Imported("services.playlist.metrics:METRICS"),
        make=_playlist,
        captures=True,
        drains=True,
        checks_tokens=True,
        notifies=True,
    ),
    RoleSpec(
        name=roles.ARTIST,
        help="Run an artist service, which announces new releases",
        options=Imported("services.artist.options:ArtistOptions"),
        metrics=Imported("services.artist.metrics:METRICS"),
        make=_artist,
        captures=True,
        drains=True,
        checks_tokens=True,
        notifies=True,
    ),
    RoleSpec(
        name=roles.AGGREGATOR,
        help="Run an aggregator, which subscribes once for many users",
        options=Imported("aggregator.options:AggregatorOptions"),
        metrics=Imported("aggregator.metrics:METRICS"),
        make=_aggregator,
        drains=True,
    ),
    RoleSpec(
        name=roles.ACCESSPOINT,
        help="Run an access point, to which clients connect",
        options=Imported("accesspoint.options:AccessPointOptions"),
        metrics=Imported("accesspoint.metrics:METRICS"),
        make=_accesspoint,
        captures=True,
        drains=True,
        renews=True,
        checks_tokens=True,
        shares_door=True,
    ),
)
ROLES: "Final[dict[str, RoleSpec[Any]]]" = {spec.name: spec for spec in _ENTRIES}


def role_of(options: RoleOptions) -> str:
    """Returns the name of the role that `options` are for. Raises LookupError for what are no options of a role."""
    for spec in ROLES.values():
        if isinstance(options, spec.options.get()):
            return spec.name
    raise LookupError(f"{type(options).__name__} are options of no role")


def in_start_order(options: Iterable[RoleOptions]) -> list[RoleOptions]:
    """Returns the options in the order in which a process starts their roles; equal roles stay as they are."""
    order = list(ROLES)
    return sorted(options, key=lambda each: order.index(role_of(each)))


def metrics_of(names: Iterable[str]) -> "tuple[Metric, ...]":
    """Returns the metric tables of the roles `names`, and those of what every process has, for the admin door over them."""
    from infra.runtime.capture.capture import METRICS as CAPTURE
    from infra.runtime.loops import METRICS as LOOPS

    of_roles = [metric for name in names for metric in ROLES[name].metrics.get()]
    return (*of_roles, *CAPTURE, *LOOPS)
