"""Delicious, HetRec 2011: when contacts were made."""

from pathlib import Path
from typing import Final

from .draft import Draft
from .format import EVENTS, NOWHERE, Format, because
from .rows import UNIX_MS, Layout, find_one, read_rows

_CONTACTS: Final = Layout(("user", "contact", "time_ms"), ("userID contactID timestamp",), below={"time_ms": UNIX_MS})


def _read(path: Path) -> Draft:
    draft = Draft()
    contacts = read_rows(find_one(path, "user_contacts-timestamps.dat"), _CONTACTS)
    draft.begin(contacts["time_ms"], contacts["user"], contacts["contact"])
    return draft


FORMAT: Final = Format(
    key="delicious",
    path="user_contacts-timestamps.dat, or its folder",
    becomes="a user is a topic, and is followed by a contact from the moment the contact was made",
    source=(
        "hetrec2011-delicious-2k: Delicious, http://www.delicious.com; Cantador, Brusilovsky, Kuflik: 2nd Workshop on Information "
        "Heterogeneity and Fusion in Recommender Systems (RecSys 2011). Non-commercial use"
    ),
    pseudonymisation="users are the numbers that the publishers gave them",
    read=_read,
    limits={
        **NOWHERE,
        **because("what users did (bookmarks) is not read", EVENTS),
        **because("only the begin of subscriptions is known", ("live", "churn.imbalance")),
    },
    notes=(
        "contacts are mutual fans: a one-way fan is not in the set",
        "contacts that ended are not told",
        "the zone of the users is not known and taken as UTC",
    ),
)
