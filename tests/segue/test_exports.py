"""The public face of the SDK: a change here is a change for everybody who uses it."""

import subprocess
import sys

import pytest

import segue

PUBLIC = {
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
}


def test_the_public_names_are_these_and_each_of_them_is_there() -> None:
    assert set(segue.__all__) == PUBLIC
    assert {getattr(segue, name).__name__ for name in segue.__all__} == PUBLIC
    assert set(dir(segue)) >= PUBLIC


def test_every_error_is_a_segue_error() -> None:
    for error in (segue.ConnectionLost, segue.Misuse, segue.ProtocolError, segue.Refused, segue.Stalled):
        assert issubclass(error, segue.SegueError)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Clinet'"):
        segue.Clinet  # noqa: B018


def test_importing_segue_loads_no_library() -> None:
    script = "import segue, sys; print(sorted({'aiohttp', 'msgspec', 'asyncio'} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
