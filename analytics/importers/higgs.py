"""Higgs, Twitter: retweets, mentions and answers around the announcement of July 2012."""

from pathlib import Path
from typing import Final

from .draft import DAY_MS, SECOND_MS, Draft
from .format import CHURN, NOWHERE, Format, because
from .rows import UNIX_S, Layout, find_one, read_rows

_ACTIONS: Final = Layout(("actor", "of", "unix_time", "type"), words=("RT", "MT", "RE"), below={"unix_time": UNIX_S})


def _read(path: Path) -> Draft:
    # The set covers its seven days whole.
    draft = Draft(unit_ms=DAY_MS)
    actions = read_rows(find_one(path, "higgs-activity_time.txt"), _ACTIONS)
    draft.follow(actions["actor"], actions["of"], repeats="further actions of a user on the same one")
    draft.publish(actions["unix_time"] * SECOND_MS, actions["actor"], once="further rows of an actor in the same second")
    return draft


FORMAT: Final = Format(
    key="higgs",
    path="higgs-activity_time.txt, or its folder",
    becomes="a user is a topic; users follow those whom they retweet, mention or answer; what a user does in one second is one publication",
    source=(
        "higgs-twitter, distributed by SNAP; De Domenico, Lima, Mougel, Musolesi: "
        "The Anatomy of a Scientific Rumor, Sci. Rep. 3:2980 (2013)"
    ),
    pseudonymisation="users are the numbers that the publishers gave them",
    read=_read,
    limits={**NOWHERE, **because("only actions were recorded, not when users began to follow", CHURN)},
    notes=(
        "who follows is implied by actions: a lower bound of the real subscriptions, for the follow graph is not read",
        "one tweet that mentions several users gives a row for each: rows of the same actor and second are one publication",
        "one burst of breaking news (4 July 2012), no steady state; only retweets, mentions and answers",
    ),
)
