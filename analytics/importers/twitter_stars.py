"""Timelines of well-known Twitter accounts and of their recent retweeters, to the second."""

from pathlib import Path
from typing import Final

import pyarrow as pa

from .draft import SECOND_MS, Draft
from .format import CHURN, GRAPH, NOWHERE, Format, because
from .rows import UNIX_S, Layout, find_one, read_rows

_HEADER: Final = "network unix_time node is_retweet_of_node1"
_KINDS: Final = pa.array(["tweet", "retweet"])
# Nodes are numbered within their network: network * this + node is the number of a user.
_NODES: Final = 1000
_BELOW: Final = {"network": 10**6, "unix_time": UNIX_S, "node": _NODES, "is_retweet_of_node1": 2}
_TWEETS: Final = Layout(tuple(_HEADER.split()), (_HEADER,), below=_BELOW)


def _read(path: Path) -> Draft:
    draft = Draft()
    network, unix_time, node, is_retweet = read_rows(find_one(path, "tweets.tsv"), _TWEETS).values()
    draft.publish(unix_time * SECOND_MS, network * _NODES + node, kind=_KINDS.take(pa.array(is_retweet)))
    return draft


FORMAT: Final = Format(
    key="twitter-stars",
    path="tweets.tsv, or its folder",
    becomes="a user is a topic, each tweet a publication; nobody's subscriptions are told, and none are made up",
    source="Li, Xie, Farajtabar, Song: Detecting weak changes in dynamic events over networks (arXiv:1603.08981)",
    pseudonymisation="account names replaced by running numbers; user = 1000 * network + number in the network",
    read=_read,
    limits={
        **NOWHERE,
        **because("the 78 networks are stars of one account and 50 retweeters by construction, not a follow graph", GRAPH),
        **because("who followed whom, and when, is not told", CHURN),
    },
    notes=(
        "retweeters of well-known accounts are more active than most users (selection bias)",
        "the interface of Twitter gives about the last 3,200 tweets: the busiest users are cut there",
        "windows of 10 to 46 days, different for each network: totals per user are not of equal time, and how many users are "
        "observed changes over the period",
        "a user may be in two networks, and then counts as two",
    ),
)
