"""Ciao, product reviews: the trust between members, and the day of every review."""

from pathlib import Path
from typing import Final

from .draft import DAY_MS, SECOND_MS, Draft
from .format import CHURN, NOWHERE, PEAKS, Format, because
from .rows import UNIX_S, Layout, find, read_rows

_TRUST: Final = Layout(("truster", "trusted"), ("truster trusted",))
_HEADER: Final = "user product category rating helpfulness unix_time"
_REVIEWS: Final = Layout(tuple(_HEADER.split()), (_HEADER,), below={"unix_time": UNIX_S})


def _read(path: Path) -> Draft:
    draft = Draft(unit_ms=DAY_MS)
    trust = read_rows(find(path, "trust.tsv"), _TRUST)
    reviews = read_rows(find(path, "rating_with_timestamp.tsv"), _REVIEWS)
    draft.follow(trust["truster"], trust["trusted"])
    draft.publish(reviews["unix_time"] * SECOND_MS, reviews["user"])
    return draft


FORMAT: Final = Format(
    key="ciao",
    path="the folder with trust.tsv and rating_with_timestamp.tsv, or examples/data/ciao",
    becomes="a member is a topic, members follow those whom they trust, each review is a publication of its author",
    source="Ciao, crawled by Jiliang Tang; Tang, Gao, Liu: mTrust (WSDM 2012); Tang, Gao, Liu, Das Sarma: eTrust (KDD 2012)",
    pseudonymisation="users are the numbers that the publishers gave them",
    read=_read,
    limits={
        **NOWHERE,
        **because("times have the resolution of a day", ("daily", *PEAKS)),
        **because("when trust was given is not told", CHURN),
    },
    notes=(
        "a filtered cut of the published crawl",
        "times have the resolution of a day: draw publications with bins of a day (1440 minutes)",
        "the zone of the times is not known and taken as UTC",
    ),
)
