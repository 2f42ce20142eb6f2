"""Settings: the numbers of a rule file that the worker needs too."""

from typing import Annotated

import msgspec

Positive = Annotated[int, msgspec.Meta(ge=1)]


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of a rule file.

    - `throttle_window_s`: how far back `mails_recent` and `pushes_recent` count.
    - `mails_per_window`, `pushes_per_window`: limits for rules to compare with.
    - `mandatory`: the classes that nobody can opt out of the list of notifications.
    """

    throttle_window_s: Positive = 3600
    mails_per_window: Positive = 3
    pushes_per_window: Positive = 10
    mandatory: tuple[str, ...] = ()

    @property
    def numbers(self) -> dict[str, int]:
        """The settings that a condition may name instead of a number."""
        return {name: value for name, value in msgspec.structs.asdict(self).items() if isinstance(value, int)}
