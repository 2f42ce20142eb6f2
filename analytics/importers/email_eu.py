"""Mail contact between members of a European institution, by day."""

from pathlib import Path
from typing import Final

import numpy as np

from .draft import DAY_MS, Draft
from .format import CHURN, NOWHERE, PEAKS, WEEKDAYS, Format, because
from .rows import UNIX_S, Layout, find_one, read_rows

_CONTACTS: Final = Layout(("day", "i", "j"), below={"day": UNIX_S // 86_400})


def _read(path: Path) -> Draft:
    draft = Draft(unit_ms=DAY_MS)
    day, one, other = read_rows(find_one(path, "email-Eu-core-daily.txt"), _CONTACTS).values()
    draft.follow(one, other, mutual=True, repeats="further days of the same contact")
    draft.publish(np.tile(day * DAY_MS, 2), np.concatenate([one, other]), once="further contacts of a user on the same day")
    return draft


FORMAT: Final = Format(
    key="email-eu",
    path="email-Eu-core-daily.txt, or its folder",
    becomes="a member is a topic, members in contact follow each other, each day on which a member had contact is one publication",
    source="email-Eu-core-temporal, distributed by SNAP; Paranjape, Benson, Leskovec: Motifs in Temporal Networks (WSDM 2017)",
    pseudonymisation="users are the numbers that the publishers gave them",
    read=_read,
    limits={
        **NOWHERE,
        **because("times have the resolution of a day", ("daily", *PEAKS)),
        **because("days are counted from an origin that is not told, so weekdays are not known", ("weekly", *WEEKDAYS)),
        **because("contacts are implied by mails; when one began to follow is not told", CHURN),
    },
    notes=(
        "one row per pair and day: direction and number of mails are lost, so publications are active days, at most one a day",
        "subscriptions are implied contacts, both ways",
        "day 0 is written as 1 January 1970",
    ),
)
