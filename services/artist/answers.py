"""The bodies that artist monitoring answers with, beside the tally of a run."""

from typing import Annotated, Literal

import msgspec

from ..list_page import NextPage
from .job import RunTally

FeedType = Literal["new-album", "new-track", "artist-playlist"]


class FollowedFeed(msgspec.Struct, frozen=True):
    """One feed of an artist."""

    artist: str
    type: FeedType


class FollowedFeeds(msgspec.Struct, frozen=True):
    """A page of the feeds that a user follows."""

    topics: list[FollowedFeed]
    next: NextPage


class FollowedArtist(msgspec.Struct, frozen=True):
    """An artist whose feeds a user follows now."""

    artist: str
    types: list[FeedType]


class RunStarted(msgspec.Struct, frozen=True):
    """The answer to a wish for a run."""

    started: Annotated[bool, msgspec.Meta(description="False when a run is under way already.")]


class RunState(msgspec.Struct, frozen=True):
    """The newest run of the job."""

    running: bool
    last: RunTally | None
