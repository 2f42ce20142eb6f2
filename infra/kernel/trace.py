"""The trace: the form in which the running engine, the importers of data sets and the generator write a workload down.

A trace is a folder: `manifest.json`, and a folder of Parquet files for each table that it has. Analytics reads no other form.
The columns are few and plain on purpose: integers and short words, no nesting, time as Unix milliseconds.

Users and topics are integers. In `presence` and `social` a topic is a user and has that user's number, so it can be seen who follows
back. In `playlist` and `artist` topics have numbers of their own. So a topic is known by (service, topic).
"""

from typing import Final, Literal, NamedTuple

from .roles import ARTIST, PLAYLIST, PRESENCE, SOCIAL
from .topics import Kind

VERSION: Final = 1

Service = Literal["presence", "playlist", "social", "artist"]
SERVICES: Final[tuple[Service, ...]] = (PRESENCE, PLAYLIST, SOCIAL, ARTIST)
SERVICE_OF: Final[dict[Kind, Service]] = {
    Kind.USER: PRESENCE,
    Kind.PLAYLIST: PLAYLIST,
    Kind.SOCIAL: SOCIAL,
    Kind.ARTIST: ARTIST,
}
# Here a topic is a user: nobody subscribes to themselves, and two may follow each other.
SOCIAL_SERVICES: Final = (PRESENCE, SOCIAL)
# Kinds of events that say nothing about people: dropped before any statistics are made (WA-3).
DIAGNOSTIC: Final = ("diagnostic", "heartbeat", "ping", "probe", "test")


class Column(NamedTuple):
    """A column.

    - `type`: its type in Parquet.
    - `words`: the only values that there may be.
    - `may_be_null`: it may be unknown.
    """

    name: str
    type: Literal["int64", "string"]
    meaning: str
    words: tuple[str, ...] = ()
    may_be_null: bool = False


class Table(NamedTuple):
    """A table of a trace.

    - `key`: the columns that make a row unique, if any do.
    - `by_time`: the rows of a file rise in `time_ms`.
    """

    name: str
    meaning: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    by_time: bool = False


_TIME: Final = Column("time_ms", "int64", "Unix milliseconds")
_SERVICE: Final = Column("service", "string", "the publisher service", SERVICES)
_TOPIC: Final = Column("topic", "int64", "number of the topic in its service; in presence and social that of the user it is about")
_SUBSCRIBER: Final = Column("subscriber", "int64", "number of the user who follows")


def _site(meaning: str) -> Column:
    return Column("site", "string", meaning, may_be_null=True)


TABLES: Final = {
    table.name: table
    for table in (
        Table(
            "subscriptions",
            "who follows what: the pairs (subscriber, topic) that stood at any time of the period",
            (_SUBSCRIBER, _SERVICE, _TOPIC, _site("site the subscriber connects to")),
            key=("subscriber", "service", "topic"),
        ),
        Table(
            "publications",
            "events, one row each, in order of time",
            (_TIME, _SERVICE, _TOPIC, _site("site it was published at"), Column("kind", "string", "kind of event", may_be_null=True)),
            by_time=True,
        ),
        Table(
            "counts",
            "how many events each topic had in the whole period; what `publications` adds up to, and all there is when that is a sample",
            (_SERVICE, _TOPIC, _site("site they were published at"), Column("events", "int64", "number of events, 0 or more")),
            key=("service", "topic", "site"),
        ),
        Table(
            "sessions",
            "users who come and go, in order of time",
            (
                _TIME,
                Column("user", "int64", "number of the user"),
                _site("site of the connection"),
                Column("device", "string", "kind of device", ("desktop", "mobile"), may_be_null=True),
                Column("action", "string", "what happened", ("join", "leave")),
            ),
            by_time=True,
        ),
        Table(
            "subscription_log",
            "subscriptions as they begin and end, in order of time",
            (
                _TIME,
                _SUBSCRIBER,
                _SERVICE,
                _TOPIC,
                _site("site the subscriber is connected to"),
                Column("action", "string", "what happened", ("subscribe", "unsubscribe")),
            ),
            by_time=True,
        ),
    )
}
