"""Users of one StackExchange site: their interactions, and the times of their posts."""

from pathlib import Path
from typing import Final

from .draft import SECOND_MS, Draft
from .format import CHURN, NOWHERE, PEAKS, WEEKDAYS, Format, because
from .rows import UNIX_S, Layout, find, read_rows

_EDGES: Final = Layout(("src", "dst"), ("src dst",))
_POSTS: Final = Layout(("item", "user", "time"), ("item user time",), below={"time": UNIX_S})


def _read(path: Path) -> Draft:
    draft = Draft()
    edges = read_rows(find(path, "edges.tsv"), _EDGES)
    posts = read_rows(find(path, "events.tsv"), _POSTS)
    draft.follow(edges["src"], edges["dst"])
    draft.publish(posts["time"] * SECOND_MS, posts["user"], once="further tags of the same post")
    return draft


FORMAT: Final = Format(
    key="stackexchange",
    path="the folder with edges.tsv and events.tsv",
    becomes="a user is a topic; src of an edge follows dst; what a user posts in one second is one publication",
    source="Sankar, Zhang, Krishnan, Han: Inf-VAE (WSDM 2020); StackExchange content is CC BY-SA",
    pseudonymisation="users replaced by running numbers",
    read=_read,
    limits={
        **NOWHERE,
        **because(
            "times are counted from an origin that is not told, so hours and weekdays are not known", ("daily", "weekly", *PEAKS, *WEEKDAYS)
        ),
        **because("when users began to interact is not told", CHURN),
    },
    notes=(
        "edges are comments and answers, not follows, and their direction is not documented: popularity and size may be exchanged",
        "a post with several tags gives a row for each: rows of the same user and second are one publication",
        "second 0 is written as 1 January 1970",
    ),
)
