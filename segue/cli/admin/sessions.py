"""`segue admin sessions`, `disconnect`, `unsubscribe` and `announce`: what is done to sessions."""

from typing import Any

import click

from infra.kernel.topics import parse_topic
from segue.sdk.operator_answers import UserSessions

from ..access import Access
from ..as_json import json_option, show
from ..json_object import payload_option
from .moments import shown_time
from .operating import operated, operator_options, show_missing, show_outcome, show_table

COLUMNS = ("session", "where", "client", "device", "since", "topics", "waiting")


@click.command()
@click.argument("user")
@json_option
@operator_options
def sessions(user: str, as_json: bool, access: Access) -> None:
    """Show the sessions of USER, at all sites: where, since when, how many topics, and what waits for a slow client."""

    def tell(found: UserSessions) -> None:
        show_table(COLUMNS, _rows(found), f"{user} is not connected")
        if found.sessions > len(found.listed):
            click.echo(f"{len(found.listed)} of {found.sessions} sessions are shown", err=True)
        show_missing(found)

    show(operated(access, lambda operator: operator.sessions(user)), as_json, tell)


def _rows(found: UserSessions) -> list[tuple[str, ...]]:
    return [
        (
            each.session,
            f"{each.site}/{each.node}",
            each.client,
            each.device,
            shown_time(each.since_ms / 1000),
            str(each.topic_count),
            f"{each.waiting_bytes} B",
        )
        for each in found.listed
    ]


@click.command()
@click.argument("user", required=False)
@click.option("--session", help="One session alone, by its id.")
@click.option("--stay-away", is_flag=True, help="Clients do not come back by themselves. To keep somebody out: segue admin ban.")
@json_option
@operator_options
def disconnect(user: str | None, session: str | None, stay_away: bool, as_json: bool, access: Access) -> None:
    """End all sessions of USER, or the one that --session names. Clients come back at once unless told to stay away."""
    if (user is None) == (session is None):
        raise click.UsageError("say whom: a USER, or --session ID")
    done = operated(access, lambda operator: operator.disconnect(user=user, session=session, may_return=not stay_away))
    show_outcome(done, "ended", as_json)


@click.command()
@click.argument("user")
@click.argument("topic")
@json_option
@operator_options
def unsubscribe(user: str, topic: str, as_json: bool, access: Access) -> None:
    """End what USER follows of TOPIC, such as hm://presence/user/bob/, on every session. The client is told."""
    parse_topic(topic)
    show_outcome(operated(access, lambda operator: operator.unsubscribe(user, topic)), "ended the subscription of", as_json)


@click.command()
@click.argument("text")
@payload_option('{"minutes": 30}')
@click.option("--site", "sites", multiple=True, help="This site only; may be repeated.  [default: all]")
@json_option
@operator_options
def announce(text: str, payload: dict[str, Any], sites: tuple[str, ...], as_json: bool, access: Access) -> None:
    """Tell TEXT to everybody who is connected. The payload is for the application."""
    show_outcome(operated(access, lambda operator: operator.announce(text, payload, sites)), "told", as_json)
