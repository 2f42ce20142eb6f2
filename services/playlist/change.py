"""Changes of a playlist: what a user may ask for, what followers are told, and how anybody applies one (SB-33). Pure.

The same values go both ways. A client that holds version n and hears of change n+1 applies it as `edit_tracks` does. A client that
missed a version fetches the playlist.
"""

from typing import Annotated, Final, TypeAlias

import msgspec

from infra.kernel.errors import Refused

MAX_TRACKS: Final = 10_000
MAX_NAME: Final = 200

EditId: TypeAlias = Annotated[
    str, msgspec.Meta(pattern=r"^[A-Za-z0-9._:-]{1,64}\Z", description="An id of the client's own. Followers are told it.")
]
Name: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_NAME)]
Track: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=128)]
Tracks: TypeAlias = Annotated[list[Track], msgspec.Meta(max_length=MAX_TRACKS)]
Position: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=MAX_TRACKS)]
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=MAX_TRACKS)]


class Rename(msgspec.Struct, frozen=True, tag_field="op", tag="rename", forbid_unknown_fields=True):
    """The playlist is called `name` now."""

    name: Name


class SetCollaborative(msgspec.Struct, frozen=True, tag_field="op", tag="collaborative", forbid_unknown_fields=True):
    """Anybody may write (or the owner alone again)."""

    collaborative: bool


class Add(msgspec.Struct, frozen=True, tag_field="op", tag="add", forbid_unknown_fields=True):
    """`tracks` stand at `position` now, and what stood there comes behind them.

    A request without a position means the end. What followers are told always has a position.
    """

    tracks: Tracks
    position: Position | None = None


class Remove(msgspec.Struct, frozen=True, tag_field="op", tag="remove", forbid_unknown_fields=True):
    """`count` tracks from `position` on are gone."""

    position: Position
    count: Count = 1


class Reorder(msgspec.Struct, frozen=True, tag_field="op", tag="reorder", forbid_unknown_fields=True):
    """`count` tracks from `position` on stand before the track that was at `to`; both are positions of the list as it was."""

    position: Position
    to: Position
    count: Count = 1


class Create(msgspec.Struct, frozen=True, tag_field="op", tag="create"):
    """The playlist is new. This is only told to followers; a client asks for a playlist by other means."""

    name: str
    collaborative: bool
    tracks: list[str]


class Delete(msgspec.Struct, frozen=True, tag_field="op", tag="delete"):
    """The playlist is gone. This is only told to followers."""


Edit: TypeAlias = Rename | SetCollaborative | Add | Remove | Reorder
Change: TypeAlias = Edit | Create | Delete


def names_positions(edit: Edit) -> bool:
    """Returns whether an edit means something else when the list has changed since the user looked at it."""
    return isinstance(edit, Remove | Reorder) or (isinstance(edit, Add) and edit.position is not None)


def edit_tracks(tracks: list[str], edit: Edit) -> list[str]:
    """Returns the tracks after `edit`. Raises Refused (bad-field, too-large)."""
    match edit:
        case Add(new, position):
            at = len(tracks) if position is None else position
            _check_range(tracks, at, 0)
            if len(tracks) + len(new) > MAX_TRACKS:
                raise Refused("too-large", f"a playlist has at most {MAX_TRACKS} tracks; it has {len(tracks)}, and {len(new)} were to come")
            return [*tracks[:at], *new, *tracks[at:]]
        case Remove(position, count):
            _check_range(tracks, position, count)
            return [*tracks[:position], *tracks[position + count :]]
        case Reorder(position, to, count):
            return _reordered(tracks, position, to, count)
    return tracks


def _reordered(tracks: list[str], position: int, to: int, count: int) -> list[str]:
    _check_range(tracks, position, count)
    _check_range(tracks, to, 0)
    if position < to < position + count:
        raise Refused("bad-field", f"to={to} lies within the tracks that are moved, {position} to {position + count - 1}")
    # `to` counts in the list as it was. Without the moved tracks, all places behind them are `count` lower.
    moved = tracks[position : position + count]
    rest = [*tracks[:position], *tracks[position + count :]]
    at = to if to <= position else to - count
    return [*rest[:at], *moved, *rest[at:]]


def _check_range(tracks: list[str], position: int, count: int) -> None:
    if position + count > len(tracks):
        raise Refused("bad-field", f"the playlist has {len(tracks)} tracks; there is nothing at {position + max(count - 1, 0)}")
