"""`segue admin`."""

from typing import Final

import click

from ..lazy_group import LazyGroup, entry

COMMANDS: Final = (
    entry("sessions", "segue.cli.admin.sessions:sessions", "Show the sessions of USER, at all sites"),
    entry("disconnect", "segue.cli.admin.sessions:disconnect", "End all sessions of USER, or the one that --session names"),
    entry("unsubscribe", "segue.cli.admin.sessions:unsubscribe", "End what USER follows of TOPIC"),
    entry("announce", "segue.cli.admin.sessions:announce", "Tell TEXT to everybody who is connected"),
    entry("ban", "segue.cli.admin.bans:ban", "Keep USER out for a time"),
    entry("unban", "segue.cli.admin.bans:unban", "Let USER in again"),
    entry("bans", "segue.cli.admin.bans:bans", "Show who is kept out"),
    entry("revoke", "segue.cli.admin.revocations:revoke", "Take tokens no more: of a user, of a service, or one"),
    entry("revocations", "segue.cli.admin.revocations:revocations", "Show which tokens are taken no more"),
)


@click.group(cls=LazyGroup, sections={"Commands": COMMANDS})
def admin() -> None:
    """See who is here, send users away, keep them out. Tell everybody something (docs/admin.md)."""
