"""Last.fm, HetRec 2011: friends, and how often each user played each artist."""

from pathlib import Path
from typing import Final

from .draft import Draft
from .format import CHURN, IN_TIME, NOWHERE, Format, because
from .rows import Layout, find, read_rows

# Below it, sums fit into 64 bits.
_PLENTY: Final = 10**12
_FRIENDS: Final = Layout(("user", "friend"), ("userID friendID", "user friend"))
_PLAYS: Final = Layout(("user", "artist", "plays"), ("userID artistID weight", "user artist plays"), below={"plays": _PLENTY})


def _read(path: Path) -> Draft:
    draft = Draft()
    friends = read_rows(find(path, "user_friends.dat", "friends.tsv"), _FRIENDS)
    plays = read_rows(find(path, "user_artists.dat", "plays.tsv"), _PLAYS)
    draft.follow(friends["user"], friends["friend"])
    draft.total(plays["user"], plays["plays"])
    return draft


FORMAT: Final = Format(
    key="lastfm",
    path="the folder with user_friends.dat and user_artists.dat, or examples/data/lastfm",
    becomes="a user is a topic, friends follow each other, each play is a publication of the user who listens",
    source=(
        "hetrec2011-lastfm-2k: Last.fm, http://www.lastfm.com; Cantador, Brusilovsky, Kuflik: 2nd Workshop on Information "
        "Heterogeneity and Fusion in Recommender Systems (RecSys 2011). Non-commercial use"
    ),
    pseudonymisation="users are the numbers that the publishers gave them",
    read=_read,
    limits={
        **NOWHERE,
        **because("play counts have no times", (*IN_TIME, "days")),
        **because("when friendships were made is not told", CHURN),
    },
    notes=(
        "plays are totals over an unknown time: shares of all listening, not rates per day",
        "at most the 50 most played artists of a user are told, so plays are a lower bound",
        "tags have the resolution of a month and are left out",
    ),
)
