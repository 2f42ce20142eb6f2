"""The front door: the `segue` command, the Python client SDK, and all roles in one process.

The SDK's names live here; each is imported when it is first used, so that importing `segue` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from infra.kernel.backoff import Backoff
    from segue.sdk.api import Api, ApiUrls
    from segue.sdk.artists import ArtistClient, ArtistFeed
    from segue.sdk.client import Client
    from segue.sdk.client_options import ClientOptions
    from segue.sdk.client_state import Phase, State
    from segue.sdk.errors import ConnectionLost, Misuse, ProtocolError, Refused, SegueError, Stalled
    from segue.sdk.mark_file import MarkFile
    from segue.sdk.messages import Announcement, Ended, Event, FriendNews, Gap, Installed, LostTopic, Offloaded, RejectedTopic
    from segue.sdk.notification_inbox import NotificationInbox
    from segue.sdk.notification_messages import History, Marks, Notification, NotificationPage, PastEvent, RejectedMark
    from segue.sdk.notifier import Notifier, StoredNotification
    from segue.sdk.operator import Operator
    from segue.sdk.operator_answers import OrderOutcome, StandingBan, StandingRevocation, UserSession, UserSessions
    from segue.sdk.playlist_replica import PlaylistReplica
    from segue.sdk.playlists import PlaylistClient, PlaylistContents, PlaylistSummary
    from segue.sdk.position_file import PositionFile
    from segue.sdk.program import run
    from segue.sdk.publication import Publication, Rejection, Result
    from segue.sdk.publisher import Publisher, PublisherOptions
    from segue.sdk.replica_core import RefusedEdit
    from segue.sdk.settings import (
        EventExplanation,
        MadeWebhook,
        NotificationPreferences,
        PushDevice,
        QuietHours,
        SentCopy,
        SettingsClient,
        WebhookEndpoint,
        WebhookTrial,
    )
    from segue.sdk.social import Social

__all__ = [
    "Announcement",
    "Api",
    "ApiUrls",
    "ArtistClient",
    "ArtistFeed",
    "Backoff",
    "Client",
    "ClientOptions",
    "ConnectionLost",
    "Ended",
    "Event",
    "EventExplanation",
    "FriendNews",
    "Gap",
    "History",
    "Installed",
    "LostTopic",
    "MadeWebhook",
    "MarkFile",
    "Marks",
    "Misuse",
    "Notification",
    "NotificationInbox",
    "NotificationPage",
    "NotificationPreferences",
    "Notifier",
    "Offloaded",
    "Operator",
    "OrderOutcome",
    "PastEvent",
    "Phase",
    "PlaylistClient",
    "PlaylistContents",
    "PlaylistReplica",
    "PlaylistSummary",
    "PositionFile",
    "ProtocolError",
    "Publication",
    "Publisher",
    "PublisherOptions",
    "PushDevice",
    "QuietHours",
    "Refused",
    "RefusedEdit",
    "RejectedMark",
    "RejectedTopic",
    "Rejection",
    "Result",
    "SegueError",
    "SentCopy",
    "SettingsClient",
    "Social",
    "Stalled",
    "StandingBan",
    "StandingRevocation",
    "State",
    "StoredNotification",
    "UserSession",
    "UserSessions",
    "WebhookEndpoint",
    "WebhookTrial",
    "run",
]

_HOMES = {
    "infra.kernel.backoff": ("Backoff",),
    "segue.sdk.api": ("Api", "ApiUrls"),
    "segue.sdk.artists": ("ArtistClient", "ArtistFeed"),
    "segue.sdk.settings": (
        "EventExplanation",
        "MadeWebhook",
        "NotificationPreferences",
        "PushDevice",
        "QuietHours",
        "SentCopy",
        "SettingsClient",
        "WebhookEndpoint",
        "WebhookTrial",
    ),
    "segue.sdk.client": ("Client",),
    "segue.sdk.client_options": ("ClientOptions",),
    "segue.sdk.errors": ("ConnectionLost", "Misuse", "ProtocolError", "Refused", "SegueError", "Stalled"),
    "segue.sdk.messages": ("Announcement", "Ended", "Event", "FriendNews", "Gap", "Installed", "LostTopic", "Offloaded", "RejectedTopic"),
    "segue.sdk.mark_file": ("MarkFile",),
    "segue.sdk.notification_inbox": ("NotificationInbox",),
    "segue.sdk.notification_messages": ("History", "Marks", "Notification", "NotificationPage", "PastEvent", "RejectedMark"),
    "segue.sdk.notifier": ("Notifier", "StoredNotification"),
    "segue.sdk.operator": ("Operator",),
    "segue.sdk.operator_answers": ("OrderOutcome", "StandingBan", "StandingRevocation", "UserSession", "UserSessions"),
    "segue.sdk.position_file": ("PositionFile",),
    "segue.sdk.playlist_replica": ("PlaylistReplica",),
    "segue.sdk.playlists": ("PlaylistClient", "PlaylistContents", "PlaylistSummary"),
    "segue.sdk.program": ("run",),
    "segue.sdk.publication": ("Publication", "Rejection", "Result"),
    "segue.sdk.publisher": ("Publisher", "PublisherOptions"),
    "segue.sdk.replica_core": ("RefusedEdit",),
    "segue.sdk.social": ("Social",),
    "segue.sdk.client_state": ("Phase", "State"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
