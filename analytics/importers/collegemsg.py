"""CollegeMsg: private messages among students of one university."""

from pathlib import Path
from typing import Final

from .draft import SECOND_MS, Draft
from .format import CHURN, NOWHERE, Format, because
from .rows import UNIX_S, Layout, find_one, read_rows

_MESSAGES: Final = Layout(("src", "dst", "unix_time"), below={"unix_time": UNIX_S})


def _read(path: Path) -> Draft:
    draft = Draft()
    messages = read_rows(find_one(path, "CollegeMsg.txt"), _MESSAGES)
    draft.follow(messages["dst"], messages["src"], repeats="further messages between the same two")
    draft.publish(messages["unix_time"] * SECOND_MS, messages["src"])
    return draft


FORMAT: Final = Format(
    key="collegemsg",
    path="CollegeMsg.txt, or its folder",
    becomes="a student is a topic; students follow those who ever sent them a message; each message is a publication of its sender",
    source=(
        "CollegeMsg, distributed by SNAP; Panzarasa, Opsahl, Carley: Patterns and dynamics of users' behavior and interaction, "
        "JASIST 60(5), 2009"
    ),
    pseudonymisation="users are the numbers that the publishers gave them",
    read=_read,
    limits={**NOWHERE, **because("contacts are implied by messages; when one began to follow is not told", CHURN)},
    notes=(
        "subscriptions are implied contacts: a lower bound of who knew whom",
        "private messages went to one student each: notifications are what publish/subscribe would make of them",
        "times are UTC; hours are told in the zone of the university (California)",
    ),
    time_zone="America/Los_Angeles",
)
