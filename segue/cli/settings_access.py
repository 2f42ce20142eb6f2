"""How commands about a user's notification settings get in: as that user, at a notification module."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from segue.sdk.settings import SettingsClient

from .access import Access
from .user_access import at_service, user_options

Result = TypeVar("Result")

settings_options = user_options(url="http://127.0.0.1:7720", peer="notification module")


def at_settings(access: Access, user: str | None, work: Callable[[SettingsClient], Awaitable[Result]]) -> Result:
    """Returns what `work` returns, done as `user` at a notification module. Raises ClickException that says what to do."""
    return at_service(SettingsClient, access, user, work)
