"""The decisions of the playlist service: who may write, what a change makes of a playlist, and what others are told. Pure."""

from typing import Final

import msgspec

from infra.kernel.errors import Refused
from infra.kernel.topics import Topic, format_topic

from ..tasks import OutboxTask
from .change import Add, Change, Create, Delete, Edit, Rename, SetCollaborative, edit_tracks, names_positions

# A larger change is not told in full: followers are told to fetch the playlist.
MAX_TOLD_BYTES: Final = 4096
KIND: Final = "playlist"
# The ways on which a change is told are lanes of the outbox.
ENGINE: Final = "engine"
FEED: Final = "feed"
WALL: Final = "wall"
STORED: Final = "stored"
LANES: Final = (ENGINE, FEED, WALL, STORED)

_ENCODER: Final = msgspec.json.Encoder()


def playlist_topic(owner: str, playlist_id: str) -> Topic:
    """Returns the topic on which changes of a playlist are published. The ids of `owner` and playlist must have been checked."""
    return Topic(f"P{owner}/{playlist_id}".encode())


class Playlist(msgspec.Struct, frozen=True):
    """One version of a playlist. A deleted playlist is kept without tracks, so that its id and its versions are not used again."""

    owner: str
    id: str
    version: int
    name: str
    collaborative: bool
    tracks: list[str]
    changed_ms: int
    deleted: bool = False

    @property
    def topic(self) -> Topic:
        """See `playlist_topic`."""
        return playlist_topic(self.owner, self.id)


class Told(msgspec.Struct, frozen=True, omit_defaults=True):
    """The payload of an event: user `by` has made `version`. Without a `change` the client fetches: the change was too large.

    `edit` is the id that the request had, by which the client knows its own change.
    """

    version: int
    by: str
    name: str
    change: Change | None = None
    edit: str = ""


class ChangeEvent(msgspec.Struct, frozen=True):
    """The body of a task: one event of a playlist, with what each receiver needs to know of it."""

    id: str
    owner: str
    playlist: str
    by: str
    ts_ms: int
    op: str
    payload: msgspec.Raw


class PlaylistStep(msgspec.Struct, frozen=True):
    """A playlist after a change, the id of the event that tells of it, and what is promised to others with it."""

    playlist: Playlist
    event_id: str
    tasks: list[OutboxTask]


def create(owner: str, playlist_id: str, wanted: Create, now_ms: int, event_id: str) -> PlaylistStep:
    """Returns version 1 of a new playlist of `owner`. `event_id` will be the id of its event on all ways."""
    playlist = Playlist(owner, playlist_id, 1, wanted.name, wanted.collaborative, wanted.tracks, now_ms)
    return PlaylistStep(playlist, event_id, _promises(playlist, owner, wanted, event_id))


def edit(playlist: Playlist, user: str, wanted: Edit, version: int | None, now_ms: int, event_id: str, edit_id: str = "") -> PlaylistStep:
    """Returns the next version of `playlist`, as `user` has `wanted` it.

    With a `version` the edit is for that one only. Followers are told the `edit_id` that the client has given it. Raises Refused:
    forbidden (SB-7), conflict (it is another version), bad-field, too-large.
    """
    _check_writer(playlist, user, wanted)
    _check_version(playlist, version)
    if version is None and names_positions(wanted):
        raise Refused("bad-field", "a change that names positions needs the `version` in which they were seen")
    after = msgspec.structs.replace(playlist, version=playlist.version + 1, changed_ms=now_ms, tracks=edit_tracks(playlist.tracks, wanted))
    match wanted:
        case Rename(name):
            after = msgspec.structs.replace(after, name=name)
        case SetCollaborative(collaborative):
            after = msgspec.structs.replace(after, collaborative=collaborative)
        # Followers apply the change to a list of their own, so they are told where "at the end" was.
        case Add(tracks, None):
            wanted = Add(tracks, len(playlist.tracks))
    return PlaylistStep(after, event_id, _promises(after, user, wanted, event_id, edit_id))


def delete(playlist: Playlist, user: str, version: int | None, now_ms: int, event_id: str) -> PlaylistStep:
    """Returns the last version of `playlist`, which `user` deletes. Raises Refused: forbidden, conflict (see `edit`)."""
    _check_writer(playlist, user, Delete())
    _check_version(playlist, version)
    after = msgspec.structs.replace(playlist, version=playlist.version + 1, changed_ms=now_ms, tracks=[], deleted=True)
    return PlaylistStep(after, event_id, _promises(after, user, Delete(), event_id))


def _check_writer(playlist: Playlist, user: str, change: Change) -> None:
    if user == playlist.owner:
        return
    if isinstance(change, SetCollaborative | Delete):
        raise Refused("forbidden", f"only {playlist.owner}, whose playlist it is, may do this")
    if not playlist.collaborative:
        raise Refused("forbidden", f"only {playlist.owner} may write to this playlist; it is not collaborative")


def _check_version(playlist: Playlist, version: int | None) -> None:
    if version is not None and version != playlist.version:
        raise Refused("conflict", f"the change is for version {version}, the playlist is at {playlist.version}; fetch it again")


def _promises(playlist: Playlist, by: str, change: Change, event_id: str, edit_id: str = "") -> list[OutboxTask]:
    """Returns one task for each way on which a change is told, so that a slow way holds up no other (SB-8, SB-31)."""
    payload = _ENCODER.encode(Told(playlist.version, by, playlist.name, change, edit_id))
    if len(payload) > MAX_TOLD_BYTES:
        payload = _ENCODER.encode(Told(playlist.version, by, playlist.name, edit=edit_id))
    op = str(change.__struct_config__.tag)
    promise = ChangeEvent(event_id, playlist.owner, playlist.id, by, playlist.changed_ms, op, msgspec.Raw(payload))
    body, topic = _ENCODER.encode(promise), playlist.topic.decode()
    ways = [(ENGINE, "publish", topic), (FEED, "act", by), (WALL, "post", by), (STORED, "notify", topic)]
    if isinstance(change, Create):
        # Tasks of one key keep their order: first the owner's followers follow the playlist, then they are notified.
        ways.insert(0, (STORED, "enlist", topic))
    if isinstance(change, Delete):
        # Last, for the same reason: who no longer follows would not be notified that the playlist is gone.
        ways.append((STORED, "dismiss", topic))
    return [OutboxTask(event_id, key, op, body, lane) for lane, op, key in ways]


def act_message(promise: ChangeEvent) -> bytes:
    """Returns the line for the friend feed of the user who made the change, as presence takes it from clients (SB-8)."""
    topic = format_topic(playlist_topic(promise.owner, promise.playlist))
    return _ENCODER.encode({"op": "act", "kind": KIND, "topic": topic, "event": promise.id, "change": promise.op})


def wall_message(promise: ChangeEvent) -> bytes:
    """Returns what goes on the wall of the user who made the change, if they want posts (SB-34)."""
    topic = format_topic(playlist_topic(promise.owner, promise.playlist))
    return _ENCODER.encode({"id": promise.id, "kind": KIND, "payload": {"topic": topic, "change": promise.op}})
